//! What the lock of an engine guards: queues, those who wait for them, and what is to be done for them.
//!
//! Here are the operations that are made for each message. All others are commands: see `command`.

use std::sync::{Arc, Condvar, Weak};

use rq_command::execute::Room;
use rq_core::{Agenda, Delivery, Id, Moment, Options, Pop, Produced, Queue, Receipt};
use rq_store::Queues;

use crate::clock::{Clock, Time};
use crate::due::{After, Noted};
use crate::engine::{Engine, Sync};
use crate::error::Error;
use crate::house::House;
use crate::keeper::Keeper;
use crate::memory::Freed;
use crate::waiting::Bells;

/// IDs that there is room for from one call to the next.
const KEPT: usize = 4096;

/// What the lock guards.
pub struct State {
    pub(crate) keeper: Keeper,
    pub(crate) time: Time,
    pub(crate) bells: Bells,
    /// When to look at which queue.
    pub(crate) agenda: Agenda<Box<[u8]>>,
    pub(crate) noted: Noted,
    /// Kept to be used again.
    pub(crate) room: Room,
    /// What the last call let go of.
    done: Vec<Id>,
    pub(crate) freed: Freed,
    pub(crate) house: House,
    pub(crate) chores: Arc<Condvar>,
    /// What the housekeeper is awake for: the time of queues, and [`elapsed`](crate::clock::elapsed).
    pub(crate) planned_due: u64,
    pub(crate) planned_sync: u64,
    /// The last change that was planned for.
    pub(crate) seen: u64,
    /// By when the last changes must be durable, where that was asked for, and looked after.
    pub(crate) sync_due: Option<u64>,
    pub(crate) background: Sync,
    pub(crate) sync_running: bool,
    /// The housekeeper and the endpoint are to end.
    pub(crate) stopping: bool,
}

impl State {
    pub(crate) fn new(
        keeper: Keeper,
        background: Sync,
        (time, chores): (Time, Arc<Condvar>),
        house: Weak<Engine>,
    ) -> Self {
        let mut state = Self {
            keeper,
            time,
            bells: Bells::default(),
            agenda: Agenda::new(),
            noted: Noted::default(),
            room: Room::new(),
            done: Vec::new(),
            freed: Freed::default(),
            house: House::new(house),
            chores,
            planned_due: u64::MAX,
            planned_sync: u64::MAX,
            seen: 0,
            sync_due: None,
            background,
            sync_running: false,
            stopping: false,
        };
        state.note_all();
        state
    }

    // ---- looking ----

