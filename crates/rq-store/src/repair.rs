//! Saving what is whole from a damaged store.
//!
//! Whole records and whole parts of checkpoints are applied as far as they fit; what is not whole, or
//! does not fit since something before it is missing, is listed. An acknowledgement always fits: its
//! messages go, whether their delivery is known or not. A message whose delivery is not known waits.

use std::fmt;
use std::io;

use rq_core::snapshot::{self, Loader};
use rq_core::{Error as CoreError, Queue};

use crate::checkpoint::{Entry, Frames};
use crate::damage;
use crate::error::Error;
use crate::frame;
use crate::layout::{self, HEADER, Kind};
use crate::queues::Queues;
use crate::record::{Change, Changes};
use crate::recover::{self, Survey};
use crate::storage::{Storage, read_all};
use crate::store::{self, Options, Store};

/// What was lost of a store.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loss {
    /// The file.
    pub file: String,
    /// Where in it.
    pub offset: u64,
    /// How many bytes.
    pub bytes: u64,
    /// What is wrong with them.
    pub reason: &'static str,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            file,
            offset,
            bytes,
            reason,
        } = self;
        write!(f, "{file}, {bytes} bytes at {offset}: {reason}")
    }
}

/// What repairing a store came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Repaired {
    /// Queues in the new store.
    pub queues: u64,
    /// Messages in them, dead ones included.
    pub messages: u64,
    /// What is missing, in the order of reading; nothing when the store was whole.
    pub losses: Vec<Loss>,
}

/// Writes what is whole of one store into a new one. The damaged one is not changed.
///
/// # Errors
/// [`Error::Same`] and [`Error::Occupied`] when there is a store or something else where the new one is to be, and
/// [`Error::Destination`] when it can't be made there. All others are about the damaged one:
/// [`Error::Missing`] when there is nothing to repair; [`Error::Busy`] when it is in use; [`Error::Newer`];
/// [`Error::Corrupt`] when no file has a whole header, so that nothing of it can be known; [`Error::Io`] and
/// [`Error::Denied`].
pub fn repair<S: Storage, T: Storage>(
    mut from: S,
    to: T,
    options: Options,
) -> Result<Repaired, Error> {
    let survey = Survey::of(&from).map_err(Error::or_missing)?;
    if survey.segments.is_empty() && survey.checkpoints.is_empty() {
        return Err(Error::Missing);
    }
    if from.place().is_some() && from.place() == to.place() {
        return Err(Error::Same);
    }
    ensure_free(&to)?;
    store::take_lock(&mut from)?;
    let mut salvage = Salvage::default();
    let uuid = salvage.identity(&from, &survey)?;
    let through = salvage.checkpoints(&from, &survey, &uuid)?;
    salvage.segments(&from, &survey, &uuid, through)?;
    let Salvage { queues, losses } = salvage;
    let all = queues.sorted();
    let messages = all
        .map(|(_, queue)| queue.len() + queue.dead_letters())
        .sum();
    let count = queues.len() as u64;
    Store::fill(to, options, queues).map_err(|error| Error::Destination(Box::new(error)))?;
    Ok(Repaired {
        queues: count,
        messages,
        losses,
    })
}

/// Refuses to make a store where there is something.
fn ensure_free<T: Storage>(to: &T) -> Result<(), Error> {
    match to.list() {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(Error::Destination(Box::new(Error::io("list", ".", error)))),
        Ok(files) => match files.into_iter().next() {
            Some(file) => Err(Error::Occupied { file }),
            None => Ok(()),
        },
    }
}

#[derive(Default)]
struct Salvage {
    queues: Queues,
    losses: Vec<Loss>,
}

impl Salvage {
    fn lose(&mut self, kind: Kind, offset: u64, bytes: u64, reason: &'static str) {
        self.losses.push(Loss {
            file: kind.name(),
            offset,
            bytes,
            reason,
        });
    }

