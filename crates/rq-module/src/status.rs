//! `RQ.STATUS`: queues that were named, or all that a client may see.

use std::ffi::c_int;
use std::ops::Range;
use std::ptr;

use redis_module::raw;
use rq_command::Refusal;
use rq_command::parse::{self, Arguments};
use rq_command::reply::{self, Sink, Status};
use rq_core::Queue;

use crate::api::call;
use crate::context::{Argv, Context, OK};
use crate::key::Key;
use crate::registry;

pub(crate) fn status(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let keys = parse::status(argv);
    if keys.is_empty() {
        all(ctx);
    } else {
        named(ctx, argv, keys)?;
    }
    Ok(OK)
}

fn named(ctx: Context, argv: &Argv, keys: Range<usize>) -> Result<(), Refusal> {
    let statuses = keys.clone().map(|at| {
        let key = Key::look(ctx, argv.string(at))?;
        Ok(status_of(ctx, argv.get(at), key.queue()))
    });
    let statuses: Vec<Status> = statuses.collect::<Result<_, Refusal>>()?;
    let mut sink = ctx;
    sink.array(statuses.len());
    for (at, status) in keys.zip(statuses) {
        reply::status(&mut sink, argv.get(at), &status);
    }
    Ok(())
}

fn status_of(ctx: Context, name: &[u8], queue: Option<&Queue>) -> Status {
    let holding = queue.into_iter().flat_map(|queue| queue.consumers(0));
    let holding = holding.map(|consumer| consumer.name);
    Status::of(queue, registry::consumers(ctx.database(), name, holding))
}

fn all(ctx: Context) {
    let (reader, database, mut sink) = (Reader::of(ctx), ctx.database(), ctx);
    // Keys that are being loaded beside those that are shown come to their places at the end; and
    // what a replica takes for expired may be there again when its primary says so.
    let passing = raw::REDISMODULE_CTX_FLAGS_ASYNC_LOADING | raw::REDISMODULE_CTX_FLAGS_SLAVE;
    let settled = !ctx.has_flag(passing);
    let mut rows = 0;
    ctx.begin_array();
    for name in registry::names(database) {
        let status = ctx.with_string(&name, |string| {
            // A key of another type may be waited for, too.
            let key = Key::look(ctx, string).ok();
            let queue = key.as_ref().and_then(Key::queue);
            if queue.is_none() && settled {
                registry::forget(database, &name);
            }
            let status = status_of(ctx, &name, queue);
            (status.is_notable() && reader.may_read(string)).then_some(status)
        });
        if let Some(status) = status {
            reply::status(&mut sink, &name, &status);
            rows += 1;
        }
    }
    ctx.end_array(rows);
}

/// Whose permissions say which keys are shown.
enum Reader {
    /// The server's or a module's own call, which has no user.
    Anybody,
    /// A user of the server's list, until this is dropped.
    User(*mut raw::RedisModuleUser),
    /// A user that is not in the server's list.
    Nobody,
}

impl Reader {
    fn of(ctx: Context) -> Self {
        let name = user_name(ctx);
        if name.is_null() {
            return Self::Anybody;
        }
        // SAFETY: the name is ours, and freed once.
        let user = unsafe {
            let user = call!(RedisModule_GetModuleUserFromUserName(name));
            call!(RedisModule_FreeString(ctx.pointer(), name));
            user
        };
        if user.is_null() {
            Self::Nobody
        } else {
            Self::User(user)
        }
    }

    fn may_read(&self, key: *mut raw::RedisModuleString) -> bool {
        let flags = raw::REDISMODULE_CMD_KEY_ACCESS as c_int;
        match self {
            Self::Anybody => true,
            Self::Nobody => false,
            // SAFETY: user and key are good.
            Self::User(user) => unsafe {
                call!(RedisModule_ACLCheckKeyPermissions(*user, key, flags)) == OK
            },
        }
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Self::User(user) = self {
            // SAFETY: from the server, and freed once. The user itself stays.
            unsafe { call!(RedisModule_FreeModuleUser(*user)) };
        }
    }
}

/// The name of the user who called; null for none. It is to be freed.
fn user_name(ctx: Context) -> *mut raw::RedisModuleString {
    let (server, script) = (
        raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING,
        raw::REDISMODULE_CTX_FLAGS_LUA,
    );
    // SAFETY: the context is good. The second way is for scripts only, whose calls have the user of
    // their caller: Redis 7.0 takes it for granted that there is one.
    unsafe {
        let id = call!(RedisModule_GetClientId(ctx.pointer()));
        let name = call!(RedisModule_GetClientUserNameById(ctx.pointer(), id));
        if !name.is_null() {
            name
        } else if ctx.has_flag(script) && !ctx.has_flag(server) {
            call!(RedisModule_GetCurrentUserName(ctx.pointer()))
        } else {
            ptr::null_mut()
        }
    }
}
