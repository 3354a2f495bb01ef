//! Any sequence of operations, cut anywhere, gives the same queue by executing it, by applying
//! its effects, and by a snapshot at the cut and the effects after it; and the queue shows what a plain
//! model shows, after every step.
//!
//! `RQ_CORE_EFFORT=20` tries twenty times as many sequences.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod compare;
mod delivery;
mod due;
mod model;
mod operation;
mod run;

use proptest::prelude::*;
use rq_core::{Change, Policy, Queue, snapshot};

use run::{Run, Setting};

fn bytes(queue: &Queue) -> Vec<Vec<u8>> {
    let mut parts = Vec::new();
    snapshot::write(queue, |part| parts.push(part.to_vec()));
    parts
}

fn load(parts: &[Vec<u8>]) -> Queue {
    let mut loader = snapshot::Loader::default();
    let (last, rest) = parts.split_last().unwrap();
    for part in rest {
        assert!(!loader.feed(part).unwrap());
    }
    assert!(loader.feed(last).unwrap());
    let queue = loader.finish();
    queue.check().unwrap();
    queue
}

fn effort() -> u32 {
    let effort = std::env::var("RQ_CORE_EFFORT").ok();
    effort.and_then(|effort| effort.parse().ok()).unwrap_or(1)
}

fn setting() -> impl Strategy<Value = Setting> {
    let keeper = prop::option::of(prop_oneof![Just(1usize), Just(3), Just(1000)]);
    let defaults = prop::option::weighted(0.2, (operation::lease(), 0u32..4, 0u64..60, 0u64..9));
    (keeper, prop::bool::weighted(0.1), defaults).prop_map(|(keeper, many, defaults)| {
        let mut policy = Policy::NONE;
        if let Some((lease, deliveries, base, dead_max)) = defaults {
            let change = Change {
                lease: Some(lease.min(1 << 40)),
                deliveries: Some(deliveries),
                dead_max: Some(dead_max),
                max_length: Some(base * 20),
                backoff: Some(rq_core::Backoff {
                    base,
                    factor: 2000,
                    max: 0,
                }),
                inflight: Some(base),
                ..Change::default()
            };
            policy = change.applied(&policy);
        }
        Setting {
            // Many lengths at one time have no order that a model could know.
            keeper: keeper.filter(|_| !many),
            many,
            defaults: policy,
        }
    })
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 600 * effort(),
        max_shrink_iters: 20_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn cut_anywhere(
        setting in setting(),
        operations in prop::collection::vec(operation::operation(), 1..80),
        cut: prop::sample::Index,
    ) {
        let mut run = Run::new(setting);
        let cut = cut.index(operations.len());
        for (n, operation) in operations.iter().enumerate() {
            run.step(operation);
            if n == cut && !run.queue.is_empty() {
                let parts = bytes(&run.queue);
                let loaded = load(&parts);
                prop_assert_eq!(&bytes(&loaded), &parts);
                run.loaded = Some(loaded);
            }
        }
        let whole = bytes(&run.queue);
        for queue in [Some(&run.replica), run.loaded.as_ref()].into_iter().flatten() {
            queue.check().unwrap();
            prop_assert_eq!(&bytes(queue), &whole);
            prop_assert_eq!(queue.counters(), run.queue.counters());
        }
    }
}
