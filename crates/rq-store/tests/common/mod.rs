//! What the tests share: operations on a store, and what it must hold after each of them.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rq_core::effect::Writer;
use rq_core::{
    Backoff, Change, Headers, Id, Moment, Nack, Options as PushOptions, Paused, Policy, Pop,
    Produced, Pushed, Queue, Receipt, Recover, snapshot,
};
use rq_store::{Checkpointed, Disk, Error, Opened, Options, Queues, Record, Storage, Store};

/// `RQ_STORE_EFFORT=10` makes the long tests ten times as long.
pub fn effort() -> u32 {
    let effort = std::env::var("RQ_STORE_EFFORT").ok();
    effort.and_then(|text| text.parse().ok()).unwrap_or(1)
}

/// Small segments and checkpoints, so that few operations meet all of it.
pub fn options() -> Options {
    Options {
        create: Some(*b"0123456789abcdef"),
        segment_bytes: 2_000,
        checkpoint_bytes: 3_000,
    }
}

pub fn open(disk: &Disk) -> Result<(Store<Disk>, Opened), Error> {
    Store::open(disk.clone(), options())
}

/// All that queues hold: snapshots by name, and the floor.
pub type State = (BTreeMap<Vec<u8>, Vec<u8>>, Id);

pub fn state(queues: &Queues) -> State {
    let each = queues.sorted().map(|(name, queue)| {
        queue.check().unwrap();
        let mut bytes = Vec::new();
        snapshot::write(queue, |part| bytes.extend_from_slice(part));
        (name.to_vec(), bytes)
    });
    (each.collect(), queues.floor())
}

/// What is done to queues. Those that take messages name them by a position in a list, from its end when it is negative.
#[derive(Debug, Clone)]
pub enum Operation {
    Push {
        queue: usize,
        sizes: Vec<usize>,
    },
    /// A push with options; some are refused.
    Store {
        queue: usize,
        sizes: Vec<usize>,
        how: How,
    },
    /// A push that a producer numbers; perhaps one that it sent before, or with a gap.
    Produce {
        queue: usize,
        sequence: u64,
        sizes: Vec<usize>,
    },
    /// Time passes, and all that is due by then is done.
    Expire {
        queue: usize,
        after: u64,
    },
    Pop {
        queue: usize,
        count: u64,
    },
    /// A pop with a lease, by a consumer with a name.
    Take {
        queue: usize,
        how: Pop<'static>,
    },
    Acknowledge {
        queue: usize,
        from: i64,
        count: u64,
    },
    Nack {
        queue: usize,
        from: i64,
        count: u64,
        how: Nack<'static>,
    },
    Extend {
        queue: usize,
        from: i64,
        milliseconds: u64,
        start: bool,
    },
    Recover {
        queue: usize,
        count: u64,
    },
    Claim {
        queue: usize,
        from: i64,
        consumer: &'static [u8],
        lease: Option<u64>,
    },
    Redrive {
        queue: usize,
        count: u64,
    },
    /// Deletes some messages, in whatever state.
    Delete {
        queue: usize,
        every: usize,
    },
    Flush {
        queue: usize,
        dead: bool,
    },
    Setup {
        queue: usize,
        change: Change,
    },
    Pause {
        queue: usize,
        which: Paused,
        paused: bool,
    },
    DeleteConsumer {
        queue: usize,
        consumer: &'static [u8],
    },
    /// Takes messages from one queue and pushes them to another, in one record.
    Forward {
        from: usize,
        to: usize,
        count: u64,
    },
    Remove {
        queue: usize,
    },
    Wait {
        milliseconds: i64,
    },
    Sync,
    Checkpoint,
    /// The steps of a checkpoint, with other operations between them.
    BeginCheckpoint,
    RunCheckpoint,
    EndCheckpoint,
}

