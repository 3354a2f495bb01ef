//! Queues with due work, and doing it.
//!
//! A queue knows when it has something to do (`Queue::next_due`: producers to be forgotten). The
//! server is not told where a value is or goes, so what is noted here is a hint, which is checked
//! when its time has come: at most one note a key, made whenever a queue is seen with due work, by
//! any command, an effect, a load, a copy, a rename or move. The server's regular round asks for what is
//! due, and a bounded part of it is done.
//!
//! A replica notes, but does nothing: what is due comes from its primary. Nor is anything done
//! while the server avoids replica traffic. Both are only delays.

use std::ffi::c_int;

use redis_module::raw;
use rq_core::{Agenda, Queue};

use crate::api::call;
use crate::blocking;
use crate::context::{Context, OK, bytes_of};
use crate::key::Key;
use crate::propagate;
use crate::state::STATE;

/// Keys that are looked at in one round.
const KEYS: usize = 100;
/// Producers that are forgotten at a time.
const STEP: usize = 100;

type Place = (c_int, Box<[u8]>);
/// When to look at which key.
pub(crate) type Due = Agenda<Place>;

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
    if let Some(queue) = key.queue() {
        note_at(key.database(), key.name(), queue);
    }
}

/// Notes a queue with due work by its place.
pub(crate) fn note_at(database: c_int, name: *mut raw::RedisModuleString, queue: &Queue) {
    if let Some(time) = queue.next_due() {
        with(|due| due.note(time, (database, bytes_of(&name).into())));
    }
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

// ---- doing ----

/// Does what is due; called in the server's regular round.
pub(crate) fn round(ctx: Context) {
    let now = ctx.now();
    if with(|due| due.first().is_none_or(|time| time > now)) {
        return;
    }
    let passive = raw::REDISMODULE_CTX_FLAGS_SLAVE | raw::REDISMODULE_CTX_FLAGS_LOADING;
    if ctx.has_flag(passive) || blocking::is_paused() {
        return;
    }
    for _ in 0..KEYS {
        let Some((database, name)) = with(|due| due.take(now)) else {
            return;
        };
        // SAFETY: the context is the event's own, and the string is freed after its use.
        unsafe {
            if call!(RedisModule_SelectDb(ctx.pointer(), database)) != OK {
                continue;
            }
            let name = call!(RedisModule_CreateString(
                ctx.pointer(),
                name.as_ptr().cast(),
                name.len()
            ));
            expire(ctx, name, now);
            call!(RedisModule_FreeString(ctx.pointer(), name));
        }
    }
}

/// Does a bounded part of what is due for a key.
fn expire(ctx: Context, name: *mut raw::RedisModuleString, now: u64) {
    let Ok(mut key) = Key::write(ctx, name) else {
        return;
    };
    let Some(queue) = key.queue_mut() else {
        return;
    };
    let mut effect = STATE.effect.take();
    queue.expire(now, STEP, &mut effect);
    if !effect.is_empty() {
        propagate::effect(ctx, name, &effect);
        key.changed(c"rq.expire");
        key.delete_if_empty();
    }
    STATE.effect.set(effect);
    note(&key);
}
