//! The lock around the queues, and waiting for a push.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, LazyLock, Mutex, PoisonError, TryLockError};
use std::time::Instant;

use pyo3::prelude::*;

use crate::errors;
use crate::queues::Queues;

/// Queues that connections of one process share.
#[derive(Default)]
pub(crate) struct Shared(Mutex<State>);

/// What the lock guards.
#[derive(Default)]
pub(crate) struct State {
    pub(crate) queues: Queues,
    /// A bell for each queue that somebody waits for. The queue itself need not exist.
    bells: HashMap<Box<str>, Bell>,
}

/// Wakes those who wait for one queue.
#[derive(Default)]
struct Bell {
    condition: Arc<Condvar>,
    waiters: u64,
}

/// A panic happened while the lock was held.
struct Damaged;

impl<T> From<PoisonError<T>> for Damaged {
    fn from(_: PoisonError<T>) -> Self {
        Self
    }
}

impl From<Damaged> for PyErr {
    fn from(_: Damaged) -> Self {
        errors::damaged()
    }
}

impl Shared {
    /// The queues of this name, for as long as the process lives.
    pub(crate) fn named(py: Python<'_>, name: &str) -> PyResult<Arc<Self>> {
        static ALL: LazyLock<Mutex<HashMap<Box<str>, Arc<Shared>>>> = LazyLock::new(Mutex::default);
        let found = py.detach(|| -> Result<_, Damaged> {
            Ok(Arc::clone(ALL.lock()?.entry(name.into()).or_default()))
        });
        Ok(found?)
    }

    /// Does something short under the lock. The GIL is released when another thread holds the
    /// lock, or when the work is `long`; handing it over costs far more than short work.
    pub(crate) fn work<T: Send>(
        &self,
        py: Python<'_>,
        long: bool,
        act: impl FnOnce(&mut State) -> T + Send,
    ) -> PyResult<T> {
        if !long {
            match self.0.try_lock() {
                Ok(mut state) => return Ok(act(&mut state)),
                Err(TryLockError::Poisoned(_)) => return Err(errors::damaged()),
                Err(TryLockError::WouldBlock) => {}
            }
        }
        let done = py.detach(|| -> Result<_, Damaged> { Ok(act(&mut *self.0.lock()?)) });
        Ok(done?)
    }

    /// Waits without the GIL until the queue has a waiting message, `closed` is set and the
    /// bells were rung, or the time is over. It takes nothing.
    pub(crate) fn wait(
        &self,
        py: Python<'_>,
        name: &str,
        until: Option<Instant>,
        closed: &AtomicBool,
    ) -> PyResult<()> {
        Ok(py.detach(|| self.wait_detached(name, until, closed))?)
    }

    fn wait_detached(
        &self,
        name: &str,
        until: Option<Instant>,
        closed: &AtomicBool,
    ) -> Result<(), Damaged> {
        let mut state = self.0.lock()?;
        let bell = state.bells.entry(name.into()).or_default();
        bell.waiters += 1;
        let condition = Arc::clone(&bell.condition);
        let idle =
            |state: &mut State| !closed.load(Ordering::Relaxed) && state.queues.waiting(name) == 0;
        let mut state = match until {
            None => condition.wait_while(state, idle)?,
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                condition.wait_timeout_while(state, left, idle)?.0
            }
        };
        state.leave(name);
        Ok(())
    }
}

impl State {
    /// Wakes as many of those who wait for the queue as there are new messages.
    pub(crate) fn ring(&self, name: &str, messages: u64) {
        if let Some(bell) = self.bells.get(name) {
            for _ in 0..messages.min(bell.waiters) {
                bell.condition.notify_one();
            }
        }
    }

    /// Wakes all who wait, so that they look whether they were closed.
    pub(crate) fn ring_all(&self) {
        for bell in self.bells.values() {
            bell.condition.notify_all();
        }
    }

    /// Wakes the next one in place of one that was woken and goes without taking anything.
    pub(crate) fn pass_on(&self, name: &str) {
        self.ring(name, self.queues.waiting(name).min(1));
    }

    /// Takes one who waited off the books.
    fn leave(&mut self, name: &str) {
        if let Some(bell) = self.bells.get_mut(name) {
            bell.waiters -= 1;
            if bell.waiters == 0 {
                self.bells.remove(name);
            }
        }
    }
}
