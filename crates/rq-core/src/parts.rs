//! The parts of a snapshot, as effects.
//!
//! Lists name messages by *rank*, their position among the messages of the snapshot.

use crate::counters::Counters;
use crate::dead::Letter;
use crate::effect::{
    begin, paused_byte, put_id, put_id_after, read_flag, read_id, read_id_after, read_paused,
};
use crate::error::Error;
use crate::id::Id;
use crate::message::{Fields, put_text, read_text};
use crate::outcome::Paused;
use crate::policy::Policy;
use crate::queue::Expected;
use crate::record::{PREFETCHED, Place, Record};
use crate::remembered::Producer;
use crate::varint::{self, Reader};

const HEAD: u8 = 16;
const MESSAGES: u8 = 17;
const DELIVERIES: u8 = 18;
const END: u8 = 19;
const PRODUCERS: u8 = 20;
const RESTING: u8 = 21;
const LETTERS: u8 = 22;
const SCHEDULE: u8 = 23;
const LANES: u8 = 24;
const TOKENS: u8 = 25;

/// What a snapshot begins with: all of a queue but its lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Head {
    pub(crate) last_id: Id,
    pub(crate) clock: u64,
    pub(crate) expected: Expected,
    pub(crate) counters: Counters,
    pub(crate) policy: Policy,
    pub(crate) paused: Paused,
}

/// A part that was read; its list is read as it is walked.
#[derive(Clone, Copy)]
#[allow(clippy::large_enum_variant)] // never kept, one at a time
pub(crate) enum Part<'a> {
    Head(Head),
    /// Messages, in ID order.
    Messages(List<'a, MessageEntry<'a>>),
    /// Deliveries, in the order of last delivery.
    Deliveries(List<'a, DeliveryEntry<'a>>),
    /// Messages that were delivered before, and wait or will, in ID order.
    Resting(List<'a, RestingEntry>),
    /// Dead letters, in the order of their deaths.
    Letters(List<'a, LetterEntry<'a>>),
    /// What is due later for the first time, in the order of times.
    Schedule(List<'a, (u64, u64)>),
    /// What waits in lanes, by priority.
    Lanes(List<'a, LaneEntry>),
    /// Producers, by name.
    Producers(List<'a, (&'a [u8], Producer, u64)>),
    /// Tokens of messages that left, by name.
    Tokens(List<'a, (&'a [u8], Id, u64)>),
    End,
}

/// A message: its fields as they are stored, and its payload.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MessageEntry<'a> {
    pub(crate) id: Id,
    pub(crate) prefix: &'a [u8],
    pub(crate) fields: Fields<'a>,
    pub(crate) payload: &'a [u8],
}

/// A delivered message. A lease is as `delivered` has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct DeliveryEntry<'a> {
    pub(crate) record: Record,
    pub(crate) lease: u64,
    pub(crate) deadline: Option<u64>,
    pub(crate) consumer: &'a [u8],
}

/// A message that rests, and when it is due where it is to be tried again.
#[derive(Debug, Clone, Copy)]
pub(crate) struct RestingEntry {
    pub(crate) record: Record,
    pub(crate) due: u64,
}

/// A dead letter.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LetterEntry<'a> {
    pub(crate) record: Record,
    pub(crate) died: u64,
    pub(crate) reason: &'a [u8],
    pub(crate) consumer: &'a [u8],
}

/// A message in a lane.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LaneEntry {
    pub(crate) priority: u8,
    pub(crate) front: bool,
    pub(crate) rank: u64,
    /// The rank of the first message behind its barrier; 0 in front and above priority 0.
    pub(crate) barrier: u64,
}

// ---- writing ----

pub(crate) fn put_head(out: &mut Vec<u8>, head: &Head) {
    begin(out, HEAD);
    put_id(out, head.last_id);
    varint::put(out, head.clock);
    let expected = &head.expected;
    for count in [
        expected.messages,
        expected.deliveries,
        expected.resting,
        expected.letters,
        expected.scheduled,
        expected.lined,
        expected.producers,
        expected.tokens,
    ] {
        varint::put(out, count);
    }
    (head.counters.values().iter()).for_each(|&value| varint::put(out, value));
    head.policy.put(out);
    out.push(paused_byte(head.paused));
}