/// The options of a push, owned.
#[derive(Debug, Clone, Default)]
pub struct How {
    pub delay: u64,
    pub ttl: u64,
    pub priority: u8,
    pub front: bool,
    pub retries: Option<u32>,
    /// For one element only.
    pub token: Option<u8>,
    pub headers: usize,
    pub new: Option<(u64, u32)>,
}

/// Settings of the place: queues whose own are 0 have these.
pub const DEFAULTS: Policy = Policy {
    deliveries: 6,
    ..Policy::NONE
};

const CONSUMERS: [&[u8]; 3] = [b"", b"worker", b"w\xff\0"];

/// The queues that are paused and capped: the first one takes every push.
const STRICT: std::ops::Range<usize> = 1..3;

pub fn operation() -> impl Strategy<Value = Operation> {
    let queue = 0usize..3;
    let size = prop_oneof![6 => 0usize..120, 2 => 400usize..1300];
    prop_oneof![
        6 => (queue.clone(), prop::collection::vec(size, 1..5))
            .prop_map(|(queue, sizes)| Operation::Push { queue, sizes }),
        2 => (queue.clone(), 1u64..9, prop::collection::vec(0usize..100, 1..5))
            .prop_map(|(queue, sequence, sizes)| Operation::Produce { queue, sequence, sizes }),
        4 => (queue.clone(), 1u64..5).prop_map(|(queue, count)| Operation::Pop { queue, count }),
        5 => (queue.clone(), -3i64..3, 1u64..8)
            .prop_map(|(queue, from, count)| Operation::Acknowledge { queue, from, count }),
        1 => (queue.clone(), 1u64..4).prop_map(|(queue, count)| Operation::Recover { queue, count }),
        1 => (queue.clone(), queue.clone(), 1u64..4)
            .prop_map(|(from, to, count)| Operation::Forward { from, to, count }),
        1 => queue.prop_map(|queue| Operation::Remove { queue }),
        12 => life(),
        3 => (-20i64..60).prop_map(|milliseconds| Operation::Wait { milliseconds }),
        2 => Just(Operation::Sync),
        1 => Just(Operation::Checkpoint),
        1 => Just(Operation::BeginCheckpoint),
        1 => Just(Operation::RunCheckpoint),
        1 => Just(Operation::EndCheckpoint),
    ]
}

/// What is asked for: schedules, leases, dead letters, settings.
fn life() -> impl Strategy<Value = Operation> {
    let queue = 0usize..3;
    let lease = || prop_oneof![Just(None), (0u64..4).prop_map(|n| Some(n * 20))];
    let consumer = || prop::sample::select(&CONSUMERS[..]);
    let after = prop_oneof![3 => Just(0u64), 3 => 10u64..100, 1 => Just(601_000)];
    let how = (0u64..60, 0u32..8, prop::option::of(0u64..50), any::<bool>());
    prop_oneof![
        5 => (queue.clone(), prop::collection::vec(0usize..90, 1..4), how_pushed())
            .prop_map(|(queue, sizes, how)| Operation::Store { queue, sizes, how }),
        4 => (queue.clone(), after).prop_map(|(queue, after)| Operation::Expire { queue, after }),
        3 => (queue.clone(), 1u64..5, lease(), consumer(), 0u32..8, any::<bool>())
            .prop_map(|(queue, count, lease, consumer, some, prefetch)| {
                let (no_ack, max_bytes) = (some == 0, if some == 1 { 100 } else { 0 });
                let how = Pop { count, lease, consumer, no_ack, prefetch, max_bytes };
                Operation::Take { queue, how }
            }),
        3 => (queue.clone(), -3i64..3, 1u64..5, how).prop_map(|(queue, from, count, how)| {
            let (_, kind, delay, silent) = how;
            let reason = if kind == 1 { &b"why"[..] } else { b"" };
            let how = Nack { delay, dead: kind < 2, reason, silent };
            Operation::Nack { queue, from, count, how }
        }),
        1 => (queue.clone(), -3i64..3, 0u64..90, any::<bool>())
            .prop_map(|(queue, from, milliseconds, start)| {
                Operation::Extend { queue, from, milliseconds, start }
            }),
        1 => (queue.clone(), -3i64..3, consumer(), lease())
            .prop_map(|(queue, from, consumer, lease)| {
                Operation::Claim { queue, from, consumer, lease }
            }),
        2 => (queue.clone(), 1u64..4).prop_map(|(queue, count)| Operation::Redrive { queue, count }),
        1 => (queue.clone(), 2usize..6).prop_map(|(queue, every)| Operation::Delete { queue, every }),
        1 => (queue.clone(), 0u32..4)
            .prop_map(|(queue, some)| Operation::Flush { queue, dead: some > 0 }),
        1 => (queue.clone(), consumer())
            .prop_map(|(queue, consumer)| Operation::DeleteConsumer { queue, consumer }),
        2 => (queue, change(false)).prop_map(|(queue, change)| Operation::Setup { queue, change }),
        1 => (STRICT, change(true)).prop_map(|(queue, change)| Operation::Setup { queue, change }),
        1 => (STRICT, any::<(bool, bool)>(), any::<bool>()).prop_map(|(queue, which, paused)| {
            let which = Paused { push: which.0, pop: which.1 };
            Operation::Pause { queue, which, paused }
        }),
    ]
}

