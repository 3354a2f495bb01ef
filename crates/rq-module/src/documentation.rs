//! `COMMAND DOCS`, key specifications and the ACL category, from the command table.

use std::ffi::{CString, c_char, c_int};
use std::ptr;

use redis_module::raw;
use rq_command::parse::Pop;
use rq_command::{Access, Argument, Command, Keys, Kind, document};

use crate::NAME;
use crate::api::call;
use crate::context::{Context, OK};

/// What a command does to its keys.
fn key_flags(command: &Command) -> u64 {
    let flags = match command.access {
        Access::Read => raw::REDISMODULE_CMD_KEY_RO | raw::REDISMODULE_CMD_KEY_ACCESS,
        Access::Grow => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_INSERT,
        Access::Write | Access::Either => {
            raw::REDISMODULE_CMD_KEY_RW
                | raw::REDISMODULE_CMD_KEY_ACCESS
                | raw::REDISMODULE_CMD_KEY_UPDATE
        }
        Access::Remove => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_DELETE,
        Access::Admin => raw::REDISMODULE_CMD_KEY_RW | raw::REDISMODULE_CMD_KEY_UPDATE,
    };
    u64::from(flags)
}

/// Tells the server where the keys of a command are that it asked about.
pub(crate) fn report_keys(ctx: Context, pop: Option<Pop>) {
    let flags = raw::REDISMODULE_CMD_KEY_RW
        | raw::REDISMODULE_CMD_KEY_ACCESS
        | raw::REDISMODULE_CMD_KEY_UPDATE;
    for position in pop.into_iter().flat_map(|pop| pop.keys) {
        // SAFETY: the server asked, and checks the position.
        unsafe {
            call!(RedisModule_KeyAtPosWithFlags(
                ctx.pointer(),
                position as c_int,
                flags as c_int
            ))
        };
    }
}

/// Makes an ACL category `@reliableq`, where the server can; true when it did.
pub(crate) fn add_category(ctx: Context) -> bool {
    // SAFETY: asked for, since Redis 7.0 does not have it; the name is terminated.
    unsafe { raw::RedisModule_AddACLCategory }
        .is_some_and(|add| unsafe { add(ctx.pointer(), NAME.as_ptr()) } == OK)
}

/// Puts a command into its ACL categories, where the server can: those that the server's own
/// commands have by their flags, and `@reliableq` for those that are for clients.
pub(crate) fn categorize(ctx: Context, command: &Command, own_category: bool) {
    let mut categories = document::categories(command).replace('@', "");
    if own_category && command.access != Access::Admin {
        categories.push_str(" reliableq");
    }
    let categories = CString::new(categories).unwrap_or_default();
    let name = CString::new(command.name).unwrap_or_default();
    // SAFETY: asked for, since Redis 7.0 does not have it; the texts are terminated, and a null
    // command is not used.
    unsafe {
        let registered = call!(RedisModule_GetCommand(ctx.pointer(), name.as_ptr()));
        if let (Some(set), false) = (
            { raw::RedisModule_SetCommandACLCategories },
            registered.is_null(),
        ) {
            set(registered, categories.as_ptr());
        }
    }
}

/// Describes a command to the server. It copies everything.
pub(crate) fn describe(ctx: Context, command: &Command) -> Result<(), String> {
    let refused = || format!("the server refused the description of {}", command.name);
    let mut texts = Texts::default();
    let name = texts.add(command.name);
    // SAFETY: the name is terminated.
    let registered = unsafe { call!(RedisModule_GetCommand(ctx.pointer(), name)) };
    if registered.is_null() {
        return Err(refused());
    }
    let version = raw::RedisModuleCommandInfoVersion {
        version: 1,
        sizeof_historyentry: size_of::<raw::RedisModuleCommandHistoryEntry>(),
        sizeof_keyspec: size_of::<raw::RedisModuleCommandKeySpec>(),
        sizeof_arg: size_of::<raw::RedisModuleCommandArg>(),
    };
    let mut keys = [key_specification(command), none_key_specification()];
    let specified = if command.keys == Keys::None {
        ptr::null_mut()
    } else {
        keys.as_mut_ptr()
    };
    let arguments = texts.arguments(command.arguments);
    let info = raw::RedisModuleCommandInfo {
        version: &raw const version,
        summary: texts.add(command.summary),
        complexity: texts.add(command.complexity),
        since: texts.add(command.since),
        history: ptr::null_mut(),
        tips: ptr::null(),
        // Left to the parser, whose error says what was expected.
        arity: 0,
        key_specs: specified,
        args: arguments,
    };
    // SAFETY: everything lives until the server has copied it, and lists are terminated.
    if unsafe { call!(RedisModule_SetCommandInfo(registered, &raw const info)) } != OK {
        return Err(refused());
    }
    Ok(())
}

