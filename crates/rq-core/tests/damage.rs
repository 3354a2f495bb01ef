//! Damaged or foreign bytes are refused whole, or make a queue in which everything adds up; they
//! never make the core fail, nor take much more memory than they have bytes.
#![allow(clippy::unwrap_used, missing_docs)]

use proptest::prelude::*;
use rq_core::{Id, Queue, snapshot};

/// A queue with waiting and delivered messages, some recovered, some gone.
fn queue(count: u64, size: usize, step: u64) -> Queue {
    let mut queue = Queue::default();
    let (mut effect, mut done) = (Vec::new(), Vec::new());
    let payload = vec![b'x'; size];
    let mut ids = Vec::new();
    for n in 0..count {
        let elements = [&payload[..], b"", &payload[..size / 2]].into_iter();
        let pushed = queue
            .push(1_000 + n * step, Id::default(), elements, &mut effect)
            .unwrap();
        ids.extend(pushed.ids());
    }
    for name in [&b"one"[..], b"", b"\xff\x00"] {
        let elements = [&payload[..], b"more"].into_iter();
        queue
            .produce(1_000, Id::default(), (name, 7), elements, &mut effect)
            .unwrap();
    }
    queue.pop(2_000_000, count * 2, &mut effect, |_| ());
    let gone = ids.iter().copied().step_by(3).take(count as usize / 3);
    queue.acknowledge(gone, &mut done, &mut effect);
    queue.recover(2_000_010, count / 4, 0, &mut effect, |_| ());
    queue.check().unwrap();
    queue
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
            if queue.push(u64::MAX, Id::default(), [&b"more"[..]].into_iter(), &mut effect).is_ok() {
                queue.pop(0, u64::MAX, &mut effect, |_| ());
                queue.recover(u64::MAX, u64::MAX, 0, &mut effect, |_| ());
                queue.check().unwrap();
            }
        }
    }

    #[test]
    fn damaged_effects_change_nothing_or_leave_a_queue(
        mut head: Vec<u8>,
        kind in prop_oneof![1u8..7, 16u8..21, any::<u8>()],
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
                .push(n * step, Id::default(), elements, &mut effect)
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
