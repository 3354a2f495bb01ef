//! Clients that wait, and how they are served.
//!
//! A client waits for keys. When one of them is signalled, the server calls [`serve`] for each
//! client that waits for it, in the order of their arrival. Serving is popping from that key.
//!
//! Declining must be cheap, since every signal asks every client, and must change nothing. So a
//! signal whose key was found without waiting messages is remembered (`drained`), by the string
//! that stands for the key in it: each signal comes with the string of the command that gave it, and as long
//! as it is held here no other can have its address. Only databases that are swapped signal
//! with strings of the server's own; then, and whenever the module itself signals, it is forgotten.
//!
//! While the server pauses writes for a failover nothing may be changed or propagated: keys that are
//! signalled then are signalled again later.

use std::ffi::{c_int, c_void};
use std::ptr;

use redis_module::raw;
use rq_command::execute::text;
use rq_command::parse::{self, Arguments, Pop};
use rq_command::reply::Sink;

use crate::api::call;
use crate::commands::{self, available, request};
use crate::context::{Argv, Context, ERR, OK, bytes_of, guard};
use crate::key::Key;
use crate::registry::Wait;
use crate::state::{self, STATE};

/// Ten years, in milliseconds: the server adds the current time to it.
const LONGEST: u64 = 10 * 366 * 86_400_000;
/// After so many milliseconds a key is signalled again that could not be served.
const DEFERRED: i64 = 50;

/// Whether a client may wait: as the server's own blocking commands, not within `MULTI`, a script or a function.
pub(crate) fn may_wait(ctx: Context) -> bool {
    let never = raw::REDISMODULE_CTX_FLAGS_MULTI
        | raw::REDISMODULE_CTX_FLAGS_LUA
        | raw::REDISMODULE_CTX_FLAGS_DENY_BLOCKING;
    !ctx.has_flag(never)
}

/// How long a client waits, as the server takes it.
pub(crate) fn within(milliseconds: u64) -> i64 {
    milliseconds.min(LONGEST) as i64
}

/// Makes the client wait if it asked for that and may; replies null otherwise.
pub(crate) fn wait(ctx: Context, argv: &Argv, pop: &Pop) -> c_int {
    let Some(milliseconds) = pop.block.filter(|_| may_wait(ctx)) else {
        { ctx }.null();
        return OK;
    };
    let (keys, _) = argv.from(pop.keys.start);
    let names = pop.keys.clone().map(|position| argv.get(position));
    let consumer = text(argv, pop.consumer);
    let wait = Box::new(Wait::enter(ctx.database(), ctx.client(), names, consumer));
    // SAFETY: the keys are the client's arguments, which the server keeps while it waits; it frees
    // the private data by `on_end` however the wait ends.
    unsafe {
        call!(RedisModule_BlockClientOnKeys(
            ctx.pointer(),
            Some(on_ready),
            Some(on_timeout),
            Some(on_end),
            within(milliseconds),
            keys,
            pop.keys.len() as c_int,
            Box::into_raw(wait).cast(),
        ));
    }
    OK
}

unsafe extern "C" fn on_ready(
    ctx: *mut raw::RedisModuleCtx,
    argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    guard(ERR, || serve(Context::new(ctx), Argv::new(argv, argc)))
}

unsafe extern "C" fn on_timeout(
    ctx: *mut raw::RedisModuleCtx,
    _argv: *mut *mut raw::RedisModuleString,
    _argc: c_int,
) -> c_int {
    guard(ERR, || {
        let mut ctx = Context::new(ctx);
        leave(ctx);
        ctx.null();
        OK
    })
}

unsafe extern "C" fn on_end(_ctx: *mut raw::RedisModuleCtx, wait: *mut c_void) {
    // SAFETY: made in `wait`, and given up by the server. Dropping it is leaving.
    guard((), || drop(unsafe { Box::from_raw(wait.cast::<Wait>()) }));
}

/// The client waits no more. The server tells so by [`on_end`], too, but later.
pub(crate) fn leave(ctx: Context) {
    // SAFETY: the context is that of a client waiting for keys; the data is ours, or none.
    let wait = unsafe {
        call!(RedisModule_GetBlockedClientPrivateData(ctx.pointer()))
            .cast::<Wait>()
            .as_mut()
    };
    if let Some(wait) = wait {
        wait.leave();
    }
}