/// Terminated texts and lists, alive until the server has copied them.
#[derive(Default)]
struct Texts(Vec<CString>, Vec<Box<[raw::RedisModuleCommandArg]>>);

impl Texts {
    /// A terminated list of arguments; null for none.
    fn arguments(&mut self, arguments: &[Argument]) -> *mut raw::RedisModuleCommandArg {
        if arguments.is_empty() {
            return ptr::null_mut();
        }
        let described = arguments.iter().map(|a| describe_argument(self, a));
        let mut described: Vec<_> = described.collect();
        // SAFETY: all zero is the terminator of this list.
        described.push(unsafe { std::mem::zeroed() });
        let mut list = described.into_boxed_slice();
        let pointer = list.as_mut_ptr();
        self.1.push(list);
        pointer
    }

    fn add(&mut self, text: &str) -> *const c_char {
        let text = CString::new(text).unwrap_or_default();
        let pointer = text.as_ptr();
        self.0.push(text);
        pointer
    }
}

fn none_key_specification() -> raw::RedisModuleCommandKeySpec {
    // SAFETY: all zero is the terminator of the list of specifications.
    unsafe { std::mem::zeroed() }
}

fn key_specification(command: &Command) -> raw::RedisModuleCommandKeySpec {
    let mut keys = none_key_specification();
    keys.flags = key_flags(command);
    match command.keys {
        Keys::None => {}
        Keys::First | Keys::FirstTwo | Keys::Second | Keys::All => {
            keys.begin_search_type =
                raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_INDEX;
            keys.bs.index.pos = if command.keys == Keys::Second { 2 } else { 1 };
            keys.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_RANGE;
            keys.fk.range.lastkey = match command.keys {
                Keys::All => -1,
                Keys::FirstTwo => 1,
                _ => 0,
            };
            keys.fk.range.keystep = 1;
        }
        // The server then asks the command itself.
        Keys::Moving => {
            keys.flags |= u64::from(raw::REDISMODULE_CMD_KEY_INCOMPLETE);
            keys.begin_search_type =
                raw::RedisModuleKeySpecBeginSearchType_REDISMODULE_KSPEC_BS_UNKNOWN;
            keys.find_keys_type = raw::RedisModuleKeySpecFindKeysType_REDISMODULE_KSPEC_FK_UNKNOWN;
        }
    }
    keys
}

fn describe_argument(texts: &mut Texts, argument: &Argument) -> raw::RedisModuleCommandArg {
    // SAFETY: null pointers and zeros are what the fields not set below mean.
    let mut described: raw::RedisModuleCommandArg = unsafe { std::mem::zeroed() };
    described.name = texts.add(argument.name);
    described.token = argument.token.map_or(ptr::null(), |token| texts.add(token));
    described.type_ = match argument.kind {
        Kind::Key => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_KEY,
        Kind::Text => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_STRING,
        Kind::Integer => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_INTEGER,
        Kind::Word => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_PURE_TOKEN,
        Kind::Block => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_BLOCK,
        Kind::OneOf => raw::RedisModuleCommandArgType_REDISMODULE_ARG_TYPE_ONEOF,
    };
    described.subargs = texts.arguments(argument.parts);
    if argument.optional {
        described.flags |= raw::REDISMODULE_CMD_ARG_OPTIONAL as c_int;
    }
    if argument.multiple {
        described.flags |= raw::REDISMODULE_CMD_ARG_MULTIPLE as c_int;
    }
    described
}
