//! Bytes that a release wrote are read by every later one. `golden/v1.txt` holds the effects of a fixed story with
//! their payloads, and a snapshot of its end, a line each, in hexadecimal; a new format gets a new file, and this
//! one stays. `RQ_GOLDEN=write` writes it anew, which is right only before a release.
#![allow(clippy::unwrap_used, missing_docs)]

use std::collections::BTreeSet;

use rq_core::{
    Backoff, Change, Delivery, Headers, Id, Moment, Nack, Options, Paused, Pop, Queue, Receipt,
    Recover, effect, snapshot,
};

const START: u64 = 1_700_000_000_000;
const FLOOR: Id = Id::new(START, 41);

/// A queue, and what happened to it.
struct Story {
    queue: Queue,
    now: u64,
    effect: Vec<u8>,
    /// Heads and payloads.
    effects: Vec<(Vec<u8>, Vec<Vec<u8>>)>,
}

impl Story {
    fn at(&self) -> Moment<'static> {
        Moment::at(self.now, Id::default())
    }

    /// Notes what just happened.
    fn note(&mut self, payloads: &[&[u8]]) {
        assert!(!self.effect.is_empty());
        let payloads = payloads.iter().map(|payload| payload.to_vec()).collect();
        self.effects.push((self.effect.clone(), payloads));
    }

    fn push(&mut self, options: Option<&Options<'_>>, payloads: &[&[u8]]) -> Vec<Id> {
        self.now += 1;
        let (moment, elements) = (self.at(), payloads.iter().copied());
        let produced = self
            .queue
            .push(&moment, options, elements, &mut self.effect);
        let produced = produced.unwrap();
        let stored = produced.pushed.map_or(0, |pushed| pushed.count as usize);
        self.note(&payloads[payloads.len() - stored..]);
        produced.ids().flatten().collect()
    }

    fn pop(&mut self, pop: &Pop<'_>) -> Vec<Receipt> {
        self.now += 1;
        let mut taken = Vec::new();
        let moment = self.at();
        let visit = |delivery: Delivery<'_>| taken.push(delivery.id.into());
        self.queue.pop(&moment, pop, &mut self.effect, visit);
        self.note(&[]);
        taken
    }

    fn acknowledge(&mut self, receipt: Receipt) {
        let all = std::iter::once(receipt);
        let mut done = Vec::new();
        self.queue
            .acknowledge(self.now, all, &mut done, &mut self.effect, |_| ());
        self.note(&[]);
    }

    fn nack(&mut self, nack: &Nack<'_>, receipts: &[Receipt]) {
        self.now += 1;
        let (moment, all) = (self.at(), receipts.iter().copied());
        self.queue
            .nack(&moment, nack, all, &mut self.effect, |_, _| ());
        self.note(&[]);
    }

    fn delete(&mut self, id: Id) {
        let all = std::iter::once(id.into());
        let mut done = Vec::new();
        self.queue
            .delete(self.now, all, &mut done, &mut self.effect);
        self.note(&[]);
    }

    fn setup(&mut self, change: &Change) {
        self.queue.setup(change, &mut self.effect);
        self.note(&[]);
    }

    /// Does all that is due after a while.
    fn wait(&mut self, milliseconds: u64) {
        self.now += milliseconds;
        while self.queue.expire(&self.at(), 100, &mut self.effect) {
            self.note(&[]);
        }
    }
}

/// Everything that can happen to a queue, and at the end something of everything that it can hold.
fn story() -> Story {
    let mut story = Story {
        queue: Queue::new(FLOOR),
        now: START,
        effect: Vec::new(),
        effects: Vec::new(),
    };
    begin(&mut story);
    expire(&mut story);
    dead(&mut story);
    end(&mut story);
    story
}

