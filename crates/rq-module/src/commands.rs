//! The handlers: parse, call the core, propagate, reply.

use std::ffi::{CStr, CString, c_int};

use redis_module::raw;
use rq_command::execute::{self, text};
use rq_command::parse::{self, Arguments, PushExtended};
use rq_command::reply::{self, Nowhere, Sink};
use rq_command::{Access, COMMANDS, Command, Keys, Refusal, Verb};
use rq_core::effect::{Unread, Writer};
use rq_core::{
    Counters, Delivery, Headers, Id, IdText, Moment, Options, Policy, Pop, Produced, Queue, Receipt,
};

use crate::api::call;
use crate::blocking;
use crate::context::{Argv, Context, ERR, OK, bytes_of, guard};
use crate::documentation;
use crate::due;
use crate::key::{self, Key};
use crate::permission;
use crate::propagate;
use crate::registering;
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
    ($handler:expr) => {{
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
    state::forget_time();
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

/// An entry point for a command on one queue that `rq-command` executes.
macro_rules! single {
    ($verb:expr, $event:literal) => {
        entry_point!(|ctx, argv| change(ctx, argv, $verb, $event))
    };
}

/// The same, for one that looks or changes, as its arguments say.
macro_rules! either {
    ($verb:expr, $event:literal) => {
        entry_point!(|ctx, argv| either(ctx, argv, $verb, $event))
    };
}

/// The same, for one that only looks.
macro_rules! looking {
    ($verb:expr) => {
        entry_point!(|ctx, argv| look(ctx, argv, $verb))
    };
}

fn entry_point(verb: Verb) -> EntryPoint {
    match verb {
        Verb::Push => entry_point!(push),
        Verb::PushExtended => entry_point!(push_extended),
        Verb::Pop => entry_point!(pop),
        Verb::Acknowledge => single!(Verb::Acknowledge, c"rq.ack"),
        Verb::Nack => single!(Verb::Nack, c"rq.nack"),
        Verb::Extend => single!(Verb::Extend, c"rq.extend"),
        Verb::Claim => single!(Verb::Claim, c"rq.claim"),
        Verb::Recover => single!(Verb::Recover, c"rq.recover"),
        Verb::Delete => single!(Verb::Delete, c"rq.delete"),
        Verb::Redrive => single!(Verb::Redrive, c"rq.redrive"),
        Verb::Flush => single!(Verb::Flush, c"rq.flush"),
        Verb::Pause => single!(Verb::Pause, c"rq.pause"),
        Verb::Resume => single!(Verb::Resume, c"rq.pause"),
        Verb::Setup => either!(Verb::Setup, c"rq.setup"),
        Verb::Consumer => either!(Verb::Consumer, c"rq.nack"),
        Verb::Forward => entry_point!(forward),
        Verb::Inspect => looking!(Verb::Inspect),
        Verb::Peek => looking!(Verb::Peek),
        Verb::Get => looking!(Verb::Get),
        Verb::Range => looking!(Verb::Range),
        Verb::Split => looking!(Verb::Split),
        Verb::Length => looking!(Verb::Length),
        Verb::Info => looking!(Verb::Info),
        Verb::Status => entry_point!(status::status),
        Verb::Register => entry_point!(registering::register),
        Verb::Notify => entry_point!(registering::notify),
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
            Keys::FirstTwo => (1, 2, 1),
            Keys::Second => (2, 2, 1),
            Keys::All => (1, -1, 1),
            Keys::Moving | Keys::None => (0, 0, 0),
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
        // The server asks nothing about it, but whether all that may be propagated has to wait.
        Access::Either => "may-replicate",
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

// ---- what they share ----

/// When and where a command happens.
pub(crate) fn moment(ctx: Context, defaults: &Policy) -> Moment<'_> {
    Moment {
        now: ctx.now(),
        floor: state::floor(),
        defaults,
    }
}

/// Looks after what follows from a change: replicas and files, whoever listens or waits, the key itself.
pub(crate) fn follow(ctx: Context, key: &mut Key, before: &Counters, effect: &[u8], event: &CStr) {
    propagate::effect(ctx, key.name(), effect);
    changed(key, before, event);
    if key.queue().is_some_and(|queue| queue.waiting() > 0) {
        key.signal_ready();
    }
    key.delete_if_empty();
}

/// Counts and tells what happened to a queue.
pub(crate) fn changed(key: &Key, before: &Counters, event: &CStr) {
    key.changed(event);
    let Some(after) = key.queue().map(Queue::counters) else {
        return;
    };
    state::add_difference(before, &after);
    if after.dead > before.dead {
        key.happened(c"rq.dead");
    }
    if after.expired > before.expired {
        let pushed = after.sent > before.sent;
        key.happened(if pushed { c"rq.capped" } else { c"rq.expired" });
    }
}

/// Opens the key of a command on one queue. Arguments are judged first: one that is refused for them opens none.
fn open(
    argv: &Argv,
    verb: Verb,
    open: impl FnOnce(*mut raw::RedisModuleString) -> Result<Key, Refusal>,
) -> Result<Key, Refusal> {
    let position = execute::key_position(verb);
    let key = if position < argv.len() {
        open(argv.string(position))
    } else {
        Err(Refusal::wrong_type())
    };
    key.map_err(|wrong| judged(argv, verb).unwrap_or(wrong))
}

/// Why the arguments of a command on one queue are refused, if they are.
#[cold]
fn judged(argv: &Argv, verb: Verb) -> Option<Refusal> {
    let moment = Moment::at(0, Id::default());
    let (mut room, mut effect) = (execute::Room::new(), Unread::default());
    let buffers = (&mut room, &mut effect as &mut dyn Writer);
    execute::execute(
        verb,
        argv,
        &moment,
        &mut Queue::default(),
        buffers,
        &mut Nowhere,
    )
    .err()
}

/// Executes a command that looks at one queue, or changes it if the server lets it.
fn either(ctx: Context, argv: &Argv, verb: Verb, event: &CStr) -> Result<c_int, Refusal> {
    if execute::looks(verb, argv) {
        return look(ctx, argv, verb);
    }
    let Some(refusal) = permission::refusal(ctx) else {
        return change(ctx, argv, verb, event);
    };
    match judged(argv, verb) {
        Some(wrong) => Err(wrong),
        None => Ok(ctx.reply_error(&refusal)),
    }
}

/// Executes a command that changes one queue.
fn change(ctx: Context, argv: &Argv, verb: Verb, event: &CStr) -> Result<c_int, Refusal> {
    let mut key = open(argv, verb, |name| Key::write(ctx, name))?;
    due::expire(ctx, &mut key);
    let (mut effect, mut room) = (STATE.effect.take(), STATE.room.take());
    let defaults = STATE.defaults.get();
    let moment = moment(ctx, &defaults);
    let buffers = (&mut room, &mut effect as &mut dyn Writer);
    let mut before = Counters::ZERO;
    let outcome = match key.queue_mut() {
        Some(queue) => {
            before = queue.counters();
            execute::execute(verb, argv, &moment, queue, buffers, &mut { ctx })
        }
        None => {
            let mut queue = key::new_queue();
            let outcome = execute::execute(verb, argv, &moment, &mut queue, buffers, &mut { ctx });
            if !queue.is_empty() {
                key.store(queue);
            }
            outcome
        }
    };
    if !effect.is_empty() {
        if verb == Verb::Acknowledge {
            acknowledged(ctx, &mut key, &before, &effect);
        } else {
            follow(ctx, &mut key, &before, &effect, event);
        }
    }
    let changed = !effect.is_empty();
    STATE.effect.set(effect);
    room.shrink();
    STATE.room.set(room);
    if changed {
        // It may have made something due at once.
        due::expire(ctx, &mut key);
        due::note(&key);
    }
    outcome.map(|()| OK)
}

/// As [`follow`]; but what was let go makes nothing available, unless there is a limit to what is delivered.
fn acknowledged(ctx: Context, key: &mut Key, before: &Counters, effect: &[u8]) {
    let limit = |queue: &Queue| queue.policy().inflight | STATE.defaults.get().inflight;
    if key.queue().is_some_and(|queue| limit(queue) > 0) {
        return follow(ctx, key, before, effect, c"rq.ack");
    }
    propagate::effect(ctx, key.name(), effect);
    changed(key, before, c"rq.ack");
    key.delete_if_empty();
}

/// Executes a command that looks at one queue.
fn look(ctx: Context, argv: &Argv, verb: Verb) -> Result<c_int, Refusal> {
    let key = open(argv, verb, |name| Key::read(ctx, name))?;
    let mut room = STATE.room.take();
    let defaults = STATE.defaults.get();
    let moment = moment(ctx, &defaults);
    let nothing = Queue::default();
    let queue = key.queue().unwrap_or(&nothing);
    let outcome = execute::look(verb, argv, &moment, queue, &mut room, &mut { ctx });
    STATE.room.set(room);
    outcome.map(|()| OK)
}

// ---- pushing ----

fn push(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let elements = parse::push(argv)?.elements.start;
    let mut key = Key::write(ctx, argv.string(1))?;
    let produced = append(ctx, &mut key, argv, elements, None)?;
    reply::produced(&mut { ctx }, &produced);
    Ok(OK)
}

fn push_extended(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let push = parse::push_extended(argv)?;
    let mut key = Key::write(ctx, argv.string(1))?;
    let headers = headers(argv, &push);
    let options = options(ctx, argv, &push, &headers);
    let produced = append(ctx, &mut key, argv, push.elements.start, Some(&options))?;
    reply::produced(&mut { ctx }, &produced);
    Ok(OK)
}

fn headers(argv: &Argv, push: &PushExtended) -> Vec<u8> {
    let pairs = push.headers.clone().step_by(2);
    Headers::encode(pairs.map(|at| (argv.get(at), argv.get(at + 1))))
}

fn options<'a>(
    ctx: Context,
    argv: &'a Argv,
    push: &PushExtended,
    headers: &'a [u8],
) -> Options<'a> {
    Options {
        front: push.front,
        delay: push.due.delay(ctx.now(), ctx.wall()),
        ttl: push.ttl,
        retries: push.retries,
        priority: push.priority,
        headers: Headers::new(headers),
        token: push.token.map(|position| argv.get(position)),
        unique: push.unique,
        producer: push
            .producer
            .map(|(name, sequence)| (argv.get(name), sequence)),
        new: push.new,
        leaving: (0, 0),
    }
}

/// Appends to a queue, which is made where there is none. The last elements of the command, as
/// many as were pushed, are propagated.
fn append(
    ctx: Context,
    key: &mut Key,
    argv: &Argv,
    elements: usize,
    options: Option<&Options<'_>>,
) -> Result<Produced, Refusal> {
    due::expire(ctx, key);
    add(ctx, key, argv, elements, options)
}

/// The same, when what is due was done before.
fn add(
    ctx: Context,
    key: &mut Key,
    argv: &Argv,
    elements: usize,
    options: Option<&Options<'_>>,
) -> Result<Produced, Refusal> {
    let mut effect = STATE.effect.take();
    let defaults = STATE.defaults.get();
    let moment = moment(ctx, &defaults);
    let mut before = Counters::ZERO;
    let outcome = match key.queue_mut() {
        Some(queue) => {
            before = queue.counters();
            queue.push(&moment, options, argv.bytes_from(elements), &mut effect)
        }
        None => {
            let mut queue = key::new_queue();
            let produced = queue.push(&moment, options, argv.bytes_from(elements), &mut effect);
            if produced.is_ok() {
                key.store(queue);
            }
            produced
        }
    };
    if let Ok(produced) = &outcome
        && !effect.is_empty()
    {
        let count = produced.pushed.map_or(0, |pushed| {
            state::raise_floor(pushed.floor);
            pushed.count as usize
        });
        propagate::push(
            ctx,
            key.name(),
            &effect,
            argv,
            (argv.len() - count).max(elements),
        );
        changed(key, &before, c"rq.push");
        key.signal_ready();
        due::note(key);
    }
    STATE.effect.set(effect);
    Ok(outcome?)
}

/// `RQ.FORWARD source destination IDS n id ... ELEMENTS n element ...`
fn forward(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    let mut receipts = Vec::new();
    let request = parse::forward(argv, &mut receipts)?;
    let mut source = Key::write(ctx, argv.string(1))?;
    let mut other = match argv.get(1) == argv.get(2) {
        true => None,
        false => Some(Key::write(ctx, argv.string(2))?),
    };
    due::expire(ctx, &mut source);
    if let Some(other) = &mut other {
        due::expire(ctx, other);
    }
    let mut options = Options {
        new: request.new,
        ..Options::default()
    };
    // From here on nothing else happens to what is held.
    match source.queue_mut() {
        Some(queue) => {
            execute::resolve(argv, &request.named, queue, &mut receipts);
            queue.ensure_held(&receipts)?;
            if other.is_none() {
                options.leaving = queue.leaving(&receipts);
            }
        }
        None => {
            let first: Option<&Receipt> = receipts.first();
            let id = first.map_or(Id::default(), |receipt| receipt.id);
            return Err(rq_core::Error::NotHeld(id).into());
        }
    }
    let destination = other.as_mut().unwrap_or(&mut source);
    let elements = request.elements.start;
    let produced = add(ctx, destination, argv, elements, Some(&options))?;
    let Some(queue) = source.queue_mut() else {
        return Ok(ERR);
    };
    let (mut effect, before, mut done) = (STATE.effect.take(), queue.counters(), Vec::new());
    queue.acknowledge(
        ctx.now(),
        receipts.into_iter(),
        &mut done,
        &mut effect,
        |_| (),
    );
    acknowledged(ctx, &mut source, &before, &effect);
    STATE.effect.set(effect);
    due::note(&source);
    reply::produced(&mut { ctx }, &produced);
    Ok(OK)
}

// ---- popping ----

/// A pop as the core takes it.
pub(crate) fn request<'a>(argv: &'a Argv, pop: &parse::Pop) -> Pop<'a> {
    Pop {
        count: pop.count,
        lease: pop.lease,
        consumer: text(argv, pop.consumer),
        no_ack: pop.no_ack,
        prefetch: pop.prefetch,
        max_bytes: pop.max_bytes.unwrap_or(0),
    }
}

