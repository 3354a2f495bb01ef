//! Any sequence of operations, cut anywhere, gives the same queue by executing it, by applying
//! its effects, and by a snapshot at the cut and the effects after it; and the queue behaves as a
//! model of two plain lists.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::{BTreeMap, VecDeque};

use proptest::prelude::*;
use rq_core::{Id, Queue, snapshot};

#[derive(Debug, Clone)]
enum Operation {
    /// A push of one of three producers: how far its first number lies from the next one, and
    /// how many elements.
    Produce {
        name: u8,
        from: i64,
        count: u64,
    },
    /// Due work is done, after a while.
    Expire {
        milliseconds: u64,
    },
    Push {
        sizes: Vec<usize>,
    },
    Pop {
        count: u64,
    },
    /// Acknowledges delivered messages, chosen by position; some IDs are unknown.
    Acknowledge {
        picks: Vec<prop::sample::Index>,
        unknown: bool,
    },
    /// Acknowledges the longest delivered ones.
    AcknowledgeFirst {
        count: usize,
    },
    Recover {
        count: u64,
        elapsed: u64,
    },
    /// Time passes, also backwards.
    Wait {
        milliseconds: i64,
    },
}

fn operation() -> impl Strategy<Value = Operation> {
    let size = prop_oneof![
        6 => 0usize..200,
        1 => Just(512usize),
        1 => 500usize..3000,
    ];
    prop_oneof![
        4 => prop::collection::vec(size, 1..60).prop_map(|sizes| Operation::Push { sizes }),
        3 => (0u8..3, -8i64..2, 1u64..10).prop_map(|(name, from, count)| Operation::Produce { name, from, count }),
        1 => prop_oneof![Just(0u64), Just(300_000), Just(700_000)].prop_map(|milliseconds| Operation::Expire { milliseconds }),
        3 => (1u64..120).prop_map(|count| Operation::Pop { count }),
        2 => (prop::collection::vec(any::<prop::sample::Index>(), 1..40), any::<bool>())
            .prop_map(|(picks, unknown)| Operation::Acknowledge { picks, unknown }),
        2 => (1usize..80).prop_map(|count| Operation::AcknowledgeFirst { count }),
        1 => (1u64..30, 0u64..50).prop_map(|(count, elapsed)| Operation::Recover { count, elapsed }),
        3 => prop_oneof![8 => 1i64..40, 1 => -50i64..0, 1 => 60_000i64..10_000_000]
            .prop_map(|milliseconds| Operation::Wait { milliseconds }),
    ]
}

/// Two plain lists.
#[derive(Default)]
struct Model {
    waiting: VecDeque<(Id, Vec<u8>)>,
    /// ID, payload, time of last delivery, deliveries.
    delivered: Vec<(Id, Vec<u8>, u64, u32)>,
    last: Id,
    clock: u64,
    /// Of each producer: IDs of all elements by number, how many the latest push had, its time.
    producers: BTreeMap<u8, (BTreeMap<u64, Id>, u64, u64)>,
}

impl Model {
    /// The IDs of elements numbered from `sequence` on; none for a gap.
    fn produce(
        &mut self,
        now: u64,
        name: u8,
        sequence: u64,
        payloads: &[Vec<u8>],
    ) -> Option<Vec<Option<Id>>> {
        let known = self.producers.get(&name).cloned();
        let highest = known
            .as_ref()
            .map(|(ids, ..)| *ids.last_key_value().unwrap().0);
        if highest.is_some_and(|highest| sequence > highest + 1) {
            return None;
        }
        let stored = highest.map_or(0, |highest| {
            (highest + 1 - sequence).min(payloads.len() as u64)
        });
        let mut given: Vec<Option<Id>> = Vec::new();
        for number in sequence..sequence + stored {
            let (ids, latest, _) = known.as_ref().unwrap();
            given.push(
                ids.get(&number)
                    .copied()
                    .filter(|_| number + latest > highest.unwrap()),
            );
        }
        let fresh = self.push(now, &payloads[stored as usize..]);
        if !fresh.is_empty() {
            let (mut ids, _, time) = known.unwrap_or_default();
            let first = sequence + stored;
            ids.extend((first..).zip(fresh.iter().copied()));
            self.producers
                .insert(name, (ids, fresh.len() as u64, time.max(now)));
        }
        given.extend(fresh.into_iter().map(Some));
        Some(given)
    }

