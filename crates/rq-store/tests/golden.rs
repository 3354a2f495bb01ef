//! Bytes of earlier releases: each store under `golden/` must open, and the newest is what the same steps
//! write today.
//!
//! When bytes change: raise the format if older releases can't read them (`docs/store.md`), name a new
//! directory as [`NEWEST`], write it by running this test with `RQ_STORE_GOLDEN=write`, and leave the others
//! as they are.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rq_store::{Disk, Files, Options, Storage, Store};

const NEWEST: &str = "format-1";
const UUID: [u8; 16] = *b"golden bytes 1.0";
const START: u64 = 1_700_000_000_000;

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn push(store: &mut Store<Disk>, name: &[u8], after: u64, elements: &[&[u8]]) {
    let mut record = store.record().unwrap();
    let elements = elements.iter().copied();
    record.push(name, START + after, elements).unwrap();
    record.append().unwrap();
}

fn produce(store: &mut Store<Disk>, name: &[u8], sequence: u64, elements: &[&[u8]]) {
    let mut record = store.record().unwrap();
    let elements = elements.iter().copied();
    record
        .produce(name, START + 3, (b"producer", sequence), elements)
        .unwrap();
    record.append().unwrap();
}

/// Takes messages, and acknowledges the first of them.
fn take(store: &mut Store<Disk>, name: &[u8], after: u64, count: u64) {
    let mut record = store.record().unwrap();
    let mut ids = Vec::new();
    record.change(name, |queue, effect| {
        queue.pop(START + after, count, effect, |message| ids.push(message.id));
    });
    record.change(name, |queue, effect| {
        let first = ids.into_iter().take(1);
        queue.acknowledge(first, &mut Vec::new(), effect);
    });
    record.append().unwrap();
}

/// A checkpoint, and two segments behind it, with all that a store can hold.
fn write() -> BTreeMap<String, Vec<u8>> {
    let disk = Disk::default();
    let options = Options {
        create: Some(UUID),
        segment_bytes: 400,
        checkpoint_bytes: 1 << 20,
    };
    let (mut store, _) = Store::open(disk.clone(), options).unwrap();
    push(&mut store, b"emails", 0, &[b"one", b"", b"three"]);
    push(&mut store, b"gone", 1, &[b"x"]);
    take(&mut store, b"emails", 2, 2);
    produce(&mut store, b"jobs", 1, &[b"first", b"second"]);
    store.checkpoint().unwrap();
    let mut record = store.record().unwrap();
    record.remove(b"gone");
    record
        .push(b"\xff\0", START + 4, [&[7; 300][..]].into_iter())
        .unwrap();
    record.append().unwrap();
    produce(&mut store, b"jobs", 2, &[b"second", b"third"]);
    // In a segment of its own, behind one that is full.
    take(&mut store, b"jobs", 5, 1);
    store.sync().unwrap();
    let mut record = store.record().unwrap();
    record.change(b"emails", |queue, effect| {
        queue.recover(START + 90_000, 1, 60_000, effect, |_| ());
    });
    record.append().unwrap();
    push(&mut store, b"emails", 90_001, &[b"last"]);
    drop(store);
    let names = disk.list().unwrap().into_iter();
    names
        .map(|name| (name.clone(), disk.bytes(&name).unwrap()))
        .collect()
}

fn read(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(path).unwrap().map(Result::unwrap);
    entries
        .map(|entry| {
            let name = entry.file_name().into_string().unwrap();
            (name, fs::read(entry.path()).unwrap())
        })
        .collect()
}

#[test]
fn the_same_steps_write_the_same_bytes() {
    let (path, written) = (golden().join(NEWEST), write());
    if std::env::var_os("RQ_STORE_GOLDEN").is_some_and(|value| value == "write") {
        // Fails where there is one: what was once released stays.
        fs::create_dir(&path).unwrap();
        for (name, bytes) in &written {
            fs::write(path.join(name), bytes).unwrap();
        }
    }
    let kept = read(&path);
    assert!(written.keys().eq(kept.keys()), "{:?}", written.keys());
    for (name, bytes) in &written {
        assert_eq!(bytes, &kept[name], "{name}");
    }
    let segments = kept.keys().filter(|name| name.starts_with("log-"));
    assert_eq!((segments.count(), kept.len()), (2, 4), "{:?}", kept.keys());
}

#[test]
fn what_earlier_releases_wrote_opens() {
    let mut opened = 0;
    for entry in fs::read_dir(golden()).unwrap() {
        let directory = tempfile::tempdir().unwrap();
        for (name, bytes) in read(&entry.unwrap().path()) {
            fs::write(directory.path().join(name), bytes).unwrap();
        }
        let files = Files::new(directory.path());
        let (store, found) = Store::open(files, Options::default()).unwrap();
        assert_eq!((store.uuid(), found.torn), (UUID, None));
        assert!(found.checkpoint > 0 && found.records > 0);
        let held: Vec<_> = store
            .queues()
            .sorted()
            .map(|(name, queue)| {
                queue.check().unwrap();
                let waiting = queue.inspect_waiting(0, 10).map(|m| m.payload.to_vec());
                let pending = queue.inspect_pending(START + 90_001, 0, 10);
                let pending = pending.map(|m| m.payload.to_vec());
                (
                    name.to_vec(),
                    waiting.collect::<Vec<_>>(),
                    pending.collect::<Vec<_>>(),
                )
            })
            .collect();
        let texts = |all: &[&[u8]]| all.iter().map(|text| text.to_vec()).collect::<Vec<_>>();
        let expected = [
            (
                b"emails".to_vec(),
                texts(&[b"three", b"last"]),
                texts(&[b""]),
            ),
            (b"jobs".to_vec(), texts(&[b"second", b"third"]), texts(&[])),
            (b"\xff\0".to_vec(), vec![vec![7; 300]], texts(&[])),
        ];
        assert_eq!(held, expected);
        assert_eq!(store.queues().floor().milliseconds, START + 90_001);
        opened += 1;
    }
    assert!(opened > 0);
}
