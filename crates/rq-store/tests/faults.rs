//! Operations of the disk that fail, once and for ever (E5, E6): typed errors, no trace of what was not
//! stored, nothing lost of what was, and no sync that is believed after one has failed.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{Driver, Operation, effort, open, operation, options, state};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use rq_core::{Change, Moment, Policy, Pop, Receipt};
use rq_store::{Crash, Disk, Error, Failure, Fault, Operation as Asked, Storage, Store};

fn push(size: usize) -> Operation {
    Operation::Push {
        queue: 0,
        sizes: vec![size],
    }
}

fn fault(operation: Asked, after: u64, failure: Failure, forever: bool) -> Fault {
    Fault {
        operation: Some(operation),
        after,
        failure,
        forever,
    }
}

/// Some operations, the same in every run.
fn operations(count: usize) -> Vec<Operation> {
    let mut runner = TestRunner::deterministic();
    let strategy = prop::collection::vec(operation(), count);
    strategy.new_tree(&mut runner).unwrap().current()
}

/// Whether an operation may leave a poisoned store alone.
fn asks_nothing(operation: &Operation) -> bool {
    use Operation::{EndCheckpoint, RunCheckpoint, Wait};
    matches!(operation, Wait { .. } | RunCheckpoint | EndCheckpoint)
}

/// Runs all operations, whatever fails, and checks after each failure that the store is what it was; how many
/// failed.
fn run_through(store: &mut Store<Disk>, driver: &mut Driver, operations: &[Operation]) -> usize {
    let mut failed = 0;
    for operation in operations {
        let before = driver.states.last().unwrap().clone();
        let was_poisoned = store.poisoned().is_some();
        match driver.run(store, operation) {
            Ok(()) => assert!(!was_poisoned || asks_nothing(operation)),
            Err(Error::Full { .. } | Error::Io { .. }) => {
                failed += 1;
                assert!(store.poisoned().is_none());
                // The record, or only the checkpoint after it, did not come about.
                let now = state(store.queues());
                assert!(
                    now == before || Some(&now) == driver.states.last(),
                    "a trace"
                );
            }
            Err(Error::Poisoned { cause }) => {
                failed += 1;
                assert_eq!(store.poisoned(), Some(cause.as_str()));
            }
            Err(error) => panic!("{error}"),
        }
    }
    failed
}

/// Lets each operation of the disk fail in turn.
fn every_fault(failure: Failure, forever: bool, always: bool) {
    let operations = operations(40 + 20 * effort() as usize);
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let start = disk.operations();
    let mut driver = Driver::new(&store, always);
    assert_eq!(run_through(&mut store, &mut driver, &operations), 0);
    for after in 0..disk.operations() - start {
        let disk = Disk::default();
        let (mut store, _) = open(&disk).unwrap();
        let mut driver = Driver::new(&store, always);
        disk.fail(Fault {
            operation: None,
            after,
            failure,
            forever,
        });
        run_through(&mut store, &mut driver, &operations);
        let poisoned = store.poisoned().is_some();
        drop(store);
        // What was synced outlives the power, whatever happened.
        for seed in 0..4 {
            let (store, _) = open(&disk.crash(Crash::Random(seed))).unwrap();
            driver.check(&store).unwrap();
        }
        // The process alone loses nothing that it had appended.
        let (store, _) = open(&disk.crash(Crash::Kept)).unwrap();
        driver.check(&store).unwrap();
        if !poisoned {
            assert_eq!(
                Some(&state(store.queues())),
                driver.states.last(),
                "at {after}"
            );
        }
    }
}

#[test]
fn one_operation_of_the_disk_fails() {
    for always in [false, true] {
        every_fault(Failure::Io, false, always);
        every_fault(Failure::Full, false, always);
    }
}

#[test]
fn the_disk_fails_for_ever() {
    for always in [false, true] {
        every_fault(Failure::Io, true, always);
        every_fault(Failure::Full, true, always);
    }
}

