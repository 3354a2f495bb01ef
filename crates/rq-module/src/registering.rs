//! `RQ.REGISTER` and `RQ.NOTIFY`: connections that want to know when there is something for them.
//!
//! What a connection registered for lives in the module's memory (`registry`), and ends with the connection. A client that
//! waits to be notified waits on the keys, as one that pops; but it takes nothing.

use std::ffi::{c_int, c_void};

use redis_module::raw;
use rq_command::parse::{self, Arguments};
use rq_command::reply::Sink;
use rq_command::{Code, Refusal};
use rq_core::Pop;

use crate::api::call;
use crate::blocking;
use crate::commands::available;
use crate::context::{Argv, Context, ERR, OK, bytes_of, guard};
use crate::key::Key;
use crate::registry::{self, Wait};
use crate::state;

/// `RQ.REGISTER [key ...]`
pub(crate) fn register(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let mut names: Vec<Box<[u8]>> = Vec::new();
    for at in parse::register(argv) {
        // The types are checked, as for a pop.
        drop(Key::look(ctx, argv.string(at))?);
        if !names.iter().any(|name| **name == *argv.get(at)) {
            names.push(argv.get(at).into());
        }
    }
    // The client of a script is the server's own, and never ends.
    if ctx.has_flag(raw::REDISMODULE_CTX_FLAGS_LUA) {
        return Err(Refusal::new(
            Code::Argument,
            "RQ.REGISTER is of a connection, and can't be called by a script, expected it from the client itself",
        ));
    }
    registry::register(ctx.client(), ctx.database(), names);
    Ok(ctx.reply_ok())
}

/// A connection has ended.
pub(crate) fn gone(client: u64) {
    registry::register(client, 0, Vec::new());
}

/// A connection asks for messages; which consumer it is, is remembered where it is registered.
pub(crate) fn seen(ctx: Context, argv: &Argv, pop: &parse::Pop, consumer: &[u8]) {
    if consumer.is_empty() || !registry::has_registered() {
        return;
    }
    for at in pop.keys.clone() {
        registry::asked(ctx.client(), ctx.database(), argv.get(at), consumer);
    }
}

/// `RQ.NOTIFY milliseconds`
pub(crate) fn notify(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let milliseconds = parse::notify(argv)?;
    let names = match registry::registered(ctx.client()) {
        Some((database, names)) if database == ctx.database() => names,
        _ => Vec::new(),
    };
    for name in &names {
        if ctx.with_string(name, |string| is_ready(ctx, string)) {
            { ctx }.bytes(name);
            return Ok(OK);
        }
    }
    if names.is_empty() || !blocking::may_wait(ctx) {
        { ctx }.null_bytes();
        return Ok(OK);
    }
    wait(ctx, &names, milliseconds);
    Ok(OK)
}

/// Whether a pop would find something in a key.
fn is_ready(ctx: Context, name: *mut raw::RedisModuleString) -> bool {
    let key = Key::look(ctx, name);
    key.is_ok_and(|key| available(ctx, &key, &Pop::of(1)) > 0)
}

fn wait(ctx: Context, names: &[Box<[u8]>], milliseconds: u64) {
    let all = names.iter().map(|name| &**name);
    let wait = Box::new(Wait::enter(ctx.database(), ctx.client(), all, &[]));
    // SAFETY: the server copies or keeps the strings that it is given while the client waits, and these are freed after;
    // it frees the private data by `on_end` however the wait ends.
    unsafe {
        let strings = names.iter().map(|name| {
            call!(RedisModule_CreateString(
                ctx.pointer(),
                name.as_ptr().cast(),
                name.len()
            ))
        });
        let mut strings: Vec<_> = strings.collect();
        call!(RedisModule_BlockClientOnKeys(
            ctx.pointer(),
            Some(on_ready),
            Some(on_timeout),
            Some(on_end),
            blocking::within(milliseconds),
            strings.as_mut_ptr(),
            strings.len() as c_int,
            Box::into_raw(wait).cast(),
        ));
        for string in strings {
            call!(RedisModule_FreeString(ctx.pointer(), string));
        }
    }
}

unsafe extern "C" fn on_ready(
    ctx: *mut raw::RedisModuleCtx,
    _argv: *mut *mut raw::RedisModuleString,
    _argc: c_int,
) -> c_int {
    guard(ERR, || {
        state::forget_time();
        let ctx = Context::new(ctx);
        // SAFETY: the context is that of a client waiting for keys.
        let name = unsafe { call!(RedisModule_GetBlockedClientReadyKey(ctx.pointer())) };
        if name.is_null() || !is_ready(ctx, name) {
            return ERR;
        }
        blocking::leave(ctx);
        { ctx }.bytes(bytes_of(&name));
        OK
    })
}

unsafe extern "C" fn on_timeout(
    ctx: *mut raw::RedisModuleCtx,
    _argv: *mut *mut raw::RedisModuleString,
    _argc: c_int,
) -> c_int {
    guard(ERR, || {
        let ctx = Context::new(ctx);
        blocking::leave(ctx);
        { ctx }.null_bytes();
        OK
    })
}

unsafe extern "C" fn on_end(_ctx: *mut raw::RedisModuleCtx, wait: *mut c_void) {
    // SAFETY: made in `wait`, and given up by the server. Dropping it is leaving.
    guard((), || drop(unsafe { Box::from_raw(wait.cast::<Wait>()) }));
}
