//! The time that is given to the core.
//!
//! A place has a clock of its own: the system's, drawn slowly towards the wall clock as `docs/life.md` says, or one that
//! stands still until it is told to go on, for tests.

use std::cell::Cell;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::time::{Instant, SystemTime, UNIX_EPOCH};

use crate::engine::Engine;
use crate::error::Error;

/// The clock of a place. Whoever asks it holds the lock of the place.
pub(crate) enum Time {
    System(Cell<System>),
    Manual(Arc<Clock>),
}

impl Time {
    /// The system's, or another one.
    pub(crate) fn new(clock: Option<Arc<Clock>>) -> Self {
        match clock {
            None => Time::System(Cell::new(System::new())),
            Some(clock) => Time::Manual(clock),
        }
    }

    /// Unix time in milliseconds.
    pub(crate) fn now(&self) -> u64 {
        match self {
            Time::System(cell) => {
                let mut system = cell.get();
                let now = system.read();
                cell.set(system);
                now
            }
            Time::Manual(clock) => clock.now(),
        }
    }

    /// The same when it was asked for last, which costs nothing.
    pub(crate) fn last(&self) -> u64 {
        match self {
            Time::System(cell) => match cell.get().clock.last() {
                0 => self.now(),
                last => last,
            },
            Time::Manual(clock) => clock.now(),
        }
    }

    /// The same by the wall clock, in which people say when something is to be.
    pub(crate) fn wall(&self) -> u64 {
        match self {
            Time::System(_) => wall() / 1000,
            Time::Manual(clock) => clock.now(),
        }
    }

    /// Whether it goes on by itself.
    pub(crate) fn is_running(&self) -> bool {
        matches!(self, Time::System(_))
    }

    /// Whether it is this one.
    pub(crate) fn is(&self, clock: &Arc<Clock>) -> bool {
        matches!(self, Time::Manual(own) if Arc::ptr_eq(own, clock))
    }
}

/// The system's clocks, made one.
#[derive(Clone, Copy)]
pub(crate) struct System {
    clock: rq_core::Clock,
    /// Both, in microseconds, when the wall clock was last looked at.
    wall: u64,
    monotonic: u64,
}

impl System {
    fn new() -> Self {
        Self {
            clock: rq_core::Clock::new(),
            wall: 0,
            monotonic: 0,
        }
    }

    fn read(&mut self) -> u64 {
        let monotonic = monotonic();
        // The wall clock counts for something only so often, and looking at it is half of the cost.
        if self.wall == 0 || monotonic.saturating_sub(self.monotonic) >= 1000 {
            (self.wall, self.monotonic) = (wall(), monotonic);
        }
        self.clock.read(self.wall, monotonic)
    }
}

/// Unix time by the wall clock, in microseconds.
fn wall() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| {
        u64::try_from(since.as_micros()).unwrap_or(u64::MAX)
    })
}

/// Microseconds that have passed since some time, those included in which the machine slept.
fn monotonic() -> u64 {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the clock is written to a value of ours.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_BOOTTIME, &raw mut time) };
    if code != 0 {
        return elapsed().saturating_mul(1000);
    }
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let nanoseconds = u64::try_from(time.tv_nsec).unwrap_or(0);
    seconds.saturating_mul(1_000_000) + nanoseconds / 1000
}

/// Milliseconds since this process first asked, for what is not the business of queues.
pub(crate) fn elapsed() -> u64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    u64::try_from(START.elapsed().as_millis()).unwrap_or(u64::MAX)
}

/// A time that stands still until it is advanced, for tests.
pub struct Clock {
    now: AtomicU64,
    /// The places that live by it.
    engines: Mutex<Vec<Weak<Engine>>>,
}

impl Default for Clock {
    fn default() -> Self {
        Self {
            now: AtomicU64::new(wall() / 1000),
            engines: Mutex::default(),
        }
    }
}

impl Clock {
    /// Unix time in milliseconds.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.now.load(Ordering::Relaxed)
    }

    /// A place lives by it from now on.
    pub(crate) fn join(&self, engine: &Arc<Engine>) -> Result<(), Error> {
        let mut engines = self.engines.lock()?;
        engines.retain(|engine| engine.strong_count() > 0);
        engines.push(Arc::downgrade(engine));
        Ok(())
    }

    /// Lets time pass. It stops at each time at which something is due, so that what follows from that falls due in
    /// time as well, and wakes those who wait for it.
    ///
    /// # Errors
    /// [`Error::Damaged`]
    pub fn advance(&self, milliseconds: u64) -> Result<(), Error> {
        // Held to the end: two that advance do so one after the other.
        let engines = self.engines.lock()?;
        let engines: Vec<Arc<Engine>> = engines.iter().filter_map(Weak::upgrade).collect();
        let end = self.now().saturating_add(milliseconds);
        loop {
            let mut next = end;
            for engine in &engines {
                next = next.min(engine.lock()?.next_due().unwrap_or(end));
            }
            self.now.fetch_max(next, Ordering::Relaxed);
            for engine in &engines {
                engine.lock()?.do_all_due_work();
            }
            if next == end {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_system_s_time_goes_on_and_is_near_the_wall_clock() {
        let time = Time::new(None);
        let before = time.now();
        assert!(before.abs_diff(wall() / 1000) < 1000);
        std::thread::sleep(std::time::Duration::from_millis(20));
        let passed = time.now() - before;
        assert!((19..10_000).contains(&passed), "{passed}");
    }
}
