//! `DUMP` and `RESTORE`, which carry queues between files and servers.

use rq_command::Refusal;
use rq_command::reply::Sink;
use rq_core::Queue;

use super::commands::Outcome;
use super::reply::Reply;
use super::request::Words;
use crate::state::State;

/// A queue that is brought, and whether it may replace another.
#[derive(Debug)]
pub(super) struct Restored {
    queue: Queue,
    replace: bool,
}

/// `DUMP key`
pub(super) fn dump(state: &State, words: Words<'_>, reply: &mut Reply<'_>) {
    match state.queue(words.at(1)) {
        Some(queue) => reply.bytes(&rq_dump::write(queue)),
        None => reply.null_bytes(),
    }
}

/// Reads `RESTORE key 0 data [REPLACE] [ABSTTL] [IDLETIME seconds] [FREQ number]`.
pub(super) fn read(words: Words<'_>) -> Result<Restored, String> {
    if words.at(2) != b"0" {
        return Err("ERR ttl is out of range, expected 0: a queue has no end".to_owned());
    }
    let (mut at, mut replace) = (4, false);
    while at < words.count() {
        // The others are about ends and eviction, of which there are none here.
        if words.is(at, "REPLACE") {
            replace = true;
        } else if (words.is(at, "IDLETIME") || words.is(at, "FREQ")) && at + 1 < words.count() {
            at += 1;
        } else if !words.is(at, "ABSTTL") {
            return Err("ERR syntax error, expected: RESTORE key 0 data [REPLACE]".to_owned());
        }
        at += 1;
    }
    let queue = rq_dump::read(words.at(3)).map_err(|refusal| format!("ERR {refusal}"))?;
    Ok(Restored { queue, replace })
}

/// Puts it in its place.
pub(super) fn restore(
    state: &mut State,
    words: Words<'_>,
    restored: &Restored,
    reply: &mut Reply<'_>,
) -> Result<Outcome, Refusal> {
    let Restored { queue, replace } = restored;
    state.restore(words.at(1), queue, *replace)?;
    reply.status("OK");
    Ok(Outcome::Durable)
}
