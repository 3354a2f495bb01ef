//! A key that is open, and the queue in it.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

use redis_module::raw;
use rq_command::Refusal;
use rq_core::Queue;

use crate::api::call;
use crate::blocking;
use crate::context::{Context, bytes_of};
use crate::datatype::Value;
use crate::due;
use crate::registry;
use crate::state::{self, STATE};

const READ: c_int = raw::REDISMODULE_READ as c_int;
const WRITE: c_int = raw::REDISMODULE_WRITE as c_int;
const UNTOUCHED: c_int = raw::REDISMODULE_OPEN_KEY_NOTOUCH as c_int;

/// An open key that holds a queue or nothing; closed when dropped.
pub(crate) struct Key {
    ctx: Context,
    name: *mut raw::RedisModuleString,
    handle: *mut raw::RedisModuleKey,
    value: *mut Value,
}

impl Key {
    /// Opens a key to look at it.
    pub(crate) fn read(ctx: Context, name: *mut raw::RedisModuleString) -> Result<Self, Refusal> {
        Self::open(ctx, name, READ)
    }

    /// Opens a key to look at it in passing, which is no use of it.
    pub(crate) fn look(ctx: Context, name: *mut raw::RedisModuleString) -> Result<Self, Refusal> {
        Self::open(ctx, name, READ | UNTOUCHED)
    }

    /// Opens a key to change it in passing, which is no use of it.
    pub(crate) fn untouched(
        ctx: Context,
        name: *mut raw::RedisModuleString,
    ) -> Result<Self, Refusal> {
        Self::open(ctx, name, READ | WRITE | UNTOUCHED)
    }

    /// Opens a key to change it.
    pub(crate) fn write(ctx: Context, name: *mut raw::RedisModuleString) -> Result<Self, Refusal> {
        Self::open(ctx, name, READ | WRITE)
    }

    fn open(ctx: Context, name: *mut raw::RedisModuleString, mode: c_int) -> Result<Self, Refusal> {
        // SAFETY: context and name are the server's; a null handle is a missing key, and good
        // for the questions below.
        unsafe {
            let handle = call!(RedisModule_OpenKey(ctx.pointer(), name, mode));
            let mut key = Self {
                ctx,
                name,
                handle,
                value: ptr::null_mut(),
            };
            if handle.is_null()
                || call!(RedisModule_KeyType(handle)) == raw::REDISMODULE_KEYTYPE_EMPTY as c_int
            {
                return Ok(key);
            }
            if call!(RedisModule_ModuleTypeGetType(handle)) != STATE.datatype.get() {
                return Err(Refusal::wrong_type());
            }
            key.value = call!(RedisModule_ModuleTypeGetValue(handle)).cast();
            key.note();
            due::note(&key);
            Ok(key)
        }
    }

    /// Notes where the queue is, once.
    fn note(&self) {
        if let Some(value) = self.value().filter(|value| !value.noted.get()) {
            value.noted.set(true);
            registry::note(self.database(), bytes_of(&self.name));
        }
    }

    pub(crate) fn value(&self) -> Option<&Value> {
        // SAFETY: null, or the value of our own type that the server keeps while the key is open.
        unsafe { self.value.as_ref() }
    }

    pub(crate) fn context(&self) -> Context {
        self.ctx
    }

    pub(crate) fn database(&self) -> c_int {
        self.ctx.database()
    }

    pub(crate) fn name(&self) -> *mut raw::RedisModuleString {
        self.name
    }

    pub(crate) fn queue(&self) -> Option<&Queue> {
        self.value().map(|value| &value.queue)
    }

    pub(crate) fn queue_mut(&mut self) -> Option<&mut Queue> {
        // SAFETY: as above, and nothing else looks at it meanwhile.
        unsafe { self.value.as_mut() }.map(|value| &mut value.queue)
    }

    /// Stores a queue in a key that holds nothing.
    pub(crate) fn store(&mut self, queue: Queue) {
        let value = Box::into_raw(Box::new(Value::new(queue)));
        // SAFETY: the key is open for writing, and the value is what the type's callbacks expect.
        let stored = unsafe {
            call!(RedisModule_ModuleTypeSetValue(
                self.handle,
                STATE.datatype.get(),
                value.cast::<c_void>()
            ))
        };
        debug_assert_eq!(stored, crate::context::OK);
        self.value = value;
        self.note();
    }

    /// Deletes the key if its queue holds nothing, as an empty list goes.
    pub(crate) fn delete_if_empty(&mut self) {
        if self.queue().is_some_and(Queue::is_empty) {
            self.value = ptr::null_mut();
            // SAFETY: the key is open for writing; the server frees the value.
            unsafe { call!(RedisModule_DeleteKey(self.handle)) };
            self.notify(raw::REDISMODULE_NOTIFY_GENERIC as c_int, c"del");
        }
    }

    /// Tells the server that the key has changed, and whoever listens what happened.
    pub(crate) fn changed(&self, event: &CStr) {
        // SAFETY: context and name are good.
        unsafe { call!(RedisModule_SignalModifiedKey(self.ctx.pointer(), self.name)) };
        self.notify(raw::REDISMODULE_NOTIFY_MODULE as c_int, event);
    }

    /// Tells whoever listens what happened beside.
    pub(crate) fn happened(&self, event: &CStr) {
        self.notify(raw::REDISMODULE_NOTIFY_MODULE as c_int, event);
    }

    fn notify(&self, class: c_int, event: &CStr) {
        // SAFETY: context, event and name are good.
        unsafe {
            call!(RedisModule_NotifyKeyspaceEvent(
                self.ctx.pointer(),
                class,
                event.as_ptr(),
                self.name
            ))
        };
    }

    /// Has clients served that wait for this key.
    pub(crate) fn signal_ready(&self) {
        blocking::forget_drained();
        // SAFETY: context and name are good.
        unsafe { call!(RedisModule_SignalKeyAsReady(self.ctx.pointer(), self.name)) };
    }
}

impl Drop for Key {
    fn drop(&mut self) {
        if !self.handle.is_null() {
            // SAFETY: opened above, and closed once.
            unsafe { call!(RedisModule_CloseKey(self.handle)) };
        }
    }
}

/// A queue for a key that holds none: its IDs are above all that were given.
pub(crate) fn new_queue() -> Queue {
    Queue::new(state::floor())
}