pub(crate) fn put_end(out: &mut Vec<u8>) {
    begin(out, END);
}

/// Which list.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Kind {
    Messages = MESSAGES as isize,
    Deliveries = DELIVERIES as isize,
    Resting = RESTING as isize,
    Letters = LETTERS as isize,
    Schedule = SCHEDULE as isize,
    Lanes = LANES as isize,
    Producers = PRODUCERS as isize,
    Tokens = TOKENS as isize,
}

/// What entries of a list are told by their difference from: the one before in the part, or nothing.
#[derive(Debug, Clone, Copy, Default)]
struct Before {
    id: Id,
    rank: u64,
    time: u64,
}

/// Writes the lists of a snapshot, part by part.
pub(crate) struct Writer<'a, F: FnMut(&[u8])> {
    out: &'a mut Vec<u8>,
    kind: u8,
    limit: usize,
    before: Before,
    emit: F,
}

const LEASED: u8 = 1;
const EXPLICIT: u8 = 2;
const NAMED: u8 = 4;
const NOT_BEGUN: u8 = 8;

impl<'a, F: FnMut(&[u8])> Writer<'a, F> {
    pub(crate) fn new(out: &'a mut Vec<u8>, kind: Kind, limit: usize, emit: F) -> Self {
        let kind = kind as u8;
        begin(out, kind);
        Self {
            out,
            kind,
            limit,
            before: Before::default(),
            emit,
        }
    }

    fn rank(&mut self, rank: u64) {
        varint::put(self.out, varint::difference(self.before.rank, rank));
        self.before.rank = rank;
    }

    fn time(&mut self, time: u64) {
        varint::put(self.out, varint::difference(self.before.time, time));
        self.before.time = time;
    }

    fn counts(&mut self, record: &Record) {
        varint::put(self.out, u64::from(record.deliveries));
        varint::put(self.out, u64::from(record.failures));
    }

    pub(crate) fn put_message(&mut self, id: Id, prefix: &[u8], payload: &[u8]) {
        put_id_after(self.out, self.before.id, id);
        self.before.id = id;
        // The lowest bit says that there are fields.
        varint::put(
            self.out,
            (payload.len() as u64) << 1 | u64::from(!prefix.is_empty()),
        );
        self.out.extend_from_slice(prefix);
        self.out.extend_from_slice(payload);
        self.cut();
    }

    pub(crate) fn put_delivery(&mut self, rank: u64, entry: &DeliveryEntry<'_>) {
        let record = &entry.record;
        self.rank(rank);
        self.time(record.time());
        self.counts(record);
        let flag = |holds: bool, flag: u8| if holds { flag } else { 0 };
        self.out.push(
            flag(entry.lease > 0, LEASED)
                | flag(entry.deadline.is_some(), EXPLICIT)
                | flag(!entry.consumer.is_empty(), NAMED)
                | flag(record.has(PREFETCHED), NOT_BEGUN),
        );
        if entry.lease > 0 {
            varint::put(self.out, entry.lease);
        }
        if let Some(deadline) = entry.deadline {
            varint::put(self.out, deadline);
        }
        if !entry.consumer.is_empty() {
            put_text(self.out, entry.consumer);
        }
        self.cut();
    }

    pub(crate) fn put_resting(&mut self, rank: u64, record: &Record, due: u64) {
        self.rank(rank);
        self.out.push(match record.place {
            Place::Returned => 0,
            Place::Redriven => 1,
            _ => 2,
        });
        self.time(record.time());
        self.counts(record);
        if record.place == Place::Retry {
            varint::put(self.out, due);
        }
        self.cut();
    }

    pub(crate) fn put_letter(&mut self, rank: u64, record: &Record, letter: &Letter) {
        self.rank(rank);
        self.time(letter.died);
        varint::put(self.out, record.time());
        self.counts(record);
        put_text(self.out, &letter.reason);
        put_text(self.out, &letter.consumer);
        self.cut();
    }

    pub(crate) fn put_scheduled(&mut self, rank: u64, due: u64) {
        self.time(due);
        self.rank(rank);
        self.cut();
    }

    pub(crate) fn put_lined(&mut self, priority: u8, front: bool, rank: u64, barrier: u64) {
        self.out.push(priority);
        self.out.push(u8::from(front));
        self.rank(rank);
        if !front && priority == 0 {
            varint::put(self.out, barrier);
        }
        self.cut();
    }