    /// The UUID, from the first file whose header is whole: all of them have it.
    fn identity<S: Storage>(&mut self, from: &S, survey: &Survey) -> Result<[u8; 16], Error> {
        match recover::read_identity(from) {
            Ok(uuid) => return Ok(uuid),
            Err(Error::Corrupt { reason, .. }) => {
                self.lose(Kind::Identity, 0, HEADER as u64, reason);
            }
            Err(Error::Io { source, .. }) if source.kind() == io::ErrorKind::NotFound => {
                self.lose(Kind::Identity, 0, HEADER as u64, "the file is missing");
            }
            Err(error) => return Err(error),
        }
        let segments = survey.segments.iter().map(|&first| Kind::Log(first));
        let checkpoints = survey.checkpoints.iter().map(|&c| Kind::Checkpoint(c));
        let mut damaged = Error::corrupt(&Kind::Identity.name(), 0, "no header is whole");
        for kind in checkpoints.chain(segments) {
            match read(from, kind).and_then(|bytes| layout::read_header(kind, &bytes)) {
                Ok(uuid) => return Ok(uuid),
                Err(Error::Corrupt { .. }) => {}
                Err(error) => damaged = error,
            }
        }
        Err(damaged)
    }

    /// Takes the newest checkpoint that is whole; with none, what is whole of the newest one. The
    /// sequence number that it stands for.
    fn checkpoints<S: Storage>(
        &mut self,
        from: &S,
        survey: &Survey,
        uuid: &[u8; 16],
    ) -> Result<u64, Error> {
        for &through in survey.checkpoints.iter().rev() {
            match crate::checkpoint::load(from, uuid, through) {
                Ok((queues, _)) if survey.covers(through) => {
                    self.queues = queues;
                    return Ok(through);
                }
                Ok(_) | Err(Error::Corrupt { .. }) => {}
                Err(error) => return Err(error),
            }
        }
        let Some(&through) = survey.checkpoints.last() else {
            return Ok(0);
        };
        self.damaged_checkpoint(from, uuid, through)?;
        Ok(through)
    }

    /// Takes the whole queues of a damaged checkpoint, and the messages of the others.
    fn damaged_checkpoint<S: Storage>(
        &mut self,
        from: &S,
        uuid: &[u8; 16],
        through: u64,
    ) -> Result<(), Error> {
        let kind = Kind::Checkpoint(through);
        match Frames::open(from, uuid, through) {
            Ok(_) => {}
            Err(Error::Corrupt { reason, .. }) => self.lose(kind, 0, HEADER as u64, reason),
            Err(error) => return Err(error),
        }
        let mut frames = Frames::open_behind_header(from, uuid, through)?;
        let mut current: Option<Partial> = None;
        loop {
            let at = frames.offset;
            match frames.next() {
                Ok(Entry::Floor(floor)) => self.queues.raise(floor),
                Ok(Entry::Queue(name)) => {
                    let (name, loader) = (name.to_vec(), Loader::default());
                    self.keep(current.replace(Partial { name, loader }));
                }
                Ok(Entry::Part(part)) => match current.as_mut().map(|queue| queue.feed(part)) {
                    Some(Ok(false)) => {}
                    // What follows is of another queue, also when its name is missing.
                    Some(Ok(true)) => self.keep(current.take()),
                    _ => {
                        let bytes = frames.offset - at;
                        self.lose(kind, at, bytes, "a part whose queue is not whole");
                    }
                },
                Ok(Entry::End { .. }) => break,
                Err(Error::Corrupt { reason, .. }) => {
                    // Where the next frame is may have to be found out.
                    let goes_on = frames.offset > at || frames.resume()?;
                    let end = if goes_on {
                        frames.offset
                    } else {
                        frames.length
                    };
                    self.lose(kind, at, end - at, reason);
                    if !goes_on {
                        break;
                    }
                }
                Err(error) => return Err(error),
            }
        }
        self.keep(current);
        Ok(())
    }

    fn keep(&mut self, partial: Option<Partial>) {
        if let Some(Partial { name, loader }) = partial
            && let Ok(queue) = settle(&loader.finish())
        {
            self.queues.insert(&name, queue);
        }
    }

    fn segments<S: Storage>(
        &mut self,
        from: &S,
        survey: &Survey,
        uuid: &[u8; 16],
        through: u64,
    ) -> Result<(), Error> {
        let mut last = through;
        let (_, segments) = survey.segments_after(through);
        for &first in segments {
            if first > last + 1 {
                self.lose(
                    Kind::Log(first),
                    0,
                    0,
                    "the records before this segment are missing",
                );
            }
            last = last.max(self.segment(from, uuid, first, last)?);
        }
        if segments.is_empty() {
            self.lose(Kind::Log(through + 1), 0, 0, "the segment is missing");
        }
        Ok(())
    }

