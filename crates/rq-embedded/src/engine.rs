//! Queues behind a lock: who gets it, waiting for messages, and when a change is durable.
//!
//! Operations are methods of [`State`], which only the holder of the lock has. They never wait and
//! never sync; whoever wants its change durable calls [`Engine::settle`] afterwards, without the lock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, TryLockError, Weak};
use std::time::Instant;

use rq_core::Pop;
use rq_store::{Files, Queues, Store};

use crate::clock::{Clock, Time};
use crate::error::Error;
use crate::keeper::Keeper;
use crate::state::State;

/// When changes become durable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Sync {
    /// When the system likes.
    Os,
    /// Within a second.
    Interval,
    /// Pushes and acknowledgements before they are answered.
    Always,
}

/// Queues that threads share.
pub struct Engine {
    pub(crate) state: Mutex<State>,
    /// Rung when a sync has ended.
    pub(crate) synced: Condvar,
    /// Rung when the housekeeper is to look earlier than it planned.
    pub(crate) chores: Arc<Condvar>,
}

impl Engine {
    /// Queues that nothing keeps, by the system's clock or another one.
    ///
    /// # Errors
    /// [`Error::Damaged`]
    pub fn memory(clock: Option<Arc<Clock>>) -> Result<Arc<Self>, Error> {
        Self::new(Keeper::memory(), Sync::Os, clock, Weak::clone)
    }

    /// Queues of a store. Its owner starts the housekeeper.
    pub(crate) fn of(
        store: Store<Files>,
        background: Sync,
        clock: Option<Arc<Clock>>,
    ) -> Result<Arc<Self>, Error> {
        let keeper = Keeper::File(Box::new(store));
        Self::new(keeper, background, clock, |_| Weak::new())
    }

    /// `house` says whose housekeeper is started when there is something to do.
    fn new(
        keeper: Keeper,
        background: Sync,
        clock: Option<Arc<Clock>>,
        house: impl FnOnce(&Weak<Self>) -> Weak<Self>,
    ) -> Result<Arc<Self>, Error> {
        let chores = Arc::new(Condvar::new());
        let engine = Arc::new_cyclic(|engine| Self {
            state: Mutex::new(State::new(
                keeper,
                background,
                (Time::new(clock.clone()), Arc::clone(&chores)),
                house(engine),
            )),
            synced: Condvar::new(),
            chores,
        });
        if let Some(clock) = clock {
            clock.join(&engine)?;
        }
        Ok(engine)
    }

    /// The queues.
    ///
    /// # Errors
    /// [`Error::Damaged`]
    pub fn lock(&self) -> Result<MutexGuard<'_, State>, Error> {
        Ok(self.state.lock()?)
    }

    /// The queues, unless another thread has them.
    ///
    /// # Errors
    /// [`Error::Damaged`]
    pub fn try_lock(&self) -> Result<Option<MutexGuard<'_, State>>, Error> {
        match self.state.try_lock() {
            Ok(state) => Ok(Some(state)),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Poisoned(_)) => Err(Error::Damaged),
        }
    }

    /// Waits until the queue has something for this pop, `closed` is set and the bells were rung, or
    /// the time is over. It takes nothing.
    ///
    /// # Errors
    /// [`Error::Damaged`]
    pub fn wait(
        &self,
        name: &[u8],
        pop: &Pop<'_>,
        until: Option<Instant>,
        closed: &AtomicBool,
    ) -> Result<(), Error> {
        let mut state = self.lock()?;
        let (who, condition) = state.bells.join(name, pop.consumer);
        let idle = |state: &mut State| {
            let closed = closed.load(Ordering::Relaxed) || state.is_closed();
            !closed && state.available(name, pop) == 0
        };
        let mut state = match until {
            None => condition.wait_while(state, idle)?,
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                condition.wait_timeout_while(state, left, idle)?.0
            }
        };
        state.bells.leave(name, who);
        Ok(())
    }

    // ---- durability ----

    /// Waits until a change ([`State::stored`]) is durable. Of those who wait at the same time, one
    /// syncs for all.
    ///
    /// # Errors
    /// When it is not: nothing is stored any more then.
    pub fn settle(&self, change: u64) -> Result<(), Error> {
        let mut state = self.lock()?;
        loop {
            let Some(store) = state.keeper.store() else {
                return match state.keeper {
                    Keeper::Closed { durable: false, .. } => Err(Error::Closed),
                    _ => Ok(()),
                };
            };
            if store.synced_through() >= change {
                return Ok(());
            }
            if store.begin_sync().is_none() {
                // The last record is the store's own, which says that those before are durable; or
                // nothing is durable any more.
                return Ok(store.ensure_sound()?);
            }
            if state.sync_running {
                state = self.synced.wait(state)?;
                continue;
            }
            state = self.sync(state)?;
        }
    }

    /// Syncs what was stored so far, while others go on.
    pub(crate) fn sync<'a>(
        &'a self,
        mut state: MutexGuard<'a, State>,
    ) -> Result<MutexGuard<'a, State>, Error> {
        state.sync_due = None;
        let Some(store) = state.keeper.store() else {
            return Ok(state);
        };
        store.ensure_there()?;
        let Some(syncing) = store.begin_sync() else {
            // Nothing to do, or nothing more can be done: this tells which.
            store.sync()?;
            return Ok(state);
        };
        state.sync_running = true;
        drop(state);
        let ended = syncing.run();
        let mut state = self.lock()?;
        state.sync_running = false;
        self.synced.notify_all();
        if let Some(store) = state.keeper.store() {
            store.end_sync(ended)?;
        }
        Ok(state)
    }

    // ---- ending ----

    /// Has the housekeeper and the endpoint end.
    pub(crate) fn stop(&self) {
        let mut thread = None;
        if let Ok(mut state) = self.lock() {
            state.stopping = true;
            thread = state.house.take_thread();
            state.bells.ring_all();
        }
        self.chores.notify_all();
        if let Some(thread) = thread {
            let _ = thread.join();
        }
    }

    /// Makes durable what is to be, and lets go of the queues.
    pub(crate) fn finish(&self) -> Result<(), Error> {
        let mut state = self.lock()?;
        let background = state.background;
        let synced = match state.keeper.store() {
            Some(store) if background > Sync::Os => store.sync().map(|_| ()),
            _ => Ok(()),
        };
        if let Some(store) = state.keeper.store().filter(|store| store.is_bloated()) {
            // It would only have taken less room.
            let _ = store.checkpoint();
        }
        state.keeper = Keeper::Closed {
            queues: Queues::default(),
            durable: synced.is_ok(),
        };
        state.forget_due();
        state.bells.ring_all();
        Ok(synced?)
    }
}