    pub(crate) fn put_producer(&mut self, name: &[u8], producer: &Producer, time: u64) {
        put_text(self.out, name);
        varint::put(self.out, producer.highest);
        put_id(self.out, producer.first);
        varint::put(self.out, producer.count);
        varint::put(self.out, time);
        self.cut();
    }

    pub(crate) fn put_token(&mut self, token: &[u8], id: Id, time: u64) {
        put_text(self.out, token);
        put_id(self.out, id);
        varint::put(self.out, time);
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
        self.before = Before::default();
    }

    pub(crate) fn finish(mut self) {
        self.flush();
    }
}

// ---- reading ----

/// Reads a part; none when the kind is not that of one.
pub(crate) fn read<'a>(kind: u8, reader: &mut Reader<'a>) -> Result<Option<Part<'a>>, Error> {
    Ok(Some(match kind {
        HEAD => {
            let head = read_head(reader)?;
            reader.end()?;
            Part::Head(head)
        }
        MESSAGES => Part::Messages(List::new(reader, read_message)),
        DELIVERIES => Part::Deliveries(List::new(reader, read_delivery)),
        RESTING => Part::Resting(List::new(reader, read_resting)),
        LETTERS => Part::Letters(List::new(reader, read_letter)),
        SCHEDULE => Part::Schedule(List::new(reader, read_scheduled)),
        LANES => Part::Lanes(List::new(reader, read_lined)),
        PRODUCERS => Part::Producers(List::new(reader, read_producer)),
        TOKENS => Part::Tokens(List::new(reader, read_token)),
        END => {
            reader.end()?;
            Part::End
        }
        _ => return Ok(None),
    }))
}

fn read_head(reader: &mut Reader<'_>) -> Result<Head, Error> {
    let (last_id, clock) = (read_id(reader)?, reader.number()?);
    let expected = Expected {
        messages: reader.number()?,
        deliveries: reader.number()?,
        resting: reader.number()?,
        letters: reader.number()?,
        scheduled: reader.number()?,
        lined: reader.number()?,
        producers: reader.number()?,
        tokens: reader.number()?,
    };
    let mut values = [0; Counters::NAMES.len()];
    for value in &mut values {
        *value = reader.number()?;
    }
    Ok(Head {
        last_id,
        clock,
        expected,
        counters: Counters::from_values(values),
        policy: Policy::read(reader)?,
        paused: read_paused(reader)?,
    })
}

type Read<'a, T> = fn(&mut Reader<'a>, &mut Before) -> Result<T, Error>;

/// A list that is read as it is walked.
pub(crate) struct List<'a, T> {
    reader: Reader<'a>,
    before: Before,
    read: Read<'a, T>,
}

impl<T> Clone for List<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for List<'_, T> {}

impl<'a, T> List<'a, T> {
    fn new(reader: &Reader<'a>, read: Read<'a, T>) -> Self {
        Self {
            reader: *reader,
            before: Before::default(),
            read,
        }
    }
}

impl<T> Iterator for List<'_, T> {
    type Item = Result<T, Error>;

    fn next(&mut self) -> Option<Self::Item> {
        (self.reader.left() > 0).then(|| (self.read)(&mut self.reader, &mut self.before))
    }
}

impl Before {
    fn rank(&mut self, reader: &mut Reader<'_>) -> Result<u64, Error> {
        self.rank = varint::advance(self.rank, reader.number()?);
        Ok(self.rank)
    }

    fn time(&mut self, reader: &mut Reader<'_>) -> Result<u64, Error> {
        self.time = varint::advance(self.time, reader.number()?);
        if self.time < Id::MILLISECONDS_END {
            Ok(self.time)
        } else {
            Err(OUT_OF_TIME)
        }
    }
}

const OUT_OF_TIME: Error = Error::BadEffect("a time that is out of range");

fn read_time(reader: &mut Reader<'_>) -> Result<u64, Error> {
    let time = reader.number()?;
    if time < Id::MILLISECONDS_END {
        Ok(time)
    } else {
        Err(OUT_OF_TIME)
    }
}

