//! The handlers: parse, call the core, propagate, reply.

use std::ffi::{CString, c_int};

use redis_module::raw;
use rq_command::parse::{self, Arguments, Pop};
use rq_command::reply::{self, Sink};
use rq_command::{Access, COMMANDS, Command, Keys, Refusal, Verb};
use rq_core::{Counters, Delivery, Id, IdText, Pushed, Queue};

use crate::api::call;
use crate::blocking;
use crate::context::{Argv, Context, ERR, OK, bytes_of, guard};
use crate::documentation;
use crate::due;
use crate::key::{self, Key};
use crate::propagate;
use crate::state::{self, STATE};
use crate::status;

type Handler = fn(Context, &Argv) -> Result<c_int, Refusal>;
type EntryPoint = unsafe extern "C" fn(
    *mut raw::RedisModuleCtx,
    *mut *mut raw::RedisModuleString,
    c_int,
) -> c_int;

/// An entry point for a handler.
macro_rules! entry_point {
    ($handler:path) => {{
        unsafe extern "C" fn entry(
            ctx: *mut raw::RedisModuleCtx,
            argv: *mut *mut raw::RedisModuleString,
            argc: c_int,
        ) -> c_int {
            run(Context::new(ctx), Argv::new(argv, argc), $handler)
        }
        entry
    }};
}

fn run(ctx: Context, argv: Argv, handler: Handler) -> c_int {
    let outcome = guard(None, || Some(handler(ctx, &argv)));
    match outcome {
        Some(Ok(status)) => status,
        Some(Err(refusal)) => ctx.refuse(&refusal),
        None => {
            ctx.log_warning("reliableq: a command failed by a bug; please report the lines above");
            ERR
        }
    }
}

fn entry_point(verb: Verb) -> EntryPoint {
    match verb {
        Verb::Push => entry_point!(push),
        Verb::PushExtended => entry_point!(push_extended),
        Verb::Pop => entry_point!(pop),
        Verb::Acknowledge => entry_point!(acknowledge),
        Verb::Recover => entry_point!(recover),
        Verb::Inspect => entry_point!(inspect),
        Verb::Peek => entry_point!(peek),
        Verb::Get => entry_point!(get),
        Verb::Range => entry_point!(range),
        Verb::Split => entry_point!(split),
        Verb::Length => entry_point!(length),
        Verb::Info => entry_point!(info),
        Verb::Status => entry_point!(status::status),
        Verb::Apply => entry_point!(propagate::apply),
    }
}

/// Registers every command of the table.
pub(crate) fn register(ctx: Context) -> Result<(), String> {
    let category = documentation::add_category(ctx);
    COMMANDS.iter().try_for_each(|command| {
        let name = CString::new(command.name).unwrap_or_default();
        let flags = CString::new(flags(command)).unwrap_or_default();
        let (first, last, step) = match command.keys {
            Keys::First => (1, 1, 1),
            Keys::All => (1, -1, 1),
            Keys::Moving => (0, 0, 0),
        };
        let entry = Some(entry_point(command.verb));
        // SAFETY: name and flags are terminated, and copied by the server.
        let created = unsafe {
            call!(RedisModule_CreateCommand(
                ctx.pointer(),
                name.as_ptr(),
                entry,
                flags.as_ptr(),
                first,
                last,
                step
            ))
        };
        if created != OK {
            return Err(format!("the server refused the command {}", command.name));
        }
        documentation::categorize(ctx, command, category);
        documentation::describe(ctx, command)
    })
}

/// The server's flags of a command.
fn flags(command: &Command) -> String {
    let mut flags = match command.access {
        Access::Read => "readonly",
        Access::Write | Access::Remove => "write",
        Access::Grow => "write deny-oom",
        Access::Admin => "write admin",
    }
    .to_owned();
    if command.fast {
        flags.push_str(" fast");
    }
    if command.blocking {
        flags.push_str(" blocking");
    }
    if command.keys == Keys::Moving {
        flags.push_str(" getkeys-api");
    }
    flags
}

// ---- changing ----

fn push(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let elements = parse::push(argv)?.elements.start;
    append(ctx, argv, elements, |queue, now, floor, effect| {
        let pushed = queue.push(now, floor, argv.bytes_from(elements), effect)?;
        reply::ids(&mut { ctx }, pushed.ids());
        Ok(Some(pushed))
    })
}

