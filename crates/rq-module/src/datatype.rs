//! The native type RELIABLEQ: every callback that the server has for a value.
//!
//! Not set: `defrag`, since a queue's pages are few and large, and the server's own defragmentation is not
//! compiled in where the module is used most.
//!
//! `free` runs in a background thread for large values, `rdb_save` and `aof_rewrite` in a forked
//! child: a queue shares nothing, and these touch nothing but their arguments (and the floor, of
//! which the child has a copy).

use std::cell::Cell;
use std::ffi::{CString, c_int, c_void};
use std::ptr;
use std::slice;

use redis_module::raw;
use rq_core::{Id, Queue, effect, snapshot};

use crate::api::call;
use crate::context::{Context, ERR, OK, bytes_of, guard};
use crate::due;
use crate::registry;
use crate::state::{self, STATE};

/// Encoding of values and of auxiliary data in RDB files. Change either, raise it, and keep
/// reading the older one.
const ENCODING: c_int = 1;
/// Versions of the table of callbacks: without and with auxiliary data that may be left out.
const METHODS: u64 = 4;
const METHODS_WITH_OPTIONAL_AUX: u64 = 5;

/// What a key holds.
pub(crate) struct Value {
    pub(crate) queue: Queue,
    /// Whether a command has noted its key in the registry. Not stored, not copied.
    pub(crate) noted: Cell<bool>,
    /// By when its key is looked at for due work; see `due`. Not stored, not copied.
    pub(crate) looked_at: Cell<u64>,
}

impl Value {
    pub(crate) fn new(queue: Queue) -> Self {
        Self {
            queue,
            noted: Cell::new(false),
            looked_at: Cell::new(u64::MAX),
        }
    }

    /// As the server holds it.
    fn into_raw(queue: Queue) -> *mut c_void {
        Box::into_raw(Box::new(Self::new(queue))).cast()
    }
}

/// Registers the type.
pub(crate) fn register(ctx: Context) -> Result<(), String> {
    // SAFETY: asked for, not assumed: a server that can leave out auxiliary data says so.
    let optional_aux = unsafe { raw::RedisModule_GetTypeMethodVersion }
        // SAFETY: no arguments.
        .is_some_and(|version| unsafe { version() } as u64 >= METHODS_WITH_OPTIONAL_AUX);
    let mut methods = raw::RedisModuleTypeMethods {
        version: if optional_aux {
            METHODS_WITH_OPTIONAL_AUX
        } else {
            METHODS
        },
        rdb_load: Some(load),
        rdb_save: Some(save),
        aof_rewrite: Some(rewrite),
        mem_usage: Some(memory),
        digest: Some(digest),
        free: Some(free),
        aux_load: Some(load_aux),
        aux_save: (!optional_aux).then_some(save_aux),
        aux_save_triggers: raw::REDISMODULE_AUX_BEFORE_RDB as c_int,
        free_effort: Some(free_effort),
        unlink: None,
        copy: None,
        defrag: None,
        mem_usage2: None,
        free_effort2: None,
        unlink2: Some(unlink),
        copy2: Some(copy),
        aux_save2: optional_aux.then_some(save_aux_if_any),
    };
    let options = raw::REDISMODULE_OPTIONS_HANDLE_IO_ERRORS
        | raw::REDISMODULE_OPTION_NO_IMPLICIT_SIGNAL_MODIFIED;
    // SAFETY: the name is terminated, and the server copies the table.
    let created = unsafe {
        call!(RedisModule_SetModuleOptions(
            ctx.pointer(),
            options as c_int
        ));
        call!(RedisModule_CreateDataType(
            ctx.pointer(),
            c"RELIABLEQ".as_ptr(),
            ENCODING,
            &raw mut methods
        ))
    };
    if created.is_null() {
        return Err("the server refused the type RELIABLEQ".to_owned());
    }
    STATE.datatype.set(created);
    Ok(())
}

/// The queue behind a value.
///
/// # Safety
/// The value is one that this type made, and is not changed meanwhile.
unsafe fn queue<'a>(value: *const c_void) -> &'a Queue {
    // SAFETY: as the caller promises.
    unsafe { &(*value.cast::<Value>()).queue }
}

