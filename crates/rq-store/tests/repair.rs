//! Repairing: what is whole is in the new store, and what is not is on the list.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{Driver, Operation, effort, open, options, some_life, state};
use rq_core::effect::Writer;
use rq_core::{Id, Moment, Policy, Pop, Queue, Receipt};
use rq_store::{Crash, Disk, Error, Files, Options, Storage, Store, repair};

fn push(queue: usize, sizes: &[usize]) -> Operation {
    let sizes = sizes.to_vec();
    Operation::Push { queue, sizes }
}

/// A checkpoint with some queues and deliveries, and a log behind it.
fn sample(priority: u8) -> (Disk, Driver) {
    let disk = Disk::default();
    let options = Options {
        checkpoint_bytes: 1 << 20,
        ..options()
    };
    let (mut store, _) = Store::open(disk.clone(), options).unwrap();
    let mut driver = Driver::new(&store, true);
    let mut operations = vec![
        push(0, &[10, 20, 30]),
        push(1, &[0, 70]),
        Operation::Pop { queue: 0, count: 2 },
    ];
    operations.extend(some_life(priority));
    operations.extend([
        Operation::Checkpoint,
        push(2, &[100, 90]),
        push(0, &[60, 60]),
        Operation::Acknowledge {
            queue: 0,
            from: 0,
            count: 1,
        },
        Operation::Pop { queue: 1, count: 1 },
        Operation::Redrive { queue: 0, count: 1 },
        Operation::Expire {
            queue: 0,
            after: 31_000,
        },
        push(2, &[40]),
    ]);
    for operation in &operations {
        driver.run(&mut store, operation).unwrap();
    }
    (disk, driver)
}

fn copy(disk: &Disk) -> Disk {
    disk.crash(Crash::Kept)
}

/// The payloads in a store.
fn payloads(store: &Store<Disk>) -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for (_, queue) in store.queues().sorted() {
        queue.check().unwrap();
        let last = Id::new(u64::MAX, u64::MAX);
        let messages = queue.range(Id::default(), last, false);
        all.extend(messages.map(|message| message.payload.to_vec()));
    }
    all
}

#[test]
fn a_whole_store_is_copied() {
    let (disk, driver) = sample(0);
    let target = Disk::default();
    let repaired = repair(copy(&disk), target.clone(), options()).unwrap();
    assert_eq!(repaired.losses, []);
    let (store, _) = open(&target).unwrap();
    assert_eq!(Some(&state(store.queues())), driver.states.last());
    assert_eq!(repaired.queues as usize, store.queues().len());
}

#[test]
fn every_flipped_bit_costs_little_and_is_listed() {
    every_flipped_bit(0);
}

#[test]
fn every_flipped_bit_costs_little_where_there_are_priorities() {
    every_flipped_bit(9);
}

fn every_flipped_bit(priority: u8) {
    let (disk, driver) = sample(priority);
    let given = driver.pushed.len();
    let step = if effort() > 1 { 1 } else { 5 };
    for name in disk.list().unwrap() {
        let bytes = disk.bytes(&name).unwrap();
        for bit in (0..bytes.len() * 8).step_by(step) {
            let damaged = copy(&disk);
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            damaged.put(&name, &flipped);
            let target = Disk::default();
            let repaired = repair(damaged.clone(), target.clone(), options()).unwrap();
            assert_eq!(
                damaged.bytes(&name).as_ref(),
                Some(&flipped),
                "it was changed"
            );
            let (mut store, _) = open(&target).unwrap();
            let whole = Some(&state(store.queues())) == driver.states.last();
            assert!(whole || !repaired.losses.is_empty(), "{name}, bit {bit}");
            // No payload that was never given, and of the log at most one record is missing.
            let found = payloads(&store);
            for payload in &found {
                assert!(driver.payloads.contains(payload), "{name}, bit {bit}");
            }
            if name.starts_with("log-") {
                assert!(
                    found.len() + 2 >= given,
                    "{name}, bit {bit}: {}",
                    found.len()
                );
            }
            // The new store works.
            let mut again = Driver::new(&store, true);
            again.now = driver.now;
            again.run(&mut store, &push(0, &[5])).unwrap();
        }
    }
}

fn pop(queue: &mut Queue, now: u64, count: u64, effect: &mut dyn Writer) {
    let moment = Moment::at(now, Id::default());
    queue.pop(&moment, &Pop::of(count), effect, |_| ());
}