/// E5: a sync fails, once or for ever.
#[test]
fn a_failed_sync_is_never_believed() {
    for forever in [false, true] {
        for n in 0..100 {
            let disk = Disk::default();
            let (mut store, _) = open(&disk).unwrap();
            let mut driver = Driver::new(&store, true);
            disk.fail(fault(Asked::Sync, n, Failure::Io, forever));
            let mut answered = 0;
            let error = loop {
                match driver.run(&mut store, &push(20)) {
                    Ok(()) => answered += 1,
                    Err(error) => break error,
                }
            };
            assert!(answered <= n, "{answered} of {n}");
            // A sync of a checkpoint that is thrown away is no reason to stop; one of the log is.
            if let Error::Poisoned { cause } = error {
                assert!(cause.contains("sync"), "{cause}");
                assert!(matches!(store.record(), Err(Error::Poisoned { .. })));
                assert!(matches!(store.sync(), Err(Error::Poisoned { .. })));
                assert!(matches!(store.checkpoint(), Err(Error::Poisoned { .. })));
                assert!(store.begin_sync().is_none() && !store.wants_checkpoint());
            }
            let (store, _) = open(&disk.crash(Crash::Lost)).unwrap();
            driver.check(&store).unwrap();
        }
    }
}

#[test]
fn a_failure_is_not_hidden_by_a_sync_of_somebody_else() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, false);
    driver.run(&mut store, &push(20)).unwrap();
    disk.fail(fault(Asked::Sync, 0, Failure::Io, false));
    let (one, two) = (store.begin_sync().unwrap(), store.begin_sync().unwrap());
    let (one, two) = (one.run(), two.run());
    assert!(matches!(store.end_sync(two), Err(Error::Poisoned { .. })));
    assert!(matches!(store.end_sync(one), Err(Error::Poisoned { .. })));
    assert_eq!(store.synced_through(), 0);
}

#[test]
fn records_are_appended_while_a_sync_runs() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, false);
    driver.run(&mut store, &push(20)).unwrap();
    let first = store.begin_sync().unwrap();
    // Enough for a new segment meanwhile.
    for size in [1000, 1000, 20] {
        driver.run(&mut store, &push(size)).unwrap();
    }
    let through = store.synced_through();
    store.end_sync(first.run()).unwrap();
    assert!(store.synced_through() >= through.max(1));
    assert!(store.synced_through() < store.appended_through());
    assert_eq!(store.sync().unwrap(), store.synced_through());
    assert!(store.begin_sync().is_none());
}

/// E6: room ends, and comes back.
#[test]
fn a_full_disk_refuses_and_goes_on_when_there_is_room() {
    let operations = operations(120);
    for capacity in (400..12_000).step_by(400 / effort().min(8) as usize) {
        let disk = Disk::default();
        let (mut store, _) = open(&disk).unwrap();
        let mut driver = Driver::new(&store, true);
        disk.set_capacity(Some(capacity));
        let failed = run_through(&mut store, &mut driver, &operations);
        assert!(store.poisoned().is_none());
        let held = state(store.queues());
        disk.set_capacity(None);
        run_through(&mut store, &mut driver, &[push(3_000)]);
        assert!(capacity > 1_000 || failed > 0);
        assert_ne!(state(store.queues()), held, "it goes on");
        drop(store);
        let (store, _) = open(&disk.crash(Crash::Lost)).unwrap();
        driver.check(&store).unwrap();
    }
}

#[test]
fn a_full_disk_is_met_before_anything_changes() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, false);
    driver.run(&mut store, &push(100)).unwrap();
    disk.set_capacity(Some(700));
    let full = driver.run(&mut store, &push(900));
    assert!(matches!(full, Err(Error::Full { .. })), "{full:?}");
    for _ in 0..3 {
        assert!(matches!(store.record(), Err(Error::Full { .. })));
    }
    disk.set_capacity(Some(4_000));
    driver.run(&mut store, &push(900)).unwrap();
    assert_eq!(Some(&state(store.queues())), driver.states.last());
}

