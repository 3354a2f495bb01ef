//! Checkpoints that are written while records are appended.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

use common::{Driver, Operation, effort, open, options, some_life, state};
use rq_core::{Moment, Policy, Pop, Receipt};
use rq_store::{
    Checkpointed, Checkpointing, Crash, Disk, Error, Failure, Fault, Files, OpenFile,
    Operation as Asked, Options, Storage, Store,
};

fn push(queue: usize, size: usize) -> Operation {
    let sizes = vec![size];
    Operation::Push { queue, sizes }
}

/// Appends, syncs and rolls of the log at every step of a checkpoint.
fn operations() -> Vec<Operation> {
    let mut all = some_life(9);
    all.extend([
        push(0, 700),
        push(1, 300),
        Operation::Pop { queue: 0, count: 1 },
        Operation::BeginCheckpoint,
        push(0, 900),
        Operation::Sync,
        Operation::Acknowledge {
            queue: 0,
            from: 0,
            count: 1,
        },
        push(2, 1300),
        Operation::BeginCheckpoint,
        Operation::RunCheckpoint,
        push(2, 400),
        Operation::Remove { queue: 1 },
        push(0, 1200),
        Operation::Checkpoint,
        Operation::EndCheckpoint,
        push(1, 50),
        Operation::BeginCheckpoint,
        Operation::RunCheckpoint,
        push(1, 60),
        Operation::EndCheckpoint,
        Operation::Redrive { queue: 0, count: 1 },
        push(1, 70),
    ]);
    all
}

fn files(disk: &Disk, kind: &str) -> Vec<String> {
    let names = disk.list().unwrap().into_iter();
    names.filter(|name| name.starts_with(kind)).collect()
}

#[test]
fn the_power_fails_at_every_step() {
    let run = |power: Option<u64>| {
        let disk = Disk::default();
        let (mut store, _) = open(&disk).unwrap();
        if let Some(after) = power {
            disk.power_off_after(after);
        }
        let start = disk.operations();
        let mut driver = Driver::new(&store, true);
        let all = operations();
        let failed = (all.iter()).find_map(|o| driver.run(&mut store, o).err());
        (disk.operations() - start, disk, driver, failed)
    };
    let (steps, disk, ..) = run(None);
    assert_eq!(files(&disk, "checkpoint-").len(), 1);
    assert!(steps > 60, "{steps}");
    for step in 0..steps {
        let (_, disk, driver, failed) = run(Some(step));
        assert!(failed.is_some() || step + 8 > steps, "{step} of {steps}");
        for seed in 0..100 * u64::from(effort()) {
            let crash = match seed {
                0 => Crash::Lost,
                1 => Crash::Kept,
                seed => Crash::Random(seed),
            };
            let disk = disk.crash(crash);
            let (store, _) = open(&disk).unwrap();
            driver.check(&store).unwrap();
            assert!(
                disk.list()
                    .unwrap()
                    .iter()
                    .all(|name| !name.ends_with(".new"))
            );
        }
    }
}

/// Each operation of the disk fails, once or for ever, while a checkpoint is made: the store goes on,
/// or is poisoned.
#[test]
fn every_step_fails() {
    let all = operations();
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let start = disk.operations();
    let mut driver = Driver::new(&store, true);
    (all.iter()).for_each(|operation| driver.run(&mut store, operation).unwrap());
    let steps = disk.operations() - start;
    for (failure, forever) in [
        (Failure::Io, false),
        (Failure::Io, true),
        (Failure::Full, false),
        (Failure::Full, true),
    ] {
        let mut failed = 0;
        for after in 0..steps {
            let disk = Disk::default();
            let (mut store, _) = open(&disk).unwrap();
            let mut driver = Driver::new(&store, true);
            let fault = Fault {
                operation: None,
                after,
                failure,
                forever,
            };
            disk.fail(fault);
            for operation in &all {
                let before = driver.states.last().unwrap().clone();
                match driver.run(&mut store, operation) {
                    Ok(()) => {}
                    Err(Error::Poisoned { .. }) => {
                        assert!(store.poisoned().is_some());
                        failed += 1;
                    }
                    Err(_) => {
                        assert!(store.poisoned().is_none());
                        let now = state(store.queues());
                        assert!(now == before || Some(&now) == driver.states.last());
                        failed += 1;
                    }
                }
            }
            for crash in [Crash::Kept, Crash::Lost, Crash::Random(after)] {
                let (store, _) = open(&disk.crash(crash)).unwrap();
                driver.check(&store).unwrap();
            }
            disk.heal();
            if store.poisoned().is_none() {
                // The next one works, and nothing unfinished stays.
                drop(driver);
                let held = state(store.queues());
                Driver::new(&store, true)
                    .run(&mut store, &push(0, 10))
                    .unwrap();
                store.checkpoint().unwrap();
                assert_eq!(files(&disk, "checkpoint-").len(), 1);
                assert_ne!(state(store.queues()), held);
            }
        }
        assert!(failed > 40, "{failed}");
    }
}

