//! The `RQ.*` commands: parse, call the engine, reply.

use std::time::{Duration, Instant};

use rq_command::parse::{self, Pop};
use rq_command::reply::{self, Sink};
use rq_command::{Code, Refusal, Verb};
use rq_core::{Delivery, Id, IdText, Queue};

use super::commands::Outcome;
use super::reply::Reply;
use super::request::Words;
use super::waiters::Waiter;
use crate::clock;
use crate::engine::State;
use crate::error::Error;

/// Room that is used again by each command.
#[derive(Default)]
pub(super) struct Room {
    ids: Vec<Id>,
    acknowledged: Vec<Id>,
    rows: Vec<u8>,
}

/// Bytes of room that are kept for the next command.
const KEPT: usize = 64 << 10;

impl Room {
    fn shrink(&mut self) {
        self.rows.clear();
        self.rows.shrink_to(KEPT);
        self.ids.shrink_to(KEPT);
        self.acknowledged.shrink_to(KEPT);
    }
}

/// Executes a command of a client. An error is the whole reply, and nothing was changed then.
pub(super) fn execute(
    state: &mut State,
    verb: Verb,
    words: Words<'_>,
    client: usize,
    room: &mut Room,
    reply: &mut Reply<'_>,
) -> Result<Outcome, Refusal> {
    match verb {
        Verb::Push => push(state, words, reply),
        Verb::PushExtended => push_extended(state, words, reply),
        Verb::Pop => pop(state, words, client, room, reply),
        Verb::Acknowledge => acknowledge(state, words, room, reply),
        Verb::Recover => recover(state, words, room, reply),
        Verb::Inspect => inspect(state, words, reply),
        Verb::Peek => peek(state, words, reply),
        Verb::Get => get(state, words, room, reply),
        Verb::Range => range(state, words, reply),
        Verb::Split => split(state, words, reply),
        Verb::Length => length(state, words, reply),
        Verb::Info => info(state, words, reply),
        Verb::Status => status(state, words, reply),
        // An admin's command is not among those that are answered.
        Verb::Apply => Err(Refusal::new(Code::Argument, "not for clients")),
    }
}

// ---- changing ----

fn push(state: &mut State, words: Words<'_>, reply: &mut Reply<'_>) -> Result<Outcome, Refusal> {
    let elements = words.several(parse::push(&words)?.elements);
    let pushed = state.push(clock::now(), words.at(1), elements)?;
    reply::ids(reply, pushed.ids());
    Ok(Outcome::Durable)
}

fn push_extended(
    state: &mut State,
    words: Words<'_>,
    reply: &mut Reply<'_>,
) -> Result<Outcome, Refusal> {
    let push = parse::push_extended(&words)?;
    let (now, elements) = (clock::now(), words.several(push.elements));
    match push.producer {
        None => reply::ids(reply, state.push(now, words.at(1), elements)?.ids()),
        Some((name, sequence)) => {
            let from = (words.at(name), sequence);
            let produced = state.produce(now, words.at(1), from, elements)?;
            reply::produced(reply, &produced);
        }
    }
    // What a resend finds stored may not be durable yet.
    Ok(Outcome::Durable)
}

fn pop(
    state: &mut State,
    words: Words<'_>,
    client: usize,
    room: &mut Room,
    reply: &mut Reply<'_>,
) -> Result<Outcome, Refusal> {
    let pop = parse::pop(&words)?;
    let keys = words.several(pop.keys.clone());
    let taken = take(state, keys, (pop.count, pop.with_meta), room, reply)?;
    match (taken, pop.block) {
        (true, _) => Ok(Outcome::Done),
        (false, None) => {
            reply.null();
            Ok(Outcome::Done)
        }
        (false, Some(milliseconds)) => Ok(Outcome::Wait(waiter(words, client, &pop, milliseconds))),
    }
}

fn waiter(words: Words<'_>, client: usize, pop: &Pop, milliseconds: u64) -> Waiter {
    let wait = Duration::from_millis(milliseconds);
    Waiter {
        client,
        keys: words.several(pop.keys.clone()).map(Box::from).collect(),
        count: pop.count,
        with_meta: pop.with_meta,
        // A time that the clock does not reach is for ever, too.
        until: (milliseconds > 0)
            .then(|| Instant::now().checked_add(wait))
            .flatten(),
    }
}

/// Takes from a queue for a client that waits; whether there was anything to take.
pub(super) fn serve(
    state: &mut State,
    key: &[u8],
    waiter: (u64, bool),
    room: &mut Room,
    reply: &mut Reply<'_>,
) -> Result<bool, Refusal> {
    take(state, std::iter::once(key), waiter, room, reply)
}

/// Takes all it can from the first queue, then from the next; whether there was anything. What was
/// taken is answered, also when the store fails at a later queue.
fn take<'a>(
    state: &mut State,
    keys: impl Iterator<Item = &'a [u8]>,
    (count, with_meta): (u64, bool),
    room: &mut Room,
    reply: &mut Reply<'_>,
) -> Result<bool, Refusal> {
    let (now, mut left, mut failed) = (clock::now(), count, None);
    for key in keys {
        let before = room.rows.len();
        match state.pop(now, key, left, row(key, with_meta, room, reply)) {
            Ok(popped) => left -= popped,
            Err(error) => {
                room.rows.truncate(before);
                failed = Some(error);
                break;
            }
        }
        if left == 0 {
            break;
        }
    }
    let taken = count - left;
    if taken > 0 {
        reply.rows(taken, &room.rows);
    }
    room.shrink();
    match failed {
        Some(error) if taken == 0 => Err(error.into()),
        _ => Ok(taken > 0),
    }
}

