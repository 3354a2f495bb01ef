//! Damaged or foreign bytes are refused whole, or make a queue in which everything adds up; they
//! never make the core fail, nor take much more memory than they have bytes.
#![allow(clippy::unwrap_used, missing_docs)]

use proptest::prelude::*;
use rq_core::{Change, Headers, Id, Moment, Nack, Options, Pop, Queue, Recover, snapshot};

fn at(now: u64) -> Moment<'static> {
    Moment::at(now, Id::default())
}

fn push<'a>(
    queue: &mut Queue,
    now: u64,
    options: &Options<'_>,
    elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
) -> Vec<Id> {
    let mut effect = Vec::new();
    let produced = queue.push(&at(now), Some(options), elements, &mut effect);
    produced.unwrap().ids().flatten().collect()
}

/// A queue with messages in every state, by every way into it, and everything that is remembered.
fn queue(count: u64, size: usize, step: u64) -> Queue {
    let mut queue = Queue::default();
    let mut effect = Vec::new();
    let payload = vec![b'x'; size];
    let headers = Headers::encode([(&b"name"[..], &b"value"[..])].into_iter());
    let mut ids = Vec::new();
    for n in 0..count {
        let elements = [&payload[..], b"", &payload[..size / 2]].into_iter();
        let options = Options {
            priority: (n % 4 / 3) as u8,
            front: n % 5 == 1,
            delay: if n % 7 == 2 { 1 << 45 } else { 0 },
            ttl: if n % 3 == 1 { 1 << 44 } else { 0 },
            retries: (n % 11 == 5).then_some(3),
            headers: Headers::new(if n % 6 == 0 { &headers } else { &[] }),
            ..Options::default()
        };
        ids.extend(push(&mut queue, 1_000 + n * step, &options, elements));
    }
    for name in [&b"one"[..], b"", b"\xff\x00"] {
        let options = Options {
            producer: Some((name, 7)),
            token: Some(name),
            ..Options::default()
        };
        push(&mut queue, 1_000, &options, [&payload[..]].into_iter());
    }
    deliver(&mut queue, &ids, count);
    let change = Change {
        lease: Some(1_000),
        inflight: Some(50),
        ..Change::default()
    };
    queue.setup(&change, &mut effect);
    queue.check().unwrap();
    queue
}

/// Delivers most, and does something else to each kind of them.
fn deliver(queue: &mut Queue, ids: &[Id], count: u64) {
    const NOW: u64 = 1 << 42;
    let (mut effect, mut done) = (Vec::new(), Vec::new());
    for (consumer, lease) in [(&b"c"[..], 0), (b"", 500), (b"c", 700), (b"", 0)] {
        let pop = Pop {
            consumer,
            lease: Some(lease),
            prefetch: lease == 500,
            ..Pop::of(count.div_ceil(2))
        };
        queue.pop(&at(NOW), &pop, &mut effect, |_| ());
    }
    let some = |from: usize| ids.iter().skip(from).step_by(9).map(|&id| id.into());
    queue.acknowledge(NOW, some(0), &mut done, &mut effect, |_| ());
    let nacks = [
        (None, false),
        (None, true),
        (Some(1 << 43), false),
        (None, true),
    ];
    for (from, (delay, dead)) in nacks.into_iter().enumerate() {
        let nack = Nack {
            delay,
            dead,
            ..Nack::default()
        };
        queue.nack(&at(NOW), &nack, some(from + 1), &mut effect, |_, _| ());
    }
    queue.redrive(NOW, None, count / 8 + 1, &mut done, &mut effect);
    queue.delete(NOW, some(5), &mut done, &mut effect);
    queue.extend(NOW, (9_000, true), some(6), &mut done, &mut effect, |_| ());
    let recover = Recover {
        count: count / 4,
        ..Recover::default()
    };
    queue.recover(&at(NOW + 10), &recover, &mut effect, |_| ());
    let by_token = queue.by_token(b"one").map(Into::into);
    queue.delete(NOW + 10, by_token.into_iter(), &mut done, &mut effect);
}

fn parts(queue: &Queue) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    snapshot::write(queue, |part| parts.push(part.to_vec()));
    parts
}

fn load(parts: &[Vec<u8>]) -> Option<Queue> {
    let mut loader = snapshot::Loader::default();
    let mut ended = false;
    for part in parts {
        if ended {
            return None;
        }
        ended = loader.feed(part).ok()?;
    }
    ended.then(|| loader.finish())
}

#[derive(Debug, Clone)]
enum Damage {
    Flip {
        part: prop::sample::Index,
        at: prop::sample::Index,
        bit: u8,
    },
    Set {
        part: prop::sample::Index,
        at: prop::sample::Index,
        byte: u8,
    },
    Cut {
        part: prop::sample::Index,
        at: prop::sample::Index,
    },
    Insert {
        part: prop::sample::Index,
        at: prop::sample::Index,
        bytes: Vec<u8>,
    },
    Drop {
        part: prop::sample::Index,
    },
    Repeat {
        part: prop::sample::Index,
    },
    Swap {
        one: prop::sample::Index,
        other: prop::sample::Index,
    },
}

