//! Every change as bytes.
//!
//! An effect says what happened, never what was asked: IDs, times and counts, so that whoever
//! applies it reads no clock and makes no choice. It is a short *head*, these bytes, and for a
//! push the payloads beside it, each a slice of its own. The bytes are specified in
//! `docs/format.md`; change both together, and raise [`VERSION`] when old readers would misread.
//!
//! The parts of snapshots are in `parts`.

use crate::error::Error;
use crate::group::{Fate, Manner};
use crate::id::Id;
use crate::message::{Fields, put_text, read_text};
use crate::outcome::{Paused, Pushed};
use crate::parts::{self, Part};
use crate::policy::Policy;
use crate::settle::Cause;
use crate::varint::{self, Reader};

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
    /// Settings were changed.
    Setup(Policy),
    /// Pushes or pops are refused, or no longer.
    Pause(Paused),
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
        Effect::Push(_) | Effect::Store(_) | Effect::Setup(_) | Effect::Pause(_) => Scope::Creates,
        Effect::Part(Part::Head(_)) => Scope::Begins,
        Effect::Part(Part::End) => Scope::Completes,
        Effect::Part(_) => Scope::Continues,
        Effect::Floor(id) => Scope::Floor(id),
        _ => Scope::Changes,
    })
}

/// The effect of a floor, for rewritten logs.
#[must_use]
pub fn floor(id: Id) -> Vec<u8> {
    let mut out = Vec::new();
    begin(&mut out, FLOOR);
    put_id(&mut out, id);
    out
}

// ---- writing ----

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

pub(crate) fn begin(out: &mut Vec<u8>, kind: u8) {
    out.clear();
    out.extend_from_slice(&[VERSION, kind]);
}

/// Begins an effect, where it is read.
fn begin_in(effect: &mut dyn Writer, kind: u8) -> Option<&mut Vec<u8>> {
    let out = effect.begin()?;
    begin(out, kind);
    Some(out)
}

pub(crate) fn put_id(out: &mut Vec<u8>, id: Id) {
    varint::put(out, id.milliseconds);
    varint::put(out, id.sequence);
}

/// An ID after another one: few bytes when it is near.
pub(crate) fn put_id_after(out: &mut Vec<u8>, previous: Id, id: Id) {
    let milliseconds = varint::difference(previous.milliseconds, id.milliseconds);
    varint::put(out, milliseconds);
    let from = if milliseconds == 0 {
        previous.sequence
    } else {
        0
    };
    varint::put(out, varint::difference(from, id.sequence));
}

fn put_ids(out: &mut Vec<u8>, ids: &[Id]) {
    let mut previous = Id::default();
    for &id in ids {
        put_id_after(out, previous, id);
        previous = id;
    }
}

pub(crate) fn put_push(effect: &mut dyn Writer, pushed: &Pushed) {
    let Some(out) = begin_in(effect, PUSH) else {
        return;
    };
    put_pushed(out, pushed);
}

fn put_pushed(out: &mut Vec<u8>, pushed: &Pushed) {
    out.push(u8::from(pushed.floor > Id::default()));
    put_id(out, pushed.first);
    varint::put(out, pushed.count);
}

const WITH_NEW: u8 = 1;
const WITH_PRODUCER: u8 = 2;
const WITH_DUE: u8 = 4;
const IN_FRONT: u8 = 8;
const WITH_FIELDS: u8 = 16;
const WITH_DROPS: u8 = 32;
const WITH_DUPLICATES: u8 = 64;

fn flag(holds: bool, flag: u8) -> u8 {
    if holds { flag } else { 0 }
}

/// A push without options that makes a queue with settings.
pub(crate) fn put_push_new(effect: &mut dyn Writer, pushed: &Pushed, time: u64, new: (u64, u32)) {
    let Some(out) = begin_in(effect, STORE) else {
        return;
    };
    put_pushed(out, pushed);
    varint::put(out, time);
    out.push(WITH_NEW);
    put_new(out, new);
}