/// A large push that has no room is not in the way of what is small.
#[test]
fn acknowledgements_go_on_where_a_large_push_has_no_room() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, false);
    driver.run(&mut store, &push(100)).unwrap();
    disk.set_capacity(Some(12_000));
    let full = driver.run(&mut store, &push(20_000));
    assert!(matches!(full, Err(Error::Full { .. })), "{full:?}");
    assert!(matches!(store.record(), Err(Error::Full { .. })));
    assert!(matches!(store.record_for(20_000), Err(Error::Full { .. })));
    let mut ids = Vec::new();
    let mut record = store.record_for(0).unwrap();
    record.change(b"emails", |q, effect| {
        let moment = Moment::at(9, Default::default());
        q.pop(&moment, &Pop::of(1), effect, |m| {
            ids.push(Receipt::from(m.id))
        })
    });
    record.append().unwrap();
    let mut record = store.record_for(0).unwrap();
    record.change(b"emails", |q, effect| {
        q.acknowledge(9, ids.into_iter(), &mut Vec::new(), effect, |_| ());
    });
    record.append().unwrap();
    assert!(store.queues().is_empty());
    // It is not forgotten what was lacking, until that is there.
    assert!(matches!(store.record(), Err(Error::Full { .. })));
    disk.set_capacity(Some(1_000));
    assert!(matches!(store.record_for(0), Err(Error::Full { .. })));
    disk.set_capacity(Some(12_000));
    assert!(matches!(store.record(), Err(Error::Full { .. })));
    disk.set_capacity(None);
    store.record().unwrap();
    let held = state(store.queues());
    drop(store);
    let (store, opened) = open(&disk).unwrap();
    assert_eq!((state(store.queues()), opened.torn), (held, None));
}

#[test]
fn a_record_that_is_dropped_leaves_no_trace() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, false);
    driver.run(&mut store, &push(100)).unwrap();
    let before = state(store.queues());
    let mut record = store.record().unwrap();
    let place = (5, &Policy::NONE);
    let elements = [&b"x"[..]].into_iter();
    record
        .push(b"emails", place, None, elements.clone())
        .unwrap();
    record.push(b"new", place, None, elements).unwrap();
    let lease = Change {
        lease: Some(5),
        ..Change::default()
    };
    record.create(b"newer", |queue, effect| queue.setup(&lease, effect));
    drop(record);
    assert_eq!(state(store.queues()), before);
    // One without changes is not even written.
    let last = store.appended_through();
    let mut record = store.record().unwrap();
    record.change(b"nobody", |queue, effect| {
        let moment = Moment::at(9, Default::default());
        queue.pop(&moment, &Pop::of(1), effect, |_| ())
    });
    record.create(b"nobody", |queue, effect| {
        queue.setup(&Change::default(), effect);
    });
    assert_eq!(record.append().unwrap(), last);
    assert_eq!(store.appended_through(), last);
}

#[test]
fn opening_fails_cleanly_and_can_be_tried_again() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, false);
    for operation in operations(60) {
        driver.run(&mut store, &operation).unwrap();
    }
    drop(store);
    // A torn tail, so that there is something to cut.
    let name = disk
        .list()
        .unwrap()
        .into_iter()
        .filter(|n| n.starts_with("log-"))
        .max()
        .unwrap();
    let mut bytes = disk.bytes(&name).unwrap();
    bytes.extend_from_slice(&[1; 50]);
    disk.put(&name, &bytes);
    for after in 0..6 {
        let disk = disk.crash(Crash::Kept);
        disk.fail(Fault {
            operation: None,
            after,
            failure: Failure::Io,
            forever: true,
        });
        match Store::open(disk.clone(), options()) {
            Ok(_) => {}
            Err(error) => assert!(matches!(error, Error::Io { .. }), "{error}"),
        }
        disk.heal();
        let (store, _) = open(&disk).unwrap();
        assert_eq!(Some(&state(store.queues())), driver.states.last());
    }
}
