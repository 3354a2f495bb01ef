//! What the server tells beside commands: values that come to keys, databases that change places or are
//! emptied, and its regular round. A module has one callback for each kind of event.

use std::ffi::{CStr, c_char, c_int, c_void};

use redis_module::raw;

use crate::api::call;
use crate::blocking;
use crate::context::{Context, OK, guard};
use crate::due;
use crate::key::Key;
use crate::registering;
use crate::registry;
use crate::state;

/// Listens to all of it.
pub(crate) fn register(ctx: Context) -> Result<(), String> {
    let event = |id| raw::RedisModuleEvent { id, dataver: 1 };
    let swapped = event(raw::REDISMODULE_EVENT_SWAPDB);
    let emptied = event(raw::REDISMODULE_EVENT_FLUSHDB);
    let round = event(raw::REDISMODULE_EVENT_CRON_LOOP);
    let connections = event(raw::REDISMODULE_EVENT_CLIENT_CHANGE);
    let role = event(raw::REDISMODULE_EVENT_REPLICATION_ROLE_CHANGED);
    let class = raw::REDISMODULE_NOTIFY_GENERIC as c_int;
    let ctx = ctx.pointer();
    let keyspace = !selects_the_clients_database(ctx);
    // SAFETY: the callbacks live as long as the module.
    let registered = unsafe {
        (!keyspace
            || call!(RedisModule_SubscribeToKeyspaceEvents(
                ctx,
                class,
                Some(on_keyspace_event)
            )) == OK)
            && call!(RedisModule_SubscribeToServerEvent(
                ctx,
                swapped,
                Some(on_databases_swapped)
            )) == OK
            && call!(RedisModule_SubscribeToServerEvent(
                ctx,
                emptied,
                Some(on_database_emptied)
            )) == OK
            && call!(RedisModule_SubscribeToServerEvent(
                ctx,
                round,
                Some(on_round)
            )) == OK
            && call!(RedisModule_SubscribeToServerEvent(
                ctx,
                connections,
                Some(on_connection)
            )) == OK
            && call!(RedisModule_SubscribeToServerEvent(ctx, role, Some(on_role))) == OK
    };
    if registered {
        Ok(())
    } else {
        Err("the server refused to tell its events".to_owned())
    }
}

/// Valkey 8.1 tells keyspace events with the context of the client that caused them, and leaves that client
/// in the database of the event: after `MOVE` or `COPY ... DB` it is in another one than it
/// chose. There they are done without: a queue that was renamed or moved, and its due work, are noticed
/// when it is next used or loaded.
fn selects_the_clients_database(ctx: *mut raw::RedisModuleCtx) -> bool {
    // SAFETY: asked for, not assumed; the names are terminated, and what is got is freed.
    unsafe {
        let (Some(get), Some(field), Some(free)) = (
            { raw::RedisModule_GetServerInfo },
            { raw::RedisModule_ServerInfoGetFieldC },
            { raw::RedisModule_FreeServerInfo },
        ) else {
            return false;
        };
        let info = get(ctx, c"server".as_ptr());
        let version = field(info, c"valkey_version".as_ptr());
        let affected =
            !version.is_null() && CStr::from_ptr(version).to_bytes().starts_with(b"8.1.");
        free(ctx, info);
        affected
    }
}

/// Events by which a value comes to a key without a command or a callback of the module.
const ARRIVALS: [&CStr; 2] = [c"rename_to", c"move_to"];

unsafe extern "C" fn on_keyspace_event(
    ctx: *mut raw::RedisModuleCtx,
    _class: c_int,
    event: *const c_char,
    name: *mut raw::RedisModuleString,
) -> c_int {
    // SAFETY: the server hands in a terminated text.
    if ARRIVALS.contains(&unsafe { CStr::from_ptr(event) }) {
        // Opening a key notes it, and what is due for it.
        guard((), || drop(Key::read(Context::new(ctx), name)));
    }
    OK
}

unsafe extern "C" fn on_databases_swapped(
    _ctx: *mut raw::RedisModuleCtx,
    _event: raw::RedisModuleEvent,
    _kind: u64,
    data: *mut c_void,
) {
    blocking::forget_drained();
    // SAFETY: what the server hands in with this event.
    if let Some(swapped) = unsafe { data.cast::<raw::RedisModuleSwapDbInfo>().as_ref() } {
        guard((), || {
            due::swap_databases(swapped.dbnum_first, swapped.dbnum_second);
            registry::swap_databases(swapped.dbnum_first, swapped.dbnum_second);
        });
    }
}

unsafe extern "C" fn on_database_emptied(
    _ctx: *mut raw::RedisModuleCtx,
    _event: raw::RedisModuleEvent,
    kind: u64,
    data: *mut c_void,
) {
    // Before it is: afterwards the next queues may have been noted already.
    if kind != raw::REDISMODULE_SUBEVENT_FLUSHDB_START {
        return;
    }
    // SAFETY: what the server hands in with this event.
    if let Some(emptied) = unsafe { data.cast::<raw::RedisModuleFlushInfo>().as_ref() } {
        let database = (emptied.dbnum >= 0).then_some(emptied.dbnum);
        guard((), || registry::forget_database(database));
    }
}

unsafe extern "C" fn on_round(
    ctx: *mut raw::RedisModuleCtx,
    _event: raw::RedisModuleEvent,
    _kind: u64,
    _data: *mut c_void,
) {
    state::forget_time();
    guard((), || due::round(Context::new(ctx)));
}

unsafe extern "C" fn on_connection(
    _ctx: *mut raw::RedisModuleCtx,
    _event: raw::RedisModuleEvent,
    kind: u64,
    data: *mut c_void,
) {
    if kind != raw::REDISMODULE_SUBEVENT_CLIENT_CHANGE_DISCONNECTED {
        return;
    }
    // SAFETY: what the server hands in with this event.
    if let Some(connection) = unsafe { data.cast::<raw::RedisModuleClientInfo>().as_ref() } {
        guard((), || registering::gone(connection.id));
    }
}

unsafe extern "C" fn on_role(
    _ctx: *mut raw::RedisModuleCtx,
    _event: raw::RedisModuleEvent,
    kind: u64,
    _data: *mut c_void,
) {
    if kind == raw::REDISMODULE_EVENT_REPLROLECHANGED_NOW_MASTER {
        guard((), due::promoted);
    }
}
