//! Whether the server lets a call change something.
//!
//! The server refuses its write commands where nothing may be written: on a read-only replica, when it can't save, when
//! too few replicas follow. A command that only may write is none to it, and asks here before it does. The server is
//! asked by a call of a write command that changes nothing, as it would answer a script, so that its own words are the reply.

use std::ffi::{CStr, CString};
use std::slice;

use redis_module::raw;

use crate::api::call;
use crate::blocking;
use crate::context::Context;

/// The first version that tells what it would refuse without executing anything: Redis 7.2, as Valkey calls itself.
const DRY_RUNS: i32 = 0x0007_0200;

/// The error that a call gets that would change something; none where it may.
pub(crate) fn refusal(ctx: Context) -> Option<CString> {
    if blocking::is_paused() {
        // A change would be propagated, which the server takes for a bug of its own, and ends.
        let text = c"TRYAGAIN the server is paused and takes no changes, expected them after that";
        return Some(text.to_owned());
    }
    // SAFETY: no arguments.
    let dry = unsafe { call!(RedisModule_GetServerVersion()) } >= DRY_RUNS;
    let how = if dry { c"DSE" } else { c"SE" };
    // Executed where it has to be, it is refused for its arguments.
    let error = error_of(ctx, c"RQ.RESUME", how)?;
    (!error.as_bytes().starts_with(b"ERR ")).then_some(error)
}

/// The error that a command without arguments gets; none if it is no error.
fn error_of(ctx: Context, command: &CStr, how: &CStr) -> Option<CString> {
    // SAFETY: name and format are terminated, and the format names no arguments. The text is the reply's, which is freed
    // once, behind its copy.
    unsafe {
        let reply = call!(RedisModule_Call(
            ctx.pointer(),
            command.as_ptr(),
            how.as_ptr()
        ));
        if reply.is_null() {
            return None;
        }
        let mut length = 0;
        let text = call!(RedisModule_CallReplyStringPtr(reply, &raw mut length));
        let is_error =
            call!(RedisModule_CallReplyType(reply)) == raw::REDISMODULE_REPLY_ERROR as i32;
        let error = (is_error && !text.is_null())
            .then(|| slice::from_raw_parts(text.cast(), length).to_vec());
        call!(RedisModule_FreeCallReply(reply));
        error.and_then(|text| CString::new(text.trim_ascii_end()).ok())
    }
}
