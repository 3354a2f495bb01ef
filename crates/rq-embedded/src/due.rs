//! Due work of queues, and the plan of the housekeeper.
//!
//! Each queue with something to do is in the agenda, at that time or earlier. So nothing is due for any queue
//! before the agenda's first time, which is all that most operations look at.

use rq_core::effect::Writer;
use rq_core::{Moment, Pop, Queue};

use crate::clock;
use crate::error::Error;
use crate::keeper::Keeper;
use crate::state::State;

/// Milliseconds within which changes are durable under [`Sync::Interval`](crate::Sync::Interval).
pub(crate) const INTERVAL: u64 = 1000;
/// Messages that one record moves.
const STEP: usize = 250;
/// Such steps before others get the lock.
const STEPS: usize = 4;
/// Milliseconds after which a queue is looked at again that said too early that something is due.
const AGAIN: u64 = 20;

/// What follows from a change of a queue for others.
#[derive(Clone, Copy)]
pub(crate) struct After {
    /// When the queue has something to do.
    pub(crate) due: Option<u64>,
    /// How many messages can be taken that could not be before.
    pub(crate) fresh: u64,
}

impl After {
    /// Of a queue in which so many messages waited before. `lifted`: what kept all from taking may be gone.
    pub(crate) fn of(queue: &Queue, moment: &Moment<'_>, before: u64, lifted: bool) -> Self {
        let waiting = queue.waiting();
        let fresh = match queue.policy().inflight {
            _ if waiting == 0 || queue.paused().pop => 0,
            // A limit is each consumer's own: all look for themselves.
            0 if !lifted => waiting.saturating_sub(before),
            _ => u64::MAX,
        };
        Self {
            due: queue.next_due(moment),
            fresh,
        }
    }
}

/// The queue that was noted last, so that the next operation on it need not look it up.
#[derive(Default)]
pub(crate) struct Noted {
    name: Vec<u8>,
    /// The agenda has it at this time or earlier; none: perhaps not at all.
    time: Option<u64>,
}

impl Noted {
    /// The time at which the agenda has a queue, at the latest, if it is this one.
    pub(crate) fn time_of(&self, name: &[u8]) -> Option<u64> {
        self.time.filter(|_| *self.name == *name)
    }
}

impl State {
    /// The time, when what is due for a queue has been done.
    pub(crate) fn arrive(&mut self, name: &[u8]) -> u64 {
        let now = self.time.now();
        if self.agenda.first().is_some_and(|first| first <= now) {
            self.catch_up(name, now);
        }
        now
    }

    /// Does a bounded part of what is due for a queue. What can't be stored is left to the housekeeper.
    #[cold]
    fn catch_up(&mut self, name: &[u8], now: u64) {
        for _ in 0..STEPS {
            if !self.expire(name, now).unwrap_or(false) {
                return;
            }
        }
    }

    /// One step of what is due for a queue; whether there was anything.
    fn expire(&mut self, name: &[u8], now: u64) -> Result<bool, Error> {
        let moment = self.keeper.moment(now);
        let expire = |queue: &mut Queue, effect: &mut dyn Writer| {
            // Those behind one whose time to live was over could not be taken either.
            let takable = queue.available(&moment, &Pop::of(1)) > 0;
            let (waiting, bytes) = (if takable { queue.waiting() } else { 0 }, queue.memory());
            let done = queue.expire(&moment, STEP, effect);
            let after = After::of(queue, &moment, waiting, false);
            (done, after, (bytes, queue.memory()))
        };
        let is_due = |queue: &Queue| queue.is_due(&moment);
        let Some((done, after, bytes)) = self.keeper.change(name, is_due, expire)? else {
            return Ok(false);
        };
        self.freed.note(bytes.0, bytes.1);
        self.bells.ring(name, after.fresh);
        self.note(name, after.due);
        self.changed();
        Ok(done)
    }

    /// Looks after what follows from a change.
    pub(crate) fn follow(&mut self, name: &[u8], now: u64, after: After) {
        self.bells.ring(name, after.fresh);
        self.note(name, after.due);
        self.changed();
        if after.due.is_some_and(|due| due <= now) {
            self.catch_up(name, now);
        }
    }

    // ---- the agenda ----

    /// Notes when a queue has something to do.
    pub(crate) fn note(&mut self, name: &[u8], due: Option<u64>) {
        let Some(due) = due else { return };
        if self.noted.time_of(name).is_none_or(|time| time > due) {
            self.note_anew(name, due);
        }
    }

