//! A store in a real directory.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use common::{Driver, Operation, operation, options, state};
use proptest::prelude::*;
use rq_core::Policy;
use rq_store::{Error, Files, Options, Store, identity};

fn open(path: &std::path::Path) -> Result<(Store<Files>, rq_store::Opened), Error> {
    Store::open(Files::new(path), options())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_appended_is_there_when_the_process_ended(
        operations in prop::collection::vec(operation(), 1..80)
    ) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("jobs.rq");
        let (mut store, opened) = open(&path).unwrap();
        prop_assert!(opened.created);
        let mut driver = Driver::new(&store, false);
        for (n, operation) in operations.iter().enumerate() {
            driver.run(&mut store, operation).unwrap();
            if n % 20 == 19 {
                drop(store);
                store = open(&path).unwrap().0;
                prop_assert_eq!(Some(&state(store.queues())), driver.states.last());
                driver = Driver::new(&store, false);
            }
        }
        drop(store);
        let (store, opened) = open(&path).unwrap();
        prop_assert!(!opened.created && opened.torn.is_none());
        prop_assert_eq!(Some(&state(store.queues())), driver.states.last());
        store.close().unwrap();
    }
}

#[test]
fn a_second_owner_is_refused_until_the_first_ends() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _) = open(directory.path()).unwrap();
    assert!(matches!(open(directory.path()), Err(Error::Busy)));
    drop(store);
    assert!(open(directory.path()).is_ok());
    assert!(directory.path().join("lock").exists());
}

/// Pushes were answered, and went into files that had no name any more.
#[test]
fn a_store_that_is_gone_takes_nothing_more() {
    type Go = fn(&std::path::Path);
    let ways: [(&str, Go); 4] = [
        ("removed", |path| fs::remove_dir_all(path).unwrap()),
        ("moved", |path| {
            fs::rename(path, path.with_extension("old")).unwrap()
        }),
        ("replaced", |path| {
            fs::rename(path, path.with_extension("old")).unwrap();
            drop(open(path).unwrap());
        }),
        ("unlocked", |path| {
            fs::remove_file(path.join("lock")).unwrap()
        }),
    ];
    for (way, go) in ways {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("jobs.rq");
        let (mut store, _) = open(&path).unwrap();
        let push = |store: &mut Store<Files>| {
            let mut record = store.record()?;
            record.push(
                b"queue",
                (7, &Policy::NONE),
                None,
                [&b"body"[..]].into_iter(),
            )?;
            record.append()
        };
        push(&mut store).unwrap();
        store.ensure_there().unwrap();
        go(&path);
        let gone = store.ensure_there().unwrap_err();
        assert!(matches!(gone, Error::Poisoned { .. }), "{way}: {gone:?}");
        assert!(
            gone.to_string().contains("removed, moved or replaced"),
            "{gone}"
        );
        assert!(
            matches!(push(&mut store), Err(Error::Poisoned { .. })),
            "{way}"
        );
        assert!(matches!(store.sync(), Err(Error::Poisoned { .. })), "{way}");
        assert!(
            matches!(store.checkpoint(), Err(Error::Poisoned { .. })),
            "{way}"
        );
    }
}

#[test]
fn a_store_is_made_only_when_that_was_asked_for() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("jobs.rq");
    let none = Options::default();
    let opened = Store::open(Files::new(&path), none.clone());
    assert!(matches!(opened, Err(Error::Missing)));
    assert!(!path.exists());
    fs::create_dir(&path).unwrap();
    let opened = Store::open(Files::new(&path), none);
    assert!(matches!(opened, Err(Error::Missing)));
    assert_eq!(fs::read_dir(&path).unwrap().count(), 0);
}

#[test]
fn a_directory_with_something_else_is_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    fs::write(directory.path().join("notes.txt"), "mine").unwrap();
    let opened = open(directory.path());
    assert!(matches!(opened, Err(Error::Foreign { file }) if file == "notes.txt"));
    assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 1);
}

#[test]
fn the_identity_stays() {
    let directory = tempfile::tempdir().unwrap();
    let (store, _) = open(directory.path()).unwrap();
    let uuid = store.uuid();
    drop(store);
    let other = Options {
        create: Some([9; 16]),
        ..options()
    };
    let (store, opened) = Store::open(Files::new(directory.path()), other).unwrap();
    assert_eq!((store.uuid(), opened.created), (uuid, false));
}

#[test]
fn the_identity_is_read_without_opening_the_store() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("jobs.rq");
    assert!(matches!(identity(&Files::new(&path)), Err(Error::Missing)));
    assert!(!path.exists());
    let (store, _) = open(&path).unwrap();
    assert_eq!(identity(&Files::new(&path)).unwrap(), store.uuid());
    fs::write(path.join("identity"), b"short").unwrap();
    let damaged = identity(&Files::new(&path));
    assert!(matches!(damaged, Err(Error::Corrupt { .. })), "{damaged:?}");
    // A store that is not made yet has no more than an empty log.
    fs::remove_file(path.join("identity")).unwrap();
    assert!(matches!(identity(&Files::new(&path)), Err(Error::Missing)));
}