    fn push(&mut self, now: u64, payloads: &[Vec<u8>]) -> Vec<Id> {
        let mut ids = Vec::new();
        for payload in payloads {
            self.last = if now > self.last.milliseconds {
                Id::new(now, 1)
            } else {
                Id::new(self.last.milliseconds, self.last.sequence + 1)
            };
            self.waiting.push_back((self.last, payload.clone()));
            ids.push(self.last);
        }
        ids
    }

    fn pop(&mut self, now: u64, count: u64) -> Vec<(Id, Vec<u8>)> {
        let count = self.waiting.len().min(count as usize);
        if count > 0 {
            self.clock = self.clock.max(now);
        }
        let taken: Vec<_> = self.waiting.drain(..count).collect();
        for (id, payload) in &taken {
            self.delivered.push((*id, payload.clone(), self.clock, 1));
        }
        taken
    }

    fn acknowledge(&mut self, ids: &[Id]) -> Vec<Id> {
        let mut done = Vec::new();
        for id in ids {
            if let Some(at) = self.delivered.iter().position(|d| d.0 == *id) {
                self.delivered.remove(at);
                done.push(*id);
            }
        }
        done
    }

    fn recover(&mut self, now: u64, count: u64, elapsed: u64) -> Vec<(Id, Vec<u8>, u32)> {
        let time = self.clock.max(now);
        let due = (self.delivered.iter().take(count as usize))
            .take_while(|d| time >= d.2 && time - d.2 >= elapsed && time >= elapsed)
            .count();
        let mut moved: Vec<_> = self.delivered.drain(..due).collect();
        for message in &mut moved {
            message.2 = time;
            message.3 += 1;
            self.clock = time;
        }
        self.delivered.extend(moved.iter().cloned());
        moved
            .into_iter()
            .map(|(id, payload, _, n)| (id, payload, n))
            .collect()
    }
}

/// One effect with its payloads, as a log or a replica gets it.
struct Logged {
    head: Vec<u8>,
    payloads: Vec<Vec<u8>>,
}

struct Run {
    queue: Queue,
    model: Model,
    now: u64,
    log: Vec<Logged>,
}

impl Run {
    fn step(&mut self, operation: &Operation) {
        let mut head = Vec::new();
        let mut payloads = Vec::new();
        let now = self.now;
        match operation {
            Operation::Push { sizes } => {
                payloads = (sizes.iter().enumerate())
                    .map(|(n, &size)| (0..size).map(|i| (i + n + size) as u8).collect())
                    .collect();
                let elements = payloads.iter().map(Vec::as_slice);
                let pushed = self
                    .queue
                    .push(now, Id::default(), elements, &mut head)
                    .unwrap();
                assert_eq!(
                    pushed.ids().collect::<Vec<_>>(),
                    self.model.push(now, &payloads)
                );
            }
            Operation::Produce { name, from, count } => {
                let highest = self
                    .model
                    .producers
                    .get(name)
                    .map_or(0, |p| *p.0.last_key_value().unwrap().0);
                let sequence = (highest as i64 + 1 + from).max(1) as u64;
                let all: Vec<Vec<u8>> = (0..*count).map(|n| vec![*name; n as usize]).collect();
                let elements = all.iter().map(Vec::as_slice);
                let produced = self.queue.produce(
                    now,
                    Id::default(),
                    (&[*name], sequence),
                    elements,
                    &mut head,
                );
                let expected = self.model.produce(now, *name, sequence, &all);
                match produced {
                    Ok(produced) => {
                        assert_eq!(Some(produced.ids().collect()), expected);
                        assert_eq!(produced.count(), *count);
                        payloads = all[produced.known.len()..].to_vec();
                    }
                    Err(error) => {
                        assert_eq!((error, expected), (rq_core::Error::Gap(highest), None));
                    }
                }
            }
            Operation::Expire { milliseconds } => {
                self.now += milliseconds;
                let now = self.now;
                let due = self.model.producers.values().map(|p| p.2 + 600_000).min();
                assert_eq!(self.queue.next_due(), due);
                self.queue.expire(now, 100, &mut head);
                self.model.producers.retain(|_, p| p.2 + 600_000 > now);
            }
            Operation::Pop { count } => {
                let mut got = Vec::new();
                self.queue.pop(now, *count, &mut head, |d| {
                    assert_eq!(d.deliveries, 1);
                    got.push((d.id, d.payload.to_vec()));
                });
                assert_eq!(got, self.model.pop(now, *count));
            }
            Operation::Acknowledge { picks, unknown } => {
                let delivered = &self.model.delivered;
                let mut ids: Vec<Id> = (picks.iter())
                    .filter(|_| !delivered.is_empty())
                    .map(|pick| delivered[pick.index(delivered.len())].0)
                    .collect();
                if *unknown {
                    ids.push(Id::new(now, 1_000_000));
                    ids.extend(self.model.waiting.front().map(|w| w.0));
                    ids.insert(0, Id::new(0, 0));
                }
                self.acknowledge(&ids, &mut head);
            }
            Operation::AcknowledgeFirst { count } => {
                let ids: Vec<Id> = self
                    .model
                    .delivered
                    .iter()
                    .take(*count)
                    .map(|d| d.0)
                    .collect();
                self.acknowledge(&ids, &mut head);
            }
            Operation::Recover { count, elapsed } => {
                let mut got = Vec::new();
                self.queue.recover(now, *count, *elapsed, &mut head, |d| {
                    got.push((d.id, d.payload.to_vec(), d.deliveries));
                });
                assert_eq!(got, self.model.recover(now, *count, *elapsed));
            }
            Operation::Wait { milliseconds } => self.now = now.saturating_add_signed(*milliseconds),
        }
        if !head.is_empty() {
            self.log.push(Logged { head, payloads });
        }
        self.compare();
    }

