//! Logs that end anywhere (E3) and flipped bits (E4): a prefix, or a refusal; never a wrong
//! payload.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod common;

use common::{Driver, Operation, effort, open, some_life, state};
use rq_core::Policy;
use rq_store::{Disk, Error, Options, Storage, Store};

fn push(queue: usize, sizes: &[usize]) -> Operation {
    let sizes = sizes.to_vec();
    Operation::Push { queue, sizes }
}

fn produce(queue: usize, sequence: u64, sizes: &[usize]) -> Operation {
    let sizes = sizes.to_vec();
    Operation::Produce {
        queue,
        sequence,
        sizes,
    }
}

/// A store of three segments behind a checkpoint, with producers, deliveries and dead letters on both sides of it, and
/// with an older checkpoint and segment that nobody removed; and what it held after each record.
fn sample(always: bool) -> (Disk, Driver) {
    let disk = Disk::default();
    let options = Options {
        checkpoint_bytes: 1 << 20,
        ..common::options()
    };
    let (mut store, _) = Store::open(disk.clone(), options).unwrap();
    let mut driver = Driver::new(&store, always);
    let mut run = |operations: &[Operation]| {
        for operation in operations {
            driver.run(&mut store, operation).unwrap();
        }
    };
    run(&[
        push(0, &[10, 20, 30]),
        produce(1, 1, &[5, 50]),
        Operation::Checkpoint,
        push(1, &[0, 700]),
        Operation::Pop { queue: 0, count: 2 },
    ]);
    run(&some_life(9));
    let old = contents(&disk);
    run(&[
        Operation::Checkpoint,
        push(2, &[900, 90]),
        produce(1, 2, &[50, 60]),
        push(0, &[600, 600]),
        Operation::Acknowledge {
            queue: 0,
            from: 0,
            count: 1,
        },
        push(1, &[900]),
        produce(0, 1, &[70]),
        Operation::Pop { queue: 1, count: 9 },
        Operation::Redrive { queue: 0, count: 1 },
        Operation::Expire {
            queue: 0,
            after: 10_000,
        },
        push(2, &[1100]),
        push(2, &[40, 40]),
        Operation::Remove { queue: 1 },
        Operation::Forward {
            from: 2,
            to: 0,
            count: 1,
        },
    ]);
    for (name, bytes) in old {
        if disk.bytes(&name).is_none() {
            disk.put(&name, &bytes);
        }
    }
    let count = |kind: &str| named(&disk, kind).len();
    assert_eq!((count("log-"), count("checkpoint-")), (4, 2));
    (disk, driver)
}

fn named(disk: &Disk, kind: &str) -> Vec<String> {
    let names = disk.list().unwrap().into_iter();
    names.filter(|name| name.starts_with(kind)).collect()
}

fn number(name: &str) -> usize {
    let (_, digits) = name.rsplit_once('-').unwrap();
    usize::from_str_radix(digits, 16).unwrap()
}

/// What opening reads: all but what the newest checkpoint made needless.
fn needed(disk: &Disk) -> Vec<(String, Vec<u8>)> {
    let newest = named(disk, "checkpoint-").pop().unwrap();
    let is_needless = |name: &str| {
        let is_log = name.starts_with("log-") && number(name) <= number(&newest);
        is_log || name.starts_with("checkpoint-") && name != newest
    };
    let files = contents(disk).into_iter();
    files.filter(|(name, _)| !is_needless(name)).collect()
}

fn copy(disk: &Disk) -> Disk {
    disk.crash(rq_store::Crash::Kept)
}

fn contents(disk: &Disk) -> Vec<(String, Vec<u8>)> {
    let names = disk.list().unwrap().into_iter();
    names
        .map(|name| (name.clone(), disk.bytes(&name).unwrap()))
        .collect()
}

fn last_segment(disk: &Disk) -> String {
    named(disk, "log-").pop().unwrap()
}