fn put_new(out: &mut Vec<u8>, (lease, deliveries): (u64, u32)) {
    varint::put(out, lease);
    varint::put(out, deliveries.into());
}

pub(crate) fn put_store(effect: &mut dyn Writer, stored: &Storing<'_>) {
    let Some(out) = begin_in(effect, STORE) else {
        return;
    };
    put_pushed(out, &stored.pushed);
    varint::put(out, stored.time);
    out.push(
        flag(stored.new.is_some(), WITH_NEW)
            | flag(stored.producer.is_some(), WITH_PRODUCER)
            | flag(stored.due.is_some(), WITH_DUE)
            | flag(stored.front, IN_FRONT)
            | flag(!stored.fields.is_plain(), WITH_FIELDS)
            | flag(stored.drops > 0, WITH_DROPS)
            | flag(stored.duplicates > 0, WITH_DUPLICATES),
    );
    if let Some(new) = stored.new {
        put_new(out, new);
    }
    if let Some((name, highest)) = stored.producer {
        put_text(out, name);
        varint::put(out, highest);
    }
    if let Some(due) = stored.due {
        varint::put(out, due);
    }
    stored.fields.put(out);
    for number in [stored.drops, stored.duplicates] {
        if number > 0 {
            varint::put(out, number);
        }
    }
}

pub(crate) fn put_duplicates(effect: &mut dyn Writer, count: u64) {
    let Some(out) = begin_in(effect, DUPLICATES) else {
        return;
    };
    varint::put(out, count);
}

pub(crate) fn put_forget<'a>(
    effect: &mut dyn Writer,
    tokens: bool,
    names: impl Iterator<Item = &'a [u8]>,
) {
    let Some(out) = begin_in(effect, if tokens { FORGET_TOKENS } else { FORGET }) else {
        return;
    };
    names.for_each(|name| put_text(out, name));
}

const NO_ACK: u8 = 1;
const PREFETCHED: u8 = 2;

pub(crate) fn put_deliver(effect: &mut dyn Writer, manner: &Manner<'_>, first: Id, count: u64) {
    let plain =
        manner.lease == 0 && manner.consumer.is_empty() && !manner.no_ack && !manner.prefetched;
    let Some(out) = begin_in(effect, if plain { DELIVER } else { TAKE }) else {
        return;
    };
    varint::put(out, manner.time);
    put_id(out, first);
    varint::put(out, count);
    if !plain {
        out.push(flag(manner.no_ack, NO_ACK) | flag(manner.prefetched, PREFETCHED));
        varint::put(out, manner.lease);
        put_text(out, manner.consumer);
    }
}

pub(crate) fn put_acknowledge(effect: &mut dyn Writer, ids: &[Id]) {
    let Some(out) = begin_in(effect, ACKNOWLEDGE) else {
        return;
    };
    put_ids(out, ids);
}

pub(crate) fn put_acknowledge_at(effect: &mut dyn Writer, time: u64, ids: &[Id]) {
    let Some(out) = begin_in(effect, ACKNOWLEDGE_AT) else {
        return;
    };
    varint::put(out, time);
    put_ids(out, ids);
}

pub(crate) fn put_again(effect: &mut dyn Writer, again: &Again<'_>, entries: &[(Id, bool)]) {
    let Some(out) = begin_in(effect, AGAIN) else {
        return;
    };
    varint::put(out, again.time);
    out.push(again.cause.number());
    varint::put(out, again.lease);
    put_text(out, again.consumer);
    let mut previous = Id::default();
    for &(id, dead) in entries {
        put_id_after(out, previous, id);
        varint::put(out, u64::from(dead));
        previous = id;
    }
}

