//! Every change as bytes.
//!
//! An effect says what happened, never what was asked: IDs, times and counts, so that whoever
//! applies it reads no clock and makes no choice. It is a short *head*, these bytes, and for a
//! push the payloads beside it, each a slice of its own. The bytes are specified in
//! `docs/format.md`; change both together, and raise [`VERSION`] when old readers would misread.

use crate::counters::Counters;
use crate::error::Error;
use crate::id::Id;
use crate::outcome::Pushed;
use crate::producer::Producer;
use crate::record::Record;
use crate::varint::{self, Reader};

/// First byte of every effect.
pub const VERSION: u8 = 1;

const PUSH: u8 = 1;
const DELIVER: u8 = 2;
const ACKNOWLEDGE: u8 = 3;
const REDELIVER: u8 = 4;
const PRODUCE: u8 = 5;
const FORGET: u8 = 6;
const HEAD: u8 = 16;
const MESSAGES: u8 = 17;
const DELIVERIES: u8 = 18;
const END: u8 = 19;
const PRODUCERS: u8 = 20;
const FLOOR: u8 = 32;

/// What a snapshot begins with: all of a queue but its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) last_id: Id,
    pub(crate) clock: u64,
    pub(crate) messages: u64,
    pub(crate) delivered: u64,
    pub(crate) producers: u64,
    pub(crate) counters: Counters,
}

