//! What a server dumped, for ever: tests/module/test_versions.py describes the queue, and reads the same files.
//!
//! When bytes change: raise the version if older releases can't read them (`docs/format.md`), name a new one as [`NEWEST`],
//! write its files by running this test with `RQ_DUMP_GOLDEN=write`, and leave the others as they are.
#![allow(clippy::unwrap_used, missing_docs)]

mod support;

use std::fs;
use std::path::PathBuf;

use rq_core::{Change, Headers, Id, Moment, Nack, Options, Pop, Queue, Receipt, Recover, State};
use support::{GOLDEN, HEADER, checked, parts, squeezed};

const NEWEST: &str = "version-1";
const MADE: u64 = 1_900_000_000_000;

fn file(ending: &str) -> PathBuf {
    let golden = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../tests/module/golden");
    golden.join(format!("{NEWEST}.{ending}"))
}

fn at(after: u64) -> Moment<'static> {
    Moment::at(MADE + after, Id::default())
}

/// A queue that is being made, and the commands in an append-only file of its making.
struct Making {
    queue: Queue,
    log: Vec<u8>,
}

impl Making {
    fn command(&mut self, words: &[&[u8]]) {
        self.log.extend(format!("*{}\r\n", words.len()).bytes());
        for word in words {
            self.log.extend(format!("${}\r\n", word.len()).bytes());
            self.log.extend_from_slice(word);
            self.log.extend_from_slice(b"\r\n");
        }
    }

    fn change(&mut self, payloads: &[&[u8]], change: impl FnOnce(&mut Queue, &mut Vec<u8>)) {
        let mut effect = Vec::new();
        change(&mut self.queue, &mut effect);
        assert!(!effect.is_empty());
        let words = [&b"RQ.APPLY"[..], b"q", &effect];
        self.command(&[&words, payloads].concat());
    }

    fn push(&mut self, after: u64, options: Option<&Options<'_>>, payloads: &[&[u8]]) {
        self.change(payloads, |queue, effect| {
            let elements = payloads.iter().copied();
            queue.push(&at(after), options, elements, effect).unwrap();
        });
    }

    /// Takes messages; the last of them.
    fn pop(&mut self, after: u64, pop: &Pop<'_>) -> Receipt {
        let mut taken = None;
        self.change(&[], |queue, effect| {
            queue.pop(&at(after), pop, effect, |m| taken = Some(m.id.into()));
        });
        taken.unwrap()
    }

    fn acknowledge(&mut self, after: u64, receipt: Receipt) {
        self.change(&[], |queue, effect| {
            let receipts = [receipt].into_iter();
            queue.acknowledge(MADE + after, receipts, &mut Vec::new(), effect, |_| ());
        });
    }
}

/// Makes the queue: waiting and delivered messages, then one of every other state, and all that is remembered.
fn made() -> Making {
    let mut making = Making {
        queue: Queue::default(),
        log: Vec::new(),
    };
    making.command(&[b"SELECT", b"0"]);
    let (bytes, long): (Vec<u8>, _) = ((0..=255).collect(), b"long".repeat(2000));
    making.push(0, None, &[b"one", b"two", b"", &bytes]);
    making.push(7, None, &[b"five", &long, b"seven"]);
    making.pop(20, &Pop::of(4));
    making.change(&[], |queue, effect| {
        let recover = Recover {
            count: 2,
            ..Recover::default()
        };
        queue.recover(&at(33), &recover, effect, |_| ());
    });
    making.acknowledge(34, Id::new(MADE, 2).into());
    let settings = Change {
        lease: Some(3_600_000),
        deliveries: Some(5),
        dead_max: Some(100),
        ..Change::default()
    };
    making.change(&[], |queue, effect| queue.setup(&settings, effect));
    let headers = Headers::encode([(&b"name"[..], &b"value"[..]), (b"", b"\xff")].into_iter());
    let plain = Options::default();
    let later = Options {
        delay: 10_000_000,
        ttl: 20_000_000,
        priority: 9,
        retries: Some(2),
        token: Some(b"later"),
        headers: Headers::new(&headers),
        ..plain
    };
    making.push(40, Some(&later), &[b"scheduled"]);
    let high = Options {
        priority: 3,
        ..plain
    };
    making.push(41, Some(&high), &[b"dead"]);
    let worker = Pop {
        consumer: b"worker",
        ..Pop::of(1)
    };
    let taken = making.pop(42, &worker);
    making.change(&[], |queue, effect| {
        let nack = Nack {
            dead: true,
            reason: b"poison",
            ..Nack::default()
        };
        queue.nack(&at(43), &nack, [taken].into_iter(), effect, |_, _| ());
    });
    making.push(44, Some(&high), &[b"leased"]);
    making.pop(45, &worker);
    let left = Options {
        token: Some(b"left"),
        ..high
    };
    making.push(46, Some(&left), &[b"left"]);
    let taken = making.pop(47, &Pop::of(1));
    making.acknowledge(48, taken);
    let produced = Options {
        producer: Some((b"producer", 7)),
        ..plain
    };
    making.push(49, Some(&produced), &[b"produced"]);
    making
}