/// A failed sync of a checkpoint concerns that file alone; one of the directory, everything.
#[test]
fn what_fails_is_told_from_what_is_unknown() {
    let begin = || {
        let disk = Disk::default();
        let (mut store, _) = open(&disk).unwrap();
        Driver::new(&store, true)
            .run(&mut store, &push(0, 100))
            .unwrap();
        let begun = store.begin_checkpoint().unwrap().unwrap();
        (disk, store, begun)
    };
    let fault = |operation| Fault {
        operation: Some(operation),
        after: 0,
        failure: Failure::Io,
        forever: false,
    };
    for (operation, poisons) in [
        (Asked::Write, false),
        (Asked::Sync, false),
        (Asked::Directory, false),
        (Asked::SyncDirectory, true),
    ] {
        let (disk, mut store, begun) = begin();
        disk.fail(fault(operation));
        let ended = store.end_checkpoint(begun.run());
        assert_eq!(
            matches!(ended, Err(Error::Poisoned { .. })),
            poisons,
            "{ended:?}"
        );
        assert!(ended.is_err());
        assert_eq!(store.poisoned().is_some(), poisons);
        if !poisons {
            assert_eq!(files(&disk, "checkpoint-"), [""; 0]);
            store.checkpoint().unwrap();
            assert_eq!(files(&disk, "checkpoint-").len(), 1);
        }
    }
    // A store that was poisoned meanwhile gives no names.
    let (disk, mut store, begun) = begin();
    let mut driver = Driver::new(&store, true);
    disk.fail(fault(Asked::Sync));
    driver.run(&mut store, &push(0, 5)).unwrap_err();
    let ended = store.end_checkpoint(begun.run());
    assert!(matches!(ended, Err(Error::Poisoned { .. })), "{ended:?}");
    assert!(matches!(
        store.begin_checkpoint(),
        Err(Error::Poisoned { .. })
    ));
    let left = files(&disk, "checkpoint-");
    assert!(left.iter().all(|name| name.ends_with(".new")), "{left:?}");
}

#[test]
fn only_one_is_written_at_a_time() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    assert!(store.begin_checkpoint().unwrap().is_none(), "no record");
    let mut driver = Driver::new(&store, true);
    driver.run(&mut store, &push(0, 100)).unwrap();
    let begun = store.begin_checkpoint().unwrap().unwrap();
    // Enough that one would be wanted.
    for size in [1200; 5] {
        driver.run(&mut store, &push(1, size)).unwrap();
    }
    assert!(!store.wants_checkpoint());
    assert!(store.begin_checkpoint().unwrap().is_none());
    let ended = begun.run();
    assert!(store.begin_checkpoint().unwrap().is_none());
    store.checkpoint().unwrap();
    assert_eq!(files(&disk, "checkpoint-").len(), 1);
    // An outcome of another store changes nothing.
    let (mut other, _) = open(&Disk::default()).unwrap();
    other.end_checkpoint(ended).unwrap();
    assert_eq!(
        files(&disk, "checkpoint-"),
        ["checkpoint-0000000000000002.new"]
    );
    // That one was given up, so there can be another.
    assert!(store.wants_checkpoint());
    drop(store.begin_checkpoint().unwrap().unwrap());
    let begun = store.begin_checkpoint().unwrap().unwrap();
    store.end_checkpoint(begun.run()).unwrap();
    assert_eq!(files(&disk, "checkpoint-").len(), 1);
    assert_eq!(files(&disk, "log-").len(), 1);
    drop(store);
    let (store, opened) = open(&disk.crash(Crash::Lost)).unwrap();
    assert_eq!(opened.records, 0);
    driver.check(&store).unwrap();
}

/// Whoever opens the store next is not disturbed by one that still runs.
#[test]
fn the_store_may_go_while_one_is_written() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, true);
    driver.run(&mut store, &push(0, 100)).unwrap();
    let old = store.begin_checkpoint().unwrap().unwrap();
    drop(store);
    let (mut store, _) = open(&disk).unwrap();
    driver.run(&mut store, &push(0, 200)).unwrap();
    let new = store.begin_checkpoint().unwrap().unwrap();
    let (new, old) = (new.run(), old.run());
    store.end_checkpoint(old).unwrap();
    assert!(
        store.begin_checkpoint().unwrap().is_none(),
        "one is written"
    );
    store.end_checkpoint(new).unwrap();
    assert_eq!(files(&disk, "checkpoint-").len(), 1);
    drop(store);
    let (store, _) = open(&disk).unwrap();
    driver.check(&store).unwrap();
}

