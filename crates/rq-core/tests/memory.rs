//! What a message costs beyond its payload in each state of its life, and that all of it is given back.
//!
//! `cargo test -p rq-core --test memory -- --nocapture` prints the figures.
#![allow(clippy::unwrap_used, missing_docs)]

use rq_core::{Change, Id, Moment, Options, Pop, Queue, Receipt};

const COUNT: u64 = 100_000;
const PAYLOAD: [u8; 100] = [7; 100];

fn at(now: u64) -> Moment<'static> {
    Moment::at(now, Id::default())
}

/// Bytes a message beyond its payload.
fn each(queue: &Queue) -> f64 {
    (queue.memory() - Queue::default().memory()) as f64 / COUNT as f64 - PAYLOAD.len() as f64
}

fn ensure(what: &str, queue: &Queue, most: f64) {
    queue.check().unwrap();
    let each = each(queue);
    println!("{what}: {each:.2} bytes");
    assert!(each <= most, "{what}: {each} bytes, at most {most}");
}

/// Hardly more than an empty queue.
fn ensure_given_back(queue: &Queue) {
    queue.check().unwrap();
    let left = queue.memory() - Queue::default().memory();
    assert!(left < 20_000, "{left} bytes are left");
}

/// In an order that is neither theirs nor the reverse.
fn shuffled(mut ids: Vec<Id>) -> Vec<Receipt> {
    ids.sort_by_key(|id| {
        (id.milliseconds.wrapping_mul(2_654_435_761) ^ (id.sequence * 7919)) % 100_003
    });
    ids.into_iter().map(Into::into).collect()
}

/// A queue of messages from 2,000 pushes, with options that may differ.
fn filled(change: &Change, options: impl Fn(u64) -> Option<u64>) -> (Queue, Vec<Id>) {
    let (mut queue, mut effect, mut ids) = (Queue::default(), Vec::new(), Vec::new());
    queue.setup(change, &mut effect);
    for now in 0..2_000u64 {
        let delayed = options(now).map(|delay| Options {
            delay,
            ..Options::default()
        });
        let elements = std::iter::repeat_n(&PAYLOAD[..], 50);
        let pushed = queue.push(&at(now), delayed.as_ref(), elements, &mut effect);
        ids.extend(pushed.unwrap().ids().flatten());
    }
    (queue, ids)
}

fn acknowledge(queue: &mut Queue, ids: &[Receipt]) {
    let (mut effect, mut done) = (Vec::new(), Vec::new());
    let all = ids.iter().copied();
    queue.acknowledge(9_000, all, &mut done, &mut effect, |_| ());
    assert_eq!(done.len(), ids.len());
}

fn delete(queue: &mut Queue, ids: &[Receipt]) {
    let (mut effect, mut done) = (Vec::new(), Vec::new());
    queue.delete(9_000, ids.iter().copied(), &mut done, &mut effect);
    assert_eq!(done.len(), ids.len());
}

fn pop(queue: &mut Queue, consumer: &[u8]) {
    let all = Pop {
        consumer,
        ..Pop::of(u64::MAX)
    };
    let count = queue.pop(&at(5_000), &all, &mut Vec::new(), |_| ());
    assert_eq!(count, COUNT);
}

#[test]
fn waiting_and_delivered() {
    let (mut queue, ids) = filled(&Change::default(), |_| None);
    ensure("waiting", &queue, 6.0);
    let mut cancelled = queue.clone();
    delete(&mut cancelled, &shuffled(ids.clone()));
    ensure_given_back(&cancelled);
    pop(&mut queue, b"");
    ensure("delivered", &queue, 39.0);
    // All but one in a thousand: what remains must not pin the rest.
    let is_stuck = |id: &Id| id.milliseconds.is_multiple_of(20) && id.sequence == 1;
    let (stuck, most): (Vec<Id>, Vec<Id>) = ids.into_iter().partition(is_stuck);
    acknowledge(&mut queue, &shuffled(most));
    queue.check().unwrap();
    assert_eq!(queue.len(), stuck.len() as u64);
    let each = queue.memory() / stuck.len();
    println!("one stuck in a thousand: {each} bytes");
    assert!(each < 1_200, "{each} bytes for each stuck message");
    acknowledge(&mut queue, &shuffled(stuck));
    ensure_given_back(&queue);
}

