//! `CONFIG SET reliableq.*`

use std::ffi::{CStr, c_char, c_int, c_void};
use std::ptr;

use redis_module::raw;
use rq_core::Policy;

use crate::api::call;
use crate::context::{Context, OK};
use crate::state::STATE;

const STOP: c_int = 0;
const CONTINUE: c_int = 1;

/// Registers the settings and reads them from the server's configuration.
pub(crate) fn register(ctx: Context) -> Result<(), String> {
    let mut names = [c"stop".as_ptr(), c"continue".as_ptr()];
    let values = [STOP, CONTINUE];
    // SAFETY: the server copies names and values, and the callbacks live as long as the module.
    let registered = unsafe {
        call!(RedisModule_RegisterEnumConfig(
            ctx.pointer(),
            c"on-bad-effect".as_ptr(),
            STOP,
            raw::REDISMODULE_CONFIG_DEFAULT,
            names.as_mut_ptr(),
            values.as_ptr(),
            values.len() as c_int,
            Some(get_on_bad_effect),
            Some(set_on_bad_effect),
            None,
            ptr::null_mut(),
        )) == OK
            && DEFAULTS
                .iter()
                .all(|default| register_default(ctx, default))
            && call!(RedisModule_LoadConfigs(ctx.pointer())) == OK
    };
    if registered {
        Ok(())
    } else {
        Err("a setting reliableq.* was refused".to_owned())
    }
}

unsafe extern "C" fn get_on_bad_effect(_name: *const c_char, _data: *mut c_void) -> c_int {
    if STATE.stop_on_bad_effect.get() {
        STOP
    } else {
        CONTINUE
    }
}

unsafe extern "C" fn set_on_bad_effect(
    _name: *const c_char,
    value: c_int,
    _data: *mut c_void,
    _error: *mut *mut raw::RedisModuleString,
) -> c_int {
    STATE.stop_on_bad_effect.set(value == STOP);
    OK
}

// ---- defaults of queues ----

/// A setting for queues that have none of their own.
struct Default {
    name: &'static CStr,
    most: i64,
    get: fn(&Policy) -> u64,
    set: fn(&mut Policy, u64),
}

/// Each is a field of a policy, and has a name and a largest value.
macro_rules! defaults {
    ($($name:literal => $field:ident, up to $most:expr;)*) => {
        [$(Default {
            name: $name,
            most: $most,
            get: |policy| policy.$field.into(),
            set: |policy, value| policy.$field = value.try_into().unwrap_or_default(),
        }),*]
    };
}

/// Milliseconds of settings are below 2^47.
const LONGEST: i64 = (1 << 47) - 1;
/// Failures are counted so far.
const MOST_TRIES: i64 = u16::MAX as i64;

static DEFAULTS: [Default; 7] = defaults! {
    c"lease" => lease, up to LONGEST;
    c"deliveries" => deliveries, up to MOST_TRIES;
    c"maxlen" => max_length, up to i64::MAX;
    c"maxbytes" => max_bytes, up to i64::MAX;
    c"deadmax" => dead_max, up to i64::MAX;
    c"deadttl" => dead_ttl, up to LONGEST;
    c"inflight" => inflight, up to i64::MAX;
};

/// Registers a number, 0 unless it is set.
fn register_default(ctx: Context, default: &'static Default) -> bool {
    // SAFETY: the server copies the name; callbacks and what they get live as long as the module.
    let registered = unsafe {
        call!(RedisModule_RegisterNumericConfig(
            ctx.pointer(),
            default.name.as_ptr(),
            0,
            raw::REDISMODULE_CONFIG_DEFAULT,
            0,
            default.most,
            Some(get_default),
            Some(set_default),
            None,
            ptr::from_ref(default).cast_mut().cast(),
        ))
    };
    registered == OK
}

unsafe extern "C" fn get_default(_name: *const c_char, data: *mut c_void) -> i64 {
    // SAFETY: what `register_default` handed in.
    let default = unsafe { &*data.cast::<Default>() };
    i64::try_from((default.get)(&STATE.defaults.get())).unwrap_or(i64::MAX)
}

unsafe extern "C" fn set_default(
    _name: *const c_char,
    value: i64,
    data: *mut c_void,
    _error: *mut *mut raw::RedisModuleString,
) -> c_int {
    // SAFETY: what `register_default` handed in.
    let default = unsafe { &*data.cast::<Default>() };
    let mut policy = STATE.defaults.get();
    (default.set)(&mut policy, u64::try_from(value).unwrap_or(0));
    STATE.defaults.set(policy);
    // What it changes for queues is seen by the next round: those who wait, and what is due.
    crate::due::reconsider();
    OK
}