pub(crate) fn put_returned(
    effect: &mut dyn Writer,
    returned: &Returned<'_>,
    entries: &[(Id, Fate)],
) {
    let Some(out) = begin_in(effect, RETURN) else {
        return;
    };
    varint::put(out, returned.time);
    out.push(returned.cause.number());
    out.push(u8::from(returned.silent));
    put_text(out, returned.reason);
    let mut previous = Id::default();
    for &(id, fate) in entries {
        put_id_after(out, previous, id);
        let fate = match fate {
            Fate::Waiting => 0,
            Fate::Dead => 1,
            Fate::Due(due) => due.saturating_sub(returned.time).saturating_add(1),
        };
        varint::put(out, fate);
        previous = id;
    }
}

pub(crate) fn put_extend(effect: &mut dyn Writer, deadline: u64, start: bool, ids: &[Id]) {
    let Some(out) = begin_in(effect, EXTEND) else {
        return;
    };
    varint::put(out, deadline);
    out.push(u8::from(start));
    put_ids(out, ids);
}

pub(crate) fn put_remove(effect: &mut dyn Writer, time: u64, expired: bool, ids: &[Id]) {
    let Some(out) = begin_in(effect, REMOVE) else {
        return;
    };
    varint::put(out, time);
    out.push(u8::from(expired));
    put_ids(out, ids);
}

pub(crate) fn put_due(effect: &mut dyn Writer, time: u64, count: u64) {
    let Some(out) = begin_in(effect, DUE) else {
        return;
    };
    varint::put(out, time);
    varint::put(out, count);
}

pub(crate) fn put_expired(effect: &mut dyn Writer, time: u64, ids: &[Id]) {
    let Some(out) = begin_in(effect, EXPIRE) else {
        return;
    };
    varint::put(out, time);
    put_ids(out, ids);
}

pub(crate) fn put_redrive(effect: &mut dyn Writer, time: u64, ids: &[Id]) {
    let Some(out) = begin_in(effect, REDRIVE) else {
        return;
    };
    varint::put(out, time);
    put_ids(out, ids);
}

pub(crate) fn put_flush(effect: &mut dyn Writer, time: u64, dead: bool) {
    let Some(out) = begin_in(effect, FLUSH) else {
        return;
    };
    varint::put(out, time);
    out.push(u8::from(dead));
}

pub(crate) fn put_trim(effect: &mut dyn Writer, time: u64, count: u64) {
    let Some(out) = begin_in(effect, TRIM) else {
        return;
    };
    varint::put(out, time);
    varint::put(out, count);
}

pub(crate) fn put_policy(effect: &mut dyn Writer, policy: &Policy) {
    let Some(out) = begin_in(effect, SETUP) else {
        return;
    };
    policy.put(out);
}

pub(crate) fn put_paused(effect: &mut dyn Writer, paused: Paused) {
    let Some(out) = begin_in(effect, PAUSE) else {
        return;
    };
    out.push(paused_byte(paused));
}

pub(crate) fn paused_byte(paused: Paused) -> u8 {
    u8::from(paused.push) | u8::from(paused.pop) << 1
}

// ---- reading ----

