//! Queues and dumps for the tests, made without the code under test.
#![allow(clippy::unwrap_used, dead_code, missing_docs, unreachable_pub)]

use crc::{CRC_64_REDIS, Crc};
use rq_core::{Id, Queue, snapshot};

/// What a server dumped; tests/module/test_versions.py describes the queue.
pub const GOLDEN: &[u8] = include_bytes!("../../../../tests/module/golden/version-1.dump");
/// Type and ID of a module's value, and its end.
pub const HEADER: &[u8] = b"\x07\x81\x44\x42\xC8\x00\x12\xC4\x40\x01";
pub const END: u8 = 0;
/// Bytes of version and checksum.
pub const FOOTER: usize = 10;

/// A queue with waiting and delivered messages, some delivered again, some gone, and producers.
pub fn queue(count: u64, size: usize) -> Queue {
    let mut queue = Queue::default();
    let (mut effect, mut done, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    for n in 0..count {
        let payload = vec![n as u8; size];
        let elements = [&payload[..], b"12345"].into_iter();
        let pushed = queue.push(1_000 + n / 2, Id::default(), elements, &mut effect);
        ids.extend(pushed.unwrap().ids());
    }
    for name in [&b"one"[..], b"\xff\x00"] {
        let elements = [&b"more"[..]].into_iter();
        let produced = queue.produce(2_000, Id::default(), (name, 7), elements, &mut effect);
        produced.unwrap();
    }
    queue.pop(3_000, count, &mut effect, |_| ());
    queue.acknowledge(ids.iter().copied().step_by(3), &mut done, &mut effect);
    queue.recover(3_010, count / 4, 0, &mut effect, |_| ());
    queue.check().unwrap();
    queue
}

pub fn parts(queue: &Queue) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    snapshot::write(queue, |part| parts.push(part.to_vec()));
    parts
}

/// A length in the widest form, which servers read and do not write.
pub fn length(value: usize) -> Vec<u8> {
    [&[0x81][..], &(value as u64).to_be_bytes()].concat()
}

pub fn plain(bytes: &[u8]) -> Vec<u8> {
    [length(bytes.len()), bytes.to_vec()].concat()
}

/// A compressed string. Only repetitions of a single byte are found, which is enough to have both kinds.
pub fn compressed(bytes: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for run in bytes.chunk_by(|one, next| one == next) {
        out.extend([0, run[0]]);
        for repetition in run[1..].chunks(264) {
            match repetition.len() {
                1..=2 => repetition.iter().for_each(|&byte| out.extend([0, byte])),
                few @ 3..=8 => out.extend([(few as u8 - 2) << 5, 0]),
                many => out.extend([0xE0, (many - 9) as u8, 0]),
            }
        }
    }
    [&[0xC3][..], &length(out.len()), &length(bytes.len()), &out].concat()
}

/// A value of these strings, with neither version nor checksum.
pub fn value(strings: &[Vec<u8>]) -> Vec<u8> {
    let strings = strings.iter().map(|string| [&[5][..], string].concat());
    [
        HEADER.to_vec(),
        strings.collect::<Vec<_>>().concat(),
        vec![END],
    ]
    .concat()
}

/// A value as a server of this RDB version dumps it.
pub fn sealed(value: &[u8], version: u16) -> Vec<u8> {
    checked([value, &version.to_le_bytes()].concat())
}

/// With its checksum.
pub fn checked(mut bytes: Vec<u8>) -> Vec<u8> {
    let checksum = Crc::<u64>::new(&CRC_64_REDIS).checksum(&bytes);
    bytes.extend(checksum.to_le_bytes());
    bytes
}

/// With a checksum that says that none was computed.
pub fn unchecked(mut bytes: Vec<u8>) -> Vec<u8> {
    bytes.extend([0; 8]);
    bytes
}
