//! The reliable queue as a native type of Redis and Valkey.
//!
//! Glue only: arguments are read and outcomes replied by `rq-command`, queues are kept and changed
//! by `rq-core`. A command handler parses, calls the core, propagates the effect, and replies.
//!
//! | file | holds |
//! |---|---|
//! | `lib` | registration |
//! | `api` | the server's functions that are used, checked at load |
//! | `allocator` | memory from the server, so that it is counted there |
//! | `context` | a call by the server: arguments, replies, flags |
//! | `key` | a key that is open, and the queue in it |
//! | `commands` | the handlers |
//! | `permission` | whether a call may change something |
//! | `blocking` | clients that wait, and how they are served |
//! | `registry` | which keys hold queues, and which connections attend to them |
//! | `registering` | the handlers of `RQ.REGISTER` and `RQ.NOTIFY` |
//! | `status` | the handler of `RQ.STATUS` |
//! | `due` | queues with due work, and doing it |
//! | `events` | what the server tells beside commands |
//! | `propagate` | effects for replicas and append-only files, and applying them |
//! | `datatype` | the native type: save, load, rewrite, copy, free |
//! | `state` | what the module remembers beside the keys |
//! | `settings` | `CONFIG SET reliableq.*` |
//! | `information` | `INFO reliableq_*` |
//! | `documentation` | `COMMAND DOCS`, key specifications, ACL category |
//!
//! A panic must not take the server down: there is no code here that is meant to panic, and every
//! entry point catches what was not meant.

mod allocator;
mod api;
mod blocking;
mod commands;
mod context;
mod datatype;
mod documentation;
mod due;
mod events;
mod information;
mod key;
mod permission;
mod propagate;
mod registering;
mod registry;
mod settings;
mod state;
mod status;

use std::ffi::{CStr, c_char, c_int};

use redis_module::raw;

use crate::context::{Context, ERR, OK, guard};

/// Name of the module: prefix of its settings and INFO sections.
const NAME: &CStr = c"reliableq";
/// Version of the module as the server shows it: major, minor and patch, two digits each.
const VERSION: c_int = 100;

/// Called by the server when it loads the module.
///
/// # Safety
/// The server hands in a context and arguments that are good for this call.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn RedisModule_OnLoad(
    ctx: *mut raw::RedisModuleCtx,
    _argv: *mut *mut raw::RedisModuleString,
    argc: c_int,
) -> c_int {
    let version = raw::REDISMODULE_APIVER_1 as c_int;
    let name = NAME.as_ptr().cast::<c_char>();
    // SAFETY: the context is the server's, and the name is terminated. Nothing is allocated
    // before this call, which is what makes the server's allocator known.
    if unsafe { raw::Export_RedisModule_Init(ctx, name, VERSION, version) } != OK {
        return ERR;
    }
    let missing = api::missing();
    let ctx = Context::new(ctx);
    if let Some(function) = missing {
        api::log_missing(ctx, function);
        return ERR;
    }
    guard(ERR, || {
        if argc > 0 {
            ctx.log_warning(
                "reliableq takes no arguments; its settings are reliableq.*, see CONFIG GET",
            );
            return ERR;
        }
        match register(ctx) {
            Ok(()) => OK,
            Err(what) => {
                ctx.log_warning(&format!("reliableq can't be loaded: {what}"));
                ERR
            }
        }
    })
}

fn register(ctx: Context) -> Result<(), String> {
    datatype::register(ctx)?;
    commands::register(ctx)?;
    settings::register(ctx)?;
    information::register(ctx)?;
    events::register(ctx)
}