// ---- RDB ----

unsafe extern "C" fn save(io: *mut raw::RedisModuleIO, value: *mut c_void) {
    guard((), || {
        // SAFETY: the value is ours, and the server writes the bytes before it returns.
        unsafe {
            snapshot::write(queue(value), |part| {
                call!(RedisModule_SaveStringBuffer(
                    io,
                    part.as_ptr().cast(),
                    part.len()
                ));
            });
        }
    });
}

unsafe extern "C" fn load(io: *mut raw::RedisModuleIO, encoding: c_int) -> *mut c_void {
    guard(ptr::null_mut(), || match load_queue(io, encoding) {
        Ok(queue) => {
            note_loaded(io, &queue);
            Value::into_raw(queue)
        }
        Err(why) => {
            log(io, &format!("reliableq: a queue can't be loaded: {why}"));
            ptr::null_mut()
        }
    })
}

/// Notes the key of a value that was loaded, where the server tells it.
fn note_loaded(io: *mut raw::RedisModuleIO, queue: &Queue) {
    // SAFETY: the server's own; a null name is one that it does not know.
    let (name, database) = unsafe {
        let name = call!(RedisModule_GetKeyNameFromIO(io)).cast_mut();
        (name, call!(RedisModule_GetDbIdFromIO(io)))
    };
    note_at(database, name, queue);
}

/// Notes a queue that comes to a place, unless that is not known.
fn note_at(database: c_int, name: *mut raw::RedisModuleString, queue: &Queue) {
    if !name.is_null() && database >= 0 {
        registry::note(database, bytes_of(&name));
        due::note_at(database, name, queue);
    }
}

fn load_queue(io: *mut raw::RedisModuleIO, encoding: c_int) -> Result<Queue, String> {
    check_encoding(encoding)?;
    let mut loader = snapshot::Loader::default();
    loop {
        let part = Part::load(io).ok_or("it ends early, or can't be read")?;
        if loader
            .feed(part.bytes())
            .map_err(|error| error.to_string())?
        {
            return Ok(loader.finish());
        }
    }
}

fn check_encoding(encoding: c_int) -> Result<(), String> {
    if encoding == ENCODING {
        return Ok(());
    }
    Err(format!(
        "its encoding is {encoding}, and this version reads {ENCODING}; load it with a newer one"
    ))
}

/// Bytes that the server read; given back when dropped.
struct Part {
    bytes: *mut std::ffi::c_char,
    length: usize,
}

impl Part {
    fn load(io: *mut raw::RedisModuleIO) -> Option<Self> {
        let mut length = 0;
        // SAFETY: null on an error, else a buffer of that length that is ours.
        let bytes = unsafe { call!(RedisModule_LoadStringBuffer(io, &raw mut length)) };
        (!bytes.is_null()).then_some(Self { bytes, length })
    }

    fn bytes(&self) -> &[u8] {
        // SAFETY: as in `load`.
        unsafe { slice::from_raw_parts(self.bytes.cast(), self.length) }
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        // SAFETY: from the server, and freed once.
        unsafe { call!(RedisModule_Free(self.bytes.cast())) };
    }
}

fn log(io: *mut raw::RedisModuleIO, text: &str) {
    let text = CString::new(text.replace('\0', " ")).unwrap_or_default();
    // SAFETY: all are terminated, and the text is an argument, not the format.
    unsafe {
        call!(RedisModule_LogIOError(
            io,
            c"warning".as_ptr(),
            c"%s".as_ptr(),
            text.as_ptr()
        ))
    };
}

// ---- auxiliary data: the floor ----

unsafe extern "C" fn save_aux(io: *mut raw::RedisModuleIO, _when: c_int) {
    let floor = state::floor();
    // SAFETY: the server's own file.
    unsafe {
        call!(RedisModule_SaveUnsigned(io, floor.milliseconds));
        call!(RedisModule_SaveUnsigned(io, floor.sequence));
    }
}

/// Where it may be left out, a file without queues can be loaded without the module.
unsafe extern "C" fn save_aux_if_any(io: *mut raw::RedisModuleIO, when: c_int) {
    if state::floor() != Id::default() {
        // SAFETY: as above.
        unsafe { save_aux(io, when) };
    }
}