impl<'a> Effect<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return Err(Error::BadEffect("its version is not known here"));
        }
        let kind = reader.byte()?;
        if let Some(part) = parts::read(kind, &mut reader)? {
            return Ok(Effect::Part(part));
        }
        let reader = &mut reader;
        let effect = match kind {
            PUSH => Effect::Push(read_pushed(reader)?),
            STORE => Effect::Store(read_store(reader)?),
            DUPLICATES => Effect::Duplicates(reader.number()?),
            FORGET | FORGET_TOKENS => {
                return Ok(Effect::Forget(kind == FORGET_TOKENS, Names(*reader)));
            }
            DELIVER | TAKE => read_deliver(reader, kind == TAKE)?,
            ACKNOWLEDGE => return Ok(Effect::Acknowledge(None, ids(reader))),
            ACKNOWLEDGE_AT => {
                let time = reader.number()?;
                return Ok(Effect::Acknowledge(Some(time), ids(reader)));
            }
            AGAIN => return read_again(reader),
            RETURN => return read_returned(reader),
            EXTEND => {
                let (deadline, start) = (reader.number()?, read_flag(reader)?);
                return Ok(Effect::Extend(deadline, start, ids(reader)));
            }
            REMOVE => {
                let (time, expired) = (reader.number()?, read_flag(reader)?);
                return Ok(Effect::Remove(time, expired, ids(reader)));
            }
            EXPIRE | REDRIVE => {
                let (time, ids) = (reader.number()?, ids);
                let ids = ids(reader);
                return Ok(if kind == EXPIRE {
                    Effect::Expire(time, ids)
                } else {
                    Effect::Redrive(time, ids)
                });
            }
            DUE => Effect::Due(reader.number()?, reader.number()?),
            TRIM => Effect::Trim(reader.number()?, reader.number()?),
            FLUSH => Effect::Flush(reader.number()?, read_flag(reader)?),
            SETUP => Effect::Setup(Policy::read(reader)?),
            PAUSE => Effect::Pause(read_paused(reader)?),
            FLOOR => {
                let id = read_id(reader)?;
                if id.milliseconds >= Id::MILLISECONDS_END {
                    return Err(Error::BadEffect("an ID that is out of range"));
                }
                Effect::Floor(id)
            }
            _ => return Err(Error::BadEffect("its kind is not known here")),
        };
        reader.end()?;
        Ok(effect)
    }
}

pub(crate) fn read_paused(reader: &mut Reader<'_>) -> Result<Paused, Error> {
    match reader.byte()? {
        byte @ 0..4 => Ok(Paused {
            push: byte & 1 != 0,
            pop: byte & 2 != 0,
        }),
        _ => Err(Error::BadEffect(
            "a pause of something that is not known here",
        )),
    }
}

pub(crate) fn read_flag(reader: &mut Reader<'_>) -> Result<bool, Error> {
    match reader.byte()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Error::BadEffect("a flag that is neither 0 nor 1")),
    }
}

pub(crate) fn read_id(reader: &mut Reader<'_>) -> Result<Id, Error> {
    Ok(Id::new(reader.number()?, reader.number()?))
}

fn read_pushed(reader: &mut Reader<'_>) -> Result<Pushed, Error> {
    let raises = read_flag(reader)?;
    let mut pushed = Pushed {
        first: read_id(reader)?,
        count: reader.number()?,
        floor: Id::default(),
    };
    if raises {
        pushed.floor = pushed.last();
    }
    Ok(pushed)
}

fn read_store<'a>(reader: &mut Reader<'a>) -> Result<Storing<'a>, Error> {
    let mut stored = Storing::plain(read_pushed(reader)?);
    stored.time = reader.number()?;
    let flags = reader.byte()?;
    if flags >= 128 {
        return Err(Error::BadEffect(
            "options of a push that are not known here",
        ));
    }
    let has = |flag: u8| flags & flag != 0;
    stored.front = has(IN_FRONT);
    if has(WITH_NEW) {
        stored.new = Some(read_new(reader)?);
    }
    if has(WITH_PRODUCER) {
        stored.producer = Some((read_text(reader)?, reader.number()?));
    }
    if has(WITH_DUE) {
        stored.due = Some(reader.number()?);
    }
    if has(WITH_FIELDS) {
        stored.fields = Fields::read(reader)?;
    }
    for (flag, number) in [
        (WITH_DROPS, &mut stored.drops),
        (WITH_DUPLICATES, &mut stored.duplicates),
    ] {
        if has(flag) {
            *number = reader.number()?;
            if *number == 0 {
                return Err(Error::BadEffect("a count of nothing"));
            }
        }
    }
    Ok(stored)
}

fn read_new(reader: &mut Reader<'_>) -> Result<(u64, u32), Error> {
    let (lease, deliveries) = (reader.number()?, u32::try_from(reader.number()?));
    match deliveries {
        Ok(deliveries) if lease < Id::MILLISECONDS_END => Ok((lease, deliveries)),
        _ => Err(Error::BadEffect("a setting that is out of range")),
    }
}