/// Renders deliveries beside the reply: they count only once the operation has succeeded.
fn row<'a>(
    key: &'a [u8],
    with_meta: bool,
    room: &'a mut Room,
    reply: &Reply<'_>,
) -> impl FnMut(Delivery<'_>) + 'a {
    let mut text = IdText::default();
    let protocol = reply.protocol;
    let out = &mut room.rows;
    move |delivery| {
        let mut sink = Reply { out, protocol };
        reply::delivery(&mut sink, &mut text, key, &delivery, with_meta);
    }
}

fn acknowledge(
    state: &mut State,
    words: Words<'_>,
    room: &mut Room,
    reply: &mut Reply<'_>,
) -> Result<Outcome, Refusal> {
    parse::acknowledge(&words, &mut room.ids)?;
    let done = &mut room.acknowledged;
    state.acknowledge(words.at(1), &room.ids, done)?;
    reply::ids(reply, done.iter().copied());
    room.shrink();
    Ok(Outcome::Durable)
}

fn recover(
    state: &mut State,
    words: Words<'_>,
    room: &mut Room,
    reply: &mut Reply<'_>,
) -> Result<Outcome, Refusal> {
    let recover = parse::recover(&words)?;
    let key = words.at(1);
    let visit = row(key, recover.with_meta, room, reply);
    let recovered = state.recover(clock::now(), key, recover.count, recover.elapsed, visit);
    if let Ok(count) = recovered {
        reply.rows(count, &room.rows);
    }
    room.shrink();
    recovered?;
    Ok(Outcome::Done)
}

// ---- looking ----

fn inspect(state: &State, words: Words<'_>, reply: &mut Reply<'_>) -> Result<Outcome, Refusal> {
    let inspect = parse::inspect(&words)?;
    let (start, count) = (inspect.start, inspect.count);
    match state.queue(words.at(1)) {
        None => reply.array(0),
        Some(queue) if inspect.pending => {
            reply::pending(reply, queue.inspect_pending(clock::now(), start, count));
        }
        Some(queue) => reply::waiting(reply, queue.inspect_waiting(start, count)),
    }
    Ok(Outcome::Done)
}

fn peek(state: &State, words: Words<'_>, reply: &mut Reply<'_>) -> Result<Outcome, Refusal> {
    let peek = parse::peek(&words)?;
    let queue = state.queue(words.at(1));
    let row = queue.and_then(|queue| queue.peek(peek.back));
    let mut text = IdText::default();
    reply::held(reply, &mut text, row.as_ref(), peek.with_meta);
    Ok(Outcome::Done)
}

fn get(
    state: &State,
    words: Words<'_>,
    room: &mut Room,
    reply: &mut Reply<'_>,
) -> Result<Outcome, Refusal> {
    let with_meta = parse::get(&words, &mut room.ids)?;
    let queue = state.queue(words.at(1));
    reply::got(
        reply,
        &room.ids,
        |id| queue.and_then(|queue| queue.get(id)),
        with_meta,
    );
    Ok(Outcome::Done)
}

fn range(state: &State, words: Words<'_>, reply: &mut Reply<'_>) -> Result<Outcome, Refusal> {
    let range = parse::range(&words)?;
    match state.queue(words.at(1)).zip(range.bounds) {
        Some((queue, (low, high))) => {
            let messages = queue.range(low, high, range.reverse);
            reply::range(reply, messages, range.count, range.with_meta);
        }
        None => reply.array(0),
    }
    Ok(Outcome::Done)
}

fn split(state: &State, words: Words<'_>, reply: &mut Reply<'_>) -> Result<Outcome, Refusal> {
    let parts = parse::split(&words)?;
    let cuts = (state.queue(words.at(1))).map_or_else(Vec::new, |queue| queue.split(parts));
    reply::ids(reply, cuts.into_iter());
    Ok(Outcome::Done)
}

fn length(state: &State, words: Words<'_>, reply: &mut Reply<'_>) -> Result<Outcome, Refusal> {
    parse::only_key(&words, Verb::Length)?;
    reply.integer(state.queue(words.at(1)).map_or(0, Queue::len));
    Ok(Outcome::Done)
}

fn info(state: &State, words: Words<'_>, reply: &mut Reply<'_>) -> Result<Outcome, Refusal> {
    parse::only_key(&words, Verb::Info)?;
    match state.queue(words.at(1)) {
        Some(queue) => reply::info(reply, &queue.info(clock::now())),
        None => reply.null(),
    }
    Ok(Outcome::Done)
}

fn status(state: &State, words: Words<'_>, reply: &mut Reply<'_>) -> Result<Outcome, Refusal> {
    let keys = parse::status(&words);
    if keys.is_empty() {
        let all = state.all_statuses();
        reply.array(all.len());
        for (name, status) in all {
            reply::status(reply, name, &status);
        }
    } else {
        reply.array(keys.len());
        for name in words.several(keys) {
            reply::status(reply, name, &state.status(name));
        }
    }
    Ok(Outcome::Done)
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        use rq_store::Error as Store;
        let code = match error {
            Error::Store(Store::Core(error)) => return error.into(),
            Error::Exists => {
                return Refusal::new(Code::Exists, "Target key name already exists.");
            }
            Error::Store(Store::Full { .. }) => Code::Full,
            Error::Store(Store::TooLarge) => Code::TooLarge,
            Error::Store(Store::Poisoned { .. }) | Error::Damaged | Error::Closed => Code::Poisoned,
            Error::Store(_) | Error::System(_) => Code::Io,
        };
        Refusal {
            code,
            text: error.to_string().into(),
        }
    }
}