/// The records of a segment that are whole in its first bytes.
fn whole_records(segment: &[u8]) -> usize {
    let (mut at, mut count) = (40, 0);
    while let Some(length) = segment.get(at..at + 4) {
        at += 20 + u32::from_le_bytes(length.try_into().unwrap()) as usize;
        count += usize::from(at <= segment.len());
    }
    count
}

/// Opens a damaged store: a prefix, or a refusal that changes nothing.
fn outcome(disk: &Disk, driver: &Driver) -> Result<Store<Disk>, Error> {
    let before = contents(disk);
    let opened = open(disk);
    match opened {
        Ok((store, _)) => {
            let found = state(store.queues());
            assert!(driver.states.contains(&found), "no prefix");
            Ok(store)
        }
        Err(error) => {
            let offset = match &error {
                Error::Corrupt { file, offset, .. } => {
                    let length = disk.bytes(file).map_or(0, |bytes| bytes.len() as u64);
                    assert!(*offset <= length, "{error}");
                    *offset
                }
                error => panic!("{error}"),
            };
            assert_eq!(contents(disk), before, "changed at {offset}");
            Err(error)
        }
    }
}

#[test]
fn a_log_that_ends_at_any_byte_opens_with_all_whole_records() {
    for always in [false, true] {
        let (disk, driver) = sample(always);
        let name = last_segment(&disk);
        let bytes = disk.bytes(&name).unwrap();
        assert!(bytes.len() > 150, "{}", bytes.len());
        for end in 0..=bytes.len() {
            let disk = copy(&disk);
            disk.put(&name, &bytes[..end]);
            let (store, opened) = open(&disk).unwrap();
            let found = state(store.queues());
            let last = number(&name) - 1 + whole_records(&bytes[..end]);
            assert_eq!(found, driver.states[last], "at {end}");
            if let Some(torn) = opened.torn {
                assert_eq!((&torn.file, torn.offset + torn.bytes), (&name, end as u64));
            }
            drop(store);
            let (_, again) = open(&disk).unwrap();
            assert_eq!(again.torn, None, "cut twice at {end}");
        }
    }
}

#[test]
fn any_other_file_that_ends_early_is_refused() {
    let (disk, driver) = sample(true);
    let last = last_segment(&disk);
    for (name, bytes) in needed(&disk) {
        for end in (0..bytes.len()).filter(|_| name != last) {
            let disk = copy(&disk);
            disk.put(&name, &bytes[..end]);
            assert!(outcome(&disk, &driver).is_err(), "{name} at {end}");
        }
    }
}

#[test]
fn garbage_behind_a_log_is_cut_and_said() {
    let (disk, driver) = sample(true);
    let name = last_segment(&disk);
    for garbage in [&[0u8; 5000][..], &[0xff; 30], b"x"] {
        let disk = copy(&disk);
        let mut bytes = disk.bytes(&name).unwrap();
        let offset = bytes.len() as u64;
        bytes.extend_from_slice(garbage);
        disk.put(&name, &bytes);
        let (store, opened) = open(&disk).unwrap();
        let torn = opened.torn.unwrap();
        assert_eq!((torn.offset, torn.bytes), (offset, garbage.len() as u64));
        assert_eq!(Some(&state(store.queues())), driver.states.last());
    }
}

/// Flips bits of each file; how often it was refused, and opened.
fn flip(disk: &Disk, driver: &Driver, step: usize) -> (usize, usize) {
    let (mut refused, mut opened) = (0, 0);
    let needed = needed(disk);
    for (name, bytes) in contents(disk) {
        let is_needed = needed.iter().any(|(needed, _)| *needed == name);
        for bit in (0..bytes.len() * 8).step_by(step) {
            let disk = copy(disk);
            let mut damaged = bytes.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            disk.put(&name, &damaged);
            match outcome(&disk, driver) {
                Err(_) => refused += 1,
                Ok(store) => {
                    opened += 1;
                    // What was synced is refused rather than cut.
                    let whole = Some(&state(store.queues())) == driver.states.last();
                    let may_be_cut = !driver.always && name.starts_with("log-");
                    assert!(may_be_cut || whole, "{name}, bit {bit}");
                    let is_log = name.starts_with("log-");
                    assert!(is_log || !is_needed, "{name}, bit {bit}");
                }
            }
        }
    }
    (refused, opened)
}

