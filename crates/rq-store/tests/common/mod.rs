//! What the tests share: operations on a store, and what it must hold after each of them.
#![allow(dead_code, missing_docs, unreachable_pub, clippy::panic)]

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use rq_core::{Id, snapshot};
use rq_store::{Checkpointed, Disk, Error, Opened, Options, Queues, Storage, Store};

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

#[derive(Debug, Clone)]
pub enum Operation {
    Push {
        queue: usize,
        sizes: Vec<usize>,
    },
    /// A push that a producer numbers; perhaps one that it sent before, or with a gap.
    Produce {
        queue: usize,
        sequence: u64,
        sizes: Vec<usize>,
    },
    /// Ten minutes and more pass, and producers are forgotten.
    Expire {
        queue: usize,
    },
    Pop {
        queue: usize,
        count: u64,
    },
    Acknowledge {
        queue: usize,
        from: i64,
        count: u64,
    },
    Recover {
        queue: usize,
        count: u64,
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

pub fn operation() -> impl Strategy<Value = Operation> {
    let queue = 0usize..3;
    let size = prop_oneof![6 => 0usize..120, 2 => 400usize..1300];
    prop_oneof![
        6 => (queue.clone(), prop::collection::vec(size, 1..5))
            .prop_map(|(queue, sizes)| Operation::Push { queue, sizes }),
        2 => (queue.clone(), 1u64..9, prop::collection::vec(0usize..100, 1..5))
            .prop_map(|(queue, sequence, sizes)| Operation::Produce { queue, sequence, sizes }),
        1 => queue.clone().prop_map(|queue| Operation::Expire { queue }),
        4 => (queue.clone(), 1u64..5).prop_map(|(queue, count)| Operation::Pop { queue, count }),
        5 => (queue.clone(), -3i64..3, 1u64..8)
            .prop_map(|(queue, from, count)| Operation::Acknowledge { queue, from, count }),
        1 => (queue.clone(), 1u64..4).prop_map(|(queue, count)| Operation::Recover { queue, count }),
        1 => (queue.clone(), queue.clone(), 1u64..4)
            .prop_map(|(from, to, count)| Operation::Forward { from, to, count }),
        1 => queue.prop_map(|queue| Operation::Remove { queue }),
        3 => (-20i64..60).prop_map(|milliseconds| Operation::Wait { milliseconds }),
        2 => Just(Operation::Sync),
        1 => Just(Operation::Checkpoint),
        1 => Just(Operation::BeginCheckpoint),
        1 => Just(Operation::RunCheckpoint),
        1 => Just(Operation::EndCheckpoint),
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
        let (mut pushed, mut acknowledged) = (Vec::new(), Vec::new());
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
            _ => {}
        }
        let now = self.now;
        let mut record = store.record()?;
        match operation {
            Operation::Push { queue, sizes } => {
                let payloads: Vec<_> = (sizes.iter().zip(self.numbers..))
                    .map(|(&size, number)| payload(number, size))
                    .collect();
                self.numbers += sizes.len() as u64;
                let elements = payloads.iter().map(Vec::as_slice);
                let ids = record.push(NAMES[*queue], now, elements)?;
                pushed.extend(ids.ids().map(|id| (*queue, id)).zip(payloads));
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
                let elements = payloads.iter().map(Vec::as_slice);
                match record.produce(NAMES[*queue], now, (b"p", *sequence), elements) {
                    Err(rq_core::Error::Gap(_)) => {}
                    produced => {
                        let produced = produced?.pushed;
                        let ids: Vec<_> = produced.iter().flat_map(|ids| ids.ids()).collect();
                        let stored = payloads[payloads.len() - ids.len()..].to_vec();
                        pushed.extend(ids.into_iter().map(|id| (*queue, id)).zip(stored));
                    }
                }
            }
            Operation::Expire { queue } => {
                self.now += 601_000;
                let now = self.now;
                record.change(NAMES[*queue], |q, effect| q.expire(now, 10, effect));
            }
            Operation::Pop { queue, count } => {
                record.change(NAMES[*queue], |q, effect| {
                    q.pop(now, *count, effect, |_| ())
                });
            }
            Operation::Acknowledge { queue, from, count } => {
                let ids = record.queues().get(NAMES[*queue]).map(|q| {
                    let pending = q.inspect_pending(now, *from, *count);
                    pending.map(|message| message.id).collect::<Vec<_>>()
                });
                record.change(NAMES[*queue], |q, effect| {
                    let ids = ids.unwrap_or_default();
                    acknowledged.extend(ids.iter().map(|&id| (*queue, id)));
                    q.acknowledge(ids.into_iter(), &mut Vec::new(), effect);
                });
            }
            Operation::Recover { queue, count } => {
                record.change(NAMES[*queue], |q, effect| {
                    q.recover(now, *count, 0, effect, |_| ())
                });
            }
            Operation::Forward { from, to, count } => {
                let mut taken = Vec::new();
                record.change(NAMES[*from], |q, effect| {
                    q.pop(now, *count, effect, |m| {
                        taken.push((m.id, m.payload.to_vec()))
                    })
                });
                acknowledged.extend(taken.iter().map(|&(id, _)| (*from, id)));
                let ids = taken.iter().map(|(id, _)| *id);
                record.change(NAMES[*from], |q, effect| {
                    q.acknowledge(ids, &mut Vec::new(), effect)
                });
                let elements = taken.iter().map(|(_, payload)| payload.as_slice());
                let ids = record.push(NAMES[*to], now, elements)?;
                let payloads = taken.iter().map(|(_, payload)| payload.clone());
                pushed.extend(ids.ids().map(|id| (*to, id)).zip(payloads));
            }
            Operation::Remove { queue } => {
                if let Some(q) = record.queues().get(NAMES[*queue]) {
                    let waiting = q.inspect_waiting(0, u64::MAX).map(|m| m.id);
                    let pending = q.inspect_pending(now, 0, u64::MAX).map(|m| m.id);
                    acknowledged.extend(waiting.chain(pending).map(|id| (*queue, id)));
                }
                record.remove(NAMES[*queue]);
            }
            _ => {}
        }
        self.attempted = state(record.queues());
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
            for ((queue, id), payload) in &self.pushed {
                let held = store.queues().get(NAMES[*queue]);
                let held = held.is_some_and(|q| {
                    let waiting = q.inspect_waiting(0, u64::MAX).map(|m| (m.id, m.payload));
                    let pending = (q.inspect_pending(0, 0, u64::MAX)).map(|m| (m.id, m.payload));
                    waiting
                        .chain(pending)
                        .any(|m| m == (*id, payload.as_slice()))
                });
                prop_assert!(held, "{id} was answered and is lost");
            }
            for (queue, id) in &self.acknowledged {
                let back = (store.queues().get(NAMES[*queue])).is_some_and(|q| {
                    let waiting = q.inspect_waiting(0, u64::MAX).map(|m| m.id);
                    let pending = q.inspect_pending(0, 0, u64::MAX).map(|m| m.id);
                    waiting.chain(pending).any(|m| m == *id)
                });
                prop_assert!(!back, "{id} was acknowledged and is back");
            }
        }
        Ok(())
    }
}
