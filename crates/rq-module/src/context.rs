//! A call by the server: its arguments, its replies, its flags.

use std::ffi::{CStr, CString, c_char, c_int, c_long};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::slice;

use redis_module::raw;
use rq_command::parse::Arguments;
use rq_command::{Refusal, reply::Sink};

use crate::api::call;
use crate::state;

pub(crate) const OK: c_int = raw::REDISMODULE_OK as c_int;
pub(crate) const ERR: c_int = raw::REDISMODULE_ERR as c_int;

/// Runs an entry point; a panic, which is a bug, gives `otherwise` and does not reach the server.
pub(crate) fn guard<T>(otherwise: T, body: impl FnOnce() -> T) -> T {
    catch_unwind(AssertUnwindSafe(body)).unwrap_or(otherwise)
}

/// The server's context of a call. Good as long as the call lasts.
#[derive(Clone, Copy)]
pub(crate) struct Context(*mut raw::RedisModuleCtx);

impl Context {
    pub(crate) fn new(pointer: *mut raw::RedisModuleCtx) -> Self {
        Self(pointer)
    }

    pub(crate) fn pointer(self) -> *mut raw::RedisModuleCtx {
        self.0
    }

    /// Unix time in milliseconds, as it is given to the core.
    pub(crate) fn now(self) -> u64 {
        state::time(|| {
            // SAFETY: no arguments.
            let monotonic = unsafe { call!(RedisModule_MonotonicMicroseconds()) };
            (self.wall().saturating_mul(1000), monotonic)
        })
    }

    /// Unix time in milliseconds, as the wall clock says.
    pub(crate) fn wall(self) -> u64 {
        // SAFETY: no arguments.
        let wall = unsafe { call!(RedisModule_Milliseconds()) };
        u64::try_from(wall).unwrap_or(0)
    }

    /// The connection that calls; 0 for none.
    pub(crate) fn client(self) -> u64 {
        // SAFETY: the context is good.
        unsafe { call!(RedisModule_GetClientId(self.0)) }
    }

    pub(crate) fn has_flag(self, flags: u32) -> bool {
        // SAFETY: the context is good.
        let all = unsafe { call!(RedisModule_GetContextFlags(self.0)) };
        all as u32 & flags != 0
    }

    pub(crate) fn database(self) -> c_int {
        // SAFETY: the context is good.
        unsafe { call!(RedisModule_GetSelectedDb(self.0)) }
    }

    pub(crate) fn log_warning(self, text: &str) {
        self.log(c"warning".as_ptr(), text);
    }

    fn log(self, level: *const c_char, text: &str) {
        let text = line(text);
        // SAFETY: both are terminated, and the text is an argument, not the format.
        unsafe {
            call!(RedisModule_Log(
                self.0,
                level,
                c"%s".as_ptr(),
                text.as_ptr()
            ))
        };
    }

    /// Does something with a string of the server that lasts so long.
    pub(crate) fn with_string<T>(
        self,
        bytes: &[u8],
        body: impl FnOnce(*mut raw::RedisModuleString) -> T,
    ) -> T {
        let (start, length) = (bytes.as_ptr().cast(), bytes.len());
        // SAFETY: the server copies the bytes, and the string is freed after its use.
        unsafe {
            let string = call!(RedisModule_CreateString(self.0, start, length));
            let outcome = body(string);
            call!(RedisModule_FreeString(self.0, string));
            outcome
        }
    }

    // ---- replies beside those of a sink ----

    pub(crate) fn refuse(self, refusal: &Refusal) -> c_int {
        self.reply_error(&line(&refusal.to_string()))
    }

    /// Replies with a whole error line.
    pub(crate) fn reply_error(self, text: &CStr) -> c_int {
        // SAFETY: the text is terminated, and copied by the server.
        unsafe { call!(RedisModule_ReplyWithError(self.0, text.as_ptr())) }
    }

    pub(crate) fn reply_ok(self) -> c_int {
        // SAFETY: the text is terminated.
        unsafe { call!(RedisModule_ReplyWithSimpleString(self.0, c"OK".as_ptr())) }
    }

    /// Begins a list whose length [`Context::end_array`] tells.
    pub(crate) fn begin_array(self) {
        // SAFETY: the context is good.
        unsafe {
            call!(RedisModule_ReplyWithArray(
                self.0,
                c_long::from(raw::REDISMODULE_POSTPONED_LEN)
            ))
        };
    }