/// Serves a waiting client from the key that is ready; `ERR` leaves it waiting.
fn serve(ctx: Context, argv: Argv) -> c_int {
    state::forget_time();
    // SAFETY: the context is that of a client waiting for keys.
    let name = unsafe { call!(RedisModule_GetBlockedClientReadyKey(ctx.pointer())) };
    if name.is_null() || is_drained(ctx, name) {
        return ERR;
    }
    if is_paused() {
        defer(ctx, name);
        return ERR;
    }
    let Ok(pop) = parse::pop(&argv) else {
        return ERR;
    };
    // A key of another type is not ready, as for the server's own commands.
    let request = request(&argv, &pop);
    let key = Key::write(ctx, name);
    let count = key.as_ref().map_or(0, |key| available(ctx, key, &request));
    if let (Ok(key), true) = (&mut { key }, count > 0) {
        leave(ctx);
        commands::serve(ctx, key, &request, count, pop.with_meta);
        if !has_waiting(key) {
            remember_drained(ctx, name);
        }
        return OK;
    }
    // What is not for this client, by a limit of its consumer, may be for another.
    if !Key::look(ctx, name).is_ok_and(|key| has_waiting(&key)) {
        remember_drained(ctx, name);
    }
    ERR
}

fn has_waiting(key: &Key) -> bool {
    key.queue().is_some_and(|queue| queue.waiting() > 0)
}

// ---- drained keys ----

fn is_drained(ctx: Context, name: *mut raw::RedisModuleString) -> bool {
    STATE.drained.get() == Some((ctx.database(), name))
}

fn remember_drained(ctx: Context, name: *mut raw::RedisModuleString) {
    forget_drained();
    // SAFETY: the string is the server's, and is given back in `forget_drained`. Where the server
    // copies it instead, its address is another, and nothing is taken for drained.
    let held = unsafe { call!(RedisModule_HoldString(ptr::null_mut(), name)) };
    STATE
        .drained
        .set((!held.is_null()).then(|| (ctx.database(), held)));
}

/// Something happened that may have brought messages to any key.
pub(crate) fn forget_drained() {
    if let Some((_, held)) = STATE.drained.take() {
        // SAFETY: held above, and given back once.
        unsafe { call!(RedisModule_FreeString(ptr::null_mut(), held)) };
    }
}

// ---- paused writes ----

pub(crate) fn is_paused() -> bool {
    // SAFETY: no arguments.
    unsafe { call!(RedisModule_AvoidReplicaTraffic()) != 0 }
}

fn defer(ctx: Context, name: *mut raw::RedisModuleString) {
    let mut deferred = STATE.deferred.take();
    let key = (ctx.database(), bytes_of(&name).to_vec());
    if deferred.is_empty() {
        set_timer(ctx);
    }
    if !deferred.contains(&key) {
        deferred.push(key);
    }
    STATE.deferred.set(deferred);
}

fn set_timer(ctx: Context) {
    // SAFETY: the callback lives as long as the module, and gets no data.
    unsafe {
        call!(RedisModule_CreateTimer(
            ctx.pointer(),
            DEFERRED,
            Some(on_timer),
            ptr::null_mut()
        ))
    };
}

unsafe extern "C" fn on_timer(ctx: *mut raw::RedisModuleCtx, _data: *mut c_void) {
    guard((), || {
        let ctx = Context::new(ctx);
        if is_paused() {
            set_timer(ctx);
            return;
        }
        forget_drained();
        for (database, key) in STATE.deferred.take() {
            // SAFETY: the context is the timer's own, and the string is freed after its use.
            unsafe {
                call!(RedisModule_SelectDb(ctx.pointer(), database));
                let name = call!(RedisModule_CreateString(
                    ctx.pointer(),
                    key.as_ptr().cast(),
                    key.len()
                ));
                call!(RedisModule_SignalKeyAsReady(ctx.pointer(), name));
                call!(RedisModule_FreeString(ctx.pointer(), name));
            }
        }
    });
}
