//! Queues with due work, and doing it.
//!
//! A queue knows when it has something to do (`Queue::next_due`): messages that fall due, leases that end, times to live,
//! what is to be forgotten. The server is not told where a value is or goes, so what is noted here is a hint, which is
//! checked when its time has come: at most one note a key, made whenever a queue is seen with due work, by
//! any command, an effect, a load, a copy, a rename or move. A value remembers by when its key is looked at, so that seeing it
//! again costs a comparison. One timer is set for the earliest note. The server's regular round asks, too: timers follow
//! the wall clock, and stop when that goes back.
//!
//! Work is done in bounded steps, and before a command changes a queue what is due for it is done.
//!
//! A replica notes, but does nothing: what is due comes from its primary. Nor is anything done
//! while the server avoids replica traffic. Both are only delays.

use std::ffi::{c_int, c_void};
use std::ptr;

use redis_module::raw;
use rq_core::{Agenda, Moment, Queue};

use crate::api::call;
use crate::blocking;
use crate::commands::{follow, moment};
use crate::context::{Context, OK, bytes_of, guard};
use crate::key::Key;
use crate::registry;
use crate::state::{self, STATE};

/// Keys that are looked at in one round.
const KEYS: usize = 100;
/// Messages of a step: some hundred microseconds.
const STEP: usize = 500;
/// Steps that a command does for a key.
const STEPS: usize = 4;
/// Steps of a round, after which others come first: a millisecond or two.
const ROUND: usize = 6;

type Place = (c_int, Box<[u8]>);
/// When to look at which key.
pub(crate) type Due = Agenda<Place>;

/// The timer that is set: its number, and its time.
#[derive(Clone, Copy)]
pub(crate) struct Timer {
    number: u64,
    time: u64,
}

/// Does something with the notes. They are out of their place meanwhile, as `state` says.
fn with<T>(body: impl FnOnce(&mut Due) -> T) -> T {
    let mut due = STATE.due.take();
    let outcome = body(&mut due);
    STATE.due.set(due);
    outcome
}

// ---- noting ----

/// Notes a key whose queue has due work.
pub(crate) fn note(key: &Key) {
    let Some(value) = key.value() else {
        return;
    };
    let (ctx, defaults) = (key.context(), STATE.defaults.get());
    let due = (value.queue).due_before(value.looked_at.get(), &defaults, || ctx.now());
    if let Some(time) = due {
        value.looked_at.set(time);
        let place = (key.database(), bytes_of(&key.name()).into());
        with(|due| due.note(time, place));
        arm(ctx);
    }
}

/// Notes a queue with due work by its place, where there is no context. The next round sets the timer.
pub(crate) fn note_at(database: c_int, name: *mut raw::RedisModuleString, queue: &Queue) {
    // Its time is found when its key is looked at: now is early enough.
    let defaults = STATE.defaults.get();
    let now = Moment {
        now: 0,
        floor: state::floor(),
        defaults: &defaults,
    };
    if queue.next_due(&now).is_some() {
        with(|due| due.note(0, (database, bytes_of(&name).into())));
    }
}

/// The server has become a primary: all queues with due work are looked at, since their times may be ahead of its own.
pub(crate) fn promoted() {
    with(Due::hasten);
}

/// Settings of the server have changed: all queues that are known are looked at, and whoever waits for them is asked.
pub(crate) fn reconsider() {
    let places = registry::places();
    with(|due| places.into_iter().for_each(|place| due.note(0, place)));
}

/// Two databases have changed places.
pub(crate) fn swap_databases(one: c_int, other: c_int) {
    let swapped = |database| match database {
        d if d == one => other,
        d if d == other => one,
        d => d,
    };
    with(|due| due.rename(|(database, key)| (swapped(database), key)));
}

// ---- the timer ----