/// Pushes of all kinds, deliveries, acknowledgements.
fn begin(story: &mut Story) {
    let plain = Options::default();
    let new = Options {
        new: Some((30_000, 3)),
        ..plain
    };
    story.push(Some(&new), &[b"of a new queue"]);
    story.queue.flush(story.now, false, &mut story.effect);
    story.note(&[]);
    story.push(None, &[b"first", b"", b"third \x00\xff", b"fourth"]);
    let all = Pop {
        lease: Some(0),
        ..Pop::of(2)
    };
    let taken = story.pop(&all);
    story.acknowledge(taken[0]);
    let headers = Headers::encode([(&b"trace"[..], &b"1"[..]), (b"", b"\xff")].into_iter());
    let tokened = Options {
        token: Some(b"token"),
        headers: Headers::new(&headers),
        retries: Some(2),
        ..plain
    };
    let ids = story.push(Some(&tokened), &[b"with a token"]);
    story.push(Some(&tokened), &[b"again"]);
    let numbered = Options {
        producer: Some((b"producer", 5)),
        ..plain
    };
    story.push(Some(&numbered), &[b"fifth", b"sixth"]);
    story.push(Some(&numbered), &[b"fifth"]);
    story.push(Some(&numbered), &[b"fifth", b"sixth", b"seventh"]);
    let named = Pop {
        consumer: b"worker",
        prefetch: true,
        ..Pop::of(3)
    };
    story.pop(&named);
    story.acknowledge(ids[0].into());
    let without = Pop {
        no_ack: true,
        ..Pop::of(1)
    };
    story.pop(&without);
    let first = taken[1..].iter().copied();
    let (mut done, now) = (Vec::new(), story.now);
    story.queue.extend(
        now,
        (5_000, true),
        first,
        &mut done,
        &mut story.effect,
        |_| (),
    );
    story.note(&[]);
}

/// Schedules, leases, times to live, what is remembered.
fn expire(story: &mut Story) {
    let short = Options {
        ttl: 10,
        priority: 7,
        ..Options::default()
    };
    story.push(Some(&short), &[b"short", b"lived"]);
    story.wait(10);
    let change = Change {
        deliveries: Some(2),
        backoff: Some(Backoff {
            base: 100,
            factor: 1_500,
            max: 100_000,
        }),
        jitter: Some(10),
        expired_dead: Some(true),
        dead_ttl: Some(100_000_000),
        ..Change::default()
    };
    story.setup(&change);
    story.push(Some(&short), &[b"to be dead"]);
    story.wait(10);
    let late = Options {
        delay: 50,
        front: true,
        ..Options::default()
    };
    story.push(Some(&late), &[b"late"]);
    story.wait(50);
    story.wait(40_000);
    story.wait(700_000);
}

/// Given back, taken over, dead, redriven, trimmed.
fn dead(story: &mut Story) {
    let pop = Pop {
        consumer: b"other",
        lease: Some(1_000),
        ..Pop::of(5)
    };
    let taken = story.pop(&pop);
    let silent = Nack {
        silent: true,
        ..Nack::default()
    };
    story.nack(&silent, &taken[..1]);
    let delayed = Nack {
        delay: Some(1_000_000),
        ..Nack::default()
    };
    story.nack(&delayed, &taken[1..2]);
    let buried = Nack {
        dead: true,
        reason: b"because",
        ..Nack::default()
    };
    story.nack(&buried, &taken[2..4]);
    story.now += 1;
    let (moment, claimed) = (story.at(), taken[4..].iter().copied());
    let how = (&b"heir"[..], 0, Some(0));
    story
        .queue
        .claim(&moment, how, claimed, &mut story.effect, |_| ());
    story.note(&[]);
    let recover = Recover {
        count: 1,
        ..Recover::default()
    };
    story
        .queue
        .recover(&moment, &recover, &mut story.effect, |_| ());
    story.note(&[]);
    let (mut done, now) = (Vec::new(), story.now);
    story
        .queue
        .redrive(now, None, 1, &mut done, &mut story.effect);
    story.note(&[]);
    let change = Change {
        dead_max: Some(1),
        ..Change::default()
    };
    story.setup(&change);
    story.wait(1);
    story.queue.flush(story.now, true, &mut story.effect);
    story.note(&[]);
}

