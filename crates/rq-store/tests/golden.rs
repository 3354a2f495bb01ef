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

use rq_core::effect::Writer;
use rq_core::{
    Backoff, Change, Headers, Id, Moment, Nack, Options as PushOptions, Paused, Policy, Pop, Queue,
    Receipt, Recover, State,
};
use rq_store::{Disk, Files, Options, Record, Storage, Store};

const NEWEST: &str = "format-1";
const UUID: [u8; 16] = *b"golden bytes 1.0";
const START: u64 = 1_700_000_000_000;

/// A payload, and where its message stands.
type Shown<'a> = (&'a [u8], State);

fn golden() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

fn at(after: u64) -> Moment<'static> {
    Moment::at(START + after, Id::default())
}

fn change(store: &mut Store<Disk>, changes: impl FnOnce(&mut Record<'_, Disk>)) {
    let mut record = store.record().unwrap();
    changes(&mut record);
    record.append().unwrap();
}

fn push_in(
    record: &mut Record<'_, Disk>,
    name: &[u8],
    after: u64,
    options: Option<&PushOptions<'_>>,
    elements: &[&[u8]],
) {
    let elements = elements.iter().copied();
    let place = (START + after, &Policy::NONE);
    record.push(name, place, options, elements).unwrap();
}

fn push(store: &mut Store<Disk>, name: &[u8], after: u64, elements: &[&[u8]]) {
    change(store, |record| push_in(record, name, after, None, elements));
}

fn push_with(
    store: &mut Store<Disk>,
    name: &[u8],
    after: u64,
    options: &PushOptions<'_>,
    payload: &[u8],
) {
    change(store, |record| {
        push_in(record, name, after, Some(options), &[payload]);
    });
}

fn produce(store: &mut Store<Disk>, name: &[u8], sequence: u64, elements: &[&[u8]]) {
    let options = PushOptions {
        producer: Some((b"producer", sequence)),
        ..PushOptions::default()
    };
    change(store, |record| {
        push_in(record, name, 3, Some(&options), elements);
    });
}

/// Takes messages, and acknowledges the first of them.
fn take(store: &mut Store<Disk>, name: &[u8], after: u64, how: &Pop<'_>) {
    let mut ids = Vec::new();
    change(store, |record| {
        record.change(name, |queue, effect| {
            queue.pop(&at(after), how, effect, |message| {
                ids.push(Receipt::from(message.id));
            });
        });
        record.change(name, |queue, effect| {
            let first = ids.into_iter().take(1);
            queue.acknowledge(START + after, first, &mut Vec::new(), effect, |_| ());
        });
    });
}

/// Does something to one queue.
fn does(store: &mut Store<Disk>, name: &[u8], what: impl FnOnce(&mut Queue, &mut dyn Writer)) {
    change(store, |record| {
        record.change(name, what);
    });
}

/// The delivered message with a payload.
fn held(queue: &Queue, payload: &[u8]) -> Receipt {
    let mut pending = queue.inspect_pending(START, 0, u64::MAX);
    let message = pending.find(|message| message.payload == payload).unwrap();
    message.id.into()
}

/// Before the checkpoint: messages of every state, with all that can travel with them, and settings.
fn first_life(store: &mut Store<Disk>) {
    let settings = Change {
        lease: Some(30_000),
        deliveries: Some(3),
        backoff: Some(Backoff {
            base: 1_000,
            factor: 2_500,
            max: 60_000,
        }),
        jitter: Some(10),
        max_length: Some(100),
        max_bytes: Some(100_000),
        drops: Some(true),
        dedup: Some(900_000),
        expired_dead: Some(true),
        dead_max: Some(50),
        dead_ttl: Some(86_400_000),
        inflight: Some(20),
    };
    change(store, |record| {
        record.create(b"life", |queue, effect| queue.setup(&settings, effect));
    });
    let headers = Headers::encode([(&b"name"[..], &b"value"[..]), (b"", b"\xff")].into_iter());
    let plain = PushOptions::default();
    let all = PushOptions {
        delay: 500_000,
        ttl: 7_000_000,
        retries: Some(5),
        priority: 200,
        token: Some(b"token-1"),
        headers: Headers::new(&headers),
        ..plain
    };
    push_with(store, b"life", 10, &all, b"scheduled");
    let token = PushOptions {
        token: Some(b"token-2"),
        ..plain
    };
    push_with(store, b"life", 10, &token, b"acknowledged");
    for payload in [
        &b"leased"[..],
        b"dead",
        b"returned",
        b"retried",
        b"redriven",
    ] {
        push_with(store, b"life", 11, &plain, payload);
    }
    let worker = Pop {
        consumer: b"worker",
        ..Pop::of(6)
    };
    take(store, b"life", 12, &worker);
    for (payload, delay, dead) in [
        (&b"redriven"[..], None, true),
        (b"dead", None, true),
        (b"returned", Some(0), false),
        (b"retried", Some(9_000_000), false),
    ] {
        let nack = Nack {
            delay,
            dead,
            reason: if dead { b"poison" } else { b"" },
            ..Nack::default()
        };
        does(store, b"life", |queue, effect| {
            let receipts = [held(queue, payload)].into_iter();
            queue.nack(&at(13), &nack, receipts, effect, |_, _| ());
        });
    }
    does(store, b"life", |queue, effect| {
        queue.redrive(START + 14, None, 1, &mut Vec::new(), effect);
    });
    let front = PushOptions {
        front: true,
        ..plain
    };
    push_with(store, b"life", 15, &front, b"front");
    let high = PushOptions {
        priority: 7,
        ..plain
    };
    push_with(store, b"life", 15, &high, b"high");
}

/// Behind the checkpoint: what the records of the log say.
fn second_life(store: &mut Store<Disk>) {
    let plain = PushOptions::default();
    let mortal = PushOptions { ttl: 100, ..plain };
    push_with(store, b"life", 20, &mortal, b"expired");
    let soon = PushOptions { delay: 50, ..plain };
    push_with(store, b"life", 20, &soon, b"fallen due");
    // Its token is known.
    let token = PushOptions {
        token: Some(b"token-2"),
        ..plain
    };
    push_with(store, b"life", 21, &token, b"again");
    produce(store, b"jobs", 2, &[b"second"]);
    does(store, b"life", |queue, effect| {
        let receipts = [held(queue, b"leased")].into_iter();
        queue.extend(
            START + 22,
            (40_000, true),
            receipts,
            &mut Vec::new(),
            effect,
            |_| (),
        );
    });
    let prefetch = Pop {
        lease: Some(100),
        prefetch: true,
        ..Pop::of(1)
    };
    does(store, b"life", |queue, effect| {
        queue.pop(&at(23), &prefetch, effect, |_| ());
    });
    // A schedule, a lease and a time to live end.
    for _ in 0..3 {
        does(store, b"life", |queue, effect| {
            assert!(queue.expire(&at(200), 10, effect));
        });
    }
    does(store, b"life", |queue, effect| {
        assert!(!queue.expire(&at(200), 10, effect));
        let receipts = [held(queue, b"leased")].into_iter();
        queue.claim(
            &at(201),
            (b"other", 0, Some(600_000)),
            receipts,
            effect,
            |_| (),
        );
    });
    for name in [&b"spent"[..], b"flushed"] {
        push(store, name, 202, &[b"x", b"y"]);
    }
    does(store, b"spent", |queue, effect| {
        let no_ack = Pop {
            no_ack: true,
            ..Pop::of(1)
        };
        queue.pop(&at(203), &no_ack, effect, |_| ());
    });
    does(store, b"spent", |queue, effect| {
        let ids: Vec<Receipt> = (queue.inspect_waiting(0, 9)).map(|m| m.id.into()).collect();
        queue.delete(START + 203, ids.into_iter(), &mut Vec::new(), effect);
    });
    does(store, b"flushed", |queue, effect| {
        assert_eq!(queue.flush(START + 204, false, effect), 2);
    });
    change(store, |record| {
        let which = Paused {
            push: true,
            pop: true,
        };
        record.create(b"paused", |queue, effect| queue.pause(which, true, effect));
        let which = Paused {
            push: true,
            pop: false,
        };
        record.create(b"paused", |queue, effect| queue.pause(which, false, effect));
    });
}

/// What is remembered and forgotten, and a bound of dead letters.
fn third_life(store: &mut Store<Disk>) {
    let settings = Change {
        dedup: Some(10),
        dead_max: Some(1),
        ..Change::default()
    };
    change(store, |record| {
        record.create(b"more", |queue, effect| queue.setup(&settings, effect));
    });
    let token = PushOptions {
        token: Some(b"token"),
        ..PushOptions::default()
    };
    push_with(store, b"more", 300, &token, b"left");
    produce(store, b"more", 1, &[b"trimmed", b"redriven"]);
    take(store, b"more", 301, &Pop::of(3));
    does(store, b"more", |queue, effect| {
        let receipts = [held(queue, b"trimmed"), held(queue, b"redriven")];
        let nack = Nack {
            dead: true,
            ..Nack::default()
        };
        queue.nack(&at(302), &nack, receipts.into_iter(), effect, |_, _| ());
    });
    for _ in 0..3 {
        does(store, b"more", |queue, effect| {
            assert!(queue.expire(&at(400), 10, effect));
        });
    }
    does(store, b"more", |queue, effect| {
        assert!(!queue.expire(&at(400), 10, effect));
        queue.redrive(START + 401, None, 9, &mut Vec::new(), effect);
    });
}

/// A checkpoint, and two segments behind it, with all that a store can hold.
fn write() -> BTreeMap<String, Vec<u8>> {
    let disk = Disk::default();
    let options = Options {
        create: Some(UUID),
        segment_bytes: 1_300,
        checkpoint_bytes: 1 << 20,
    };
    let (mut store, _) = Store::open(disk.clone(), options).unwrap();
    push(&mut store, b"emails", 0, &[b"one", b"", b"three"]);
    push(&mut store, b"gone", 1, &[b"x"]);
    take(&mut store, b"emails", 2, &Pop::of(2));
    produce(&mut store, b"jobs", 1, &[b"first", b"second"]);
    first_life(&mut store);
    store.checkpoint().unwrap();
    change(&mut store, |record| {
        record.remove(b"gone");
        push_in(record, b"\xff\0", 4, None, &[&[7; 300]]);
    });
    produce(&mut store, b"jobs", 2, &[b"second", b"third"]);
    second_life(&mut store);
    third_life(&mut store);
    // In a segment of its own, behind one that is full.
    take(&mut store, b"jobs", 5, &Pop::of(1));
    store.sync().unwrap();
    does(&mut store, b"emails", |queue, effect| {
        let recover = Recover {
            count: 1,
            elapsed: 60_000,
            ..Recover::default()
        };
        queue.recover(&at(90_000), &recover, effect, |_| ());
    });
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
        let expected: [(&[u8], &[Shown<'_>]); 6] = [
            (
                b"emails",
                &[
                    (b"", State::Delivered),
                    (b"three", State::Waiting),
                    (b"last", State::Waiting),
                ],
            ),
            (
                b"jobs",
                &[(b"second", State::Waiting), (b"third", State::Waiting)],
            ),
            (
                b"life",
                &[
                    (b"scheduled", State::Scheduled),
                    (b"leased", State::Delivered),
                    (b"dead", State::Dead),
                    (b"returned", State::Waiting),
                    (b"retried", State::Scheduled),
                    (b"redriven", State::Waiting),
                    (b"front", State::Waiting),
                    (b"high", State::Waiting),
                    (b"expired", State::Dead),
                    (b"fallen due", State::Waiting),
                ],
            ),
            (b"more", &[(b"redriven", State::Waiting)]),
            (b"paused", &[]),
            (b"\xff\0", &[(&[7; 300], State::Waiting)]),
        ];
        assert_eq!(store.queues().len(), expected.len());
        for ((name, queue), (expected, messages)) in store.queues().sorted().zip(expected) {
            queue.check().unwrap();
            let all = queue.range(Id::default(), Id::new(u64::MAX, u64::MAX), false);
            let all: Vec<_> = all.map(|m| (m.payload, m.meta.state)).collect();
            assert_eq!((name, &all[..]), (expected, messages));
        }
        check_life(store.queues().get(b"life").unwrap());
        let paused = Paused {
            push: false,
            pop: true,
        };
        assert_eq!(store.queues().get(b"paused").unwrap().paused(), paused);
        assert_eq!(store.queues().floor().milliseconds, START + 90_001);
        opened += 1;
    }
    assert!(opened > 0);
}

/// What is known of a queue beside its messages and their states.
fn check_life(queue: &Queue) {
    let order: Vec<_> = (queue.inspect_waiting(0, 10)).map(|m| m.payload).collect();
    assert_eq!(
        order,
        [
            &b"high"[..],
            b"returned",
            b"front",
            b"redriven",
            b"fallen due"
        ]
    );
    let scheduled = queue.get(queue.by_token(b"token-1").unwrap()).unwrap();
    let fields = scheduled.meta.fields;
    assert_eq!((fields.priority, fields.retries), (200, Some(5)));
    assert_eq!(fields.expiry, START + 10 + 7_500_000);
    let headers: Vec<_> = fields.headers.iter().collect();
    assert_eq!(headers, [(&b"name"[..], &b"value"[..]), (b"", b"\xff")]);
    let due: Vec<_> = queue.due_later().map(|m| m.due - START).collect();
    assert_eq!(due, [500_010, 9_000_013]);
    let leased = queue.get(held(queue, b"leased").id).unwrap().meta;
    assert_eq!((leased.consumer, leased.deliveries), (&b"other"[..], 2));
    assert_eq!(leased.deadline, START + 201 + 600_000);
    let dead: Vec<_> = queue.dead().map(|m| (m.reason, m.consumer)).collect();
    assert_eq!(dead, [(&b"poison"[..], &b"worker"[..]), (b"expired", b"")]);
    let (policy, counters) = (queue.policy(), queue.counters());
    assert_eq!((policy.lease, policy.inflight), (30_000, 20));
    assert!(policy.kept && policy.drops && policy.expired_dead);
    assert_eq!((counters.sent, counters.deleted), (11, 1));
    assert_eq!((counters.dead, counters.duplicates), (3, 1));
}
