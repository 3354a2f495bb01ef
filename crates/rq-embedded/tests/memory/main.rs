//! Queues in memory. Alone in its program, since it counts threads.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

use rq_core::{Options, Pop};
use rq_embedded::{Clock, Owner, State};

/// Threads that keep house in this process.
fn housekeepers() -> usize {
    let threads = std::fs::read_dir("/proc/self/task").unwrap();
    let names = threads.filter_map(|it| std::fs::read_to_string(it.ok()?.path().join("comm")).ok());
    names
        .filter(|name| name.trim() == "reliableq-house")
        .count()
}

fn push(state: &mut State, name: &[u8], delay: u64) {
    let options = Options {
        delay,
        ..Options::default()
    };
    let elements = [&b"a"[..]].into_iter();
    state.push(name, Some(&options), elements).unwrap();
}

fn pop(state: &mut State, pop: &Pop<'_>) -> u64 {
    state.pop(b"q", pop, |_| ()).unwrap()
}

/// One test, so that nobody else's threads are counted.
#[test]
fn due_work_is_done_by_a_thread_that_is_there_when_needed() {
    a_thread_that_waits_is_woken();
    time_that_stands_still_needs_no_thread();
}

fn a_thread_that_waits_is_woken() {
    let owner = Owner::memory(None, None).unwrap();
    let never = AtomicBool::new(false);
    push(&mut owner.engine().lock().unwrap(), b"q", 0);
    assert_eq!(housekeepers(), 0, "nothing is due");
    let leased = Pop {
        lease: Some(50),
        ..Pop::of(1)
    };
    let begun = Instant::now();
    assert_eq!(pop(&mut owner.engine().lock().unwrap(), &leased), 1);
    (owner.engine().wait(b"q", &Pop::of(1), None, &never)).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(49));
    assert_eq!(housekeepers(), 1);
    // Something earlier than what it sleeps for.
    let mut state = owner.engine().lock().unwrap();
    assert_eq!(pop(&mut state, &Pop::of(1)), 1);
    push(&mut state, b"other", 3_600_000);
    push(&mut state, b"q", 30);
    drop(state);
    (owner.engine().wait(b"q", &Pop::of(1), None, &never)).unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10));
    owner.release().unwrap();
    assert_eq!(housekeepers(), 0, "the last user has let go");
}

fn time_that_stands_still_needs_no_thread() {
    let clock = Arc::new(Clock::default());
    let owner = Owner::memory(None, Some(Arc::clone(&clock))).unwrap();
    let (engine, never) = (owner.engine(), AtomicBool::new(false));
    push(&mut engine.lock().unwrap(), b"q", 86_400_000);
    let start = clock.now();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| engine.wait(b"q", &Pop::of(1), None, &never));
        clock.advance(86_399_999).unwrap();
        assert_eq!(engine.lock().unwrap().waiting(b"q"), 0);
        clock.advance(1).unwrap();
        waiting.join().unwrap().unwrap();
    });
    assert_eq!(clock.now(), start + 86_400_000);
    assert_eq!(engine.lock().unwrap().now(), clock.now());
    assert_eq!(housekeepers(), 0);
    owner.release().unwrap();
}
