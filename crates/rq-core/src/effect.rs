//! Every change as bytes.
//!
//! An effect says what happened, never what was asked: IDs, times and counts, so that whoever
//! applies it reads no clock and makes no choice. It is a short *head*, these bytes, and for a
//! push the payloads beside it, each a slice of its own. The bytes are specified in
//! `docs/format.md`; change both together, and raise [`VERSION`] when old readers would misread.
//!
//! Writing is in `write`, reading in `read`; the parts of snapshots are in `parts`.

mod read;
mod write;

pub(crate) use read::{Fates, Ids, Names, read_flag, read_id, read_id_after, read_paused};
pub(crate) use write::*;

use crate::error::Error;
use crate::group::Manner;
use crate::id::Id;
use crate::message::Fields;
use crate::outcome::{Paused, Pushed};
use crate::parts::Part;
use crate::policy::Policy;
use crate::settle::Cause;

/// First byte of every effect.
pub const VERSION: u8 = 1;

const PUSH: u8 = 1;
const DELIVER: u8 = 2;
const ACKNOWLEDGE: u8 = 3;
const STORE: u8 = 4;
const TAKE: u8 = 5;
const FORGET: u8 = 6;
const FORGET_TOKENS: u8 = 7;
const ACKNOWLEDGE_AT: u8 = 8;
const AGAIN: u8 = 9;
const RETURN: u8 = 10;
const EXTEND: u8 = 11;
const REMOVE: u8 = 12;
const DUE: u8 = 13;
const EXPIRE: u8 = 14;
const REDRIVE: u8 = 15;
const FLUSH: u8 = 33;
const TRIM: u8 = 34;
const SETUP: u8 = 35;
const PAUSE: u8 = 36;
const DUPLICATES: u8 = 37;
const FLOOR: u8 = 32;

// Flags of STORE.
const WITH_NEW: u8 = 1;
const WITH_PRODUCER: u8 = 2;
const WITH_DUE: u8 = 4;
const IN_FRONT: u8 = 8;
const WITH_FIELDS: u8 = 16;
const WITH_DROPS: u8 = 32;
const WITH_DUPLICATES: u8 = 64;
// Flags of TAKE.
const NO_ACK: u8 = 1;
const PREFETCHED: u8 = 2;

/// A push with options, once it is decided.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Storing<'a> {
    /// The new messages; none when a token was known, whose message is `first` then.
    pub(crate) pushed: Pushed,
    pub(crate) time: u64,
    /// Lease and deliveries of a new queue.
    pub(crate) new: Option<(u64, u32)>,
    /// Who pushed, and the number of the last element.
    pub(crate) producer: Option<(&'a [u8], u64)>,
    /// They wait until then.
    pub(crate) due: Option<u64>,
    pub(crate) front: bool,
    pub(crate) fields: Fields<'a>,
    /// So many messages were dropped first.
    pub(crate) drops: u64,
    /// So many elements were stored before.
    pub(crate) duplicates: u64,
}

impl Storing<'_> {
    pub(crate) fn plain(pushed: Pushed) -> Self {
        Self {
            pushed,
            time: 0,
            new: None,
            producer: None,
            due: None,
            front: false,
            fields: Fields::default(),
            drops: 0,
            duplicates: 0,
        }
    }
}

/// Deliveries to another consumer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Again<'a> {
    pub(crate) time: u64,
    pub(crate) cause: Cause,
    pub(crate) lease: u64,
    pub(crate) consumer: &'a [u8],
}

/// Deliveries that came to nothing.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Returned<'a> {
    pub(crate) time: u64,
    pub(crate) cause: Cause,
    /// They do not count.
    pub(crate) silent: bool,
    /// Of those that are dead; empty: by the cause.
    pub(crate) reason: &'a [u8],
}