fn damage() -> impl Strategy<Value = Damage> {
    let index = any::<prop::sample::Index>;
    prop_oneof![
        (index(), index(), 0u8..8).prop_map(|(part, at, bit)| Damage::Flip { part, at, bit }),
        (index(), index(), any::<u8>()).prop_map(|(part, at, byte)| Damage::Set { part, at, byte }),
        (index(), index()).prop_map(|(part, at)| Damage::Cut { part, at }),
        (index(), index(), prop::collection::vec(any::<u8>(), 1..12))
            .prop_map(|(part, at, bytes)| Damage::Insert { part, at, bytes }),
        index().prop_map(|part| Damage::Drop { part }),
        index().prop_map(|part| Damage::Repeat { part }),
        (index(), index()).prop_map(|(one, other)| Damage::Swap { one, other }),
    ]
}

fn hurt(parts: &mut Vec<Vec<u8>>, damage: &Damage) {
    if parts.is_empty() {
        return;
    }
    let count = parts.len();
    match damage {
        Damage::Flip { part, at, bit } => {
            let part = &mut parts[part.index(count)];
            let at = at.index(part.len().max(1));
            if let Some(byte) = part.get_mut(at) {
                *byte ^= 1 << bit;
            }
        }
        Damage::Set { part, at, byte } => {
            let part = &mut parts[part.index(count)];
            let at = at.index(part.len().max(1));
            if let Some(old) = part.get_mut(at) {
                *old = *byte;
            }
        }
        Damage::Cut { part, at } => {
            let part = &mut parts[part.index(count)];
            part.truncate(at.index(part.len().max(1)));
        }
        Damage::Insert { part, at, bytes } => {
            let part = &mut parts[part.index(count)];
            let at = at.index(part.len() + 1);
            part.splice(at..at, bytes.iter().copied());
        }
        Damage::Drop { part } => {
            parts.remove(part.index(count));
        }
        Damage::Repeat { part } => {
            let part = part.index(count);
            parts.insert(part, parts[part].clone());
        }
        Damage::Swap { one, other } => parts.swap(one.index(count), other.index(count)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn damaged_snapshots_are_refused_or_whole(
        count in 1u64..60,
        size in prop_oneof![Just(3usize), Just(90), Just(700)],
        step in prop_oneof![Just(0u64), Just(1), Just(70_000), Just(5_000_000_000)],
        all in prop::collection::vec(damage(), 1..4),
    ) {
        let mut parts = parts(&queue(count, size, step));
        all.iter().for_each(|damage| hurt(&mut parts, damage));
        let bytes: usize = parts.iter().map(Vec::len).sum();
        if let Some(mut queue) = load(&parts) {
            queue.check().unwrap();
            prop_assert!(queue.memory() <= 2_000 + 16 * bytes, "{} for {bytes}", queue.memory());
            // It also works.
            let mut effect = Vec::new();
            let end = at(u64::MAX);
            let more = [&b"more"[..]].into_iter();
            if queue.push(&end, None, more, &mut effect).is_ok() {
                queue.pop(&at(0), &Pop::of(u64::MAX), &mut effect, |_| ());
                while queue.expire(&end, 10, &mut effect) {}
                let all = Recover { count: u64::MAX, ..Recover::default() };
                queue.recover(&end, &all, &mut effect, |_| ());
                queue.check().unwrap();
                let mut again = Queue::default();
                let whole = self::parts(&queue);
                if !queue.is_empty() {
                    again = load(&whole).unwrap();
                    prop_assert_eq!(self::parts(&again), whole);
                }
                again.flush(0, false, &mut effect);
                again.check().unwrap();
            }
        }
    }

    #[test]
    fn damaged_effects_change_nothing_or_leave_a_queue(
        mut head: Vec<u8>,
        kind in prop_oneof![1u8..16, 16u8..26, 32u8..38, any::<u8>()],
        versioned: bool,
        payloads in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..4), 0..3),
    ) {
        if versioned {
            head.splice(0..0, [1, kind]);
        }
        let mut queue = queue(10, 20, 1);
        let before = parts(&queue);
        match queue.apply(&head, payloads.iter().map(Vec::as_slice)) {
            Ok(_) => queue.check().unwrap(),
            Err(_) => prop_assert_eq!(before, parts(&queue)),
        }
    }
}