fn pop(ctx: Context, argv: &Argv) -> Result<c_int, Refusal> {
    // SAFETY: the context is good.
    if unsafe { call!(RedisModule_IsKeysPositionRequest(ctx.pointer())) } != 0 {
        documentation::report_keys(ctx, parse::pop(argv).ok());
        return Ok(OK);
    }
    let pop = parse::pop(argv)?;
    let mut request = request(argv, &pop);
    registering::seen(ctx, argv, &pop, request.consumer);
    if pop.keys.len() > 1 {
        return pop_several(ctx, argv, &pop, &mut request);
    }
    let mut key = Key::write(ctx, argv.string(pop.keys.start))?;
    due::expire(ctx, &mut key);
    let available = available(ctx, &key, &request);
    if available == 0 {
        seen(ctx, &mut key, &request);
        return Ok(blocking::wait(ctx, argv, &pop));
    }
    serve(ctx, &mut key, &request, available, pop.with_meta);
    Ok(OK)
}

/// A pop that found nothing is a sign of its consumer all the same.
fn seen(ctx: Context, key: &mut Key, request: &Pop<'_>) {
    if !request.consumer.is_empty()
        && let Some(queue) = key.queue_mut()
    {
        queue.seen(ctx.now(), request.consumer);
    }
}

/// Takes all it can from the first queue, then from the next. The types of all keys are checked
/// before anything is taken.
fn pop_several(
    ctx: Context,
    argv: &Argv,
    pop: &parse::Pop,
    request: &mut Pop<'_>,
) -> Result<c_int, Refusal> {
    let mut any = false;
    for position in pop.keys.clone() {
        let mut key = Key::write(ctx, argv.string(position))?;
        due::expire(ctx, &mut key);
        any |= available(ctx, &key, request) > 0;
        seen(ctx, &mut key, request);
    }
    if !any {
        return Ok(blocking::wait(ctx, argv, pop));
    }
    ctx.begin_array();
    let mut done = 0;
    for position in pop.keys.clone() {
        if let Ok(mut key) = Key::write(ctx, argv.string(position)) {
            let taken = deliver(ctx, &mut key, request, pop.with_meta);
            done += taken;
            request.count -= taken;
            // One queue at a time, so that they stay within it together.
            if request.max_bytes > 0 && done > 0 {
                break;
            }
        }
    }
    ctx.end_array(done);
    Ok(OK)
}