#[test]
fn a_store_without_its_identity_is_damaged_and_not_missing() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path();
    let (mut store, _) = open(path).unwrap();
    let mut record = store.record().unwrap();
    record
        .push(
            b"queue",
            (7, &Policy::NONE),
            None,
            [&b"body"[..]].into_iter(),
        )
        .unwrap();
    record.append().unwrap();
    store.close().unwrap();
    fs::remove_file(path.join("identity")).unwrap();
    for lock in [true, false] {
        if !lock {
            fs::remove_file(path.join("lock")).unwrap();
        }
        let read = identity(&Files::new(path)).unwrap_err();
        let made = open(path).unwrap_err();
        let opened = Store::open(Files::new(path), Options::default()).unwrap_err();
        for error in [read, made, opened] {
            assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
            assert_eq!(error.file(), Some("identity"));
        }
        assert_eq!(path.join("lock").exists(), lock);
    }
}

#[test]
fn a_newer_format_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    drop(open(directory.path()).unwrap());
    let identity = directory.path().join("identity");
    let mut bytes = fs::read(&identity).unwrap();
    bytes[8] = 2;
    let check = crc32c::crc32c(&bytes[..36]);
    bytes[36..].copy_from_slice(&check.to_le_bytes());
    fs::write(&identity, &bytes).unwrap();
    let opened = open(directory.path());
    assert!(matches!(opened, Err(Error::Newer { version: 2, .. })));
}

#[test]
fn checkpoints_keep_the_directory_small() {
    let directory = tempfile::tempdir().unwrap();
    let (mut store, _) = open(directory.path()).unwrap();
    let mut driver = Driver::new(&store, false);
    let round = [
        Operation::Push {
            queue: 0,
            sizes: vec![300, 300],
        },
        Operation::Pop { queue: 0, count: 2 },
        Operation::Acknowledge {
            queue: 0,
            from: 0,
            count: 2,
        },
    ];
    for operation in round.iter().cycle().take(600) {
        driver.run(&mut store, operation).unwrap();
    }
    let files = fs::read_dir(directory.path()).unwrap();
    let bytes: u64 = files
        .map(|file| file.unwrap().metadata().unwrap().len())
        .sum();
    assert!(bytes < 20_000, "{bytes}");
    assert!(store.queues().is_empty());
    // The IDs that were given are not forgotten with the queues.
    let floor = store.queues().floor();
    drop(store);
    let (store, _) = open(directory.path()).unwrap();
    assert!(floor.sequence > 100 && store.queues().floor() == floor);
}

/// Several threads push, and each waits until its record is durable; one syncs for all that wait.
#[test]
fn one_sync_serves_many() {
    let directory = tempfile::tempdir().unwrap();
    let store = Mutex::new(open(directory.path()).unwrap().0);
    let (threads, each) = (4, 50);
    let syncs = AtomicU64::new(0);
    std::thread::scope(|scope| {
        for thread in 0..threads {
            let (store, syncs) = (&store, &syncs);
            scope.spawn(move || {
                for n in 0..each {
                    let mut held = store.lock().unwrap();
                    let mut record = held.record().unwrap();
                    let payload = format!("{thread} {n}");
                    let elements = [payload.as_bytes()].into_iter();
                    record
                        .push(b"queue", (9, &Policy::NONE), None, elements)
                        .unwrap();
                    let sequence = record.append().unwrap();
                    while held.synced_through() < sequence {
                        let syncing = held.begin_sync().unwrap();
                        drop(held);
                        let synced = syncing.run();
                        syncs.fetch_add(1, Ordering::Relaxed);
                        held = store.lock().unwrap();
                        held.end_sync(synced).unwrap();
                    }
                }
            });
        }
    });
    // A sync that was begun after a record covers it.
    assert!(syncs.into_inner() <= threads * each);
    let mut store = store.into_inner().unwrap();
    assert_eq!(store.queues().get(b"queue").unwrap().len(), threads * each);
    store.checkpoint().unwrap();
    drop(store);
    let (store, _) = open(directory.path()).unwrap();
    assert_eq!(store.queues().get(b"queue").unwrap().len(), threads * each);
}

#[test]
fn what_is_no_directory_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("a file");
    fs::write(&path, "mine").unwrap();
    assert!(matches!(open(&path), Err(Error::Io { .. })));
    let opened = open(&directory.path().join("not there").join("jobs.rq"));
    assert!(matches!(opened, Err(Error::Io { .. })));
    assert_eq!(fs::read(&path).unwrap(), b"mine");
}