#[test]
fn delivered_with_a_lease_and_by_name() {
    let leased = Change {
        lease: Some(30_000),
        ..Change::default()
    };
    for (what, consumer, most) in [
        ("delivered with a lease", &b""[..], 48.0),
        ("delivered with a lease, to a consumer", b"worker", 64.0),
    ] {
        let (mut queue, ids) = filled(&leased, |_| None);
        pop(&mut queue, consumer);
        ensure(what, &queue, most);
        let (mut effect, mut done) = (Vec::new(), Vec::new());
        let all = shuffled(ids.clone());
        let mut extended = queue.clone();
        let receipts = all.iter().copied();
        extended.extend(
            6_000,
            (60_000, false),
            receipts,
            &mut done,
            &mut effect,
            |_| (),
        );
        ensure(&format!("{what}, extended"), &extended, most);
        acknowledge(&mut extended, &all);
        ensure_given_back(&extended);
        acknowledge(&mut queue, &all);
        ensure_given_back(&queue);
    }
}

/// What is stuck is found again, however often its records were moved.
#[test]
fn stuck_leases_end() {
    let leased = Change {
        lease: Some(30_000),
        ..Change::default()
    };
    let (mut queue, ids) = filled(&leased, |_| None);
    pop(&mut queue, b"worker");
    let is_stuck = |id: &Id| id.milliseconds % 20 == 3 && id.sequence == 7;
    let (stuck, most): (Vec<Id>, Vec<Id>) = ids.into_iter().partition(is_stuck);
    for (n, some) in shuffled(most).chunks(1_000).enumerate() {
        acknowledge(&mut queue, some);
        if n % 10 == 0 {
            queue.check().unwrap();
        }
    }
    let mut effect = Vec::new();
    assert!(!queue.expire(&at(34_999), 1_000, &mut effect));
    assert!(queue.expire(&at(35_000), 1_000, &mut effect));
    let returned: Vec<Id> = queue.inspect_waiting(0, u64::MAX).map(|w| w.id).collect();
    assert_eq!(returned, stuck);
    assert_eq!(queue.consumers(0).count(), 0);
    queue.check().unwrap();
}

/// The longest delivered ones come to lie in the last chunk of records, and are moved out of it.
#[test]
fn leases_end_after_their_records_were_moved() {
    let leased = Change {
        lease: Some(30_000),
        ..Change::default()
    };
    let (mut queue, _) = filled(&leased, |_| None);
    let (mut effect, mut held) = (Vec::new(), Vec::new());
    for (now, count) in [(5_000, 1_224)]
        .into_iter()
        .chain((5_001..5_008).map(|now| (now, 150)))
    {
        if now > 5_000 {
            let oldest: Vec<Receipt> = held.drain(..150).collect();
            acknowledge(&mut queue, &oldest);
        }
        let moment = at(now);
        queue.pop(&moment, &Pop::of(count), &mut effect, |m| {
            held.push(m.id.into())
        });
    }
    while held.len() > 104 {
        let newest = held.split_off(held.len() - 10);
        acknowledge(&mut queue, &newest);
        queue.check().unwrap();
    }
    assert!(queue.expire(&at(35_000), 1_000, &mut effect));
    let returned = queue
        .inspect_waiting(0, held.len() as u64)
        .map(|w| Receipt::from(w.id));
    assert!(returned.eq(held.iter().copied()));
    queue.check().unwrap();
}

