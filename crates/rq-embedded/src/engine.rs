//! Queues behind a lock: operations, waiting, and when a change is durable.
//!
//! Operations are methods of [`State`], which only the holder of the lock has. They never wait and
//! never sync; whoever wants its change durable calls [`Engine::settle`] afterwards, without the lock.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, TryLockError};
use std::time::{Duration, Instant};

use rq_command::reply::Status;
use rq_core::{Agenda, Delivery, Id, Produced, Pushed, Queue};
use rq_store::{Files, Queues, Store};

use crate::clock;
use crate::error::Error;
use crate::keeper::Keeper;
use crate::memory::Freed;
use crate::waiting::Bells;

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

/// Milliseconds within which changes are durable under [`Sync::Interval`].
const INTERVAL: u64 = 1000;
/// Queues that are looked at, and work that is done for one, before others get the lock.
const STEP: usize = 100;

/// Queues that threads share.
pub struct Engine {
    state: Mutex<State>,
    /// Rung when a sync has ended.
    synced: Condvar,
    /// Rung when the housekeeper is to look earlier than it planned.
    chores: Arc<Condvar>,
}

/// What the lock guards.
pub struct State {
    keeper: Keeper,
    pub(crate) bells: Bells,
    agenda: Agenda<Box<[u8]>>,
    /// Kept to be used again.
    done: Vec<Id>,
    freed: Freed,
    chores: Arc<Condvar>,
    /// When the housekeeper looks next, in milliseconds.
    planned: u64,
    /// The last change that was planned for.
    seen: u64,
    /// By when the last changes must be durable, where that was asked for, and looked after.
    sync_due: Option<u64>,
    background: Sync,
    sync_running: bool,
    /// The housekeeper and the endpoint are to end.
    pub(crate) stopping: bool,
}

impl Engine {
    /// Queues that nothing keeps.
    #[must_use]
    pub fn memory() -> Self {
        Self::new(Keeper::memory(), Sync::Os)
    }

    /// Queues of a store.
    pub(crate) fn of(store: Store<Files>, background: Sync) -> Self {
        Self::new(Keeper::File(Box::new(store)), background)
    }