fn how_pushed() -> impl Strategy<Value = How> {
    let some = |most: u64| prop_oneof![Just(0u64), 1..most];
    let times = (some(80), some(80), some(90));
    let fields = (
        prop::option::of(0u32..3),
        prop::option::of(0u8..5),
        0usize..3,
    );
    let way = (
        prop_oneof![Just(0u8), Just(5), Just(255)],
        any::<bool>(),
        any::<bool>(),
    );
    (times, fields, way).prop_map(
        |(times, (retries, token, headers), (priority, front, new))| How {
            delay: times.0,
            ttl: times.1,
            priority,
            front,
            retries,
            token,
            headers,
            new: new.then_some((times.2, 3)),
        },
    )
}

/// Settings; caps only where that was asked for.
fn change(caps: bool) -> impl Strategy<Value = Change> {
    let some = |numbers: &'static [u64]| prop::option::of(prop::sample::select(numbers));
    let times = (some(&[0, 25, 60]), some(&[0, 40, 600_000]), some(&[0, 90]));
    let counts = (some(&[0, 1, 3]), some(&[0, 2]), some(&[0, 4]));
    let backoff = prop::option::of((0u64..30, 1000u32..3000, 0u64..100));
    let flags = prop::option::of(any::<(bool, bool)>());
    let capped = (some(&[0, 6]), some(&[0, 2_000]));
    (times, counts, backoff, flags, capped).prop_map(
        move |(times, counts, backoff, flags, capped)| Change {
            lease: times.0,
            deliveries: counts.0.map(|count| count as u32),
            backoff: backoff.map(|(base, factor, max)| Backoff { base, factor, max }),
            jitter: backoff.map(|(base, ..)| base as u8),
            max_length: capped.0.filter(|_| caps),
            max_bytes: capped.1.filter(|_| caps),
            drops: flags.map(|(drops, _)| drops),
            dedup: times.1,
            expired_dead: flags.map(|(_, dead)| dead),
            dead_max: counts.1,
            dead_ttl: times.2,
            inflight: counts.2,
        },
    )
}

/// A scheduled message with a token, one that is leased, one that is dead, and settings, all in the first queue. Where
/// there is a priority, it is of the one that dies.
pub fn some_life(priority: u8) -> Vec<Operation> {
    let queue = 0;
    let store = |delay: u64, priority: u8, token: u8| Operation::Store {
        queue,
        sizes: vec![15],
        how: How {
            delay,
            priority,
            token: Some(token),
            ttl: 5_000,
            headers: 2,
            ..How::default()
        },
    };
    let take = Operation::Take {
        queue,
        how: Pop {
            count: 1,
            lease: Some(30_000),
            consumer: b"worker",
            ..Pop::default()
        },
    };
    let bury = Operation::Nack {
        queue,
        from: -1,
        count: 1,
        how: Nack {
            dead: true,
            reason: b"why",
            ..Nack::default()
        },
    };
    let change = Change {
        dead_max: Some(9),
        deliveries: Some(4),
        ..Change::default()
    };
    vec![
        Operation::Setup { queue, change },
        store(9_000, 0, 1),
        store(0, priority, 2),
        take.clone(),
        bury,
        take,
    ]
}

