//! The store: queues in memory, and all that is needed to have them again.
//!
//! What [`Store::queues`] shows is always what the log says: a record that could not be written
//! leaves no trace in the queues either.

use std::sync::{Arc, Weak};

use crate::error::Error;
use crate::log::{self, Log, Segment};
use crate::queues::Queues;
use crate::recover::{self, Survey, Torn};
use crate::storage::{File, Storage};

mod checkpoints;
mod record;

pub use checkpoints::{Checkpointed, Checkpointing};
pub use record::Record;

/// Bytes that suffice for most records without their payloads.
const SMALL: usize = 4096;

/// How a store is opened and kept.
#[derive(Debug, Clone)]
pub struct Options {
    /// Random bytes for the UUID of a store that is made where there is none; without them none is
    /// made.
    pub create: Option<[u8; 16]>,
    /// Bytes after which a segment of the log ends.
    pub segment_bytes: u64,
    /// Bytes of log after which a checkpoint is wanted at the earliest.
    pub checkpoint_bytes: u64,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            create: None,
            segment_bytes: 32 << 20,
            checkpoint_bytes: 16 << 20,
        }
    }
}

/// What opening a store found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opened {
    /// Whether the store was made just now.
    pub created: bool,
    /// The sequence number of the checkpoint that was read, 0 without one.
    pub checkpoint: u64,
    /// Records that were read after it.
    pub records: u64,
    /// What was cut from the end of the log.
    pub torn: Option<Torn>,
}

/// Durable queues, owned by this value alone until it is dropped. Dropping it writes nothing.
#[derive(Debug)]
pub struct Store<S: Storage> {
    storage: S,
    options: Options,
    uuid: [u8; 16],
    queues: Queues,
    log: Log<S::File>,
    /// The record that is being made.
    buffer: Vec<u8>,
    effect: Vec<u8>,
    /// The sequence number of the last checkpoint.
    checkpoint: u64,
    /// Is there while a checkpoint is being written.
    checkpointing: Weak<()>,
    /// Bytes appended (as [`Log::appended`] counts) at which a checkpoint is wanted.
    due: u64,
    /// Bytes of the last checkpoint and of the log behind it, when so many bytes were appended.
    stored: (u64, u64),
}

impl<S: Storage> Store<S> {
    /// Opens a store, or makes one.
    ///
    /// # Errors
    /// Every one of [`Error`] but `TooLarge` and `Core`. A store that is refused is not changed.
    pub fn open(mut storage: S, options: Options) -> Result<(Self, Opened), Error> {
        if options.create.is_some() {
            let made = storage.make_directory();
            made.map_err(|error| Error::io("make", ".", error))?;
        }
        let survey = Survey::of(&storage).map_err(Error::or_missing)?;
        if !survey.has_lock {
            ensure_new(&storage, &survey, &options)?;
        }
        take_lock(&mut storage)?;
        let mut survey = Survey::of(&storage)?;
        let created = !survey.has_identity;
        if created {
            create(&storage, &survey, &options)?;
            survey = Survey::of(&storage)?;
        }
        let uuid = recover::read_identity(&storage)?;
        let recovered = recover::read(&storage, &survey, &uuid)?;
        let log = Log::open(&storage, uuid, recovered.tail)?;
        checkpoints::clean(&storage, &survey, recovered.checkpoint.0);
        let opened = Opened {
            created,
            checkpoint: recovered.checkpoint.0,
            records: recovered.records,
            torn: recovered.torn,
        };
        let due = (options.checkpoint_bytes).max(recovered.checkpoint.1);
        let store = Self {
            storage,
            uuid,
            queues: recovered.queues,
            log,
            buffer: Vec::new(),
            effect: Vec::new(),
            checkpoint: recovered.checkpoint.0,
            checkpointing: Weak::new(),
            due: due.saturating_sub(recovered.logged),
            stored: (recovered.checkpoint.1 + recovered.logged, 0),
            options,
        };
        Ok((store, opened))
    }

    /// Makes a store of these queues where there is nothing yet.
    pub(crate) fn fill(storage: S, options: Options, queues: Queues) -> Result<(), Error> {
        let (mut store, _) = Self::open(storage, options)?;
        store.queues = queues;
        // A checkpoint stands for records: this is the one that it stands for here.
        store.log.begin(&mut store.buffer);
        store.log.append(&mut store.buffer)?;
        store.checkpoint()
    }

    /// The queues.
    #[must_use]
    pub fn queues(&self) -> &Queues {
        &self.queues
    }

    /// The UUID that the store was made with.
    #[must_use]
    pub fn uuid(&self) -> [u8; 16] {
        self.uuid
    }

    /// Where it is stored.
    #[must_use]
    pub fn storage(&self) -> &S {
        &self.storage
    }

    /// The sequence number of the last record.
    #[must_use]
    pub fn appended_through(&self) -> u64 {
        self.log.last()
    }

    /// The sequence number of the last record that is durable, with all before it.
    #[must_use]
    pub fn synced_through(&self) -> u64 {
        self.log.synced()
    }

    /// Why nothing is stored any more, when that is so.
    #[must_use]
    pub fn poisoned(&self) -> Option<&str> {
        self.log.poisoned()
    }

    // ---- changing ----