    #[cold]
    fn note_anew(&mut self, name: &[u8], due: u64) {
        self.agenda.note(due, name.into());
        self.noted.name.clear();
        self.noted.name.extend_from_slice(name);
        self.noted.time = Some(due);
        if due < self.planned_due && self.time.is_running() {
            self.planned_due = due;
            self.chores.notify_one();
            if !self.stopping {
                self.house.start();
            }
        }
    }

    /// Notes all queues that have something to do.
    pub(crate) fn note_all(&mut self) {
        let names: Vec<Box<[u8]>> = self.keeper.queues().names().map(Box::from).collect();
        for name in names {
            self.take_in(&name);
        }
    }

    /// Notes a queue that came from elsewhere. Its time may be ahead of this place's, and goes on from now.
    pub(crate) fn take_in(&mut self, name: &[u8]) {
        let now = self.time.now();
        let moment = self.keeper.moment(now);
        let has_work = |queue: &Queue| queue.next_due(&moment).is_some();
        let begin = |queue: &mut Queue, _: &mut dyn Writer| {
            queue.tick(now);
            queue.next_due(&moment)
        };
        if let Ok(Some(due)) = self.keeper.change(name, has_work, begin) {
            self.note(name, due);
        }
    }

    /// Nothing is due any more.
    pub(crate) fn forget_due(&mut self) {
        self.agenda = rq_core::Agenda::new();
        self.noted = Noted::default();
    }

    /// When something is due.
    pub(crate) fn next_due(&self) -> Option<u64> {
        self.agenda.first()
    }

    /// Does a bounded part of what is due. What can't be stored now is tried again later.
    pub(crate) fn do_due_work(&mut self) {
        let now = self.time.now();
        for _ in 0..STEPS {
            let Some(name) = self.agenda.take(now) else {
                return;
            };
            if *self.noted.name == *name {
                self.noted.time = None;
            }
            match self.expire(&name, now) {
                Ok(true) => {}
                Ok(false) => {
                    let moment = self.keeper.moment(now);
                    let queue = self.keeper.queues().get(&name);
                    let due = queue.and_then(|queue| queue.next_due(&moment));
                    let least = now.saturating_add(AGAIN);
                    self.note(&name, due.map(|due| if due <= now { least } else { due }));
                }
                Err(_) => {
                    self.note(&name, Some(now.saturating_add(INTERVAL)));
                    return;
                }
            }
        }
    }

    /// Does all that is due.
    pub(crate) fn do_all_due_work(&mut self) {
        while self.next_due().is_some_and(|due| due <= self.time.now()) {
            self.do_due_work();
        }
    }

    // ---- the plan ----

    /// Plans what a change makes necessary.
    pub(crate) fn changed(&mut self) {
        let Keeper::File(store) = &self.keeper else {
            return;
        };
        if std::mem::replace(&mut self.seen, store.appended_through()) == self.seen {
            return;
        }
        let checkpoint = store.wants_checkpoint();
        let due = *(self.sync_due).get_or_insert_with(|| clock::elapsed().saturating_add(INTERVAL));
        let wanted = if checkpoint { 0 } else { due };
        if wanted < self.planned_sync {
            self.planned_sync = wanted;
            self.chores.notify_one();
        }
    }

    /// Milliseconds until there is something to do for the housekeeper.
    pub(crate) fn plan(&mut self) -> u64 {
        let due = self.agenda.first().filter(|_| self.time.is_running());
        let sync = self.sync_due.filter(|_| !self.sync_running);
        (self.planned_due, self.planned_sync) = (due.unwrap_or(u64::MAX), sync.unwrap_or(u64::MAX));
        let due = due.map(|due| due.saturating_sub(self.time.now()));
        let sync = sync.map(|sync| sync.saturating_sub(clock::elapsed()));
        due.into_iter().chain(sync).min().unwrap_or(u64::MAX)
    }

    /// Looks after the store some time after changes: whether it is still there, and whether it has much on
    /// disk that is of no use any more.
    pub(crate) fn look_after(&mut self) -> Result<bool, Error> {
        let Some(store) = self.keeper.store() else {
            return Ok(false);
        };
        store.ensure_there()?;
        Ok(store.is_bloated())
    }

    pub(crate) fn wants_checkpoint(&self) -> bool {
        match &self.keeper {
            Keeper::File(store) => store.wants_checkpoint(),
            Keeper::Memory { .. } | Keeper::Closed { .. } => false,
        }
    }
}