const NAMES: [&[u8]; 3] = [b"emails", b"", b"n\xff \0me"];

/// Bytes that differ from message to message; some are nothing but zeros.
pub fn payload(number: u64, size: usize) -> Vec<u8> {
    if number % 7 == 3 {
        return vec![0; size];
    }
    let word = number.wrapping_mul(0x9e37_79b9_7f4a_7c15).to_le_bytes();
    (0..size).map(|n| word[n % 8] ^ (n / 8) as u8).collect()
}

/// Drives a store and remembers what it held after each record.
pub struct Driver {
    pub now: u64,
    /// Whether each record is synced before it counts as answered.
    pub always: bool,
    /// The state after each record, from sequence number 0 on.
    pub states: Vec<State>,
    /// The state after the record that was being written last.
    pub attempted: State,
    /// The last record that a sync said to be durable.
    pub durable: u64,
    pub pushed: BTreeMap<(usize, Id), Vec<u8>>,
    pub acknowledged: BTreeSet<(usize, Id)>,
    /// Every payload that was ever pushed.
    pub payloads: BTreeSet<Vec<u8>>,
    numbers: u64,
    checkpoint: Step,
}

/// How far a checkpoint has come.
#[derive(Default)]
enum Step {
    #[default]
    None,
    Begun(Box<dyn FnOnce() -> Checkpointed>),
    Run(Checkpointed),
}

impl Driver {
    pub fn new<S: Storage>(store: &Store<S>, always: bool) -> Self {
        let mut driver = Self {
            now: 1_000_000,
            always,
            states: Vec::new(),
            attempted: State::default(),
            durable: 0,
            pushed: BTreeMap::new(),
            acknowledged: BTreeSet::new(),
            payloads: BTreeSet::new(),
            numbers: 0,
            checkpoint: Step::None,
        };
        driver.note(store);
        driver
    }

    /// Records that change nothing leave the state as it was.
    fn note<S: Storage>(&mut self, store: &Store<S>) {
        self.durable = self.durable.max(store.synced_through());
        let last = state(store.queues());
        while self.states.len() <= store.appended_through() as usize {
            self.states.push(last.clone());
        }
        self.attempted = last;
    }

    /// Whether a record that could not be written has left no trace.
    fn undone<S: Storage>(&self, store: &Store<S>) -> bool {
        self.states.last() == Some(&state(store.queues()))
    }