    pub(crate) fn end_array(self, length: u64) {
        // SAFETY: a list was begun.
        unsafe { call!(RedisModule_ReplySetArrayLength(self.0, length as c_long)) };
    }
}

/// A text as one terminated line.
fn line(text: &str) -> CString {
    let bytes: Vec<u8> = text
        .bytes()
        .map(|b| if b < b' ' { b' ' } else { b })
        .collect();
    CString::new(bytes).unwrap_or_default()
}

impl Sink for Context {
    fn array(&mut self, length: usize) {
        // SAFETY: the context is good.
        unsafe { call!(RedisModule_ReplyWithArray(self.0, length as c_long)) };
    }

    fn map(&mut self, pairs: usize) {
        // SAFETY: the context is good.
        unsafe { call!(RedisModule_ReplyWithMap(self.0, pairs as c_long)) };
    }

    fn bytes(&mut self, bytes: &[u8]) {
        // SAFETY: the server copies the bytes.
        unsafe {
            call!(RedisModule_ReplyWithStringBuffer(
                self.0,
                bytes.as_ptr().cast(),
                bytes.len()
            ))
        };
    }

    fn integer(&mut self, number: u64) {
        let number = i64::try_from(number).unwrap_or(i64::MAX);
        // SAFETY: the context is good.
        unsafe { call!(RedisModule_ReplyWithLongLong(self.0, number)) };
    }

    fn word(&mut self, word: &'static str) {
        let word = CString::new(word).unwrap_or_default();
        // SAFETY: the text is terminated, and copied by the server.
        unsafe { call!(RedisModule_ReplyWithSimpleString(self.0, word.as_ptr())) };
    }

    fn null_bytes(&mut self) {
        // SAFETY: the context is good.
        unsafe { call!(RedisModule_ReplyWithNull(self.0)) };
    }

    fn null(&mut self) {
        // SAFETY: the context is good.
        unsafe { call!(RedisModule_ReplyWithNullArray(self.0)) };
    }
}

/// The arguments of a call, the command's name first. Good as long as the call lasts.
#[derive(Clone, Copy)]
pub(crate) struct Argv {
    pointer: *mut *mut raw::RedisModuleString,
    length: usize,
}

impl Argv {
    pub(crate) fn new(pointer: *mut *mut raw::RedisModuleString, length: c_int) -> Self {
        Self {
            pointer,
            length: usize::try_from(length).unwrap_or(0),
        }
    }

    /// One of them; null beyond the end.
    pub(crate) fn string(&self, position: usize) -> *mut raw::RedisModuleString {
        if position < self.length {
            // SAFETY: within the array that the server handed in.
            unsafe { *self.pointer.add(position) }
        } else {
            ptr::null_mut()
        }
    }

    /// Those from a position on, as the server's array.
    pub(crate) fn from(&self, position: usize) -> (*mut *mut raw::RedisModuleString, usize) {
        let position = position.min(self.length);
        // SAFETY: within the array, or one behind it.
        (
            unsafe { self.pointer.add(position) },
            self.length - position,
        )
    }

    /// The bytes of those from a position on.
    pub(crate) fn bytes_from(
        &self,
        position: usize,
    ) -> impl ExactSizeIterator<Item = &[u8]> + Clone {
        (position.min(self.length)..self.length).map(|at| self.get(at))
    }
}

impl Arguments for Argv {
    fn len(&self) -> usize {
        self.length
    }

    fn get(&self, position: usize) -> &[u8] {
        let string = self.string(position);
        if string.is_null() {
            &[]
        } else {
            bytes_of(&string)
        }
    }
}

/// The bytes of a string of the server, as long as the server keeps it: for a call's arguments as
/// long as the call lasts, which the reference to the pointer stands for.
pub(crate) fn bytes_of<'a>(string: &*mut raw::RedisModuleString) -> &'a [u8] {
    let mut length = 0;
    // SAFETY: the string is the server's, and lives as described.
    unsafe {
        let bytes = call!(RedisModule_StringPtrLen(*string, &raw mut length));
        if bytes.is_null() {
            &[]
        } else {
            slice::from_raw_parts(bytes.cast(), length)
        }
    }
}