fn push_extended(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let push = parse::push_extended(argv)?;
    let elements = push.elements.start;
    append(ctx, argv, elements, |queue, now, floor, effect| {
        let Some((name, sequence)) = push.producer else {
            let pushed = queue.push(now, floor, argv.bytes_from(elements), effect)?;
            reply::ids(&mut { ctx }, pushed.ids());
            return Ok(Some(pushed));
        };
        let from = (argv.get(name), sequence);
        let produced = queue.produce(now, floor, from, argv.bytes_from(elements), effect)?;
        reply::produced(&mut { ctx }, &produced);
        Ok(produced.pushed)
    })
}

/// Appends to a queue, which is made where there is none. The last elements of the command, as
/// many as were pushed, are propagated.
fn append(
    ctx: Context,
    argv: &Argv,
    elements: usize,
    push: impl FnOnce(&mut Queue, u64, Id, &mut Vec<u8>) -> Result<Option<Pushed>, rq_core::Error>,
) -> Result<c_int, Refusal> {
    let mut key = Key::write(ctx, argv.string(1))?;
    let mut effect = STATE.effect.take();
    let (now, floor) = (ctx.now(), state::floor());
    let outcome = match key.queue_mut() {
        Some(queue) => push(queue, now, floor, &mut effect),
        None => {
            let mut queue = key::new_queue();
            let pushed = push(&mut queue, now, floor, &mut effect);
            if pushed.is_ok() {
                key.store(queue);
            }
            pushed
        }
    };
    if let Ok(Some(pushed)) = &outcome {
        if pushed.raises {
            state::raise_floor(pushed.last());
        }
        state::add(&Counters {
            sent: pushed.count,
            ..Counters::default()
        });
        let fresh = (argv.len() - pushed.count as usize).max(elements);
        propagate::push(ctx, argv.string(1), &effect, argv, fresh);
        key.changed(c"rq.push");
        key.signal_ready();
        due::note(&key);
    }
    STATE.effect.set(effect);
    outcome?;
    Ok(OK)
}

fn pop(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    // SAFETY: the context is good.
    if unsafe { call!(RedisModule_IsKeysPositionRequest(ctx.pointer())) } != 0 {
        documentation::report_keys(ctx, parse::pop(argv).ok());
        return Ok(OK);
    }
    let pop = parse::pop(argv)?;
    if pop.keys.len() > 1 {
        return pop_several(ctx, argv, &pop);
    }
    let mut key = Key::write(ctx, argv.string(pop.keys.start))?;
    let available = available(&key, pop.count);
    if available == 0 {
        return Ok(blocking::wait(ctx, argv, &pop));
    }
    { ctx }.array(available as usize);
    deliver(ctx, &mut key, available, pop.with_meta);
    Ok(OK)
}

/// Takes all it can from the first queue, then from the next. The types of all keys are checked
/// before anything is taken.
fn pop_several(ctx: Context, argv: &Argv, pop: &Pop) -> Result<c_int, Refusal> {
    let mut any = false;
    for position in pop.keys.clone() {
        any |= available(&Key::write(ctx, argv.string(position))?, 1) > 0;
    }
    if !any {
        return Ok(blocking::wait(ctx, argv, pop));
    }
    ctx.begin_array();
    let mut left = pop.count;
    for position in pop.keys.clone() {
        if let Ok(mut key) = Key::write(ctx, argv.string(position)) {
            let available = available(&key, left);
            deliver(ctx, &mut key, available, pop.with_meta);
            left -= available;
        }
    }
    ctx.end_array(pop.count - left);
    Ok(OK)
}

pub(crate) fn available(key: &Key, count: u64) -> u64 {
    key.queue().map_or(0, |queue| queue.available(count))
}

/// Delivers messages that are available, as rows of a list that was begun.
pub(crate) fn deliver(ctx: Context, key: &mut Key, count: u64, with_meta: bool) {
    let name = key.name();
    let Some(queue) = key.queue_mut().filter(|_| count > 0) else {
        return;
    };
    let (mut effect, mut text, mut sink) = (STATE.effect.take(), IdText::default(), ctx);
    let row = |delivery: Delivery<'_>| {
        reply::delivery(&mut sink, &mut text, bytes_of(&name), &delivery, with_meta)
    };
    queue.pop(ctx.now(), count, &mut effect, row);
    state::add(&Counters {
        received: count,
        ..Counters::default()
    });
    propagate::effect(ctx, name, &effect);
    STATE.effect.set(effect);
    key.changed(c"rq.pop");
}

fn acknowledge(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let mut ids = STATE.ids.take();
    let outcome = parse::acknowledge(argv, &mut ids).and_then(|()| {
        let mut key = Key::write(ctx, argv.string(1))?;
        acknowledge_ids(ctx, &mut key, &ids);
        Ok(OK)
    });
    STATE.ids.set(ids);
    outcome
}

