//! Reading a store: the newest checkpoint, and the records after it.
//!
//! Nothing on disk is changed here. What is to be cut or removed is told, so that a store that
//! is refused stays as it was.

use crate::checkpoint;
use crate::damage;
use crate::error::Error;
use crate::frame;
use crate::layout::{self, HEADER, Kind};
use crate::log::Tail;
use crate::queues::Queues;
use crate::record::{Change, Changes};
use crate::storage::{File, Storage, read_all, read_full};

/// A tail of the log whose last writes never reached the disk whole. It was cut.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Torn {
    /// The segment.
    pub file: String,
    /// Where its whole records end.
    pub offset: u64,
    /// Bytes behind that.
    pub bytes: u64,
}

/// Which files there are.
#[derive(Debug, Default)]
pub(crate) struct Survey {
    pub(crate) has_identity: bool,
    /// In the order of their sequence numbers.
    pub(crate) checkpoints: Vec<u64>,
    pub(crate) segments: Vec<u64>,
    pub(crate) unfinished: Vec<String>,
    /// A file that is none of the store's.
    pub(crate) other: Option<String>,
    pub(crate) has_lock: bool,
}

impl Survey {
    pub(crate) fn of<S: Storage>(storage: &S) -> Result<Self, Error> {
        let names = storage.list();
        let mut survey = Survey::default();
        for name in names.map_err(|error| Error::io("list", ".", error))? {
            match Kind::of(&name) {
                Some(Kind::Identity) => survey.has_identity = true,
                Some(Kind::Log(first)) => survey.segments.push(first),
                Some(Kind::Checkpoint(through)) => survey.checkpoints.push(through),
                None if layout::is_unfinished(&name) => survey.unfinished.push(name),
                None if name == layout::LOCK => survey.has_lock = true,
                None => survey.other = Some(name),
            }
        }
        survey.checkpoints.sort_unstable();
        survey.segments.sort_unstable();
        Ok(survey)
    }

    /// Refuses when a store was here, of which the identity is missing. An attempt to make one may have come as
    /// far as an empty log.
    pub(crate) fn ensure_unmade<S: Storage>(&self, storage: &S) -> Result<(), Error> {
        let mut made =
            !self.checkpoints.is_empty() || self.segments.iter().any(|&first| first != 1);
        if !made && !self.segments.is_empty() {
            let name = Kind::Log(1).name();
            let length = storage.open(&name).and_then(|file| file.length());
            let length = length.map_err(|error| Error::io("read", &name, error))?;
            made = length > HEADER as u64;
        }
        if made {
            let reason = "the file is missing, but not what belongs to it";
            return Err(Error::corrupt(&Kind::Identity.name(), 0, reason));
        }
        Ok(())
    }

    /// Splits the segments: those of which all records are at or below `through`, and the others.
    pub(crate) fn segments_after(&self, through: u64) -> (&[u64], &[u64]) {
        let needed = self.segments.partition_point(|&first| first <= through + 1);
        self.segments.split_at(needed.saturating_sub(1))
    }
}

/// The UUID of a store, which is neither opened nor locked: somebody else may have it open.
///
/// # Errors
/// [`Error::Missing`] when there is no store, or one that is not made yet; [`Error::Corrupt`], also when only the
/// identity is missing; [`Error::Newer`], [`Error::Denied`] and [`Error::Io`].
pub fn identity<S: Storage>(storage: &S) -> Result<[u8; 16], Error> {
    let read = || read_identity(storage).map_err(Error::or_missing);
    match read() {
        Err(Error::Missing) => {}
        known => return known,
    }
    let survey = Survey::of(storage).map_err(Error::or_missing)?;
    if survey.has_identity {
        // Somebody made the store just now.
        return read();
    }
    survey.ensure_unmade(storage)?;
    Err(Error::Missing)
}

/// Reads the identity file.
pub(crate) fn read_identity<S: Storage>(storage: &S) -> Result<[u8; 16], Error> {
    let name = Kind::Identity.name();
    let failed = |error| Error::io("read", &Kind::Identity.name(), error);
    let file = storage.open(&name).map_err(failed)?;
    let mut bytes = [0; HEADER];
    let read = read_full(&file, 0, &mut bytes).map_err(failed)?;
    let uuid = layout::read_header(Kind::Identity, bytes.get(..read).unwrap_or_default())?;
    if file.length().map_err(failed)? != HEADER as u64 {
        return Err(Error::corrupt(
            &name,
            HEADER as u64,
            "bytes behind the header",
        ));
    }
    Ok(uuid)
}

/// A store as it was read.
pub(crate) struct Recovered {
    pub(crate) queues: Queues,
    /// The sequence number of the checkpoint, 0 when there is none, and its bytes.
    pub(crate) checkpoint: (u64, u64),
    pub(crate) tail: Tail,
    pub(crate) torn: Option<Torn>,
    /// Records that were applied.
    pub(crate) records: u64,
    /// Bytes of the log behind the checkpoint.
    pub(crate) logged: u64,
}