    /// A step of a checkpoint, when it is the next one.
    fn step<S: Storage<File: 'static>>(
        &mut self,
        store: &mut Store<S>,
        operation: &Operation,
    ) -> Result<(), Error> {
        let (next, outcome) = match (operation, std::mem::take(&mut self.checkpoint)) {
            (Operation::BeginCheckpoint, step) => match (store.begin_checkpoint(), step) {
                (Ok(None), step) => (step, Ok(())),
                (Ok(Some(begun)), Step::None) => (Step::Begun(Box::new(|| begun.run())), Ok(())),
                (Ok(Some(_)), _) => panic!("two checkpoints at a time"),
                (Err(error), step) => (step, Err(error)),
            },
            (Operation::RunCheckpoint, Step::Begun(run)) => (Step::Run(run()), Ok(())),
            (Operation::EndCheckpoint, Step::Run(ended)) => {
                (Step::None, store.end_checkpoint(ended))
            }
            // The owner lost interest.
            (Operation::EndCheckpoint, Step::Begun(_)) => (Step::None, Ok(())),
            (_, step) => (step, Ok(())),
        };
        self.checkpoint = next;
        outcome
    }

    pub fn run<S: Storage<File: 'static>>(
        &mut self,
        store: &mut Store<S>,
        operation: &Operation,
    ) -> Result<(), Error> {
        match operation {
            Operation::Wait { milliseconds } => {
                self.now = self.now.saturating_add_signed(*milliseconds);
                return Ok(());
            }
            Operation::Sync => {
                let outcome = store.sync().map(|_| ());
                self.note(store);
                return outcome;
            }
            Operation::Checkpoint => {
                let outcome = store.checkpoint();
                self.note(store);
                return outcome;
            }
            Operation::BeginCheckpoint | Operation::RunCheckpoint | Operation::EndCheckpoint => {
                let outcome = self.step(store, operation);
                self.note(store);
                return outcome;
            }
            Operation::Expire { after, .. } => self.now += after,
            _ => {}
        }
        let mut record = store.record()?;
        let before = held(record.queues());
        let pushed = self.change(&mut record, operation)?;
        let payloads = pushed.iter().map(|(_, payload)| payload.clone());
        self.payloads.extend(payloads);
        self.attempted = state(record.queues());
        let after = held(record.queues());
        let gone = before.into_iter().filter(|key| !after.contains(key));
        let acknowledged: Vec<_> = gone.collect();
        // Until it is answered, an acknowledged message may come again or not.
        let gone = acknowledged
            .iter()
            .filter_map(|key| self.pushed.remove_entry(key));
        let gone: Vec<_> = gone.collect();
        let appended = record.append();
        if appended.is_err() && store.poisoned().is_none() && self.undone(store) {
            self.pushed.extend(gone);
        }
        appended?;
        if self.always {
            let synced = store.sync();
            self.note(store);
            synced?;
            self.pushed.extend(pushed);
            self.acknowledged.extend(acknowledged);
        }
        self.note(store);
        if store.wants_checkpoint() {
            let outcome = store.checkpoint();
            self.note(store);
            outcome?;
        }
        Ok(())
    }

    /// Runs an operation as a part of a record; the messages that it pushed.
    fn change<S: Storage>(
        &mut self,
        record: &mut Record<'_, S>,
        operation: &Operation,
    ) -> Result<Vec<Message>, Error> {
        let now = self.now;
        let (moment, place) = (
            Moment {
                now,
                floor: Id::default(),
                defaults: &DEFAULTS,
            },
            (now, &DEFAULTS),
        );
        let mut pushed = Vec::new();
        match operation {
            Operation::Push { queue, sizes } => {
                let payloads = self.payloads(sizes);
                let outcome = record.push(NAMES[*queue], place, None, slices(&payloads));
                pushed = stored(*queue, outcome, payloads)?;
            }
            Operation::Store { queue, sizes, how } => {
                let mut payloads = self.payloads(sizes);
                payloads.truncate(if how.token.is_some() { 1 } else { usize::MAX });
                let headers = [(&b"name"[..], &b"value"[..]), (b"", b"\xff")];
                let headers = Headers::encode(headers.into_iter().take(how.headers));
                let token = how.token.map(|token| [b't', token]);
                let options = PushOptions {
                    delay: how.delay,
                    ttl: how.ttl,
                    priority: how.priority,
                    front: how.front,
                    retries: how.retries,
                    token: token.as_ref().map(|token| &token[..]),
                    unique: how.front,
                    headers: Headers::new(&headers),
                    new: how.new,
                    producer: None,
                    leaving: (0, 0),
                };
                let outcome = record.push(NAMES[*queue], place, Some(&options), slices(&payloads));
                pushed = stored(*queue, outcome, payloads)?;
            }
            Operation::Produce {
                queue,
                sequence,
                sizes,
            } => {
                // The same numbers are the same elements.
                let payloads: Vec<_> = (sizes.iter().zip(*sequence..))
                    .map(|(&size, number)| payload(number << 32, size))
                    .collect();
                let options = PushOptions {
                    producer: Some((b"p", *sequence)),
                    ..PushOptions::default()
                };
                let outcome = record.push(NAMES[*queue], place, Some(&options), slices(&payloads));
                pushed = stored(*queue, outcome, payloads)?;
            }
            Operation::Forward { from, to, count } => {
                let (mut ids, mut payloads) = (Vec::new(), Vec::new());
                record.change(NAMES[*from], |q, effect| {
                    q.pop(&moment, &Pop::of(*count), effect, |m| {
                        ids.push(Receipt::from(m.id));
                        payloads.push(m.payload.to_vec());
                    })
                });
                let outcome = record.push(NAMES[*to], place, None, slices(&payloads));
                let refused = outcome.is_err();
                pushed = stored(*to, outcome, payloads)?;
                if !refused {
                    record.change(NAMES[*from], |q, effect| {
                        q.acknowledge(now, ids.into_iter(), &mut Vec::new(), effect, |_| ());
                    });
                }
            }
            Operation::Remove { queue } => drop(record.remove(NAMES[*queue])),
            Operation::Setup { queue, change } => {
                record.create(NAMES[*queue], |q, effect| q.setup(change, effect));
            }
            Operation::Pause {
                queue,
                which,
                paused,
            } => record.create(NAMES[*queue], |q, effect| q.pause(*which, *paused, effect)),
            Operation::Expire { queue, .. } => {
                let step = |q: &mut Queue, effect: &mut dyn Writer| q.expire(&moment, 3, effect);
                while record.change(NAMES[*queue], step) == Some(true) {}
            }
            Operation::Pop { queue, .. }
            | Operation::Take { queue, .. }
            | Operation::Acknowledge { queue, .. }
            | Operation::Nack { queue, .. }
            | Operation::Extend { queue, .. }
            | Operation::Recover { queue, .. }
            | Operation::Claim { queue, .. }
            | Operation::Redrive { queue, .. }
            | Operation::Delete { queue, .. }
            | Operation::Flush { queue, .. }
            | Operation::DeleteConsumer { queue, .. } => {
                record.change(NAMES[*queue], |q, effect| {
                    change_one(q, &moment, operation, effect);
                });
            }
            _ => {}
        }
        Ok(pushed)
    }

    /// New elements of these sizes.
    fn payloads(&mut self, sizes: &[usize]) -> Vec<Vec<u8>> {
        let payloads = (sizes.iter().zip(self.numbers..))
            .map(|(&size, number)| payload(number, size))
            .collect();
        self.numbers += sizes.len() as u64;
        payloads
    }

    /// Checks a store that was opened again: it holds what some record left, and that is no
    /// earlier one than the last that was durable.
    pub fn check<S: Storage>(&self, store: &Store<S>) -> Result<(), TestCaseError> {
        let found = state(store.queues());
        // Opening adds a record that changes nothing, so the number may be one further.
        let last = store.appended_through();
        let prefix = (self.states.iter().enumerate().rev())
            .find(|(_, state)| **state == found)
            .map(|(sequence, _)| sequence as u64);
        let is_prefix = prefix.is_some_and(|s| s >= self.durable) || found == self.attempted;
        prop_assert!(
            is_prefix,
            "after {last}, of {}, durable {}: {prefix:?}",
            self.states.len(),
            self.durable
        );
        if self.always {
            let get = |queue: usize, id: Id| store.queues().get(NAMES[queue])?.get(id);
            for (&(queue, id), payload) in &self.pushed {
                let held = get(queue, id).is_some_and(|message| message.payload == payload);
                prop_assert!(held, "{id} was answered and is lost");
            }
            for &(queue, id) in &self.acknowledged {
                prop_assert!(get(queue, id).is_none(), "{id} is gone and is back");
            }
        }
        Ok(())
    }
}