fn acknowledge_ids(ctx: Context, key: &mut Key, ids: &[Id]) {
    let name = key.name();
    let (mut effect, mut done) = (STATE.effect.take(), STATE.acknowledged.take());
    done.clear();
    if let Some(queue) = key.queue_mut() {
        queue.acknowledge(ids.iter().copied(), &mut done, &mut effect);
    }
    reply::ids(&mut { ctx }, done.iter().copied());
    if !done.is_empty() {
        state::add(&Counters {
            deleted: done.len() as u64,
            ..Counters::default()
        });
        propagate::effect(ctx, name, &effect);
        key.changed(c"rq.ack");
        key.delete_if_empty();
    }
    STATE.effect.set(effect);
    STATE.acknowledged.set(done);
}

fn recover(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let recover = parse::recover(argv)?;
    let mut key = Key::write(ctx, argv.string(1))?;
    let (name, now, mut sink) = (key.name(), ctx.now(), ctx);
    let due = (key.queue()).map_or(0, |queue| {
        queue.recoverable(now, recover.count, recover.elapsed)
    });
    sink.array(due as usize);
    let Some(queue) = key.queue_mut().filter(|_| due > 0) else {
        return Ok(OK);
    };
    let (mut effect, mut text) = (STATE.effect.take(), IdText::default());
    let row = |delivery: Delivery<'_>| {
        reply::delivery(
            &mut sink,
            &mut text,
            bytes_of(&name),
            &delivery,
            recover.with_meta,
        )
    };
    queue.recover(now, due, recover.elapsed, &mut effect, row);
    state::add(&Counters {
        received: due,
        returned: due,
        ..Counters::default()
    });
    propagate::effect(ctx, name, &effect);
    STATE.effect.set(effect);
    key.changed(c"rq.recover");
    Ok(OK)
}

// ---- looking ----

fn inspect(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let inspect = parse::inspect(argv)?;
    let key = Key::read(ctx, argv.string(1))?;
    let mut sink = ctx;
    match key.queue() {
        None => sink.array(0),
        Some(queue) if inspect.pending => {
            reply::pending(
                &mut sink,
                queue.inspect_pending(ctx.now(), inspect.start, inspect.count),
            );
        }
        Some(queue) => reply::waiting(
            &mut sink,
            queue.inspect_waiting(inspect.start, inspect.count),
        ),
    }
    Ok(OK)
}

fn peek(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let peek = parse::peek(argv)?;
    let key = Key::read(ctx, argv.string(1))?;
    let row = key.queue().and_then(|queue| queue.peek(peek.back));
    let mut text = IdText::default();
    reply::held(&mut { ctx }, &mut text, row.as_ref(), peek.with_meta);
    Ok(OK)
}

fn get(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let mut ids = STATE.ids.take();
    let outcome = parse::get(argv, &mut ids).and_then(|with_meta| {
        let key = Key::read(ctx, argv.string(1))?;
        let get = |id| key.queue().and_then(|queue| queue.get(id));
        reply::got(&mut { ctx }, &ids, get, with_meta);
        Ok(OK)
    });
    STATE.ids.set(ids);
    outcome
}

fn range(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let range = parse::range(argv)?;
    let key = Key::read(ctx, argv.string(1))?;
    match key.queue().zip(range.bounds) {
        Some((queue, (low, high))) => {
            let messages = queue.range(low, high, range.reverse);
            reply::range(&mut { ctx }, messages, range.count, range.with_meta);
        }
        None => { ctx }.array(0),
    }
    Ok(OK)
}

fn split(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let parts = parse::split(argv)?;
    let key = Key::read(ctx, argv.string(1))?;
    let cuts = key
        .queue()
        .map_or_else(Vec::new, |queue| queue.split(parts));
    reply::ids(&mut { ctx }, cuts.into_iter());
    Ok(OK)
}

fn length(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    parse::only_key(argv, Verb::Length)?;
    let key = Key::read(ctx, argv.string(1))?;
    { ctx }.integer(key.queue().map_or(0, Queue::len));
    Ok(OK)
}

fn info(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    parse::only_key(argv, Verb::Info)?;
    let key = Key::read(ctx, argv.string(1))?;
    match key.queue() {
        Some(queue) => reply::info(&mut { ctx }, &queue.info(ctx.now())),
        None => { ctx }.null(),
    }
    Ok(OK)
}
