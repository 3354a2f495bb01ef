//! Bytes as effects; lists are read as they are walked.

use super::*;
use crate::group::Fate;
use crate::message::read_text;
use crate::parts;
use crate::varint::{self, Reader};

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
            SETUP => Effect::Setup(Policy::read(reader)?, read_made(reader)?),
            PAUSE => Effect::Pause(read_paused(reader)?, read_made(reader)?),
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

/// The ID above which those of a queue are that this effect made, until the end.
fn read_made(reader: &mut Reader<'_>) -> Result<Option<Id>, Error> {
    if reader.left() == 0 {
        return Ok(None);
    }
    let id = read_id(reader)?;
    if id.milliseconds >= Id::MILLISECONDS_END {
        return Err(Error::BadEffect("an ID that is out of range"));
    }
    Ok(Some(id))
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