unsafe extern "C" fn load_aux(io: *mut raw::RedisModuleIO, encoding: c_int, _when: c_int) -> c_int {
    guard(ERR, || {
        if let Err(why) = check_encoding(encoding) {
            log(io, &format!("reliableq: its data can't be loaded: {why}"));
            return ERR;
        }
        // SAFETY: the server's own file; an error gives 0, and is asked for behind.
        let floor = unsafe {
            Id::new(
                call!(RedisModule_LoadUnsigned(io)),
                call!(RedisModule_LoadUnsigned(io)),
            )
        };
        // SAFETY: present in every server that can report errors, and asked for.
        let failed = unsafe { raw::RedisModule_IsIOError }.is_some_and(|is| unsafe { is(io) } != 0);
        if failed || floor.milliseconds >= Id::MILLISECONDS_END {
            log(
                io,
                "reliableq: its data can't be loaded: it ends early, or is damaged",
            );
            return ERR;
        }
        state::raise_floor(floor);
        OK
    })
}

// ---- append-only files ----

unsafe extern "C" fn rewrite(
    io: *mut raw::RedisModuleIO,
    key: *mut raw::RedisModuleString,
    value: *mut c_void,
) {
    guard((), || {
        let emit = |effect: &[u8]| {
            // SAFETY: the format names a string and a buffer with its length.
            unsafe {
                let (bytes, length) = (effect.as_ptr(), effect.len());
                call!(RedisModule_EmitAOF(
                    io,
                    c"RQ.APPLY".as_ptr(),
                    c"sb".as_ptr(),
                    key,
                    bytes,
                    length
                ));
            }
        };
        emit(&effect::floor(state::floor()));
        // SAFETY: the value is ours.
        snapshot::write(unsafe { queue(value) }, emit);
    });
}

// ---- the rest ----

unsafe extern "C" fn memory(value: *const c_void) -> usize {
    // SAFETY: the value is ours.
    unsafe { queue(value) }.memory()
}

unsafe extern "C" fn digest(digest: *mut raw::RedisModuleDigest, value: *mut c_void) {
    guard((), || {
        // SAFETY: the value is ours, and the bytes are only read.
        unsafe {
            snapshot::write(queue(value), |part| {
                call!(RedisModule_DigestAddStringBuffer(
                    digest,
                    part.as_ptr().cast(),
                    part.len()
                ));
            });
            call!(RedisModule_DigestEndSequence(digest));
        }
    });
}

unsafe extern "C" fn free(value: *mut c_void) {
    // SAFETY: the value is ours, and the server gives it up.
    guard((), || drop(unsafe { Box::from_raw(value.cast::<Value>()) }));
}

unsafe extern "C" fn free_effort(_key: *mut raw::RedisModuleString, value: *const c_void) -> usize {
    // SAFETY: the value is ours.
    unsafe { queue(value) }.free_effort()
}

unsafe extern "C" fn copy(
    ctx: *mut raw::RedisModuleKeyOptCtx,
    value: *const c_void,
) -> *mut c_void {
    guard(ptr::null_mut(), || {
        // SAFETY: the value is ours, and the server tells where its copy goes.
        unsafe {
            let name = call!(RedisModule_GetToKeyNameFromOptCtx(ctx)).cast_mut();
            let database = call!(RedisModule_GetToDbIdFromOptCtx(ctx));
            let copied = queue(value).clone();
            note_at(database, name, &copied);
            Value::into_raw(copied)
        }
    })
}

/// A value leaves its key: to be freed, or to come to another one.
unsafe extern "C" fn unlink(ctx: *mut raw::RedisModuleKeyOptCtx, value: *const c_void) {
    guard((), || {
        // SAFETY: the value is ours, and the server tells where it was.
        unsafe {
            let name = call!(RedisModule_GetKeyNameFromOptCtx(ctx)).cast_mut();
            let database = call!(RedisModule_GetDbIdFromOptCtx(ctx));
            let value = &*value.cast::<Value>();
            value.noted.set(false);
            value.looked_at.set(u64::MAX);
            if !name.is_null() {
                registry::forget(database, bytes_of(&name));
            }
        }
    });
}