/// Reads all queues.
///
/// # Errors
/// [`Error::Corrupt`] for anything but a whole store with perhaps a torn tail.
pub(crate) fn read<S: Storage>(
    storage: &S,
    survey: &Survey,
    uuid: &[u8; 16],
) -> Result<Recovered, Error> {
    let through = survey.checkpoints.last().copied().unwrap_or(0);
    let (queues, bytes) = if through > 0 {
        checkpoint::load(storage, uuid, through)?
    } else {
        (Queues::default(), 0)
    };
    let (_, segments) = survey.segments_after(through);
    let first = segments.first().copied();
    if first.is_none_or(|first| first > through + 1) {
        let file = Kind::Log(through + 1).name();
        return Err(Error::corrupt(&file, 0, "the segment is missing"));
    }
    let mut replay = Replay {
        queues,
        through,
        last: first.unwrap_or(1) - 1,
        last_change: 0,
        records: 0,
        logged: 0,
    };
    let mut end = (replay.last + 1, HEADER as u64, None);
    for (n, &first) in segments.iter().enumerate() {
        let is_last = n + 1 == segments.len();
        let (length, torn) = replay.segment(storage, uuid, first, is_last)?;
        end = (first, length, torn);
    }
    if replay.last < through {
        let (first, length, _) = end;
        let name = Kind::Log(first).name();
        return Err(Error::corrupt(
            &name,
            length,
            "records before the checkpoint are missing",
        ));
    }
    let (first, length, torn) = end;
    Ok(Recovered {
        checkpoint: (through, bytes),
        tail: Tail {
            first,
            length,
            last: replay.last,
            last_change: replay.last_change,
        },
        torn,
        records: replay.records,
        logged: replay.logged,
        queues: replay.queues,
    })
}

struct Replay {
    queues: Queues,
    /// Records up to this one are in the checkpoint.
    through: u64,
    last: u64,
    last_change: u64,
    records: u64,
    logged: u64,
}

impl Replay {
    /// Applies a segment: the bytes of it that are whole, and what is to be cut behind them.
    fn segment<S: Storage>(
        &mut self,
        storage: &S,
        uuid: &[u8; 16],
        first: u64,
        is_last: bool,
    ) -> Result<(u64, Option<Torn>), Error> {
        let kind = Kind::Log(first);
        let name = kind.name();
        let corrupt = |at: usize, reason| Error::corrupt(&kind.name(), at as u64, reason);
        let file = storage.open(&name);
        let bytes = file.and_then(|file| read_all(&file));
        let bytes = bytes.map_err(|error| Error::io("read", &name, error))?;
        if first != self.last + 1 {
            return Err(corrupt(0, "the records before this segment are missing"));
        }
        let torn = |offset: usize| {
            let bytes = (bytes.len() - offset) as u64;
            let offset = offset as u64;
            let file = kind.name();
            Ok((
                offset,
                Some(Torn {
                    file,
                    offset,
                    bytes,
                }),
            ))
        };
        let header = layout::header(kind, uuid);
        if is_last && header.len() > bytes.len() && header.starts_with(&bytes) {
            return torn(0);
        }
        if layout::read_header(kind, &bytes)? != *uuid {
            return Err(corrupt(0, "it is of another store"));
        }
        let (seed, mut at) = (layout::seed(&header), HEADER);
        while let Some(rest) = bytes.get(at..).filter(|rest| !rest.is_empty()) {
            let whole = frame::read(seed, rest);
            let Some((_, body)) = whole.filter(|(head, _)| head.sequence == self.last + 1) else {
                if is_last && damage::is_torn(seed, &bytes, at, self.last + 1) {
                    return torn(at);
                }
                return Err(corrupt(at, "no whole record"));
            };
            self.apply(body).map_err(|reason| corrupt(at, reason))?;
            at += frame::HEAD + body.len();
        }
        Ok((at as u64, None))
    }

    /// Applies the next record.
    fn apply(&mut self, body: &[u8]) -> Result<(), &'static str> {
        const NO_RECORD: &str = "a whole record with a body that is none";
        self.last += 1;
        let changes = Changes::of(body).ok_or(NO_RECORD)?;
        if !changes.is_empty() {
            self.last_change = self.last;
        }
        if self.last <= self.through {
            return Ok(());
        }
        self.records += 1;
        self.logged += (frame::HEAD + body.len()) as u64;
        for change in changes {
            apply(&mut self.queues, change.ok_or(NO_RECORD)?)?;
        }
        Ok(())
    }
}

/// Applies a change to the queues; why it does not fit them.
pub(crate) fn apply(queues: &mut Queues, change: Change<'_>) -> Result<(), &'static str> {
    match change {
        Change::Effect {
            name,
            head,
            payloads,
        } => match queues.apply(name, head, payloads) {
            Ok(()) => Ok(()),
            Err(rq_core::Error::BadEffect(reason)) => Err(reason),
            Err(_) => Err("an effect that does not fit its queue"),
        },
        Change::Remove { name } => match queues.remove(name) {
            true => Ok(()),
            false => Err("it removes a queue that is not there"),
        },
    }
}