    /// The time of the place, in Unix milliseconds.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.time.now()
    }

    /// Whether it lives by this clock.
    #[must_use]
    pub fn lives_by(&self, clock: &Arc<Clock>) -> bool {
        self.time.is(clock)
    }

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

    /// How many messages a pop would deliver, at most; none when it would deliver none.
    #[must_use]
    pub fn available(&self, name: &[u8], pop: &Pop<'_>) -> u64 {
        let Some(queue) = self.queue(name).filter(|queue| queue.waiting() > 0) else {
            return 0;
        };
        queue.available(&self.keeper.moment(self.now()), pop)
    }

    pub(crate) fn is_closed(&self) -> bool {
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

    /// Appends messages, all of them or none, what was sent before left out.
    ///
    /// # Errors
    /// As the core and the store say; nothing is stored then.
    pub fn push<'a>(
        &mut self,
        name: &[u8],
        options: Option<&Options<'_>>,
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<Produced, Error> {
        let now = self.arrive(name);
        let produced = self.keeper.push(name, now, options, elements)?;
        if options.is_none_or(|options| options.delay == 0) {
            let pushed = produced.pushed.map_or(0, |pushed| pushed.count);
            self.bells.ring(name, pushed);
        }
        self.note_queue(name, now);
        self.changed();
        Ok(produced)
    }

    /// The same without options, for a queue that gets these settings if this makes it: lease and deliveries.
    ///
    /// # Errors
    /// As [`State::push`].
    pub fn push_new<'a>(
        &mut self,
        name: &[u8],
        new: (u64, u32),
        elements: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    ) -> Result<Produced, Error> {
        let now = self.arrive(name);
        let options = (new != (0, 0)).then(|| Options {
            new: Some(new),
            ..Options::default()
        });
        let produced = self.keeper.push(name, now, options.as_ref(), elements)?;
        let pushed = produced.pushed.map_or(0, |pushed| pushed.count);
        self.bells.ring(name, pushed);
        // What a cap drops may leave a token to be forgotten. Nothing else of it falls due.
        if produced.dropped > 0 {
            self.note_queue(name, now);
        }
        self.changed();
        Ok(produced)
    }

    fn note_queue(&mut self, name: &[u8], now: u64) {
        let moment = self.keeper.moment(now);
        let due = self.queue(name).and_then(|queue| queue.next_due(&moment));
        self.note(name, due);
    }

    /// Delivers waiting messages, and tells how many. What was visited counts
    /// only when this is no error.
    ///
    /// # Errors
    /// As the store says; nothing is delivered then.
    pub fn pop(
        &mut self,
        name: &[u8],
        pop: &Pop<'_>,
        visit: impl FnMut(Delivery<'_>),
    ) -> Result<u64, Error> {
        let now = self.arrive(name);
        let moment = self.keeper.moment(now);
        let named = !pop.consumer.is_empty();
        let (mut popped, mut due) = (0, None);
        self.keeper.change(
            name,
            |queue| queue.waiting() > 0 || named,
            |queue, effect| {
                popped = queue.pop(&moment, pop, effect, visit);
                if named {
                    queue.seen(now, pop.consumer);
                }
                due = due_of(queue, &moment, pop);
            },
        )?;
        self.note(name, due);
        self.changed();
        Ok(popped)
    }

    /// Lets go of delivered messages; those of the named that were such.
    ///
    /// # Errors
    /// As the store says; nothing is let go then.
    pub fn acknowledge(&mut self, name: &[u8], receipts: &[Receipt]) -> Result<&[Id], Error> {
        let done = &mut self.done;
        done.clear();
        done.shrink_to(KEPT);
        // Nothing here depends on the time but from when on a token is remembered: where there is none, reading a clock
        // would be a tenth of the cost. A lease that has ended ends for others when the housekeeper comes, so long it is held.
        let (time, place) = (&self.time, self.keeper.moment(0));
        let (noted, freed) = (self.noted.time_of(name), &mut self.freed);
        let held = |queue: &Queue| queue.delivered() > 0;
        let mut follows = None;
        self.keeper.change(name, held, |queue, effect| {
            let now = match queue.has_tokens() {
                true => time.now(),
                false => time.last(),
            };
            let receipts = receipts.iter().copied();
            queue.acknowledge(now, receipts, done, effect, |_| ());
            freed.look(name, done.len(), queue);
            let limited = queue.policy().inflight > 0;
            // All that falls due by it are names that were remembered, and that not before so long.
            let names = now.saturating_add(queue.policy().dedup);
            let seen_in_time = noted.is_some_and(|noted| noted <= names);
            if limited || !seen_in_time {
                let moment = Moment { now, ..place };
                follows = Some((now, After::of(queue, &moment, queue.waiting(), false)));
            }
        })?;
        match follows {
            Some((now, after)) => self.follow(name, now, after),
            None => self.changed(),
        }
        Ok(&self.done)
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
        self.take_in(name);
        // What was due elsewhere meanwhile is due here.
        self.arrive(name);
        self.bells.ring(name, u64::MAX);
        self.changed();
        Ok(())
    }

    /// Wakes the next one in place of one that was woken and goes without taking anything.
    pub fn pass_on(&mut self, name: &[u8]) {
        let queue = self.queue(name);
        let limited = queue.is_some_and(|queue| queue.policy().inflight > 0);
        let waiting = queue.map_or(0, Queue::waiting);
        let woken = if limited { u64::MAX } else { 1 };
        self.bells.ring(name, waiting.min(woken));
    }

    /// Wakes all who wait, so that they look whether they were closed.
    pub fn ring_all(&mut self) {
        self.bells.ring_all();
    }

    /// Has changes made durable at least so soon from now on. [`Sync::Always`] is the caller's
    /// own business: it settles its changes.
    pub fn raise_sync(&mut self, sync: Sync) {
        self.background = self.background.max(sync);
    }
}

/// When a queue has something to do because of a pop: its lease ends, or what it let go is forgotten.
fn due_of(queue: &Queue, moment: &Moment<'_>, pop: &Pop<'_>) -> Option<u64> {
    if pop.no_ack {
        return queue.next_due(moment);
    }
    let lease = pop.lease.unwrap_or(queue.policy().lease);
    (lease > 0).then(|| moment.now.saturating_add(lease))
}
