//! Effects for replicas and append-only files, and applying them.

use std::ffi::c_int;

use redis_module::raw;
use rq_command::parse::{self, Arguments};
use rq_command::{Code, Refusal};
use rq_core::Queue;
use rq_core::effect::{self, Scope};
use rq_core::snapshot::Loader;

use crate::api::call;
use crate::context::{Argv, Context, bytes_of};
use crate::due;
use crate::key::Key;
use crate::state::{self, STATE};

/// Propagates an effect without payloads.
pub(crate) fn effect(ctx: Context, key: *mut raw::RedisModuleString, effect: &[u8]) {
    // SAFETY: the format names a string and a buffer with its length; the server copies.
    unsafe {
        call!(RedisModule_Replicate(
            ctx.pointer(),
            c"RQ.APPLY".as_ptr(),
            c"sb".as_ptr(),
            key,
            effect.as_ptr(),
            effect.len(),
        ));
    }
}

/// Propagates a push: its payloads are the caller's arguments, by reference.
pub(crate) fn push(
    ctx: Context,
    key: *mut raw::RedisModuleString,
    effect: &[u8],
    argv: &Argv,
    from: usize,
) {
    let (payloads, count) = argv.from(from);
    // SAFETY: the format names a string, a buffer with its length, and an array with its length.
    unsafe {
        call!(RedisModule_Replicate(
            ctx.pointer(),
            c"RQ.APPLY".as_ptr(),
            c"sbv".as_ptr(),
            key,
            effect.as_ptr(),
            effect.len(),
            payloads,
            count,
        ));
    }
}

/// `RQ.APPLY key effect [payload ...]`
pub(crate) fn apply(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let outcome = apply_effect(ctx, argv);
    if let Err(refusal) = &outcome {
        refused(ctx, argv, refusal);
    }
    outcome
}

fn apply_effect(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let payloads = parse::apply(argv)?.start;
    let mut key = Key::write(ctx, argv.string(1))?;
    let head = argv.get(2);
    match effect::scope(head)? {
        Scope::Floor(id) => state::raise_floor(id),
        Scope::Begins | Scope::Continues | Scope::Completes => build(ctx, &mut key, head)?,
        scope @ (Scope::Creates | Scope::Changes) => {
            change(ctx, &mut key, scope, head, argv, payloads)?;
        }
    }
    // SAFETY: the context is good. A replica's own append-only file gets what it was sent.
    unsafe { call!(RedisModule_ReplicateVerbatim(ctx.pointer())) };
    Ok(ctx.reply_ok())
}

/// Applies an effect to a queue, which it may create.
fn change(
    ctx: Context,
    key: &mut Key,
    scope: Scope,
    head: &[u8],
    argv: &Argv,
    payloads: usize,
) -> Result<(), Refusal> {
    let before = key.queue().map(Queue::counters).unwrap_or_default();
    let (floor, after) = match key.queue_mut() {
        Some(queue) => (
            queue.apply(head, argv.bytes_from(payloads))?,
            queue.counters(),
        ),
        None if scope == Scope::Creates => {
            // An effect says from where on its IDs are: the floor here may be another.
            let mut queue = Queue::default();
            let floor = queue.apply(head, argv.bytes_from(payloads))?;
            let counters = queue.counters();
            key.store(queue);
            (floor, counters)
        }
        None => return Err(bad_effect("bad effect: there is no queue for it")),
    };
    state::raise_floor(floor);
    if !ctx.has_flag(raw::REDISMODULE_CTX_FLAGS_LOADING) {
        state::add_difference(&before, &after);
    }
    key.delete_if_empty();
    key.changed(c"rq.apply");
    key.signal_ready();
    due::note(key);
    Ok(())
}

const fn bad_effect(text: &'static str) -> Refusal {
    Refusal::new(Code::BadEffect, text)
}

// ---- snapshots in append-only files ----

/// A queue whose snapshot is being read: database, key, and what was read. One at a time, since
/// the parts of a snapshot follow each other. It becomes the value of its key when it is whole.
pub(crate) struct Building {
    database: c_int,
    key: Box<[u8]>,
    loader: Loader,
}

fn build(ctx: Context, key: &mut Key, part: &[u8]) -> Result<(), Refusal> {
    if key.queue().is_some() {
        return Err(bad_effect(
            "bad effect: a snapshot for a queue that is there already",
        ));
    }
    let begins = effect::scope(part)? == Scope::Begins;
    let (database, name): (_, Box<[u8]>) = (ctx.database(), bytes_of(&key.name()).into());
    let mut building = match STATE.building.take() {
        _ if begins => Building {
            database,
            key: name,
            loader: Loader::default(),
        },
        Some(building) if building.database == database && building.key == name => building,
        _ => {
            return Err(bad_effect(
                "bad effect: a part of a snapshot without its head",
            ));
        }
    };
    if building.loader.feed(part)? {
        key.store(building.loader.finish());
        key.changed(c"rq.apply");
        key.signal_ready();
        due::note(key);
    } else {
        STATE.building.set(Some(building));
    }
    Ok(())
}

/// An effect from the primary or from a file that can't be applied means that this server's data is
/// not what it should be. The server itself would go on in silence.
fn refused(ctx: Context, argv: &Argv, refusal: &Refusal) {
    let trusted = raw::REDISMODULE_CTX_FLAGS_REPLICATED | raw::REDISMODULE_CTX_FLAGS_LOADING;
    if !ctx.has_flag(trusted) {
        return;
    }
    let key = String::from_utf8_lossy(argv.get(1)).into_owned();
    let version = argv.get(2).first().copied().unwrap_or(0);
    let stops = STATE.stop_on_bad_effect.get();
    let what_now = if stops && ctx.has_flag(raw::REDISMODULE_CTX_FLAGS_REPLICATED) {
        "stopping, since this replica would differ from its primary in silence; upgrade replicas first, and see reliableq.on-bad-effect"
    } else if stops {
        "stopping, since data would be lost in silence; see reliableq.on-bad-effect"
    } else {
        "going on, as reliableq.on-bad-effect says"
    };
    ctx.log_warning(&format!(
        "reliableq: an effect of version {version} for key '{key}' can't be applied ({refusal}); {what_now}"
    ));
    if stops {
        std::process::exit(1);
    }
}
