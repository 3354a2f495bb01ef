//! The server's functions that the module calls.
//!
//! The bindings hold each as an optional pointer that the server fills in. Those in the list below
//! exist in the oldest supported server, Redis 7.0; that they are there is checked once, at load.
//! Newer ones are asked for where they are used.

use redis_module::raw;

use crate::context::Context;

macro_rules! required {
    ($($name:ident)*) => {
        /// The first required function that the server does not have.
        pub(crate) fn missing() -> Option<&'static str> {
            // SAFETY: the pointers are written before this, at initialization, and never again.
            unsafe {
                $(if { raw::$name }.is_none() { return Some(stringify!($name)); })*
            }
            None
        }
    };
}

required! {
    RedisModule_Alloc RedisModule_Calloc RedisModule_Realloc RedisModule_Free
    RedisModule_ACLCheckKeyPermissions
    RedisModule_AvoidReplicaTraffic RedisModule_BlockClientOnKeys RedisModule_Call RedisModule_CallReplyStringPtr
    RedisModule_CallReplyType RedisModule_CloseKey
    RedisModule_CreateCommand RedisModule_CreateDataType RedisModule_CreateString
    RedisModule_CreateTimer RedisModule_DeleteKey RedisModule_DigestAddStringBuffer
    RedisModule_DigestEndSequence RedisModule_EmitAOF RedisModule_FreeCallReply RedisModule_FreeModuleUser RedisModule_FreeString
    RedisModule_GetBlockedClientPrivateData RedisModule_GetBlockedClientReadyKey RedisModule_GetClientId
    RedisModule_GetClientUserNameById RedisModule_GetCommand RedisModule_GetContextFlags RedisModule_GetCurrentUserName
    RedisModule_GetDbIdFromIO RedisModule_GetDbIdFromOptCtx RedisModule_GetKeyNameFromIO RedisModule_GetKeyNameFromOptCtx
    RedisModule_GetModuleUserFromUserName RedisModule_GetToDbIdFromOptCtx RedisModule_GetToKeyNameFromOptCtx
    RedisModule_GetSelectedDb RedisModule_GetServerVersion RedisModule_HoldString RedisModule_InfoAddFieldCString RedisModule_InfoAddFieldULongLong
    RedisModule_InfoAddSection RedisModule_IsKeysPositionRequest
    RedisModule_KeyAtPosWithFlags RedisModule_KeyType RedisModule_LoadConfigs
    RedisModule_LoadStringBuffer RedisModule_LoadUnsigned RedisModule_Log RedisModule_LogIOError
    RedisModule_Milliseconds RedisModule_ModuleTypeGetType RedisModule_MonotonicMicroseconds RedisModule_ModuleTypeGetValue
    RedisModule_ModuleTypeSetValue RedisModule_NotifyKeyspaceEvent RedisModule_OpenKey
    RedisModule_RegisterEnumConfig RedisModule_RegisterInfoFunc RedisModule_RegisterNumericConfig RedisModule_Replicate
    RedisModule_ReplicateVerbatim RedisModule_ReplySetArrayLength RedisModule_ReplyWithArray
    RedisModule_ReplyWithError RedisModule_ReplyWithLongLong RedisModule_ReplyWithMap
    RedisModule_ReplyWithNull RedisModule_ReplyWithNullArray RedisModule_ReplyWithSimpleString
    RedisModule_ReplyWithStringBuffer RedisModule_SaveStringBuffer RedisModule_SaveUnsigned
    RedisModule_SelectDb RedisModule_SetCommandInfo RedisModule_SetModuleOptions
    RedisModule_SignalKeyAsReady RedisModule_SignalModifiedKey RedisModule_StopTimer RedisModule_StringPtrLen
    RedisModule_SubscribeToKeyspaceEvents RedisModule_SubscribeToServerEvent
}

/// Says which function is missing.
pub(crate) fn log_missing(ctx: Context, function: &str) {
    // SAFETY: as in `missing`.
    if unsafe { { raw::RedisModule_Log }.is_some() && { raw::RedisModule_Alloc }.is_some() } {
        ctx.log_warning(&format!(
            "reliableq needs a newer server, Redis 7.0 or Valkey 7.2 at least: {function} is missing"
        ));
    }
}

/// Calls a function of the list above.
///
/// # Safety
/// As the function itself demands.
macro_rules! call {
    ($name:ident($($argument:expr),* $(,)?)) => {
        (::redis_module::raw::$name.unwrap_unchecked())($($argument),*)
    };
}

pub(crate) use call;