    fn acknowledge(&mut self, ids: &[Id], head: &mut Vec<u8>) {
        let mut done = Vec::new();
        self.queue.acknowledge(ids.iter().copied(), &mut done, head);
        assert_eq!(done, self.model.acknowledge(ids));
    }

    fn compare(&self) {
        self.queue.check().unwrap();
        let waiting: Vec<_> = (self.queue.inspect_waiting(0, u64::MAX))
            .map(|w| (w.id, w.payload.to_vec()))
            .collect();
        assert_eq!(waiting, Vec::from(self.model.waiting.clone()));
        let pending: Vec<_> = (self.queue.inspect_pending(self.now, 0, u64::MAX))
            .map(|p| (p.id, p.payload.to_vec(), p.last_delivery, p.deliveries))
            .collect();
        assert_eq!(pending, self.model.delivered);
        self.compare_ranges();
        for start in [-3i64, 1, 2] {
            let all = self.queue.inspect_pending(self.now, 0, u64::MAX).count() as i64;
            let from = if start < 0 {
                (all + start).max(0)
            } else {
                start.min(all)
            };
            let part: Vec<Id> = self
                .queue
                .inspect_pending(self.now, start, 2)
                .map(|p| p.id)
                .collect();
            let model = self.model.delivered.iter().skip(from as usize).take(2);
            assert_eq!(part, model.map(|d| d.0).collect::<Vec<_>>());
            let all = self.queue.waiting() as i64;
            let from = if start < 0 {
                (all + start).max(0)
            } else {
                start.min(all)
            };
            let part: Vec<Id> = self.queue.inspect_waiting(start, 2).map(|w| w.id).collect();
            let model = self.model.waiting.iter().skip(from as usize).take(2);
            assert_eq!(part, model.map(|w| w.0).collect::<Vec<_>>());
        }
    }
}

impl Run {
    /// Ranges between some IDs, both ways, and cuts into parts.
    fn compare_ranges(&self) {
        let mut all: Vec<(Id, u64, u32)> = (self.model.waiting.iter().map(|w| (w.0, 0, 0)))
            .chain(self.model.delivered.iter().map(|d| (d.0, d.2, d.3)))
            .collect();
        all.sort_unstable();
        let middle = all.get(all.len() / 2).map_or(Id::default(), |m| m.0);
        let ends = [
            Id::default(),
            middle,
            middle.successor().unwrap(),
            Id::new(u64::MAX, u64::MAX),
        ];
        for from in ends {
            for to in ends {
                let mut expected: Vec<_> = all
                    .iter()
                    .copied()
                    .filter(|m| from <= m.0 && m.0 <= to)
                    .collect();
                let row = |h: rq_core::Held<'_>| (h.id, h.meta.last_delivery, h.meta.deliveries);
                let got: Vec<_> = self.queue.range(from, to, false).map(row).collect();
                assert_eq!(got, expected);
                let got: Vec<_> = self.queue.range(from, to, true).map(row).collect();
                expected.reverse();
                assert_eq!(got, expected);
            }
        }
        for parts in [1, 2, 3, 7, 1000] {
            let mut bounds = vec![0];
            for id in self.queue.split(parts) {
                bounds.push(all.iter().position(|m| m.0 == id).unwrap());
            }
            bounds.push(all.len());
            assert!(bounds.len() as u64 <= parts + 1 && bounds.is_sorted());
            let sizes: Vec<usize> = bounds.windows(2).map(|pair| pair[1] - pair[0]).collect();
            if all.len() as u64 >= parts {
                let (least, most) = (sizes.iter().min().unwrap(), sizes.iter().max().unwrap());
                assert!(
                    sizes.len() as u64 == parts && most - least <= 1,
                    "{sizes:?}"
                );
            }
        }
    }
}

