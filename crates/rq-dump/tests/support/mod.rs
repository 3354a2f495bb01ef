//! Queues and dumps for the tests, made without the code under test.
#![allow(clippy::unwrap_used, dead_code, missing_docs, unreachable_pub)]

use std::collections::HashMap;

use crc::{CRC_64_REDIS, Crc};
use rq_core::{Change, Headers, Id, Moment, Nack, Options, Pop, Queue, Receipt, Recover, snapshot};

/// A dump as a server makes it; golden.rs makes the queue, tests/module/test_versions.py describes it.
pub const GOLDEN: &[u8] = include_bytes!("../../../../tests/module/golden/version-1.dump");
/// Type and ID of a module's value, and its end.
pub const HEADER: &[u8] = b"\x07\x81\x44\x42\xC8\x00\x12\xC4\x40\x01";
pub const END: u8 = 0;
/// Bytes of version and checksum.
pub const FOOTER: usize = 10;

/// A queue with messages in every state, some with options, some gone, with producers, tokens and settings.
pub fn queue(count: u64, size: usize) -> Queue {
    let mut queue = Queue::default();
    let (mut effect, mut done, mut ids) = (Vec::new(), Vec::new(), Vec::new());
    let at = |now| Moment::at(now, Id::default());
    let settings = Change {
        lease: Some(60_000),
        deliveries: Some(9),
        ..Change::default()
    };
    queue.setup(&settings, &mut effect);
    for n in 0..count {
        let payload = vec![n as u8; size];
        let elements = [&payload[..], b"12345"].into_iter();
        let pushed = queue.push(&at(1_000 + n / 2), None, elements, &mut effect);
        ids.extend(pushed.unwrap().ids().flatten());
    }
    for name in [&b"one"[..], b"\xff\x00"] {
        let options = Options {
            producer: Some((name, 7)),
            ..Options::default()
        };
        push(&mut queue, 2_000, &options, b"more");
    }
    let headers = Headers::encode([(&b"name"[..], &b"value"[..]), (b"", b"\xff")].into_iter());
    let options = |delay: u64, priority: u8, token: &'static [u8]| Options {
        delay,
        ttl: 9_000_000,
        priority,
        token: Some(token),
        headers: Headers::new(&headers),
        retries: Some(300),
        ..Options::default()
    };
    push(
        &mut queue,
        2_000,
        &options(5_000, 0, b"later"),
        b"scheduled",
    );
    push(&mut queue, 2_000, &options(0, 7, b"dies"), b"dead");
    push(&mut queue, 2_000, &options(0, 7, b"left"), b"gone");
    let front = Options {
        front: true,
        ..Options::default()
    };
    let (mut taken, worker) = (
        Vec::new(),
        Pop {
            consumer: b"w",
            ..Pop::of(2)
        },
    );
    queue.pop(&at(2_500), &worker, &mut effect, |m| {
        taken.push(Receipt::from(m.id))
    });
    let dead = Nack {
        dead: true,
        reason: b"why",
        ..Nack::default()
    };
    let receipts = taken.iter().copied();
    queue.nack(
        &at(2_600),
        &dead,
        receipts.clone().take(1),
        &mut effect,
        |_, _| (),
    );
    queue.acknowledge(2_700, receipts.skip(1), &mut done, &mut effect, |_| ());
    push(&mut queue, 2_800, &front, b"front");
    push(&mut queue, 2_800, &options(0, 200, b"high"), b"high");
    queue.pop(&at(3_000), &Pop::of(count), &mut effect, |_| ());
    let receipts = ids.iter().map(|&id| Receipt::from(id));
    queue.acknowledge(
        3_000,
        receipts.clone().step_by(3),
        &mut done,
        &mut effect,
        |_| (),
    );
    let recover = Recover {
        count: count / 4,
        lease: Some(0),
        ..Recover::default()
    };
    queue.recover(&at(3_010), &recover, &mut effect, |_| ());
    // Some wait again, or will, and some leases end at times of their own.
    let returned = Nack::default();
    queue.nack(
        &at(3_020),
        &returned,
        receipts.clone().step_by(4),
        &mut effect,
        |_, _| (),
    );
    let delayed = Nack {
        delay: Some(700),
        ..Nack::default()
    };
    queue.nack(
        &at(3_030),
        &delayed,
        receipts.clone().step_by(5),
        &mut effect,
        |_, _| (),
    );
    queue.extend(
        3_040,
        (900, true),
        receipts.step_by(7),
        &mut done,
        &mut effect,
        |_| (),
    );
    queue.check().unwrap();
    queue
}

fn push(queue: &mut Queue, now: u64, options: &Options<'_>, payload: &[u8]) {
    let (moment, elements) = (Moment::at(now, Id::default()), [payload].into_iter());
    let pushed = queue.push(&moment, Some(options), elements, &mut Vec::new());
    pushed.unwrap();
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

/// A compressed string, in lengths of the widest form.
pub fn compressed(bytes: &[u8]) -> Vec<u8> {
    let lzf = lzf(bytes);
    [&[0xC3][..], &length(lzf.len()), &length(bytes.len()), &lzf].concat()
}

/// A string as a server writes it: compressed where that makes it shorter, in lengths of the shortest form.
pub fn squeezed(bytes: &[u8]) -> Vec<u8> {
    let short = |length: usize| match length {
        0..64 => vec![length as u8],
        64..16_384 => (0x4000 | length as u16).to_be_bytes().to_vec(),
        _ => [&[0x80][..], &(length as u32).to_be_bytes()].concat(),
    };
    let lzf = lzf(bytes);
    if bytes.len() > 20 && lzf.len() + 4 <= bytes.len() {
        [&[0xC3][..], &short(lzf.len()), &short(bytes.len()), &lzf].concat()
    } else {
        [short(bytes.len()), bytes.to_vec()].concat()
    }
}

/// What the last 3 bytes that were the same lead to is repeated; all else is literal.
fn lzf(bytes: &[u8]) -> Vec<u8> {
    let (mut out, mut seen, mut at, mut literal) = (Vec::new(), HashMap::new(), 0, 0);
    while at < bytes.len() {
        let found = match bytes.get(at..at + 3) {
            Some(three) => seen.insert(three, at).filter(|&start| at - start <= 8192),
            None => None,
        };
        let Some(start) = found else {
            at += 1;
            continue;
        };
        let pairs = bytes[start..].iter().zip(&bytes[at..]);
        let length = pairs
            .take(264)
            .take_while(|(one, other)| one == other)
            .count();
        put_literals(&mut out, &bytes[literal..at]);
        let back = at - start - 1;
        let (high, low) = ((back >> 8) as u8, back as u8);
        match length - 2 {
            few @ 1..=6 => out.extend([(few as u8) << 5 | high, low]),
            many => out.extend([0xE0 | high, (many - 7) as u8, low]),
        }
        at += length;
        literal = at;
    }
    put_literals(&mut out, &bytes[literal..]);
    out
}

fn put_literals(out: &mut Vec<u8>, bytes: &[u8]) {
    for some in bytes.chunks(32) {
        out.push(some.len() as u8 - 1);
        out.extend_from_slice(some);
    }
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