/// Something of everything stays.
fn end(story: &mut Story) {
    let plain = Options::default();
    let options = [
        Options {
            priority: 9,
            ..plain
        },
        Options {
            front: true,
            ..plain
        },
        Options {
            delay: 1_000,
            ttl: 500,
            ..plain
        },
        Options {
            producer: Some((b"another", 1)),
            ..plain
        },
        Options {
            token: Some(b"left"),
            ..plain
        },
    ];
    let mut last = Id::default();
    for options in &options {
        last = story.push(Some(options), &[b"stays"])[0];
    }
    story.delete(last);
    let capped = Change {
        max_length: Some(story.queue.len()),
        drops: Some(true),
        ..Change::default()
    };
    story.setup(&capped);
    story.push(None, &[b"one more"]);
    let one = Pop {
        lease: Some(77),
        consumer: b"last",
        prefetch: true,
        ..Pop::of(1)
    };
    let taken = story.pop(&one);
    let buried = Nack {
        dead: true,
        ..Nack::default()
    };
    story.nack(&buried, &taken);
    let one = Pop { count: 2, ..one };
    let taken = story.pop(&one);
    story.nack(&Nack::default(), &taken[..1]);
    let both = Paused {
        push: true,
        pop: true,
    };
    story.queue.pause(both, true, &mut story.effect);
    story.note(&[]);
    story.queue.check().unwrap();
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(text: &str) -> Vec<u8> {
    let pairs = text.trim_start_matches('.').as_bytes().chunks(2);
    pairs
        .map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap())
        .collect()
}

fn path() -> std::path::PathBuf {
    std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/v1.txt")
}

/// Lines of a kind, each a list of bytes: a head or part, and payloads.
fn lines(kind: &str) -> Vec<Vec<Vec<u8>>> {
    let text = std::fs::read_to_string(path()).unwrap();
    (text.lines().filter_map(|line| line.strip_prefix(kind)))
        .map(|line| line.split_whitespace().map(bytes).collect())
        .collect()
}

fn heads(kind: &str) -> Vec<Vec<u8>> {
    lines(kind)
        .into_iter()
        .map(|line| line[0].clone())
        .collect()
}

fn written(queue: &Queue) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    snapshot::write(queue, |part| parts.push(part.to_vec()));
    parts
}

/// The file as it would be written now. A dot stands before each payload, which may be empty.
fn text() -> String {
    let (story, mut text) = (story(), String::new());
    for (head, payloads) in &story.effects {
        text.push_str(&format!("effect {}", hexadecimal(head)));
        for payload in payloads {
            text.push_str(&format!(" .{}", hexadecimal(payload)));
        }
        text.push('\n');
    }
    for part in written(&story.queue) {
        text.push_str(&format!("part {}\n", hexadecimal(&part)));
    }
    text.push_str(&format!("floor {}\n", hexadecimal(&effect::floor(FLOOR))));
    text
}

#[test]
fn version_1_is_still_written_and_read() {
    if std::env::var("RQ_GOLDEN").is_ok_and(|asked| asked == "write") {
        std::fs::write(path(), text()).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(path()).unwrap(),
        text(),
        "the format has changed: see docs/format.md, Versions"
    );
    let mut applied = Queue::new(FLOOR);
    for line in lines("effect ") {
        let payloads = line[1..].iter().map(Vec::as_slice);
        applied.apply(&line[0], payloads).unwrap();
        applied.check().unwrap();
    }
    assert_eq!(written(&applied), heads("part "));

    let mut loader = snapshot::Loader::default();
    let parts = heads("part ");
    for (n, part) in parts.iter().enumerate() {
        assert_eq!(loader.feed(part).unwrap(), n + 1 == parts.len());
    }
    let loaded = loader.finish();
    loaded.check().unwrap();
    assert_eq!(written(&loaded), parts);
    let floor = effect::scope(&heads("floor ")[0]);
    assert_eq!(floor, Ok(effect::Scope::Floor(FLOOR)));
}

#[test]
fn every_kind_is_there() {
    let kinds = |kind: &str| heads(kind).iter().map(|head| head[1]).collect();
    let effects: BTreeSet<u8> = kinds("effect ");
    assert!(effects.into_iter().eq((1..=15).chain(33..=37)));
    let parts: BTreeSet<u8> = kinds("part ");
    assert!(parts.into_iter().eq(16..=25));
}

#[test]
fn later_versions_are_refused() {
    for mut effect in heads("effect ") {
        effect[0] = 2;
        let payloads: &[&[u8]] = &[];
        let refused = Queue::default()
            .apply(&effect, payloads.iter().copied())
            .unwrap_err();
        assert!(refused.to_string().contains("version"), "{refused}");
    }
}