/// A head that was read; lists are read as they are walked.
#[derive(Clone, Copy)]
pub(crate) enum Effect<'a> {
    /// Messages with consecutive IDs, whose payloads stand beside the head.
    Push(Pushed),
    /// The same, by a producer: its name, the number of the last element, and the time.
    Produce {
        pushed: Pushed,
        name: &'a [u8],
        highest: u64,
        time: u64,
    },
    /// Producers were forgotten.
    Forget(Names<'a>),
    /// The next waiting messages were delivered.
    Deliver { time: u64, first: Id, count: u64 },
    /// Delivered messages were acknowledged.
    Acknowledge(Ids<'a>),
    /// The longest delivered messages were delivered again.
    Redeliver { time: u64, first: Id, count: u64 },
    /// The first part of a snapshot.
    Head(Head),
    /// Messages of a snapshot, in ID order.
    Messages(Messages<'a>),
    /// Deliveries of a snapshot, in the order of the delivered list.
    Deliveries(Deliveries<'a>),
    /// Producers of a snapshot, by name.
    Producers(Remembered<'a>),
    /// The last part of a snapshot.
    End,
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
        Effect::Push(_) | Effect::Produce { .. } => Scope::Creates,
        Effect::Head(_) => Scope::Begins,
        Effect::Messages(_) | Effect::Deliveries(_) | Effect::Producers(_) => Scope::Continues,
        Effect::End => Scope::Completes,
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

fn begin(out: &mut Vec<u8>, kind: u8) {
    out.clear();
    out.extend_from_slice(&[VERSION, kind]);
}

fn put_id(out: &mut Vec<u8>, id: Id) {
    varint::put(out, id.milliseconds);
    varint::put(out, id.sequence);
}

/// An ID after another one: few bytes when it is near.
fn put_id_after(out: &mut Vec<u8>, previous: Id, id: Id) {
    let milliseconds = varint::difference(previous.milliseconds, id.milliseconds);
    varint::put(out, milliseconds);
    let from = if milliseconds == 0 {
        previous.sequence
    } else {
        0
    };
    varint::put(out, varint::difference(from, id.sequence));
}

pub(crate) fn put_push(out: &mut Vec<u8>, pushed: &Pushed) {
    begin(out, PUSH);
    put_pushed(out, pushed);
}

fn put_pushed(out: &mut Vec<u8>, pushed: &Pushed) {
    out.push(u8::from(pushed.raises));
    put_id(out, pushed.first);
    varint::put(out, pushed.count);
}

fn put_text(out: &mut Vec<u8>, text: &[u8]) {
    varint::put(out, text.len() as u64);
    out.extend_from_slice(text);
}

pub(crate) fn put_produce(
    out: &mut Vec<u8>,
    pushed: &Pushed,
    name: &[u8],
    highest: u64,
    time: u64,
) {
    begin(out, PRODUCE);
    put_pushed(out, pushed);
    put_text(out, name);
    varint::put(out, highest);
    varint::put(out, time);
}

pub(crate) fn put_forget<'a>(out: &mut Vec<u8>, names: impl Iterator<Item = &'a [u8]>) {
    begin(out, FORGET);
    names.for_each(|name| put_text(out, name));
}

fn put_run(out: &mut Vec<u8>, kind: u8, time: u64, first: Id, count: u64) {
    begin(out, kind);
    varint::put(out, time);
    put_id(out, first);
    varint::put(out, count);
}

pub(crate) fn put_deliver(out: &mut Vec<u8>, time: u64, first: Id, count: u64) {
    put_run(out, DELIVER, time, first, count);
}

pub(crate) fn put_redeliver(out: &mut Vec<u8>, time: u64, first: Id, count: u64) {
    put_run(out, REDELIVER, time, first, count);
}

pub(crate) fn put_acknowledge(out: &mut Vec<u8>, ids: &[Id]) {
    begin(out, ACKNOWLEDGE);
    let mut previous = Id::default();
    for &id in ids {
        put_id_after(out, previous, id);
        previous = id;
    }
}

pub(crate) fn put_head(out: &mut Vec<u8>, head: &Head) {
    begin(out, HEAD);
    put_id(out, head.last_id);
    varint::put(out, head.clock);
    varint::put(out, head.messages);
    varint::put(out, head.delivered);
    varint::put(out, head.producers);
    (head.counters.values().iter()).for_each(|&value| varint::put(out, value));
}

pub(crate) fn put_end(out: &mut Vec<u8>) {
    begin(out, END);
}

/// Writes lists of a snapshot, part by part.
pub(crate) struct Parts<'a, F: FnMut(&[u8])> {
    out: &'a mut Vec<u8>,
    kind: u8,
    limit: usize,
    previous: (Id, u64, u64),
    emit: F,
}

impl<'a, F: FnMut(&[u8])> Parts<'a, F> {
    pub(crate) fn messages(out: &'a mut Vec<u8>, limit: usize, emit: F) -> Self {
        Self::new(out, MESSAGES, limit, emit)
    }

    pub(crate) fn producers(out: &'a mut Vec<u8>, limit: usize, emit: F) -> Self {
        Self::new(out, PRODUCERS, limit, emit)
    }

    pub(crate) fn deliveries(out: &'a mut Vec<u8>, limit: usize, emit: F) -> Self {
        Self::new(out, DELIVERIES, limit, emit)
    }

    fn new(out: &'a mut Vec<u8>, kind: u8, limit: usize, emit: F) -> Self {
        begin(out, kind);
        let previous = (Id::default(), 0, 0);
        Self {
            out,
            kind,
            limit,
            previous,
            emit,
        }
    }

    pub(crate) fn put_message(&mut self, id: Id, payload: &[u8]) {
        put_id_after(self.out, self.previous.0, id);
        self.previous.0 = id;
        varint::put(self.out, payload.len() as u64);
        self.out.extend_from_slice(payload);
        self.cut();
    }

    /// A delivery of the message that is the `rank`-th of the snapshot.
    pub(crate) fn put_delivery(&mut self, rank: u64, record: &Record) {
        varint::put(self.out, varint::difference(self.previous.1, rank));
        varint::put(self.out, varint::difference(self.previous.2, record.time()));
        varint::put(self.out, u64::from(record.deliveries));
        varint::put(self.out, u64::from(record.failures));
        (self.previous.1, self.previous.2) = (rank, record.time());
        self.cut();
    }

    pub(crate) fn put_producer(&mut self, name: &[u8], producer: &Producer) {
        put_text(self.out, name);
        varint::put(self.out, producer.highest);
        put_id(self.out, producer.first);
        varint::put(self.out, producer.count);
        varint::put(self.out, producer.time);
        self.cut();
    }

    fn cut(&mut self) {
        if self.out.len() >= self.limit {
            self.flush();
        }
    }

    fn flush(&mut self) {
        if self.out.len() > 2 {
            (self.emit)(self.out);
        }
        begin(self.out, self.kind);
        self.previous = (Id::default(), 0, 0);
    }

    pub(crate) fn finish(mut self) {
        self.flush();
    }
}

// ---- reading ----

impl<'a> Effect<'a> {
    pub(crate) fn read(bytes: &'a [u8]) -> Result<Self, Error> {
        let mut reader = Reader::new(bytes);
        if reader.byte()? != VERSION {
            return Err(Error::BadEffect("its version is not known here"));
        }
        let kind = reader.byte()?;
        let effect = match kind {
            PUSH => Effect::Push(read_pushed(&mut reader)?),
            PRODUCE => Effect::Produce {
                pushed: read_pushed(&mut reader)?,
                name: read_text(&mut reader)?,
                highest: reader.number()?,
                time: reader.number()?,
            },
            FORGET => return Ok(Effect::Forget(Names(reader))),
            PRODUCERS => return Ok(Effect::Producers(Remembered(reader))),
            DELIVER | REDELIVER => {
                let time = reader.number()?;
                let (first, count) = (read_id(&mut reader)?, reader.number()?);
                if kind == DELIVER {
                    Effect::Deliver { time, first, count }
                } else {
                    Effect::Redeliver { time, first, count }
                }
            }
            ACKNOWLEDGE => return Ok(Effect::Acknowledge(Ids(reader, Id::default()))),
            HEAD => Effect::Head(read_head(&mut reader)?),
            MESSAGES => return Ok(Effect::Messages(Messages(reader, Id::default()))),
            DELIVERIES => return Ok(Effect::Deliveries(Deliveries(reader, 0, 0))),
            END => Effect::End,
            FLOOR => {
                let id = read_id(&mut reader)?;
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

fn read_id(reader: &mut Reader<'_>) -> Result<Id, Error> {
    Ok(Id::new(reader.number()?, reader.number()?))
}

fn read_pushed(reader: &mut Reader<'_>) -> Result<Pushed, Error> {
    let raises = match reader.byte()? {
        0 => false,
        1 => true,
        _ => return Err(Error::BadEffect("a flag that is neither 0 nor 1")),
    };
    Ok(Pushed {
        raises,
        first: read_id(reader)?,
        count: reader.number()?,
    })
}

fn read_text<'a>(reader: &mut Reader<'a>) -> Result<&'a [u8], Error> {
    let length = reader.number()?;
    reader.bytes(length)
}

fn read_id_after(reader: &mut Reader<'_>, previous: Id) -> Result<Id, Error> {
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

fn read_head(reader: &mut Reader<'_>) -> Result<Head, Error> {
    let last_id = read_id(reader)?;
    let (clock, messages) = (reader.number()?, reader.number()?);
    let (delivered, producers) = (reader.number()?, reader.number()?);
    let mut values = [0; Counters::NAMES.len()];
    for value in &mut values {
        *value = reader.number()?;
    }
    Ok(Head {
        last_id,
        clock,
        messages,
        delivered,
        producers,
        counters: Counters::from_values(values),
    })
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

/// A list of names.
#[derive(Clone, Copy)]
pub(crate) struct Names<'a>(Reader<'a>);

impl<'a> Iterator for Names<'a> {
    type Item = Result<&'a [u8], Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.0.left() > 0).then(|| read_text(&mut self.0))
    }
}

/// Producers of a snapshot.
#[derive(Clone, Copy)]
pub(crate) struct Remembered<'a>(Reader<'a>);

impl<'a> Iterator for Remembered<'a> {
    type Item = Result<(&'a [u8], Producer), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.0.left() > 0).then(|| {
            let name = read_text(&mut self.0)?;
            let producer = Producer {
                highest: self.0.number()?,
                first: read_id(&mut self.0)?,
                count: self.0.number()?,
                time: self.0.number()?,
            };
            Ok((name, producer))
        })
    }
}

/// Messages of a snapshot.
#[derive(Clone, Copy)]
pub(crate) struct Messages<'a>(Reader<'a>, Id);

impl<'a> Iterator for Messages<'a> {
    type Item = Result<(Id, &'a [u8]), Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.0.left() > 0).then(|| {
            self.1 = read_id_after(&mut self.0, self.1)?;
            let length = self.0.number()?;
            Ok((self.1, self.0.bytes(length)?))
        })
    }
}

/// Deliveries of a snapshot.
#[derive(Clone, Copy)]
pub(crate) struct Deliveries<'a>(Reader<'a>, u64, u64);

/// One delivery of a snapshot: the message's rank, and its record's numbers.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LoadedDelivery {
    pub(crate) rank: u64,
    pub(crate) time: u64,
    pub(crate) deliveries: u32,
    pub(crate) failures: u16,
}

impl Iterator for Deliveries<'_> {
    type Item = Result<LoadedDelivery, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        let too_many = Error::BadEffect("a count of deliveries that is out of range");
        (self.0.left() > 0).then(|| {
            self.1 = varint::advance(self.1, self.0.number()?);
            self.2 = varint::advance(self.2, self.0.number()?);
            Ok(LoadedDelivery {
                rank: self.1,
                time: self.2,
                deliveries: u32::try_from(self.0.number()?).map_err(|_| too_many.clone())?,
                failures: u16::try_from(self.0.number()?).map_err(|_| too_many)?,
            })
        })
    }
}