/// Where a message is, and its payload.
type Message = ((usize, Id), Vec<u8>);

fn slices(payloads: &[Vec<u8>]) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
    payloads.iter().map(Vec::as_slice)
}

/// The messages of a push: none when it was refused, those that were not stored before otherwise.
fn stored(
    queue: usize,
    outcome: Result<Produced, rq_core::Error>,
    payloads: Vec<Vec<u8>>,
) -> Result<Vec<Message>, Error> {
    use rq_core::Error::{Capped, Duplicate, Gap, Paused};
    let pushed = match outcome {
        Err(Capped(..) | Duplicate(_) | Gap(_) | Paused) => None,
        produced => produced?.pushed,
    };
    let ids: Vec<_> = pushed.iter().flat_map(Pushed::ids).collect();
    let known = payloads.len() - ids.len();
    let payloads = payloads.into_iter().skip(known);
    Ok(ids
        .into_iter()
        .map(|id| (queue, id))
        .zip(payloads)
        .collect())
}

/// All messages, in whatever state.
fn held(queues: &Queues) -> BTreeSet<(usize, Id)> {
    let all = NAMES
        .iter()
        .enumerate()
        .filter_map(|(n, name)| Some((n, queues.get(name)?)));
    all.flat_map(|(n, queue)| every_id(queue).map(move |id| (n, id)))
        .collect()
}