    fn new(keeper: Keeper, background: Sync) -> Self {
        let chores = Arc::new(Condvar::new());
        let mut state = State {
            keeper,
            bells: Bells::default(),
            agenda: Agenda::new(),
            done: Vec::new(),
            freed: Freed::default(),
            chores: Arc::clone(&chores),
            planned: 0,
            seen: 0,
            sync_due: None,
            background,
            sync_running: false,
            stopping: false,
        };
        state.note_all();
        Self {
            state: Mutex::new(state),
            synced: Condvar::new(),
            chores,
        }
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

    /// Waits until the queue has a waiting message, `closed` is set and the bells were rung, or
    /// the time is over. It takes nothing.
    ///
    /// # Errors
    /// [`Error::Damaged`]
    pub fn wait(
        &self,
        name: &[u8],
        until: Option<Instant>,
        closed: &AtomicBool,
    ) -> Result<(), Error> {
        let mut state = self.lock()?;
        let condition = state.bells.join(name);
        let idle = |state: &mut State| {
            let closed = closed.load(Ordering::Relaxed) || state.is_closed();
            !closed && state.waiting(name) == 0
        };
        let mut state = match until {
            None => condition.wait_while(state, idle)?,
            Some(until) => {
                let left = until.saturating_duration_since(Instant::now());
                condition.wait_timeout_while(state, left, idle)?.0
            }
        };
        state.bells.leave(name);
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
    fn sync<'a>(
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

    // ---- housekeeping ----

    /// Does due work, syncs and checkpoints, until the engine stops.
    pub(crate) fn keep_house(&self) {
        // An error here poisons the store, and is told to whoever calls next.
        let _ = self.lock().and_then(|state| self.keep_house_of(state));
    }

    fn keep_house_of<'a>(&'a self, mut state: MutexGuard<'a, State>) -> Result<(), Error> {
        while !state.stopping {
            let now = clock::now();
            state.do_due_work(now);
            let mut bloated = false;
            if state.sync_due.is_some_and(|due| due <= now) && !state.sync_running {
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
            state.planned = state.next_chore();
            let left = state.planned.saturating_sub(clock::now());
            if left > 0 {
                // Waits of any length end: a plan that is earlier rings.
                let left = Duration::from_millis(left.min(3_600_000));
                state = self.chores.wait_timeout(state, left)?.0;
            } else {
                // More is to be done at once, but others come first.
                drop(state);
                std::thread::yield_now();
                state = self.lock()?;
            }
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

    /// Has the housekeeper and the endpoint end.
    pub(crate) fn stop(&self) {
        if let Ok(mut state) = self.lock() {
            state.stopping = true;
            state.bells.ring_all();
        }
        self.chores.notify_all();
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
        state.bells.ring_all();
        Ok(synced?)
    }
}

impl State {
    // ---- looking ----

    /// The queues.
    #[must_use]
    pub fn queues(&self) -> &Queues {
        self.keeper.queues()
    }

    /// The queue with a name, where there is one.
    #[must_use]
    pub fn queue(&self, name: &[u8]) -> Option<&Queue> {
        self.keeper.queues().get(name)
    }

    /// How many messages wait.
    #[must_use]
    pub fn waiting(&self, name: &[u8]) -> u64 {
        self.queue(name).map_or(0, Queue::waiting)
    }

    /// A queue in numbers, whether it exists or not, with those who wait for it.
    #[must_use]
    pub fn status(&self, name: &[u8]) -> Status {
        Status::of(self.queue(name), self.bells.waiting(name))
    }

    /// All queues that hold messages or are waited for, in the order of their names.
    #[must_use]
    pub fn all_statuses(&self) -> Vec<(&[u8], Status)> {
        let mut names: Vec<&[u8]> = self.queues().names().chain(self.bells.names()).collect();
        names.sort_unstable();
        names.dedup();
        let all = names.into_iter().map(|name| (name, self.status(name)));
        all.filter(|(_, status)| status.is_notable()).collect()
    }

    fn is_closed(&self) -> bool {
        matches!(self.keeper, Keeper::Closed { .. })
    }

    /// The number of the last change, for [`Engine::settle`].
    #[must_use]
    pub fn stored(&self) -> u64 {
        self.keeper.stored()
    }

    /// The number of the last change that is known to be durable, where that matters.
    pub fn settled(&mut self) -> Option<u64> {
        self.keeper.store().map(|store| store.synced_through())
    }

    // ---- changing ----

    /// Appends messages, all of them or none.
    ///
    /// # Errors
    /// As the core and the store say; nothing is stored then.
    pub fn push<'a>(
        &mut self,
        now: u64,
        name: &[u8],
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<Pushed, Error> {
        let pushed = self.keeper.push(name, now, elements)?;
        self.bells.ring(name, pushed.count);
        self.changed();
        Ok(pushed)
    }

    /// Appends messages of a producer, those that it sent before left out.
    ///
    /// # Errors
    /// As the core and the store say; nothing is stored then.
    pub fn produce<'a>(
        &mut self,
        now: u64,
        name: &[u8],
        producer: (&[u8], u64),
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<Produced, Error> {
        let produced = self.keeper.produce(name, now, producer, elements)?;
        if let Some(pushed) = &produced.pushed {
            self.bells.ring(name, pushed.count);
            self.note(name);
            self.changed();
        }
        Ok(produced)
    }

    /// Delivers up to `count` waiting messages, and tells how many. What was visited counts
    /// only when this is no error.
    ///
    /// # Errors
    /// As the store says; nothing is delivered then.
    pub fn pop(
        &mut self,
        now: u64,
        name: &[u8],
        count: u64,
        visit: impl FnMut(Delivery<'_>),
    ) -> Result<u64, Error> {
        let pop = |queue: &mut Queue, effect: &mut Vec<u8>| queue.pop(now, count, effect, visit);
        let popped = self.keeper.change(name, |queue| queue.waiting() > 0, pop)?;
        self.changed();
        Ok(popped.unwrap_or(0))
    }

    /// Delivers again up to `count` messages that were delivered at least `elapsed` milliseconds
    /// ago, and tells how many. What was visited counts only when this is no error.
    ///
    /// # Errors
    /// As the store says; nothing is delivered then.
    pub fn recover(
        &mut self,
        now: u64,
        name: &[u8],
        count: u64,
        elapsed: u64,
        visit: impl FnMut(Delivery<'_>),
    ) -> Result<u64, Error> {
        let recovered = self.keeper.change(
            name,
            |queue| queue.recoverable(now, 1, elapsed) > 0,
            |queue, effect| queue.recover(now, count, elapsed, effect, visit),
        )?;
        self.changed();
        Ok(recovered.unwrap_or(0))
    }

    /// Lets go of delivered messages; those of the named that were such are put into `done`.
    ///
    /// # Errors
    /// As the store says; nothing is let go then.
    pub fn acknowledge(
        &mut self,
        name: &[u8],
        ids: &[Id],
        done: &mut Vec<Id>,
    ) -> Result<(), Error> {
        done.clear();
        let held = |queue: &Queue| queue.delivered() > 0;
        let bytes = self.keeper.change(name, held, |queue, effect| {
            let before = queue.memory();
            queue.acknowledge(ids.iter().copied(), done, effect);
            (before, queue.memory())
        })?;
        if let Some((before, after)) = bytes {
            self.freed.note(before, after);
        }
        self.changed();
        Ok(())
    }

    /// Lets go of one delivered message; whether it was such.
    ///
    /// # Errors
    /// As the store says; nothing is let go then.
    pub fn acknowledge_one(&mut self, name: &[u8], id: Id) -> Result<bool, Error> {
        let mut done = std::mem::take(&mut self.done);
        let outcome = self.acknowledge(name, &[id], &mut done);
        let found = !done.is_empty();
        self.done = done;
        outcome.map(|()| found)
    }

    /// Makes a queue of what another one was dumped to.
    ///
    /// # Errors
    /// [`Error::Exists`] when there is one and it is not to be replaced; as the store says.
    pub fn restore(&mut self, name: &[u8], queue: &Queue, replace: bool) -> Result<(), Error> {
        if !replace && self.queue(name).is_some() {
            return Err(Error::Exists);
        }
        self.keeper.restore(name, queue)?;
        let waiting = self.waiting(name);
        self.bells.ring(name, waiting);
        self.note(name);
        self.changed();
        Ok(())
    }

    /// Wakes the next one in place of one that was woken and goes without taking anything.
    pub fn pass_on(&mut self, name: &[u8]) {
        let waiting = self.waiting(name).min(1);
        self.bells.ring(name, waiting);
    }

    /// Wakes all who wait, so that they look whether they were closed.
    pub fn ring_all(&mut self) {
        self.bells.ring_all();
    }

    // ---- chores ----

    /// Has changes made durable at least so soon from now on. [`Sync::Always`] is the caller's
    /// own business: it settles its changes.
    pub fn raise_sync(&mut self, sync: Sync) {
        self.background = self.background.max(sync);
    }

    /// Plans what a change makes necessary.
    fn changed(&mut self) {
        let Keeper::File(store) = &self.keeper else {
            return;
        };
        if std::mem::replace(&mut self.seen, store.appended_through()) == self.seen {
            return;
        }
        if self.sync_due.is_none() {
            self.sync_due = Some(clock::now().saturating_add(INTERVAL));
        }
        let due = self.sync_due.unwrap_or(u64::MAX);
        let wanted = if store.wants_checkpoint() { 0 } else { due };
        let wanted = wanted.min(self.agenda.first().unwrap_or(u64::MAX));
        if wanted < self.planned {
            self.planned = wanted;
            self.chores.notify_one();
        }
    }

    /// Looks after the store some time after changes: whether it is still there, and whether it has much on
    /// disk that is of no use any more.
    fn look_after(&mut self) -> Result<bool, Error> {
        let Some(store) = self.keeper.store() else {
            return Ok(false);
        };
        store.ensure_there()?;
        Ok(store.is_bloated())
    }

    fn next_chore(&self) -> u64 {
        let sync = self.sync_due.filter(|_| !self.sync_running);
        let due = sync.into_iter().chain(self.agenda.first()).min();
        due.unwrap_or(u64::MAX)
    }

    fn wants_checkpoint(&self) -> bool {
        match &self.keeper {
            Keeper::File(store) => store.wants_checkpoint(),
            Keeper::Memory { .. } | Keeper::Closed { .. } => false,
        }
    }

    /// Notes when a queue has something to do.
    fn note(&mut self, name: &[u8]) {
        if let Some(due) = self.queue(name).and_then(Queue::next_due) {
            self.agenda.note(due, name.into());
        }
    }

    fn note_all(&mut self) {
        let all = self.keeper.queues().sorted();
        let due = all.filter_map(|(name, queue)| Some((queue.next_due()?, Box::from(name))));
        let due: Vec<(u64, Box<[u8]>)> = due.collect();
        for (time, name) in due {
            self.agenda.note(time, name);
        }
    }

    /// Does a bounded part of what is due. What can't be stored now is tried with the next chore.
    fn do_due_work(&mut self, now: u64) {
        for _ in 0..STEP {
            let Some(name) = self.agenda.take(now) else {
                return;
            };
            let due = |queue: &Queue| queue.next_due().is_some_and(|due| due <= now);
            let expire = |queue: &mut Queue, effect: &mut Vec<u8>| queue.expire(now, STEP, effect);
            if self.keeper.change(&name, due, expire).is_err() {
                self.agenda.note(now.saturating_add(INTERVAL), name);
                return;
            }
            self.changed();
            self.note(&name);
        }
    }
}