/// The queue as a server dumps it: long strings are compressed where that makes them shorter.
fn dumped(queue: &Queue) -> Vec<u8> {
    let mut out = HEADER.to_vec();
    for part in parts(queue) {
        out.push(5);
        out.extend(squeezed(&part));
    }
    out.extend([support::END, 10, 0]);
    checked(out)
}

fn check(queue: &Queue) {
    queue.check().unwrap();
    let waiting: Vec<_> = queue
        .inspect_waiting(0, u64::MAX)
        .map(|message| (message.id, message.payload.to_vec()))
        .collect();
    let long = b"long".repeat(2000);
    let expected = [
        (7, 1, &b"five"[..]),
        (7, 2, &long[..]),
        (7, 3, b"seven"),
        (49, 1, b"produced"),
    ];
    assert_eq!(
        waiting,
        expected
            .map(|(after, sequence, payload)| (Id::new(MADE + after, sequence), payload.into()))
    );
    let pending: Vec<_> = queue
        .inspect_pending(MADE, 0, u64::MAX)
        .map(|message| {
            let after = message.last_delivery - MADE;
            (message.payload.to_vec(), after, message.deliveries)
        })
        .collect();
    let bytes: Vec<u8> = (0..=255).collect();
    assert_eq!(
        pending,
        [
            (vec![], 20, 1),
            (bytes, 20, 1),
            (b"one".to_vec(), 33, 2),
            (b"leased".to_vec(), 45, 1)
        ]
    );
    let leased = queue.get(Id::new(MADE + 44, 1)).unwrap().meta;
    assert_eq!(leased.deadline, MADE + 45 + 3_600_000);
    assert_eq!(leased.consumer, b"worker");
    let scheduled = queue.get(queue.by_token(b"later").unwrap()).unwrap().meta;
    let fields = scheduled.fields;
    assert_eq!(scheduled.state, State::Scheduled);
    assert_eq!((fields.priority, fields.retries), (9, Some(2)));
    assert_eq!(
        (fields.expiry, fields.headers.count()),
        (MADE + 30_000_040, 2)
    );
    let due: Vec<_> = queue.due_later().map(|m| (m.payload, m.due)).collect();
    assert_eq!(due, [(&b"scheduled"[..], MADE + 10_000_040)]);
    let dead: Vec<_> = queue
        .dead()
        .map(|m| (m.payload, m.reason, m.died))
        .collect();
    assert_eq!(dead, [(&b"dead"[..], &b"poison"[..], MADE + 43)]);
    let policy = queue.policy();
    assert_eq!((policy.lease, policy.deliveries), (3_600_000, 5));
    assert_eq!((policy.dead_max, policy.kept), (100, true));
    let counters = queue.counters();
    assert_eq!(
        (counters.sent, counters.received, counters.returned_recover),
        (12, 9, 2)
    );
    assert_eq!((counters.dead, counters.deleted), (1, 2));
}

#[test]
fn a_server_s_dump_is_read_and_written() {
    let queue = rq_dump::read(GOLDEN).unwrap();
    check(&queue);
    let written = rq_dump::write(&queue);
    check(&rq_dump::read(&written).unwrap());
    // But for the compression, these are the server's bytes: type, end and version.
    assert_eq!(written[..HEADER.len()], GOLDEN[..HEADER.len()]);
    let end = |bytes: &[u8]| bytes[bytes.len() - 14..bytes.len() - 8].to_vec();
    assert_eq!(end(&written), end(GOLDEN));
}

#[test]
fn the_same_steps_write_the_same_bytes() {
    let Making { queue, log } = made();
    check(&queue);
    let dump = dumped(&queue);
    if std::env::var_os("RQ_DUMP_GOLDEN").is_some_and(|value| value == "write") {
        // Fails where they are: what was once released stays.
        for (ending, bytes) in [("dump", &dump), ("aof", &log)] {
            let mut new = fs::File::create_new(file(ending)).unwrap();
            std::io::Write::write_all(&mut new, bytes).unwrap();
        }
    }
    assert_eq!(fs::read(file("aof")).unwrap(), log);
    assert_eq!(fs::read(file("dump")).unwrap(), dump);
}

#[test]
fn what_was_remembered_is_known_again() {
    let mut queue = rq_dump::read(GOLDEN).unwrap();
    for options in [
        Options {
            token: Some(b"left"),
            ..Options::default()
        },
        Options {
            token: Some(b"later"),
            ..Options::default()
        },
        Options {
            producer: Some((b"producer", 7)),
            ..Options::default()
        },
    ] {
        let elements = [&b"again"[..]].into_iter();
        let mut effect = Vec::new();
        let pushed = queue.push(&at(100), Some(&options), elements, &mut effect);
        let produced = pushed.unwrap();
        assert_eq!((produced.known.len(), produced.pushed), (1, None));
    }
}
