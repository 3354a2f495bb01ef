//! What is done to a queue: operations with all their options, drawn at random.

use proptest::prelude::*;
use proptest::sample::Index;
use rq_core::{Backoff, Change};

#[derive(Debug, Clone)]
pub(crate) enum Operation {
    Push(Push),
    Pop(Pop),
    Acknowledge(Vec<Pick>),
    /// Acknowledges the longest delivered ones.
    AcknowledgeFirst(usize),
    Nack(Nack, Vec<Pick>),
    /// Milliseconds, and whether the deliveries begin.
    Extend(u64, bool, Vec<Pick>),
    Claim {
        consumer: u8,
        idle: u64,
        lease: Option<u64>,
        picks: Vec<Pick>,
    },
    Recover {
        count: u64,
        elapsed: u64,
        lease: Option<u64>,
        consumer: u8,
        from: Option<u8>,
    },
    Delete(Vec<Pick>),
    /// Cancels the first ones of all that are there.
    DeleteFirst(usize),
    /// The named ones, or the first so many.
    Redrive(Option<Vec<Pick>>, u64),
    /// All, or the dead ones.
    Flush(bool),
    /// Pushes, pops; refused or let go on.
    Pause(bool, bool, bool),
    Setup(Change),
    DeleteConsumer(u8),
    Seen(u8),
    /// Due work, in steps of so many.
    Expire(usize),
    /// Time passes, also backwards.
    Wait(i64),
    /// The queue is written and loaded, and goes on from there.
    Reload,
    /// A copy of the queue goes on.
    Copy,
    /// The queue is made anew, where it is empty.
    Renew,
}