/// How many messages a pop would deliver.
pub(crate) fn available(ctx: Context, key: &Key, request: &Pop<'_>) -> u64 {
    let defaults = STATE.defaults.get();
    let Some(queue) = key.queue().filter(|queue| queue.waiting() > 0) else {
        return 0;
    };
    queue.available(&moment(ctx, &defaults), request)
}

/// Replies with messages, as many as are available.
pub(crate) fn serve(
    ctx: Context,
    key: &mut Key,
    request: &Pop<'_>,
    available: u64,
    with_meta: bool,
) {
    if key.queue().is_some_and(|queue| queue.is_exact(request)) {
        { ctx }.array(available as usize);
        deliver(ctx, key, request, with_meta);
    } else {
        ctx.begin_array();
        let done = deliver(ctx, key, request, with_meta);
        ctx.end_array(done);
    }
}

/// Delivers messages, as rows of a list that was begun; how many.
fn deliver(ctx: Context, key: &mut Key, request: &Pop<'_>, with_meta: bool) -> u64 {
    let name = key.name();
    let Some(queue) = key.queue_mut() else {
        return 0;
    };
    let (mut effect, mut text, mut sink) = (STATE.effect.take(), IdText::default(), ctx);
    let before = queue.counters();
    let row = |delivery: Delivery<'_>| {
        reply::delivery(&mut sink, &mut text, bytes_of(&name), &delivery, with_meta);
    };
    let defaults = STATE.defaults.get();
    let done = queue.pop(&moment(ctx, &defaults), request, &mut effect, row);
    if done > 0 {
        propagate::effect(ctx, name, &effect);
        changed(key, &before, c"rq.pop");
        key.delete_if_empty();
        due::note(key);
    }
    STATE.effect.set(effect);
    done
}