/// Sets the timer for the earliest note, unless it is set for that or earlier.
fn arm(ctx: Context) {
    let Some(time) = with(|due| due.first()) else {
        return;
    };
    if let Some(timer) = STATE.timer.get() {
        if timer.time <= time {
            return;
        }
        // SAFETY: the timer is ours; one that has fired is not found.
        unsafe {
            call!(RedisModule_StopTimer(
                ctx.pointer(),
                timer.number,
                ptr::null_mut()
            ))
        };
    }
    let wait = time.saturating_sub(ctx.now());
    let wait = i64::try_from(wait).unwrap_or(i64::MAX).clamp(1, 1 << 40);
    // SAFETY: the callback lives as long as the module, and gets no data.
    let number = unsafe {
        call!(RedisModule_CreateTimer(
            ctx.pointer(),
            wait,
            Some(on_timer),
            ptr::null_mut()
        ))
    };
    STATE.timer.set(Some(Timer { number, time }));
}

unsafe extern "C" fn on_timer(ctx: *mut raw::RedisModuleCtx, _data: *mut c_void) {
    STATE.timer.set(None);
    state::forget_time();
    guard((), || round(Context::new(ctx)));
}

// ---- doing ----

/// Does what is due; called by the timer, and in the server's regular round.
pub(crate) fn round(ctx: Context) {
    let now = ctx.now();
    if with(|due| due.first().is_none_or(|time| time > now)) {
        rearm(ctx);
        return;
    }
    let passive = raw::REDISMODULE_CTX_FLAGS_SLAVE | raw::REDISMODULE_CTX_FLAGS_LOADING;
    if ctx.has_flag(passive) || blocking::is_paused() {
        return;
    }
    let (mut keys, mut steps) = (0, 0);
    while keys < KEYS
        && steps < ROUND
        && let Some((database, name)) = with(|due| due.take(now))
    {
        keys += 1;
        // SAFETY: the context is the event's own.
        if unsafe { call!(RedisModule_SelectDb(ctx.pointer(), database)) } == OK {
            steps += ctx.with_string(&name, |name| look_at(ctx, name));
        }
    }
    rearm(ctx);
}

/// Sets the timer anew: one that follows a wall clock that was set back would come too late.
fn rearm(ctx: Context) {
    let late = STATE
        .timer
        .get()
        .is_some_and(|timer| timer.time < ctx.now());
    if late && let Some(timer) = STATE.timer.take() {
        // SAFETY: as in `arm`.
        unsafe {
            call!(RedisModule_StopTimer(
                ctx.pointer(),
                timer.number,
                ptr::null_mut()
            ))
        };
    }
    arm(ctx);
}

/// Does a step of what is due for a key, and notes the rest; how many steps it did.
fn look_at(ctx: Context, name: *mut raw::RedisModuleString) -> usize {
    let Ok(mut key) = Key::untouched(ctx, name) else {
        return 0;
    };
    if let Some(value) = key.value() {
        value.looked_at.set(u64::MAX);
        if value.queue.waiting() > 0 {
            key.signal_ready();
        }
    }
    let did = step(ctx, &mut key);
    note(&key);
    usize::from(did)
}

/// Does a bounded part of what is due for an open key.
pub(crate) fn expire(ctx: Context, key: &mut Key) {
    let mut steps = 0;
    while steps < STEPS && step(ctx, key) {
        steps += 1;
    }
}

/// Does one step of what is due for an open key; whether there was any.
fn step(ctx: Context, key: &mut Key) -> bool {
    let defaults = STATE.defaults.get();
    let queue = key.queue_mut();
    let Some(queue) = queue.filter(|queue| queue.has_due_work(&defaults)) else {
        return false;
    };
    let moment = moment(ctx, &defaults);
    queue.tick(moment.now);
    if !queue.is_due(&moment) {
        return false;
    }
    let before = queue.counters();
    let mut effect = STATE.effect.take();
    let done = queue.expire(&moment, STEP, &mut effect);
    if done {
        follow(ctx, key, &before, &effect, c"rq.due");
    }
    STATE.effect.set(effect);
    done
}