#[derive(Debug, Clone)]
pub(crate) struct Push {
    pub(crate) sizes: Vec<usize>,
    /// Without options.
    pub(crate) plain: bool,
    pub(crate) front: bool,
    pub(crate) delay: u64,
    pub(crate) ttl: u64,
    pub(crate) retries: Option<u32>,
    pub(crate) priority: u8,
    /// How many pairs.
    pub(crate) headers: u8,
    pub(crate) token: Option<u8>,
    pub(crate) unique: bool,
    /// One of three producers, and how far its number lies from the next one.
    pub(crate) producer: Option<(u8, i64)>,
    pub(crate) new: Option<(u64, u32)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Pop {
    pub(crate) count: u64,
    pub(crate) lease: Option<u64>,
    pub(crate) consumer: u8,
    pub(crate) no_ack: bool,
    pub(crate) prefetch: bool,
    pub(crate) max_bytes: u64,
}

#[derive(Debug, Clone)]
pub(crate) struct Nack {
    pub(crate) delay: Option<u64>,
    pub(crate) dead: bool,
    pub(crate) reason: bool,
    pub(crate) silent: bool,
}

/// A message, by where it is looked for, and how it is named.
#[derive(Debug, Clone)]
pub(crate) struct Pick {
    pub(crate) among: Among,
    pub(crate) index: Index,
    pub(crate) naming: Naming,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Among {
    Delivered,
    Dead,
    Present,
    /// It was there once, or never.
    Elsewhere,
}

#[derive(Debug, Clone, Copy)]
pub(crate) enum Naming {
    Bare,
    Receipt,
    /// A receipt of the delivery before, or after.
    Stale,
}

fn chance<T: std::fmt::Debug + Clone + 'static>(
    percent: u32,
    some: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = Option<T>> {
    prop::option::weighted(f64::from(percent) / 100.0, some)
}

/// A value, mostly the default.
fn seldom<T: std::fmt::Debug + Clone + Default + 'static>(
    percent: u32,
    some: impl Strategy<Value = T> + 'static,
) -> impl Strategy<Value = T> {
    chance(percent, some).prop_map(Option::unwrap_or_default)
}

fn pick() -> impl Strategy<Value = Pick> {
    let among = prop_oneof![
        8 => Just(Among::Delivered),
        1 => Just(Among::Dead),
        2 => Just(Among::Present),
        1 => Just(Among::Elsewhere),
    ];
    let naming = prop_oneof![
        4 => Just(Naming::Bare),
        3 => Just(Naming::Receipt),
        1 => Just(Naming::Stale),
    ];
    (among, any::<Index>(), naming).prop_map(|(among, index, naming)| Pick {
        among,
        index,
        naming,
    })
}

fn picks() -> impl Strategy<Value = Vec<Pick>> {
    prop::collection::vec(pick(), 1..12)
}

fn dead_picks() -> impl Strategy<Value = Vec<Pick>> {
    let dead = (pick(), any::<bool>()).prop_map(|(pick, dead)| Pick {
        among: if dead { Among::Dead } else { pick.among },
        ..pick
    });
    prop::collection::vec(dead, 1..8)
}

fn sizes() -> impl Strategy<Value = Vec<usize>> {
    let size = prop_oneof![6 => 0usize..40, 1 => Just(512usize), 1 => 400usize..1500];
    prop_oneof![
        12 => prop::collection::vec(size, 1..12),
        1 => (100usize..1300, 0usize..30).prop_map(|(count, size)| vec![size; count]),
    ]
}

fn push() -> impl Strategy<Value = Push> {
    let producer = (0u8..3, -8i64..2);
    (
        (sizes(), any::<bool>(), seldom(20, any::<bool>())),
        (seldom(25, delay()), seldom(20, delay())),
        chance(15, 0u32..3),
        seldom(30, prop_oneof![1u8..4, Just(255)]),
        seldom(15, 1u8..4),
        (chance(15, 0u8..8), any::<bool>()),
        (chance(15, producer), chance(5, (lease(), 0u32..3))),
    )
        .prop_map(
            |((sizes, plain, front), (delay, ttl), retries, priority, headers, token, rest)| Push {
                sizes,
                plain,
                front,
                delay,
                ttl,
                retries,
                priority,
                headers,
                token: token.0,
                unique: token.1,
                producer: rest.0,
                new: rest.1,
            },
        )
}

/// Mostly tens, as times that pass are: what is due is so often due at the very millisecond.
fn delay() -> impl Strategy<Value = u64> {
    prop_oneof![6 => (1u64..12).prop_map(|tens| tens * 10), 2 => 1u64..120, 1 => 500u64..5_000, 1 => Just(u64::MAX)]
}

/// Few lengths, so that leases of one length are many.
pub(crate) fn lease() -> impl Strategy<Value = u64> {
    prop_oneof![
        Just(0u64),
        Just(20),
        Just(50),
        Just(51),
        Just(400),
        Just(u64::MAX)
    ]
}

fn count() -> impl Strategy<Value = u64> {
    prop_oneof![8 => 1u64..20, 2 => 20u64..2000, 1 => Just(u64::MAX)]
}

fn pop() -> impl Strategy<Value = Pop> {
    (
        count(),
        chance(60, lease()),
        0u8..4,
        seldom(10, any::<bool>()),
        seldom(30, any::<bool>()),
        seldom(10, 1u64..2_000),
    )
        .prop_map(
            |(count, lease, consumer, no_ack, prefetch, max_bytes)| Pop {
                count,
                lease,
                consumer,
                no_ack,
                prefetch,
                max_bytes,
            },
        )
}

fn nack() -> impl Strategy<Value = Nack> {
    (
        chance(40, prop_oneof![Just(0), delay()]),
        seldom(30, any::<bool>()),
        any::<bool>(),
        any::<bool>(),
    )
        .prop_map(|(delay, dead, reason, silent)| Nack {
            delay,
            dead,
            reason,
            silent,
        })
}

fn backoff() -> impl Strategy<Value = Backoff> {
    // Whole factors: powers of others are rounded.
    (0u64..60, 1u32..4, prop_oneof![Just(0u64), 50u64..300]).prop_map(|(base, factor, max)| {
        Backoff {
            base,
            factor: factor * 1000,
            max,
        }
    })
}

fn change() -> impl Strategy<Value = Change> {
    (
        (chance(30, lease()), chance(30, 0u32..4)),
        chance(30, backoff()),
        (
            chance(8, prop_oneof![Just(0u64), 1u64..200]),
            chance(8, prop_oneof![Just(0u64), 100u64..20_000]),
        ),
        chance(20, any::<bool>()),
        chance(20, prop_oneof![Just(0u64), Just(100), Just(600_000)]),
        chance(30, any::<bool>()),
        (
            chance(15, prop_oneof![Just(0u64), 1u64..20]),
            chance(15, prop_oneof![Just(0u64), 1u64..400]),
        ),
        chance(10, prop_oneof![Just(0u64), 1u64..30]),
    )
        .prop_map(
            |((lease, deliveries), backoff, caps, drops, dedup, expired_dead, dead, inflight)| {
                Change {
                    lease: lease.map(|lease| lease.min(1 << 40)),
                    deliveries,
                    backoff,
                    jitter: None,
                    max_length: caps.0,
                    max_bytes: caps.1,
                    drops,
                    dedup,
                    expired_dead,
                    dead_max: dead.0,
                    dead_ttl: dead.1,
                    inflight,
                }
            },
        )
}

fn limit() -> impl Strategy<Value = usize> {
    prop_oneof![Just(1usize), Just(3), Just(100), Just(1_000)]
}

fn wait() -> impl Strategy<Value = i64> {
    prop_oneof![
        9 => (0i64..6).prop_map(|tens| tens * 10),
        3 => 0i64..60,
        2 => 60i64..1_000,
        2 => -80i64..0,
        1 => Just(-100_000i64),
        1 => 60_000i64..700_000,
    ]
}

pub(crate) fn operation() -> impl Strategy<Value = Operation> {
    let recover = (
        count(),
        0u64..60,
        chance(50, lease()),
        0u8..4,
        chance(30, 0u8..4),
    );
    let managing = prop_oneof![
        3 => (chance(60, dead_picks()), count()).prop_map(|(picks, n)| Operation::Redrive(picks, n)),
        1 => prop_oneof![1 => Just(false), 3 => Just(true)].prop_map(Operation::Flush),
        2 => (any::<bool>(), any::<bool>(), prop_oneof![1 => Just(true), 3 => Just(false)])
            .prop_map(|(push, pop, paused)| Operation::Pause(push, pop, paused)),
        4 => change().prop_map(Operation::Setup),
        1 => (0u8..4).prop_map(Operation::DeleteConsumer),
        1 => (0u8..4).prop_map(Operation::Seen),
        2 => Just(Operation::Reload),
        1 => Just(Operation::Copy),
        1 => Just(Operation::Renew),
    ];
    prop_oneof![
        16 => push().prop_map(Operation::Push),
        14 => pop().prop_map(Operation::Pop),
        4 => picks().prop_map(Operation::Acknowledge),
        3 => prop_oneof![3 => 1usize..80, 1 => 80usize..2000].prop_map(Operation::AcknowledgeFirst),
        8 => (nack(), picks()).prop_map(|(nack, picks)| Operation::Nack(nack, picks)),
        3 => (prop_oneof![Just(0), delay()], any::<bool>(), picks())
            .prop_map(|(ms, start, picks)| Operation::Extend(ms, start, picks)),
        2 => (0u8..4, 0u64..60, chance(50, lease()), picks()).prop_map(|(consumer, idle, lease, picks)| {
            Operation::Claim { consumer, idle, lease, picks }
        }),
        3 => recover.prop_map(|(count, elapsed, lease, consumer, from)| Operation::Recover {
            count, elapsed, lease, consumer, from
        }),
        2 => picks().prop_map(Operation::Delete),
        1 => (1usize..200).prop_map(Operation::DeleteFirst),
        8 => limit().prop_map(Operation::Expire),
        12 => wait().prop_map(Operation::Wait),
        12 => managing,
    ]
}
