//! `CONFIG SET reliableq.*`

use std::ffi::{c_char, c_int, c_void};
use std::ptr;

use redis_module::raw;

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