/// A head that was read; lists are read as they are walked.
#[derive(Clone, Copy)]
pub(crate) enum Effect<'a> {
    /// Plain messages with consecutive IDs, whose payloads stand beside the head.
    Push(Pushed),
    /// The same, with options.
    Store(Storing<'a>),
    /// Elements were stored before.
    Duplicates(u64),
    /// Producers, or tokens, were forgotten.
    Forget(bool, Names<'a>),
    /// The next waiting messages were delivered.
    Deliver(Manner<'a>, Id, u64),
    /// Delivered messages were acknowledged, at a time where that matters.
    Acknowledge(Option<u64>, Ids<'a>),
    /// Delivered messages were delivered again, or are dead.
    Again(Again<'a>, Fates<'a>),
    /// Delivered messages were given back.
    Return(Returned<'a>, Fates<'a>),
    /// Leases end at another time; deliveries were begun.
    Extend(u64, bool, Ids<'a>),
    /// Messages are gone: cancelled, or expired.
    Remove(u64, bool, Ids<'a>),
    /// The first of the schedule were due.
    Due(u64, u64),
    /// Waiting messages are dead, since their time to live is over.
    Expire(u64, Ids<'a>),
    /// Dead messages wait again.
    Redrive(u64, Ids<'a>),
    /// All messages are gone, or all dead ones.
    Flush(u64, bool),
    /// The oldest dead letters are gone.
    Trim(u64, u64),
    /// Settings were changed; where that made the queue, its IDs are above this one.
    Setup(Policy, Option<Id>),
    /// Pushes or pops are refused, or no longer; likewise.
    Pause(Paused, Option<Id>),
    /// A part of a snapshot.
    Part(Part<'a>),
    /// The largest ID that the server gave: not about a queue.
    Floor(Id),
}

/// What an effect asks of whoever keeps queues, before it reaches one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// It may be the first effect of a queue, which is made for it where there is none.
    Creates,
    /// It needs a queue.
    Changes,
    /// It begins a snapshot; what it makes is no queue until the snapshot is complete.
    Begins,
    /// It goes on with a snapshot.
    Continues,
    /// It ends a snapshot.
    Completes,
    /// It is about no queue: the floor of new queues is at least this ID.
    Floor(Id),
}

/// What an effect asks of whoever keeps queues.
///
/// # Errors
/// [`Error::BadEffect`] when the head can't be read.
pub fn scope(head: &[u8]) -> Result<Scope, Error> {
    Ok(match Effect::read(head)? {
        Effect::Push(_) | Effect::Store(_) | Effect::Setup(..) | Effect::Pause(..) => {
            Scope::Creates
        }
        Effect::Part(Part::Head(_)) => Scope::Begins,
        Effect::Part(Part::End) => Scope::Completes,
        Effect::Part(_) => Scope::Continues,
        Effect::Floor(id) => Scope::Floor(id),
        _ => Scope::Changes,
    })
}

/// Where an operation writes what it changed.
pub trait Writer {
    /// Forgets what was written.
    fn clear(&mut self);
    /// Whether nothing was written: nothing changed.
    fn is_empty(&self) -> bool;
    /// Where the bytes of an effect go, in place of others; none where nobody reads them.
    fn begin(&mut self) -> Option<&mut Vec<u8>>;
}

impl Writer for Vec<u8> {
    fn clear(&mut self) {
        self.clear();
    }

    fn is_empty(&self) -> bool {
        self.is_empty()
    }

    fn begin(&mut self) -> Option<&mut Vec<u8>> {
        self.clear();
        Some(self)
    }
}

/// For queues that nobody keeps: whether there is an effect, without its bytes.
#[derive(Debug, Default)]
pub struct Unread {
    changed: bool,
}

impl Writer for Unread {
    fn clear(&mut self) {
        self.changed = false;
    }

    fn is_empty(&self) -> bool {
        !self.changed
    }

    fn begin(&mut self) -> Option<&mut Vec<u8>> {
        self.changed = true;
        None
    }
}

/// The effect of a floor, for rewritten logs.
#[must_use]
pub fn floor(id: Id) -> Vec<u8> {
    let mut out = Vec::new();
    begin(&mut out, FLOOR);
    put_id(&mut out, id);
    out
}