/// What is logged while a checkpoint is written counts for the next one.
#[test]
fn the_next_one_is_due_from_the_beginning_of_the_last() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, false);
    driver.run(&mut store, &push(0, 100)).unwrap();
    let begun = store.begin_checkpoint().unwrap().unwrap();
    let needed = options().checkpoint_bytes / 1000 + 1;
    for _ in 0..needed {
        driver.run(&mut store, &push(1, 1000)).unwrap();
    }
    assert!(!store.wants_checkpoint());
    store.end_checkpoint(begun.run()).unwrap();
    assert!(store.wants_checkpoint());
}

#[test]
fn stores_and_checkpoints_go_from_thread_to_thread() {
    fn crosses<T: Send + Sync>() {}
    crosses::<Store<Files>>();
    crosses::<Checkpointing<OpenFile>>();
    crosses::<Checkpointed>();
    let directory = tempfile::tempdir().unwrap();
    let (store, _) = Store::open(Files::new(directory.path()), options()).unwrap();
    let mut driver = Driver::new(&store, false);
    let (store, done) = (Mutex::new(store), AtomicBool::new(false));
    let written = std::thread::scope(|scope| {
        let writer = scope.spawn(|| {
            let mut written = 0;
            loop {
                let last = done.load(Ordering::Acquire);
                let begun = store.lock().unwrap().begin_checkpoint().unwrap();
                if let Some(begun) = begun {
                    let ended = begun.run();
                    store.lock().unwrap().end_checkpoint(ended).unwrap();
                    written += 1;
                }
                if last {
                    return written;
                }
            }
        });
        for n in 0..2_000 {
            let mut store = store.lock().unwrap();
            driver.now += 1;
            let mut record = store.record().unwrap();
            let payload = common::payload(n, 30 + n as usize % 200);
            let place = (driver.now, &Policy::NONE);
            record
                .push(b"a", place, None, [&payload[..]].into_iter())
                .unwrap();
            if n % 3 > 0 {
                let mut ids = Vec::new();
                record.change(b"a", |q, effect| {
                    let moment = Moment::at(n, Default::default());
                    q.pop(&moment, &Pop::of(1), effect, |m| {
                        ids.push(Receipt::from(m.id))
                    })
                });
                record.change(b"a", |q, effect| {
                    q.acknowledge(n, ids.into_iter(), &mut Vec::new(), effect, |_| ());
                });
            }
            record.append().unwrap();
        }
        done.store(true, Ordering::Release);
        writer.join().unwrap()
    });
    assert!(written > 0);
    let store = store.into_inner().unwrap();
    let held = state(store.queues());
    drop(store);
    let (store, opened) = Store::open(Files::new(directory.path()), options()).unwrap();
    assert_eq!(state(store.queues()), held);
    assert_eq!((opened.records, opened.torn), (0, None));
}

/// A drained store kept its size on disk until the log had grown to it.
#[test]
fn a_drained_store_is_bloated_until_its_checkpoint() {
    let disk = Disk::default();
    let open = || {
        Store::open(
            disk.clone(),
            Options {
                create: Some([3; 16]),
                ..Options::default()
            },
        )
    };
    let (mut store, _) = open().unwrap();
    assert!(!store.is_bloated());
    let payload = vec![1; 1 << 20];
    let names = [&b"a"[..], b"b"];
    for _ in 0..6 {
        for name in names {
            let mut record = store.record().unwrap();
            let elements = [&payload[..]].into_iter();
            record
                .push(name, (5, &Policy::NONE), None, elements)
                .unwrap();
            record.append().unwrap();
            assert!(!store.is_bloated());
        }
    }
    store.checkpoint().unwrap();
    assert!(!store.is_bloated());
    let drain = |store: &mut Store<Disk>, name: &[u8]| {
        let mut record = store.record().unwrap();
        record.change(name, |queue, effect| {
            let moment = Moment::at(6, Default::default());
            queue.pop(&moment, &Pop::of(9), effect, |_| ())
        });
        record.change(name, |queue, effect| {
            let ids = queue.inspect_pending(7, 0, 9).map(|m| Receipt::from(m.id));
            let ids: Vec<_> = ids.collect();
            queue.acknowledge(7, ids.into_iter(), &mut Vec::new(), effect, |_| ());
        });
        record.append().unwrap();
    };
    drain(&mut store, names[0]);
    assert!(!store.is_bloated(), "half of it is needed");
    drain(&mut store, names[1]);
    assert!(store.is_bloated() && !store.wants_checkpoint());
    store.close().unwrap();
    let (mut store, _) = open().unwrap();
    assert!(store.is_bloated());
    let begun = store.begin_checkpoint().unwrap().unwrap();
    assert!(!store.is_bloated(), "one is being written");
    store.end_checkpoint(begun.run()).unwrap();
    assert!(!store.is_bloated());
    store.close().unwrap();
    assert!(!open().unwrap().0.is_bloated());
}
