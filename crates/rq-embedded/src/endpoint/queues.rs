//! The `RQ.*` commands of clients: those that wait, or are about the connection, and rows of pops.

use std::time::{Duration, Instant};

use rq_command::parse;
use rq_command::reply::{self, Sink};
use rq_command::{Refusal, Verb};
use rq_core::{IdText, Pop};

use super::commands::{Outcome, Session};
use super::reply::Reply;
use super::request::Words;
use super::waiters::{Taking, Waiter, Wish};
use crate::command::{is_durable, pop_of};
use crate::state::State;

/// Room that is used again by each command.
#[derive(Default)]
pub(super) struct Room {
    /// Rows of deliveries: how many there are is known behind them.
    rows: Vec<u8>,
    /// Bytes of those rows that count.
    taken: usize,
    text: IdText,
}

/// Bytes of room that are kept for the next command.
const KEPT: usize = 64 << 10;

/// Executes a command of a client. An error is the whole reply, and nothing was changed then.
pub(super) fn execute(
    state: &mut State,
    verb: Verb,
    words: Words<'_>,
    session: &mut Session,
    room: &mut Room,
    out: &mut Vec<u8>,
) -> Result<Outcome, Refusal> {
    let reply = &mut session.reply(out);
    match verb {
        Verb::Pop => return pop(state, words, session, room, reply),
        Verb::Register => register(state, words, session, reply),
        Verb::Notify => return notify(state, words, session, reply),
        verb => state.command(verb, &words, reply)?,
    }
    // What a resend finds stored may not be durable yet.
    let durable = is_durable(verb, &words);
    Ok(if durable {
        Outcome::Durable
    } else {
        Outcome::Done
    })
}

// ---- taking ----

fn pop(
    state: &mut State,
    words: Words<'_>,
    session: &mut Session,
    room: &mut Room,
    reply: &mut Reply<'_>,
) -> Result<Outcome, Refusal> {
    let request = parse::pop(&words)?;
    let pop = pop_of(&request, &words);
    let keys = || words.several(request.keys.clone());
    if !pop.consumer.is_empty() {
        session.consumer = pop.consumer.into();
        keys().for_each(|key| state.bells.introduce(key, session.client, pop.consumer));
    }
    let taken = take(state, keys(), (&pop, request.with_meta), room, reply)?;
    match (taken, request.block) {
        // What is taken so is gone: it must not come back.
        (true, _) if pop.no_ack => Ok(Outcome::Durable),
        (true, _) => Ok(Outcome::Done),
        (false, None) => {
            reply.null();
            Ok(Outcome::Done)
        }
        (false, Some(milliseconds)) => Ok(Outcome::Wait(Waiter {
            client: session.client,
            keys: keys().map(Box::from).collect(),
            wish: Wish::Pop(Taking::new(&pop, request.with_meta)),
            until: end_of(milliseconds),
        })),
    }
}

/// When a wait ends; none: never. A time that the clock does not reach is never, too.
fn end_of(milliseconds: u64) -> Option<Instant> {
    let wait = Duration::from_millis(milliseconds);
    (milliseconds > 0)
        .then(|| Instant::now().checked_add(wait))
        .flatten()
}

/// Takes from queues; whether there was anything to take.
pub(super) fn take<'a>(
    state: &mut State,
    keys: impl Iterator<Item = &'a [u8]>,
    (pop, with_meta): (&Pop<'_>, bool),
    room: &mut Room,
    reply: &mut Reply<'_>,
) -> Result<bool, Refusal> {
    let protocol = reply.protocol;
    room.rows.clear();
    room.taken = 0;
    let taken = state.pop_all(
        keys,
        pop,
        room,
        |room, key, delivery| {
            let out = &mut room.rows;
            let mut sink = Reply { out, protocol };
            reply::delivery(&mut sink, &mut room.text, key, &delivery, with_meta);
        },
        |room, counts| {
            if counts {
                room.taken = room.rows.len();
            }
        },
    )?;
    if taken > 0 {
        let rows = room.rows.get(..room.taken).unwrap_or_default();
        reply.rows(taken, rows);
    }
    room.rows.clear();
    room.rows.shrink_to(KEPT);
    Ok(taken > 0)
}

// ---- being told ----

/// `RQ.REGISTER [key ...]`
fn register(state: &mut State, words: Words<'_>, session: &mut Session, reply: &mut Reply<'_>) {
    let mut named: Vec<Box<[u8]>> = Vec::new();
    for key in words.several(parse::register(&words)) {
        if !named.iter().any(|other| **other == *key) {
            named.push(key.into());
        }
    }
    unregister(state, session);
    for key in &named {
        state.bells.register(key, session.client);
        if !session.consumer.is_empty() {
            state
                .bells
                .introduce(key, session.client, &session.consumer);
        }
    }
    session.registered = named;
    reply.word("OK");
}

/// A connection is no consumer any more.
pub(super) fn unregister(state: &mut State, session: &mut Session) {
    for key in std::mem::take(&mut session.registered) {
        state.bells.unregister(&key, session.client);
    }
}

/// `RQ.NOTIFY milliseconds`
fn notify(
    state: &State,
    words: Words<'_>,
    session: &Session,
    reply: &mut Reply<'_>,
) -> Result<Outcome, Refusal> {
    let milliseconds = parse::notify(&words)?;
    if let Some(key) = ready(state, &session.registered, &session.consumer) {
        reply.bytes(key);
        return Ok(Outcome::Done);
    }
    if session.registered.is_empty() {
        reply.null_bytes();
        return Ok(Outcome::Done);
    }
    Ok(Outcome::Wait(Waiter {
        client: session.client,
        keys: session.registered.clone(),
        wish: Wish::Notice(session.consumer.clone()),
        until: end_of(milliseconds),
    }))
}

/// The first of these queues that has something to pop.
pub(super) fn ready<'a>(state: &State, keys: &'a [Box<[u8]>], consumer: &[u8]) -> Option<&'a [u8]> {
    let pop = Pop {
        consumer,
        ..Pop::of(1)
    };
    let mut keys = keys.iter().map(|key| &**key);
    keys.find(|key| state.available(key, &pop) > 0)
}
