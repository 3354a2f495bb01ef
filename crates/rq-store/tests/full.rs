//! A real file system without room (E6): typed errors, nothing changed, and it goes on.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    missing_docs,
    dead_code,
    unreachable_pub
)]

#[path = "common/child.rs"]
mod child;
mod common;

use std::fs;

use common::state;
use rq_core::{Moment, Policy, Pop, Receipt};
use rq_store::{Error, Files, Options, Store};

const NAME: &str = "a_full_file_system_refuses_and_goes_on_when_there_is_room";

fn push(store: &mut Store<Files>, size: usize) -> Result<u64, Error> {
    let mut record = store.record_for(size)?;
    let payload = vec![1; size];
    let elements = [&payload[..]].into_iter();
    record.push(b"queue", (7, &Policy::NONE), None, elements)?;
    record.append()
}

/// Takes and acknowledges a message, as one record.
fn settle(store: &mut Store<Files>) -> Result<u64, Error> {
    let mut record = store.record_for(0)?;
    let mut ids = Vec::new();
    record.change(b"queue", |q, effect| {
        let moment = Moment::at(9, Default::default());
        q.pop(&moment, &Pop::of(1), effect, |m| {
            ids.push(Receipt::from(m.id))
        })
    });
    record.change(b"queue", |q, effect| {
        q.acknowledge(9, ids.into_iter(), &mut Vec::new(), effect, |_| ());
    });
    record.append()
}

#[test]
fn a_full_file_system_refuses_and_goes_on_when_there_is_room() {
    let Some(mounted) = child::directory() else {
        let directory = tempfile::tempdir().unwrap();
        let mount = "mount -t tmpfs -o size=512k none \"$1\"";
        return child::with_mount(NAME, mount, directory.path());
    };
    let options = Options {
        create: Some([5; 16]),
        segment_bytes: 40_000,
        checkpoint_bytes: 1 << 20,
    };
    let path = mounted.join("jobs.rq");
    let (mut store, _) = Store::open(Files::new(&path), options.clone()).unwrap();
    let ballast = mounted.join("ballast");
    fs::write(&ballast, vec![0; 128 << 10]).unwrap();
    for size in [3_000, 20_000] {
        let full = loop {
            let before = state(store.queues());
            if let Err(error) = push(&mut store, size) {
                assert_eq!(state(store.queues()), before, "a trace");
                break error;
            }
        };
        assert!(matches!(full, Error::Full { .. }), "{full:?}");
        assert!(full.to_string().contains("make room"), "{full}");
        assert!(full.file().unwrap().starts_with("log-"), "{full}");
    }
    // The copy of all messages has no room either.
    let refused = store.checkpoint();
    assert!(matches!(refused, Err(Error::Full { .. })), "{refused:?}");
    assert_eq!(store.poisoned(), None);
    fs::remove_file(&ballast).unwrap();
    push(&mut store, 20_000).unwrap();
    while !store.queues().is_empty() {
        settle(&mut store).unwrap();
    }
    // All room is back once nothing is left.
    store.checkpoint().unwrap();
    fs::write(&ballast, vec![0; 400 << 10]).unwrap();
    push(&mut store, 3_000).unwrap();
    let held = state(store.queues());
    drop(store);
    let (store, opened) = Store::open(Files::new(&path), options).unwrap();
    assert_eq!((state(store.queues()), opened.torn), (held, None));
}
