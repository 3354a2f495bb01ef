//! What the module remembers beside the keys.
//!
//! The server runs commands, timers and callbacks one at a time, in one thread or under its lock;
//! freeing values runs elsewhere, and touches none of this. Saving runs in a forked child, which has a
//! copy. So plain cells are enough, and taking a buffer out of its cell while it is used keeps a callback
//! that comes in between from seeing it half changed.

use std::cell::Cell;

use redis_module::raw;
use rq_core::{Counters, Id};

use crate::due::Due;
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
    pub(crate) ids: Cell<Vec<Id>>,
    pub(crate) acknowledged: Cell<Vec<Id>>,
    /// See `blocking`.
    pub(crate) drained: Cell<Option<(i32, *mut raw::RedisModuleString)>>,
    pub(crate) deferred: Cell<Vec<(i32, Vec<u8>)>>,
    /// See `due`.
    pub(crate) due: Cell<Due>,
    /// See `registry`.
    pub(crate) registry: Cell<Registry>,
    /// See `propagate`.
    pub(crate) building: Cell<Option<Building>>,
}

// SAFETY: used by one thread at a time, see the head of this file.
unsafe impl Sync for State {}

pub(crate) static STATE: State = State {
    datatype: Cell::new(std::ptr::null_mut()),
    floor: Cell::new(Id::new(0, 0)),
    totals: Cell::new(Counters {
        sent: 0,
        received: 0,
        returned: 0,
        dead: 0,
        deleted: 0,
    }),
    stop_on_bad_effect: Cell::new(true),
    effect: Cell::new(Vec::new()),
    ids: Cell::new(Vec::new()),
    acknowledged: Cell::new(Vec::new()),
    drained: Cell::new(None),
    deferred: Cell::new(Vec::new()),
    due: Cell::new(Due::new()),
    registry: Cell::new(Registry::new()),
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