#[test]
fn every_flipped_bit_is_refused_or_gives_a_prefix() {
    for always in [false, true] {
        let (disk, driver) = sample(always);
        let (refused, opened) = flip(&disk, &driver, 1);
        assert!(refused > opened, "{refused} refused, {opened} opened");
    }
}

/// E4 over 64 KiB: every bit with `RQ_STORE_EFFORT`, otherwise some.
#[test]
fn flipped_bits_of_a_long_log_are_refused_or_give_a_prefix() {
    let disk = copy(&sample(true).0);
    let options = Options {
        checkpoint_bytes: 1 << 20,
        ..common::options()
    };
    let (mut store, _) = Store::open(disk.clone(), options).unwrap();
    let mut driver = Driver::new(&store, true);
    let operations = [
        push(0, &[300, 700, 0]),
        produce(2, 1, &[400]),
        Operation::Expire {
            queue: 2,
            after: 601_000,
        },
        Operation::Pop { queue: 0, count: 1 },
    ];
    for operation in operations.iter().cycle() {
        driver.run(&mut store, operation).unwrap();
        let logs = named(&disk, "log-").into_iter();
        if logs
            .map(|name| disk.bytes(&name).unwrap().len())
            .sum::<usize>()
            > 64 << 10
        {
            break;
        }
    }
    drop(store);
    let step = if effort() > 1 { 1 } else { 499 };
    let (refused, opened) = flip(&disk, &driver, step);
    assert!(refused > 10 * opened, "{refused} refused, {opened} opened");
}

#[test]
fn a_missing_file_is_refused() {
    let (disk, driver) = sample(true);
    // A log without its last segment is one that ended there.
    let last = last_segment(&disk);
    let needed = needed(&disk);
    for (name, _) in needed.iter().filter(|(name, _)| *name != last) {
        // Without an older checkpoint, which would do as well.
        let disk = Disk::default();
        (needed.iter()).for_each(|(name, bytes)| disk.put(name, bytes));
        disk.remove(name).unwrap();
        if let Ok(store) = outcome(&disk, &driver) {
            panic!("{name}: {:?}", store.queues().len());
        }
    }
}

#[test]
fn files_of_another_store_are_refused() {
    let (disk, _) = sample(true);
    let other = Disk::default();
    let options = Options {
        create: Some([1; 16]),
        ..common::options()
    };
    drop(Store::open(other.clone(), options).unwrap());
    let identity = other.bytes("identity").unwrap();
    disk.put("identity", &identity);
    assert!(matches!(open(&copy(&disk)), Err(Error::Corrupt { .. })));
}

/// Zeros in a payload look like a hole; that they were synced is told by the record behind them.
#[test]
fn what_was_synced_is_not_taken_for_a_hole() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    for payload in [&[0; 1500][..], b"behind"] {
        let mut record = store.record().unwrap();
        let elements = [payload].into_iter();
        record
            .push(b"zeros", (5, &Policy::NONE), None, elements)
            .unwrap();
        record.append().unwrap();
    }
    let name = last_segment(&disk);
    let damage = |disk: &Disk| {
        let mut bytes = disk.bytes(&name).unwrap();
        bytes[60] ^= 1;
        disk.put(&name, &bytes);
    };
    let unsynced = copy(&disk);
    store.sync().unwrap();
    let synced = copy(&disk);
    damage(&unsynced);
    damage(&synced);
    assert!(matches!(
        open(&synced),
        Err(Error::Corrupt { offset: 40, .. })
    ));
    let (_, opened) = open(&unsynced).unwrap();
    assert_eq!(opened.torn.unwrap().offset, 40);
}
