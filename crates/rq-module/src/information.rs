//! `INFO reliableq_*`

use std::ffi::{CString, c_int};

use redis_module::raw;
use rq_core::Counters;

use crate::api::call;
use crate::context::{Context, OK, guard};
use crate::state;

/// Registers the sections.
pub(crate) fn register(ctx: Context) -> Result<(), String> {
    // SAFETY: the callback lives as long as the module.
    let registered = unsafe { call!(RedisModule_RegisterInfoFunc(ctx.pointer(), Some(sections))) };
    if registered == OK {
        Ok(())
    } else {
        Err("the server refused the INFO section".to_owned())
    }
}

unsafe extern "C" fn sections(info: *mut raw::RedisModuleInfoCtx, _for_crash_report: c_int) {
    guard((), || {
        // SAFETY: the server's own context; an error means that the section was not asked for.
        unsafe {
            if call!(RedisModule_InfoAddSection(info, c"totals".as_ptr())) != OK {
                return;
            }
            for (name, value) in Counters::NAMES.iter().zip(state::totals().values()) {
                if *name == "returned_lease" {
                    let returned = state::totals().returned();
                    call!(RedisModule_InfoAddFieldULongLong(
                        info,
                        c"returned".as_ptr(),
                        returned
                    ));
                }
                let name = CString::new(*name).unwrap_or_default();
                call!(RedisModule_InfoAddFieldULongLong(
                    info,
                    name.as_ptr(),
                    value
                ));
            }
            let floor = CString::new(state::floor().to_string()).unwrap_or_default();
            call!(RedisModule_InfoAddFieldCString(
                info,
                c"last_id".as_ptr(),
                floor.as_ptr()
            ));
        }
    });
}
