//! What the module remembers beside the keys.
//!
//! The server runs commands, timers and callbacks one at a time, in one thread or under its lock;
//! freeing values runs elsewhere, and touches none of this. Saving runs in a forked child, which has a
//! copy. So plain cells are enough, and taking a buffer out of its cell while it is used keeps a callback
//! that comes in between from seeing it half changed.

use std::cell::Cell;

use redis_module::raw;
use rq_command::execute::Room;
use rq_core::{Clock, Counters, Id, Policy};

use crate::due::{Due, Timer};
use crate::propagate::Building;
use crate::registry::Registry;

pub(crate) struct State {
    /// The native type, set at load.
    pub(crate) datatype: Cell<*mut raw::RedisModuleType>,
    /// The largest ID that was given: a new queue starts above it.
    floor: Cell<Id>,
    /// What happened to all queues since the server started.
    totals: Cell<Counters>,
    /// Whether an effect that can't be applied stops the server; see `settings`.
    pub(crate) stop_on_bad_effect: Cell<bool>,
    /// Buffers that are used again and again.
    pub(crate) effect: Cell<Vec<u8>>,
    pub(crate) room: Cell<Room>,
    /// The time that is given to the core.
    clock: Cell<Clock>,
    /// The time of the command or callback that runs, once it was asked for.
    now: Cell<Option<u64>>,
    /// Settings for queues that have none of their own; see `settings`.
    pub(crate) defaults: Cell<Policy>,
    /// See `blocking`.
    pub(crate) drained: Cell<Option<(i32, *mut raw::RedisModuleString)>>,
    pub(crate) deferred: Cell<Vec<(i32, Vec<u8>)>>,
    /// See `due`.
    pub(crate) due: Cell<Due>,
    pub(crate) timer: Cell<Option<Timer>>,
    /// See `registry`.
    pub(crate) registry: Cell<Option<Box<Registry>>>,
    /// See `propagate`.
    pub(crate) building: Cell<Option<Building>>,
}

// SAFETY: used by one thread at a time, see the head of this file.
unsafe impl Sync for State {}

pub(crate) static STATE: State = State {
    datatype: Cell::new(std::ptr::null_mut()),
    floor: Cell::new(Id::new(0, 0)),
    totals: Cell::new(Counters::ZERO),
    stop_on_bad_effect: Cell::new(true),
    effect: Cell::new(Vec::new()),
    room: Cell::new(Room::new()),
    clock: Cell::new(Clock::new()),
    now: Cell::new(None),
    defaults: Cell::new(Policy::NONE),
    drained: Cell::new(None),
    deferred: Cell::new(Vec::new()),
    due: Cell::new(Due::new()),
    timer: Cell::new(None),
    registry: Cell::new(None),
    building: Cell::new(None),
};

/// The largest ID that was given.
pub(crate) fn floor() -> Id {
    STATE.floor.get()
}

pub(crate) fn raise_floor(id: Id) {
    if id > STATE.floor.get() {
        STATE.floor.set(id);
    }
}

/// A command or callback begins: it has a time of its own.
pub(crate) fn forget_time() {
    STATE.now.set(None);
}

/// Unix milliseconds, one time for all of a command. `read` gives wall clock and monotonic clock in microseconds.
pub(crate) fn time(read: impl FnOnce() -> (u64, u64)) -> u64 {
    if let Some(now) = STATE.now.get() {
        return now;
    }
    let (wall, monotonic) = read();
    let mut clock = STATE.clock.get();
    let time = clock.read(wall, monotonic);
    STATE.clock.set(clock);
    STATE.now.set(Some(time));
    time
}

/// What happened to all queues since the server started.
pub(crate) fn totals() -> Counters {
    STATE.totals.get()
}

/// Adds what happened to a queue.
pub(crate) fn add(gained: &Counters) {
    let mut totals = STATE.totals.get().values();
    for (total, gained) in totals.iter_mut().zip(gained.values()) {
        *total = total.wrapping_add(gained);
    }
    STATE.totals.set(Counters::from_values(totals));
}

/// Adds what happened to a queue between two looks at its counters.
pub(crate) fn add_difference(before: &Counters, after: &Counters) {
    let mut gained = after.values();
    for (after, before) in gained.iter_mut().zip(before.values()) {
        *after = after.wrapping_sub(before);
    }
    add(&Counters::from_values(gained));
}
