//! Bytes that a release wrote are read by every later one. `golden/v1.txt` holds a snapshot and the
//! effects of a fixed story, a line each, in hexadecimal; a new format gets a new file, and this
//! one stays.
#![allow(clippy::unwrap_used, missing_docs)]

use rq_core::{Id, Queue, snapshot};

const V1: &str = include_str!("golden/v1.txt");
const PAYLOADS: [&[u8]; 4] = [b"first", b"", b"third \x00\xff", b"fourth"];

/// The story: four messages, three delivered, one recovered, one acknowledged; two more by
/// producers, one of which is forgotten.
fn story(mut each: impl FnMut(&[u8])) -> Queue {
    let mut queue = Queue::new(Id::new(1_700_000_000_000, 41));
    let (mut effect, mut done) = (Vec::new(), Vec::new());
    let now = 1_700_000_000_000;
    let pushed = queue
        .push(now, Id::default(), PAYLOADS.into_iter(), &mut effect)
        .unwrap();
    each(&effect);
    queue.pop(now + 5, 2, &mut effect, |_| ());
    each(&effect);
    queue.pop(now + 6, 1, &mut effect, |_| ());
    each(&effect);
    queue.recover(now + 10, 1, 5, &mut effect, |_| ());
    each(&effect);
    queue.acknowledge(pushed.ids().skip(1).take(1), &mut done, &mut effect);
    each(&effect);
    let from = (&b"producer"[..], 5);
    queue
        .produce(
            now + 11,
            Id::default(),
            from,
            [&b"fifth"[..]].into_iter(),
            &mut effect,
        )
        .unwrap();
    each(&effect);
    let from = (&b"other"[..], 1);
    queue
        .produce(
            now + 12,
            Id::default(),
            from,
            [&b"sixth"[..]].into_iter(),
            &mut effect,
        )
        .unwrap();
    each(&effect);
    queue.expire(now + 600_011, 10, &mut effect);
    each(&effect);
    queue
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(line: &str) -> Vec<u8> {
    let pairs = line.as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn lines(kind: &str) -> Vec<Vec<u8>> {
    (V1.lines().filter_map(|line| line.strip_prefix(kind)))
        .map(|line| bytes(line.trim()))
        .collect()
}

fn written(queue: &Queue) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    snapshot::write(queue, |part| parts.push(part.to_vec()));
    parts
}

#[test]
fn version_1_is_still_written_and_read() {
    let mut text = String::new();
    let queue = story(|effect| text.push_str(&format!("effect {}\n", hexadecimal(effect))));
    for part in written(&queue) {
        text.push_str(&format!("part {}\n", hexadecimal(&part)));
    }
    assert_eq!(
        V1, text,
        "the format has changed: see docs/format.md, Versions"
    );

    let mut applied = Queue::new(Id::new(1_700_000_000_000, 41));
    for (n, effect) in lines("effect ").iter().enumerate() {
        let payloads: &[&[u8]] = match n {
            0 => &PAYLOADS,
            5 => &[b"fifth"],
            6 => &[b"sixth"],
            _ => &[],
        };
        applied.apply(effect, payloads.iter().copied()).unwrap();
    }
    applied.check().unwrap();
    assert_eq!(written(&applied), lines("part "));

    let mut loader = snapshot::Loader::default();
    let ends: Vec<bool> = lines("part ")
        .iter()
        .map(|part| loader.feed(part).unwrap())
        .collect();
    assert_eq!(ends, [false, false, false, false, true]);
    let loaded = loader.finish();
    loaded.check().unwrap();
    assert_eq!(written(&loaded), lines("part "));
    assert_eq!((loaded.waiting(), loaded.delivered()), (3, 2));
}

#[test]
fn later_versions_are_refused() {
    for mut effect in lines("effect ") {
        effect[0] = 2;
        let payloads: &[&[u8]] = &[];
        let refused = Queue::default()
            .apply(&effect, payloads.iter().copied())
            .unwrap_err();
        assert!(refused.to_string().contains("version"), "{refused}");
    }
}