/// One effect of each operation on the queue, with its payloads.
fn effects(queue: &Queue) -> Vec<(Vec<u8>, Vec<Vec<u8>>)> {
    let mut all = Vec::new();
    let mut note = |payloads: &[&[u8]], operate: &dyn Fn(&mut Queue, &mut Vec<u8>)| {
        let mut effect = Vec::new();
        operate(&mut queue.clone(), &mut effect);
        assert!(!effect.is_empty());
        let payloads = payloads.iter().map(|payload| payload.to_vec()).collect();
        all.push((effect, payloads));
    };
    let now = at(1 << 43);
    let later = at(1 << 46);
    let held = || queue.inspect_pending(0, 0, 3).map(|p| p.id.into());
    let elements: [&[u8]; 2] = [b"one", b"two"];
    note(&elements, &|q, e| {
        _ = q.push(&now, None, elements.into_iter(), e);
    });
    let options = Options {
        front: true,
        delay: 7,
        ttl: 9,
        priority: 3,
        producer: Some((b"new", 1)),
        ..Options::default()
    };
    note(&elements, &|q, e| {
        _ = q.push(&now, Some(&options), elements.into_iter(), e);
    });
    let named = Pop {
        lease: Some(5),
        consumer: b"c",
        ..Pop::of(2)
    };
    for pop in [Pop::of(2), named] {
        note(&[], &|q, e| _ = q.pop(&now, &pop, e, |_| ()));
    }
    let recover = Recover {
        count: 2,
        ..Recover::default()
    };
    note(&[], &|q, e| _ = q.recover(&now, &recover, e, |_| ()));
    note(&[], &|q, e| {
        q.acknowledge(1 << 43, held(), &mut Vec::new(), e, |_| ())
    });
    note(&[], &|q, e| {
        q.nack(&now, &Nack::default(), held(), e, |_, _| ())
    });
    note(&[], &|q, e| {
        q.extend(1 << 43, (9, true), held(), &mut Vec::new(), e, |_| ())
    });
    note(&[], &|q, e| q.delete(1 << 43, held(), &mut Vec::new(), e));
    note(&[], &|q, e| q.redrive(1 << 43, None, 1, &mut Vec::new(), e));
    for dead in [false, true] {
        note(&[], &|q, e| _ = q.flush(1 << 43, dead, e));
    }
    note(&[], &|q, e| {
        q.setup(
            &Change {
                deliveries: Some(9),
                ..Change::default()
            },
            e,
        )
    });
    note(&[], &|q, e| _ = q.expire(&later, 3, e));
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 3000, ..ProptestConfig::default() })]

    #[test]
    fn damaged_effects_of_the_queue_are_refused_whole_or_leave_one(
        which: prop::sample::Index,
        all in prop::collection::vec(damage(), 1..3),
    ) {
        let mut queue = queue(20, 20, 1);
        let effects = effects(&queue);
        let (head, payloads) = effects[which.index(effects.len())].clone();
        let mut heads = vec![head];
        all.iter().for_each(|damage| hurt(&mut heads, damage));
        for head in heads {
            let before = parts(&queue);
            match queue.apply(&head, payloads.iter().map(Vec::as_slice)) {
                Ok(_) => queue.check().unwrap(),
                Err(_) => prop_assert_eq!(before, parts(&queue)),
            }
        }
        if !queue.is_empty() {
            let whole = parts(&queue);
            let loaded = load(&whole);
            prop_assert_eq!(loaded.map(|queue| parts(&queue)), Some(whole));
        }
        let mut effect = Vec::new();
        while queue.expire(&at(u64::MAX), 10, &mut effect) {}
        queue.pop(&at(0), &Pop::of(u64::MAX), &mut effect, |_| ());
        queue.check().unwrap();
    }
}

#[test]
fn every_cut_of_a_snapshot_is_refused() {
    let parts = parts(&queue(20, 30, 1));
    for part in 0..parts.len() {
        assert!(load(&parts[..part]).is_none());
        for at in 0..parts[part].len() {
            let mut cut = parts.clone();
            cut[part].truncate(at);
            assert!(load(&cut).is_none_or(|queue| queue.check().is_ok()));
        }
    }
}

#[test]
fn what_is_salvaged_without_a_part_adds_up() {
    let whole = queue(60, 300, 1);
    let parts = parts(&whole);
    assert!(parts.len() > 9, "some parts of each kind");
    for missing in 0..parts.len() {
        let mut loader = snapshot::Loader::default();
        for (n, part) in parts.iter().enumerate() {
            if n != missing && loader.feed(part).is_err() {
                let _ = loader.salvage(part);
            }
        }
        let mut found = loader.finish();
        found.check().unwrap();
        let kind = parts[missing][1];
        // Messages alone are lost with their part.
        let messages = found.len() + found.dead_letters();
        assert!(kind == 17 || messages == whole.len() + whole.dead_letters());
        let mut effect = Vec::new();
        while found.expire(&at(u64::MAX), 10, &mut effect) {}
        found.pop(&at(u64::MAX), &Pop::of(u64::MAX), &mut effect, |_| ());
        found.check().unwrap();
    }
}

#[test]
fn bursts_far_apart_take_little_more_than_their_bytes() {
    for (burst, step) in [
        (20, 120_000),
        (1, 120_000),
        (1, 10_000_000_000),
        (17, 70_000),
        (3, 1),
    ] {
        let mut queue = Queue::default();
        let mut effect = Vec::new();
        let payload = [1u8; 100];
        for n in 0..2_000 / burst {
            let elements = std::iter::repeat_n(&payload[..], burst as usize);
            queue
                .push(&at(n * step), None, elements, &mut effect)
                .unwrap();
        }
        queue.check().unwrap();
        let each = queue.memory() as u64 / queue.len();
        assert!(
            each < 140,
            "{each} bytes a message in bursts of {burst} every {step} ms"
        );
    }
}