fn apply(queue: &mut Queue, log: &[Logged]) {
    for effect in log {
        let payloads = effect.payloads.iter().map(Vec::as_slice);
        queue.apply(&effect.head, payloads).unwrap();
    }
}

fn bytes(queue: &Queue) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    snapshot::write(queue, |part| parts.push(part.to_vec()));
    parts
}

fn load(parts: &[Vec<u8>]) -> Queue {
    let mut loader = snapshot::Loader::default();
    let (last, rest) = parts.split_last().unwrap();
    for part in rest {
        assert!(!loader.feed(part).unwrap());
    }
    assert!(loader.feed(last).unwrap());
    loader.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, ..ProptestConfig::default() })]

    #[test]
    fn cut_anywhere(operations in prop::collection::vec(operation(), 1..60), cut: prop::sample::Index) {
        let mut run = Run { queue: Queue::default(), model: Model::default(), now: 1_000, log: Vec::new() };
        let cut = cut.index(operations.len());
        let mut at_cut = None;
        for (n, operation) in operations.iter().enumerate() {
            run.step(operation);
            if n == cut && !run.queue.is_empty() {
                at_cut = Some((bytes(&run.queue), run.log.len()));
            }
        }
        let whole = bytes(&run.queue);
        let mut replica = Queue::default();
        apply(&mut replica, &run.log);
        replica.check().unwrap();
        prop_assert_eq!(&bytes(&replica), &whole);
        prop_assert_eq!(replica.counters(), run.queue.counters());
        if let Some((parts, position)) = at_cut {
            let mut loaded = load(&parts);
            loaded.check().unwrap();
            prop_assert_eq!(&bytes(&loaded), &parts);
            apply(&mut loaded, &run.log[position..]);
            loaded.check().unwrap();
            prop_assert_eq!(&bytes(&loaded), &whole);
        }
    }
}

#[test]
fn everything_acknowledged_leaves_no_memory() {
    let mut queue = Queue::default();
    let (mut effect, mut done) = (Vec::new(), Vec::new());
    let empty = queue.memory();
    let payload = [7u8; 100];
    let mut ids = Vec::new();
    for now in 0..2_000u64 {
        let elements = std::iter::repeat_n(&payload[..], 50);
        ids.extend(
            queue
                .push(now, Id::default(), elements, &mut effect)
                .unwrap()
                .ids(),
        );
    }
    let per_message = |queue: &Queue| (queue.memory() - empty) as f64 / 100_000.0 - 100.0;
    assert!(
        per_message(&queue) < 6.0,
        "waiting: {}",
        per_message(&queue)
    );
    queue.pop(5_000, u64::MAX, &mut effect, |_| ());
    assert!(
        per_message(&queue) < 39.0,
        "delivered: {}",
        per_message(&queue)
    );
    // All but one in a thousand: what remains must not pin the rest.
    let (stuck, most): (Vec<Id>, Vec<Id>) = ids
        .iter()
        .partition(|id| id.milliseconds % 20 == 0 && id.sequence == 1);
    let mut shuffled = most.clone();
    shuffled.sort_by_key(|id| {
        (id.milliseconds.wrapping_mul(2_654_435_761) ^ (id.sequence * 7919)) % 100_003
    });
    queue.acknowledge(shuffled.into_iter(), &mut done, &mut effect);
    queue.check().unwrap();
    assert_eq!(queue.len(), stuck.len() as u64);
    let each = queue.memory() / stuck.len();
    assert!(
        each < 1_200,
        "{each} bytes for each of {} stuck messages",
        stuck.len()
    );
    queue.acknowledge(stuck.into_iter(), &mut done, &mut effect);
    queue.check().unwrap();
    assert!(queue.memory() < empty + 20_000, "{}", queue.memory());
}