fn read_deliver<'a>(reader: &mut Reader<'a>, with_options: bool) -> Result<Effect<'a>, Error> {
    let mut manner = Manner {
        time: reader.number()?,
        ..Manner::default()
    };
    let (first, count) = (read_id(reader)?, reader.number()?);
    if with_options {
        let flags = reader.byte()?;
        manner.no_ack = flags & NO_ACK != 0;
        manner.prefetched = flags & PREFETCHED != 0;
        manner.lease = reader.number()?;
        manner.consumer = read_text(reader)?;
        if flags >= 4 || manner.lease >= Id::MILLISECONDS_END {
            return Err(Error::BadEffect(
                "options of a delivery that are out of range",
            ));
        }
    }
    Ok(Effect::Deliver(manner, first, count))
}

fn read_cause(reader: &mut Reader<'_>) -> Result<Cause, Error> {
    Cause::of(reader.byte()?).ok_or(Error::BadEffect("a cause that is not known here"))
}

fn read_again<'a>(reader: &mut Reader<'a>) -> Result<Effect<'a>, Error> {
    let again = Again {
        time: reader.number()?,
        cause: read_cause(reader)?,
        lease: reader.number()?,
        consumer: read_text(reader)?,
    };
    if again.lease >= Id::MILLISECONDS_END || !matches!(again.cause, Cause::Recover | Cause::Claim)
    {
        return Err(Error::BadEffect(
            "options of a delivery that are out of range",
        ));
    }
    Ok(Effect::Again(
        again,
        Fates(*reader, Id::default(), again.time),
    ))
}

fn read_returned<'a>(reader: &mut Reader<'a>) -> Result<Effect<'a>, Error> {
    let returned = Returned {
        time: reader.number()?,
        cause: read_cause(reader)?,
        silent: read_flag(reader)?,
        reason: read_text(reader)?,
    };
    Ok(Effect::Return(
        returned,
        Fates(*reader, Id::default(), returned.time),
    ))
}

pub(crate) fn read_id_after(reader: &mut Reader<'_>, previous: Id) -> Result<Id, Error> {
    let difference = reader.number()?;
    let from = if difference == 0 {
        previous.sequence
    } else {
        0
    };
    Ok(Id::new(
        varint::advance(previous.milliseconds, difference),
        varint::advance(from, reader.number()?),
    ))
}

fn ids<'a>(reader: &Reader<'a>) -> Ids<'a> {
    Ids(*reader, Id::default())
}

/// A list of IDs.
#[derive(Clone, Copy)]
pub(crate) struct Ids<'a>(Reader<'a>, Id);

impl Iterator for Ids<'_> {
    type Item = Result<Id, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.0.left() > 0).then(|| {
            self.1 = read_id_after(&mut self.0, self.1)?;
            Ok(self.1)
        })
    }
}

/// A list of IDs, and where each goes.
#[derive(Clone, Copy)]
pub(crate) struct Fates<'a>(Reader<'a>, Id, u64);

impl Iterator for Fates<'_> {
    type Item = Result<(Id, Fate), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.0.left() > 0).then(|| {
            self.1 = read_id_after(&mut self.0, self.1)?;
            let fate = match self.0.number()? {
                0 => Fate::Waiting,
                1 => Fate::Dead,
                number => match self.2.checked_add(number - 1) {
                    Some(due) if due < Id::MILLISECONDS_END => Fate::Due(due),
                    _ => return Err(Error::BadEffect("a time that is out of range")),
                },
            };
            Ok((self.1, fate))
        })
    }
}

/// A list of names.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a>(Reader<'a>);

impl<'a> Iterator for Names<'a> {
    type Item = Result<&'a [u8], Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.0.left() > 0).then(|| read_text(&mut self.0))
    }
}