/// A checkpoint of several frames a queue, and a log that takes and acknowledges all of it but the last ten
/// messages of each queue. The IDs that were acknowledged, and those that were not.
fn drained() -> (Disk, Vec<Id>, Vec<Id>) {
    let disk = Disk::default();
    let options = Options {
        checkpoint_bytes: 1 << 30,
        segment_bytes: 1 << 14,
        ..options()
    };
    let (mut store, _) = Store::open(disk.clone(), options).unwrap();
    let (mut gone, mut left) = (Vec::new(), Vec::new());
    let names = [&b"a"[..], b"b"];
    for name in names {
        let mut record = store.record().unwrap();
        let elements: Vec<_> = (0..600).map(|n| common::payload(n, 300)).collect();
        let elements = elements.iter().map(Vec::as_slice);
        let place = (5, &Policy::NONE);
        let pushed = record.push(name, place, None, elements).unwrap();
        let ids: Vec<Id> = pushed.ids().flatten().collect();
        record.change(name, |q, effect| pop(q, 6, 20, effect));
        record.append().unwrap();
        gone.extend(&ids[..590]);
        left.extend(&ids[590..]);
    }
    store.checkpoint().unwrap();
    for name in names {
        let mut taken = 20;
        while taken < 600 {
            let mut record = store.record().unwrap();
            record.change(name, |q, effect| pop(q, 7, 29, effect));
            record.append().unwrap();
            taken += 29;
        }
        for _ in 0..59 {
            let mut record = store.record().unwrap();
            record.change(name, |q, effect| {
                let ids = q.inspect_pending(9, 0, 10).map(|m| Receipt::from(m.id));
                let ids: Vec<_> = ids.collect();
                q.acknowledge(9, ids.into_iter(), &mut Vec::new(), effect, |_| ());
            });
            record.append().unwrap();
        }
    }
    store.sync().unwrap();
    (disk, gone, left)
}

/// Acknowledgements behind a damaged frame came back as messages, since they did not fit: hundreds of
/// thousands of them, where the frame had hundreds.
#[test]
fn what_was_acknowledged_does_not_come_back() {
    let (disk, gone, left) = drained();
    let files = disk.list().unwrap();
    let damageable = files.iter().filter(|name| name.contains('-'));
    let mut losses = 0;
    for name in damageable {
        let bytes = disk.bytes(name).unwrap();
        // The header says whose file it is; a header of a frame says where the next one is.
        for at in (0..bytes.len()).step_by(if effort() > 1 { 97 } else { 4_099 }) {
            let damaged = copy(&disk);
            let mut flipped = bytes.clone();
            flipped[at] ^= 16;
            damaged.put(name, &flipped);
            let target = Disk::default();
            let repaired = repair(damaged, target.clone(), options()).unwrap();
            losses += repaired.losses.len();
            let (store, _) = open(&target).unwrap();
            let has = |id: &Id| (store.queues().sorted()).any(|(_, q)| q.get(*id).is_some());
            let back = gone.iter().filter(|id| has(id)).count();
            let missing = left.iter().filter(|id| !has(id)).count();
            payloads(&store);
            if name.starts_with("checkpoint") {
                assert_eq!(back, 0, "{name}, byte {at}");
                // Those that are left are all in the last frame of messages of their queue.
                assert!(missing <= 10, "{name}, byte {at}: {missing}");
            } else {
                // Nothing but the damaged record.
                assert!(back <= 10, "{name}, byte {at}: {back}");
                assert_eq!(missing, 0, "{name}, byte {at}");
            }
            assert!(repaired.losses.len() <= 2, "{:?}", repaired.losses);
        }
    }
    assert!(losses > 0);
}

#[test]
fn a_missing_file_is_listed() {
    let (disk, _) = sample(0);
    for name in disk.list().unwrap() {
        let damaged = copy(&disk);
        damaged.remove(&name).unwrap();
        let target = Disk::default();
        let repaired = repair(damaged, target.clone(), options()).unwrap();
        assert!(!repaired.losses.is_empty(), "{name}");
        open(&target).unwrap();
    }
}

#[test]
fn neither_a_store_in_use_nor_one_that_is_there_is_touched() {
    let (disk, _) = sample(0);
    let from = copy(&disk);
    let (_store, _) = open(&from).unwrap();
    let busy = repair(from.clone(), Disk::default(), options());
    assert!(matches!(busy, Err(Error::Busy)), "{busy:?}");
    let there = repair(copy(&disk), copy(&disk), options());
    assert!(matches!(there, Err(Error::Occupied { .. })), "{there:?}");
    let empty = repair(Disk::default(), Disk::default(), options());
    assert!(matches!(empty, Err(Error::Missing)), "{empty:?}");
}

#[test]
fn whatever_is_wrong_with_source_or_destination_is_told_apart() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let files = |name: &str| Files::new(path(name));
    let (store, _) = Store::open(files("a"), options()).unwrap();
    let run = |source: &str, destination: &str| {
        let failed = repair(files(source), files(destination), options()).unwrap_err();
        assert!(!path("new").exists(), "{failed}");
        failed
    };
    assert!(matches!(run("a", "new"), Error::Busy));
    drop(store);
    std::os::unix::fs::symlink(path("a"), path("link")).unwrap();
    for same in ["a", "./a", "link"] {
        assert!(matches!(run("a", same), Error::Same), "{same}");
    }
    assert!(matches!(run("none", "new"), Error::Missing));
    drop(Store::open(files("b"), options()).unwrap());
    let occupied = run("a", "b").to_string();
    assert!(
        occupied.starts_with("the destination is there already"),
        "{occupied}"
    );
    let unmade = run("a", "none/new");
    assert!(matches!(&unmade, Error::Destination(_)), "{unmade:?}");
    assert!(
        unmade
            .to_string()
            .starts_with("the destination could not be made: "),
        "{unmade}"
    );
    std::fs::write(path("file"), "mine").unwrap();
    assert!(matches!(run("a", "file"), Error::Destination(_)));
    assert!(matches!(run("file", "new"), Error::Io { .. }));
    // An empty directory is as good as none.
    std::fs::create_dir(path("empty")).unwrap();
    assert_eq!(
        repair(files("a"), files("empty"), options())
            .unwrap()
            .losses,
        []
    );
}