#[test]
fn delayed() {
    let random = |now: u64| Some(1 + (now.wrapping_mul(0x9E37_79B9_7F4A_7C15) >> 44));
    type Delay<'a> = &'a dyn Fn(u64) -> Option<u64>;
    let orders: [(&str, Delay<'_>); 3] = [
        ("delayed, in order", &|_| Some(100_000)),
        ("delayed, in reverse", &|now| Some(100_000 - 2 * now)),
        ("delayed, at random", &random),
    ];
    for (what, delay) in orders {
        let (queue, ids) = filled(&Change::default(), delay);
        assert_eq!(queue.scheduled(), COUNT);
        ensure(what, &queue, 24.0);
        let mut cancelled = queue.clone();
        delete(&mut cancelled, &shuffled(ids.clone()));
        ensure_given_back(&cancelled);
        let (mut queue, mut effect) = (queue, Vec::new());
        while queue.expire(&at(10_000_000), 1_000, &mut effect) {}
        assert_eq!(queue.waiting(), COUNT);
        ensure(&format!("{what}, fallen due"), &queue, 44.0);
        queue.pop(&at(10_000_000), &Pop::of(COUNT), &mut effect, |_| ());
        acknowledge(&mut queue, &shuffled(ids));
        ensure_given_back(&queue);
    }
}

#[test]
fn returned_and_dead() {
    let (mut queue, ids) = filled(&Change::default(), |_| None);
    pop(&mut queue, b"worker");
    let all = shuffled(ids);
    let mut effect = Vec::new();
    for (what, dead, most) in [("returned", false, 85.0), ("dead", true, 160.0)] {
        let mut queue = queue.clone();
        let nack = rq_core::Nack {
            dead,
            ..rq_core::Nack::default()
        };
        let receipts = all.iter().copied();
        queue.nack(&at(6_000), &nack, receipts, &mut effect, |_, _| ());
        ensure(what, &queue, most);
        if dead {
            assert_eq!(queue.flush(7_000, true, &mut effect), COUNT);
        } else {
            delete(&mut queue, &all);
        }
        ensure_given_back(&queue);
    }
}

/// One in two goes unacknowledged by priority: what is left must not pin the pages of the others.
#[test]
fn taken_without_acknowledgement() {
    let (mut queue, mut effect) = (Queue::default(), Vec::new());
    for now in 0..COUNT {
        let options = Options {
            priority: u8::from(now % 10 != 0),
            ..Options::default()
        };
        let one = std::iter::once(&PAYLOAD[..]);
        let elements = one.collect::<Vec<_>>().into_iter();
        queue
            .push(&at(now / 50), Some(&options), elements, &mut effect)
            .unwrap();
    }
    let pop = Pop {
        no_ack: true,
        ..Pop::of(COUNT / 10 * 9)
    };
    assert_eq!(queue.pop(&at(3_000), &pop, &mut effect, |_| ()), pop.count);
    queue.check().unwrap();
    let each = queue.memory() as u64 / queue.len();
    println!("one left in ten: {each} bytes, payload included");
    assert!(each < 250, "{each} bytes for each message left");
    queue.pop(&at(3_000), &pop, &mut effect, |_| ());
    assert_eq!(queue.len(), 0);
    ensure_given_back(&queue);
}

/// A step of due work does at most what it is asked for, and all steps together everything, in order.
#[test]
fn a_million_fall_due_in_bounded_steps() {
    const MANY: u64 = 1_000_000;
    let (mut queue, mut effect) = (Queue::default(), Vec::new());
    for now in 0..MANY / 100 {
        let options = Options {
            delay: 20_000 - now,
            ..Options::default()
        };
        let elements = std::iter::repeat_n(&b"x"[..], 100);
        queue
            .push(&at(now), Some(&options), elements, &mut effect)
            .unwrap();
    }
    assert_eq!(queue.scheduled(), MANY);
    assert!(!queue.expire(&at(19_999), 1_000, &mut effect));
    let (mut steps, mut left) = (0, MANY);
    while queue.expire(&at(20_000), 1_000, &mut effect) {
        assert!(left - queue.scheduled() <= 1_000 && effect.len() < 32);
        left = queue.scheduled();
        steps += 1;
    }
    assert_eq!((steps, queue.waiting()), (MANY / 1_000, MANY));
    // Leases likewise; one in three was extended, and is passed over.
    let pop = Pop {
        lease: Some(1_000),
        ..Pop::of(MANY)
    };
    let mut ids = Vec::new();
    queue.pop(&at(20_000), &pop, &mut effect, |m| ids.push(m.id));
    let some = ids.iter().step_by(3).map(|&id| id.into());
    queue.extend(
        20_000,
        (0, false),
        some,
        &mut Vec::new(),
        &mut effect,
        |_| (),
    );
    let mut held = MANY;
    while queue.expire(&at(21_000), 1_000, &mut effect) {
        assert!(held - queue.delivered() <= 1_000);
        held = queue.delivered();
    }
    assert_eq!(held, MANY.div_ceil(3));
    queue.check().unwrap();
}
