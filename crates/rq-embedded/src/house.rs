//! The housekeeper: one thread that does what is due, syncs and writes checkpoints.
//!
//! That of a file runs as long as the file is owned. Queues in memory get one when they first have something to do.

use std::sync::{MutexGuard, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use rq_store::Store;

use crate::clock;
use crate::engine::{Engine, Sync};
use crate::error::Error;
use crate::state::State;

/// Milliseconds of a sleep, at most: one that the machine slept through too ends late by no more.
const LONGEST: u64 = 60_000;
/// How long others get the lock when there is more to do.
const BREAK: Duration = Duration::from_micros(100);

/// The thread of queues in memory.
pub(crate) struct House {
    /// Whose it is, where it is started here.
    engine: Weak<Engine>,
    thread: Option<JoinHandle<()>>,
}

impl House {
    pub(crate) fn new(engine: Weak<Engine>) -> Self {
        let thread = None;
        Self { engine, thread }
    }

    /// Starts it, where it was not. A system that has no thread for it is asked again with the next due work; until then
    /// each command does what is due for its queue.
    pub(crate) fn start(&mut self) {
        let Some(engine) = self.engine.upgrade().filter(|_| self.thread.is_none()) else {
            return;
        };
        let started = spawn(move || engine.keep_house());
        self.thread = started.ok();
    }

    pub(crate) fn take_thread(&mut self) -> Option<JoinHandle<()>> {
        self.engine = Weak::new();
        self.thread.take()
    }
}

/// Starts a thread for the chores.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) -> std::io::Result<JoinHandle<()>> {
    let thread = std::thread::Builder::new().name("reliableq-house".to_owned());
    thread.spawn(work)
}

impl Engine {
    /// Does due work, syncs and checkpoints, until the engine stops.
    pub(crate) fn keep_house(&self) {
        // An error here poisons the store, and is told to whoever calls next.
        let _ = self.lock().and_then(|state| self.keep_house_of(state));
    }

    fn keep_house_of<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<(), Error> {
        while !state.stopping {
            state.do_due_work();
            let mut bloated = false;
            let sync_due = state.sync_due.is_some_and(|due| due <= clock::elapsed());
            if sync_due && !state.sync_running {
                // First: changes that come while it syncs are due again.
                state.sync_due = None;
                if state.background >= Sync::Interval {
                    state = self.sync(state)?;
                }
                bloated = state.look_after()?;
            }
            if bloated || state.wants_checkpoint() {
                state = self.checkpoint(state)?;
            }
            state = match state.plan() {
                0 => {
                    // More is to be done at once, but others come first.
                    drop(state);
                    std::thread::sleep(BREAK);
                    self.lock()?
                }
                left => {
                    // A plan that is earlier rings.
                    let left = Duration::from_millis(nearly(left).min(LONGEST));
                    self.chores.wait_timeout(state, left)?.0
                }
            };
        }
        Ok(())
    }

    fn checkpoint<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
    ) -> Result<MutexGuard<'a, State>, Error> {
        // It syncs what is not durable yet: better now, while others go on.
        while state.sync_running {
            state = self.synced.wait(state)?;
        }
        state = self.sync(state)?;
        let begun = state.keeper.store().map(Store::begin_checkpoint);
        // When it can't be done, the store goes on with its log, and wants the next one later.
        let Some(Ok(Some(checkpoint))) = begun else {
            return Ok(state);
        };
        drop(state);
        let ended = checkpoint.run();
        let mut state = self.lock()?;
        if let Some(store) = state.keeper.store() {
            let _ = store.end_checkpoint(ended);
        }
        Ok(state)
    }
}

/// A little less than so long, where that is long: the time of queues may run faster than that of a sleep, by a
/// hundredth.
fn nearly(milliseconds: u64) -> u64 {
    milliseconds - milliseconds / 64
}