    /// Applies the whole records of a segment after `last`; the last one that it had.
    fn segment<S: Storage>(
        &mut self,
        from: &S,
        uuid: &[u8; 16],
        first: u64,
        mut last: u64,
    ) -> Result<u64, Error> {
        let kind = Kind::Log(first);
        let bytes = read(from, kind)?;
        match layout::read_header(kind, &bytes) {
            Ok(found) if found != *uuid => {
                self.lose(kind, 0, bytes.len() as u64, "it is of another store");
                return Ok(last);
            }
            Ok(_) => {}
            Err(Error::Corrupt { reason, .. }) => {
                self.lose(kind, 0, bytes.len().min(HEADER) as u64, reason);
            }
            Err(error) => return Err(error),
        }
        let seed = layout::seed(&layout::header(kind, uuid));
        let mut end = HEADER.min(bytes.len());
        for found in damage::whole_records(seed, &bytes, end) {
            if found.start > end {
                self.lose(
                    kind,
                    end as u64,
                    (found.start - end) as u64,
                    "no whole record",
                );
            }
            end = found.start + frame::HEAD + found.body.len();
            if found.sequence > last {
                last = found.sequence;
                self.record(kind, found.start as u64, found.body);
            }
        }
        if end < bytes.len() {
            self.lose(
                kind,
                end as u64,
                (bytes.len() - end) as u64,
                "no whole record",
            );
        }
        Ok(last)
    }

    /// Applies the changes of a record, as far as they fit.
    fn record(&mut self, kind: Kind, at: u64, body: &[u8]) {
        let Some(changes) = Changes::of(body) else {
            return;
        };
        for change in changes {
            let applied = match change {
                Some(change) => self.change(change),
                None => Err("a whole record with a body that is none"),
            };
            if let Err(reason) = applied {
                let bytes = (frame::HEAD + body.len()) as u64;
                self.lose(kind, at, bytes, reason);
            }
        }
    }

    /// Applies a change; why something of it is lost. One of which nothing is lost, though it does not fit, is no
    /// loss beside that which is why; were there none, it would be told nowhere.
    fn change(&mut self, change: Change<'_>) -> Result<(), &'static str> {
        let Err(reason) = recover::apply(&mut self.queues, change.clone()) else {
            return Ok(());
        };
        let saved = match change {
            Change::Effect { name, head, .. } => (self.queues)
                .change(name, |queue| queue.salvage(head))
                .unwrap_or_else(|| Queue::default().salvage(head)),
            Change::Remove { .. } => true,
        };
        if saved && !self.losses.is_empty() {
            return Ok(());
        }
        Err(reason)
    }
}

impl Survey {
    /// Whether all records after `through` can be there.
    fn covers(&self, through: u64) -> bool {
        let (_, segments) = self.segments_after(through);
        segments.first().is_some_and(|&first| first <= through + 1)
    }
}

/// A queue of a damaged checkpoint, as far as it was read. Behind a missing part, messages and
/// producers are taken, but no deliveries, since they name messages by rank. What was delivered waits
/// again.
struct Partial {
    name: Vec<u8>,
    loader: Loader,
}

impl Partial {
    /// Takes the next part that is there; true when it was the last.
    fn feed(&mut self, part: &[u8]) -> Result<bool, CoreError> {
        self.loader
            .feed(part)
            .or_else(|_| self.loader.salvage(part))
    }
}

/// A queue whose snapshot was not read to its end, as if that were all of it.
fn settle(queue: &Queue) -> Result<Queue, CoreError> {
    let mut loader = Loader::default();
    let mut outcome = Ok(false);
    snapshot::write(queue, |part| {
        if outcome.is_ok() {
            outcome = loader.feed(part);
        }
    });
    outcome.map(|_| loader.finish())
}

fn read<S: Storage>(from: &S, kind: Kind) -> Result<Vec<u8>, Error> {
    let bytes = from.open(&kind.name()).and_then(|file| read_all(&file));
    bytes.map_err(|error| Error::io("read", &kind.name(), error))
}