fn read_record(reader: &mut Reader<'_>, rank: u64, time: u64) -> Result<Record, Error> {
    let too_many = Error::BadEffect("a count of deliveries that is out of range");
    let deliveries = u32::try_from(reader.number()?).map_err(|_| too_many.clone())?;
    let failures = u16::try_from(reader.number()?).map_err(|_| too_many)?;
    Ok(Record::new(rank, time, deliveries, failures))
}

fn read_message<'a>(
    reader: &mut Reader<'a>,
    before: &mut Before,
) -> Result<MessageEntry<'a>, Error> {
    before.id = read_id_after(reader, before.id)?;
    let length = reader.number()?;
    let start = *reader;
    let fields = if length & 1 == 1 {
        Fields::read(reader)?
    } else {
        Fields::default()
    };
    Ok(MessageEntry {
        id: before.id,
        prefix: start.until(reader),
        fields,
        payload: reader.bytes(length >> 1)?,
    })
}

fn read_delivery<'a>(
    reader: &mut Reader<'a>,
    before: &mut Before,
) -> Result<DeliveryEntry<'a>, Error> {
    let (rank, time) = (before.rank(reader)?, before.time(reader)?);
    let mut record = read_record(reader, rank, time)?;
    let flags = reader.byte()?;
    if flags >= 16 {
        return Err(Error::BadEffect(
            "a delivery of a kind that is not known here",
        ));
    }
    record.set(PREFETCHED, flags & NOT_BEGUN != 0);
    let lease = if flags & LEASED != 0 {
        reader.number()?
    } else {
        0
    };
    let deadline = match flags & EXPLICIT {
        0 => None,
        _ => Some(read_time(reader)?),
    };
    let sound = (flags & LEASED != 0) == (lease > 0)
        && (lease < Id::MILLISECONDS_END || (lease == u64::MAX && deadline.is_some()));
    if !sound {
        return Err(Error::BadEffect("a lease that is out of range"));
    }
    let consumer = if flags & NAMED != 0 {
        read_text(reader)?
    } else {
        &[]
    };
    Ok(DeliveryEntry {
        record,
        lease,
        deadline,
        consumer,
    })
}

fn read_resting(reader: &mut Reader<'_>, before: &mut Before) -> Result<RestingEntry, Error> {
    let rank = before.rank(reader)?;
    let place = match reader.byte()? {
        0 => Place::Returned,
        1 => Place::Redriven,
        2 => Place::Retry,
        _ => return Err(Error::BadEffect("a state that is not known here")),
    };
    let time = before.time(reader)?;
    let mut record = read_record(reader, rank, time)?;
    record.place = place;
    let due = match place {
        Place::Retry => read_time(reader)?,
        _ => 0,
    };
    Ok(RestingEntry { record, due })
}

fn read_letter<'a>(reader: &mut Reader<'a>, before: &mut Before) -> Result<LetterEntry<'a>, Error> {
    let (rank, died) = (before.rank(reader)?, before.time(reader)?);
    let time = read_time(reader)?;
    Ok(LetterEntry {
        record: read_record(reader, rank, time)?,
        died,
        reason: read_text(reader)?,
        consumer: read_text(reader)?,
    })
}

fn read_scheduled(reader: &mut Reader<'_>, before: &mut Before) -> Result<(u64, u64), Error> {
    let due = before.time(reader)?;
    Ok((due, before.rank(reader)?))
}

fn read_lined(reader: &mut Reader<'_>, before: &mut Before) -> Result<LaneEntry, Error> {
    let (priority, front) = (reader.byte()?, read_flag(reader)?);
    let rank = before.rank(reader)?;
    let barrier = if !front && priority == 0 {
        reader.number()?
    } else {
        0
    };
    Ok(LaneEntry {
        priority,
        front,
        rank,
        barrier,
    })
}

fn read_producer<'a>(
    reader: &mut Reader<'a>,
    _before: &mut Before,
) -> Result<(&'a [u8], Producer, u64), Error> {
    let name = read_text(reader)?;
    let producer = Producer {
        highest: reader.number()?,
        first: read_id(reader)?,
        count: reader.number()?,
    };
    Ok((name, producer, read_time(reader)?))
}

fn read_token<'a>(
    reader: &mut Reader<'a>,
    _before: &mut Before,
) -> Result<(&'a [u8], Id, u64), Error> {
    Ok((read_text(reader)?, read_id(reader)?, read_time(reader)?))
}