fn every_id(queue: &Queue) -> impl Iterator<Item = Id> {
    let last = Id::new(u64::MAX, u64::MAX);
    queue
        .range(Id::default(), last, false)
        .map(|message| message.id)
}

/// An operation on one queue that makes no IDs.
fn change_one(
    queue: &mut Queue,
    moment: &Moment<'_>,
    operation: &Operation,
    effect: &mut dyn Writer,
) {
    let now = moment.now;
    let pending = |queue: &Queue, from: i64, count: u64| {
        let pending = queue.inspect_pending(now, from, count);
        let receipts = pending.map(|message| message.id.into());
        receipts.collect::<Vec<Receipt>>().into_iter()
    };
    let mut done = Vec::new();
    match operation {
        Operation::Pop { count, .. } => {
            queue.pop(moment, &Pop::of(*count), effect, |_| ());
        }
        Operation::Take { how, .. } => {
            queue.pop(moment, how, effect, |_| ());
        }
        Operation::Acknowledge { from, count, .. } => {
            let receipts = pending(queue, *from, *count);
            queue.acknowledge(now, receipts, &mut done, effect, |_| ());
        }
        Operation::Nack {
            from, count, how, ..
        } => {
            let receipts = pending(queue, *from, *count);
            queue.nack(moment, how, receipts, effect, |_, _| ());
        }
        Operation::Extend {
            from,
            milliseconds,
            start,
            ..
        } => {
            let receipts = pending(queue, *from, 2);
            let how = (*milliseconds, *start);
            queue.extend(now, how, receipts, &mut done, effect, |_| ());
        }
        Operation::Recover { count, .. } => {
            let how = Recover {
                count: *count,
                ..Recover::default()
            };
            queue.recover(moment, &how, effect, |_| ());
        }
        Operation::Claim {
            from,
            consumer,
            lease,
            ..
        } => {
            let receipts = pending(queue, *from, 2);
            queue.claim(moment, (consumer, 0, *lease), receipts, effect, |_| ());
        }
        Operation::Redrive { count, .. } => queue.redrive(now, None, *count, &mut done, effect),
        Operation::Delete { every, .. } => {
            let ids: Vec<Receipt> = every_id(queue).step_by(*every).map(Into::into).collect();
            queue.delete(now, ids.into_iter(), &mut done, effect);
        }
        Operation::Flush { dead, .. } => {
            queue.flush(now, *dead, effect);
        }
        Operation::DeleteConsumer { consumer, .. } => {
            queue.delete_consumer(now, consumer, effect);
        }
        _ => {}
    }
}
