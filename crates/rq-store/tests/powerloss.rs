//! The power fails at every operation of the disk (E2): what was synced is there, and what is there
//! is what the store held after some record.
#![allow(clippy::unwrap_used, missing_docs)]

mod common;

use common::{Driver, Operation, effort, open, operation};
use proptest::prelude::*;
use rq_store::{Crash, Disk, Failure, Fault, Operation as Asked};

/// Runs the operations until the power fails; the disk, and what is known of it.
fn run(operations: &[Operation], always: bool, power: Option<u64>) -> (Disk, Option<Driver>) {
    let disk = Disk::default();
    if let Some(after) = power {
        disk.power_off_after(after);
    }
    let Ok((mut store, _)) = open(&disk) else {
        return (disk, None);
    };
    let mut driver = Driver::new(&store, always);
    for operation in operations {
        if driver.run(&mut store, operation).is_err() {
            break;
        }
    }
    (disk, Some(driver))
}

/// Opens what is left, perhaps with the power failing again meanwhile, and goes on.
fn reopen(disk: &Disk, driver: Option<&Driver>, seed: u64) -> Result<(), TestCaseError> {
    let mut disk = disk.crash(match seed % 8 {
        0 => Crash::Lost,
        1 => Crash::Kept,
        _ => Crash::Random(seed),
    });
    if seed.is_multiple_of(3) {
        disk.power_off_after(seed / 3 % 12);
        let opened = open(&disk);
        drop(opened);
        disk = disk.crash(Crash::Random(seed + 1));
    }
    let (mut store, _) = open(&disk).map_err(|error| TestCaseError::fail(error.to_string()))?;
    let Some(driver) = driver else {
        prop_assert!(store.queues().is_empty());
        return Ok(());
    };
    driver.check(&store)?;
    // It goes on, and what it says after that is there as well.
    let mut again = Driver::new(&store, true);
    again.now = driver.now;
    let push = Operation::Push {
        queue: 0,
        sizes: vec![10, 700],
    };
    again.run(&mut store, &push).unwrap();
    drop(store);
    let (store, _) = open(&disk.crash(Crash::Lost)).unwrap();
    again.check(&store)
}

fn every_point(
    operations: &[Operation],
    always: bool,
    seeds: u64,
    from: u64,
) -> Result<(), TestCaseError> {
    let (disk, _) = run(operations, always, None);
    for point in 0..=disk.operations() {
        let (disk, driver) = run(operations, always, Some(point));
        for seed in 0..seeds {
            reopen(&disk, driver.as_ref(), from.wrapping_add(seed)).map_err(|error| {
                TestCaseError::fail(format!("at {point}, seed {seed}: {error}"))
            })?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 96 * effort(),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn nothing_answered_is_lost_when_every_record_is_synced(
        operations in prop::collection::vec(operation(), 1..40),
        seed in 0u64..1 << 40,
    ) {
        every_point(&operations, true, 4, seed)?;
    }

    #[test]
    fn a_prefix_is_there_when_records_are_synced_now_and_then(
        operations in prop::collection::vec(operation(), 1..60),
        seed in 0u64..1 << 40,
    ) {
        every_point(&operations, false, 6, seed)?;
    }

    #[test]
    fn a_prefix_is_there_when_nothing_is_synced(
        operations in prop::collection::vec(operation(), 1..60),
        seed in 0u64..1 << 40,
    ) {
        let operations: Vec<_> = (operations.into_iter())
            .filter(|o| !matches!(o, Operation::Sync | Operation::Checkpoint | Operation::BeginCheckpoint))
            .collect();
        every_point(&operations, false, 6, seed)?;
    }
}

#[test]
fn what_was_found_when_opening_is_durable() {
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, false);
    let push = Operation::Push {
        queue: 1,
        sizes: vec![30, 40],
    };
    driver.run(&mut store, &push).unwrap();
    assert_eq!(store.synced_through(), 0);
    drop(store);
    let (store, _) = open(&disk).unwrap();
    assert_eq!(store.synced_through(), 1);
    drop(store);
    let (store, _) = open(&disk.crash(Crash::Lost)).unwrap();
    assert_eq!(Some(&common::state(store.queues())), driver.states.last());
}

/// What a failed write left in a file must not be found below later records.
#[test]
fn a_failed_write_leaves_nothing_behind() {
    let push = |size| Operation::Push {
        queue: 0,
        sizes: vec![size],
    };
    let disk = Disk::default();
    let (mut store, _) = open(&disk).unwrap();
    let mut driver = Driver::new(&store, false);
    driver.run(&mut store, &push(20)).unwrap();
    disk.fail(Fault {
        operation: Some(Asked::Write),
        after: 0,
        failure: Failure::Io,
        forever: false,
    });
    driver.run(&mut store, &push(1200)).unwrap_err();
    driver.run(&mut store, &push(700)).unwrap();
    driver.run(&mut store, &push(700)).unwrap();
    drop(store);
    for seed in 0..500 {
        let (store, _) = open(&disk.crash(Crash::Random(seed))).unwrap();
        driver.check(&store).unwrap();
    }
}