    /// Begins a record of any size.
    ///
    /// # Errors
    /// [`Error::Poisoned`]; [`Error::Full`] while there is no room for the largest record that was refused;
    /// [`Error::Denied`] and [`Error::Io`] when a new segment can't be made. Nothing was changed then.
    pub fn record(&mut self) -> Result<Record<'_, S>, Error> {
        self.begin_record(usize::MAX)
    }

    /// Begins a record with payloads of so many bytes; none for a pop or an acknowledgement, which then
    /// goes on where there was no room for a large push. A record may become larger than that.
    ///
    /// # Errors
    /// As [`Store::record`], but [`Error::Full`] only while there is no room for this one.
    pub fn record_for(&mut self, bytes: usize) -> Result<Record<'_, S>, Error> {
        self.begin_record(bytes.saturating_add(SMALL))
    }

    fn begin_record(&mut self, room: usize) -> Result<Record<'_, S>, Error> {
        self.log.ensure_ready(room)?;
        let limit = self.options.segment_bytes;
        self.log.roll_at(&self.storage, limit)?;
        self.log.begin(&mut self.buffer);
        let empty = self.buffer.len();
        Ok(Record::new(self, empty))
    }

    /// Reads the queues again, after changes that are not in the log.
    fn reload(&mut self) {
        if self.log.poisoned().is_some() {
            return;
        }
        let survey = Survey::of(&self.storage);
        let read = survey.and_then(|survey| recover::read(&self.storage, &survey, &self.uuid));
        match read {
            Ok(recovered) if recovered.tail.last == self.log.last() && recovered.torn.is_none() => {
                self.queues = recovered.queues;
            }
            Ok(_) => {
                (self.log).poison("the log is not what was written to it".to_owned());
            }
            Err(error) => {
                (self.log).poison(format!("could not read the log again: {error}"));
            }
        }
    }

    // ---- syncing ----

    /// Makes all records durable; the last of them.
    ///
    /// # Errors
    /// [`Error::Poisoned`] when that failed, now or before.
    pub fn sync(&mut self) -> Result<u64, Error> {
        let ended = self.begin_sync().map(Syncing::run);
        match ended {
            Some(ended) => self.end_sync(ended)?,
            None => self.ensure_sound()?,
        }
        Ok(self.log.synced())
    }

    /// Begins to make all records durable, so that it can be done while others append; none when
    /// nothing is to be done.
    #[must_use]
    pub fn begin_sync(&self) -> Option<Syncing<S::File>> {
        let needed = self.log.is_behind() && self.log.poisoned().is_none();
        needed.then(|| Syncing {
            segment: Arc::clone(self.log.segment()),
            through: self.log.last(),
        })
    }

    /// Takes the outcome of a sync.
    ///
    /// # Errors
    /// [`Error::Poisoned`] when it failed, or the store was poisoned meanwhile.
    pub fn end_sync(&mut self, ended: Synced) -> Result<(), Error> {
        self.log.sync_ended(ended.through, ended.outcome)?;
        self.ensure_sound()?;
        self.log.witness();
        Ok(())
    }

    /// Refuses when the store is no longer where it was: its directory was removed, moved or replaced. What
    /// is appended then goes where nobody finds it, and somebody else may make a store at the same path; so the
    /// store is poisoned. One call of the system, or two; where that does not tell, the store is taken to be there.
    ///
    /// # Errors
    /// [`Error::Poisoned`]
    pub fn ensure_there(&mut self) -> Result<(), Error> {
        self.ensure_sound()?;
        match self.storage.is_there() {
            Ok(false) => Err(self.log.poison(
                "its directory was removed, moved or replaced while it was open".to_owned(),
            )),
            Ok(true) | Err(_) => Ok(()),
        }
    }

    /// Refuses when nothing is stored any more.
    ///
    /// # Errors
    /// [`Error::Poisoned`]
    pub fn ensure_sound(&self) -> Result<(), Error> {
        match self.log.poisoned() {
            Some(cause) => Err(Error::Poisoned {
                cause: cause.to_owned(),
            }),
            None => Ok(()),
        }
    }

    /// Syncs and lets go.
    ///
    /// # Errors
    /// [`Error::Poisoned`] when the last records may not be durable.
    pub fn close(mut self) -> Result<(), Error> {
        self.sync().map(|_| ())
    }
}

/// Refuses to make a store where there is none to be made.
fn ensure_new<S: Storage>(storage: &S, survey: &Survey, options: &Options) -> Result<(), Error> {
    if survey.has_identity {
        return Ok(());
    }
    survey.ensure_unmade(storage)?;
    if options.create.is_none() {
        return Err(Error::Missing);
    }
    match &survey.other {
        Some(file) => Err(Error::Foreign { file: file.clone() }),
        None => Ok(()),
    }
}

pub(crate) fn take_lock<S: Storage>(storage: &mut S) -> Result<(), Error> {
    match storage.lock() {
        Ok(true) => Ok(()),
        Ok(false) => Err(Error::Busy),
        Err(error) => Err(Error::io("lock", crate::layout::LOCK, error)),
    }
}

/// Makes a store: an empty log, then the identity, so that a store with an identity is whole.
fn create<S: Storage>(storage: &S, survey: &Survey, options: &Options) -> Result<(), Error> {
    survey.ensure_unmade(storage)?;
    let uuid = options.create.ok_or(Error::Missing)?;
    Log::create(storage, uuid)?;
    let synced = storage.sync_directory();
    synced.map_err(|error| Error::io("sync", ".", error))?;
    log::write_identity(storage, &uuid)
}

/// A sync that was begun. It needs no access to the store.
#[derive(Debug)]
pub struct Syncing<F> {
    segment: Arc<Segment<F>>,
    through: u64,
}

impl<F: File> Syncing<F> {
    /// Waits for the disk. The outcome belongs to [`Store::end_sync`].
    #[must_use]
    pub fn run(self) -> Synced {
        Synced {
            outcome: self.segment.sync(),
            through: self.through,
        }
    }
}

/// The outcome of a sync.
#[derive(Debug)]
pub struct Synced {
    through: u64,
    outcome: Result<(), String>,
}
