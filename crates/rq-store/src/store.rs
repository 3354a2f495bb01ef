//! The store: queues in memory, and all that is needed to have them again.
//!
//! What [`Store::queues`] shows is always what the log says: a record that could not be written
//! leaves no trace in the queues either.

use std::io;
use std::sync::{Arc, Weak};

use rq_core::{Produced, Pushed, Queue};

use crate::checkpoint::{Checkpointed, Checkpointing, Task};
use crate::error::Error;
use crate::layout::Kind;
use crate::log::{self, Log, Segment};
use crate::queues::Queues;
use crate::record;
use crate::recover::{self, Survey, Torn};
use crate::storage::{File, Storage};

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
            ensure_new(&survey, &options)?;
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
        clean(&storage, &survey, recovered.checkpoint.0);
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
            options,
        };
        Ok((store, opened))
    }

    /// Makes a store of these queues where there is nothing yet.
    pub(crate) fn fill(storage: S, options: Options, queues: Queues) -> Result<(), Error> {
        let there = match storage.list() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            there => there.map_err(|error| Error::io("list", ".", error))?,
        };
        if let Some(file) = there.into_iter().next() {
            return Err(Error::Foreign { file });
        }
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
        Ok(Record { store: self, empty })
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

    fn ensure_sound(&self) -> Result<(), Error> {
        match self.log.poisoned() {
            Some(cause) => Err(Error::Poisoned {
                cause: cause.to_owned(),
            }),
            None => Ok(()),
        }
    }

    // ---- checkpoints ----

    /// Whether the log has grown so much that a checkpoint is worth its cost: at least by the last
    /// checkpoint's bytes. A checkpoint writes at most those and what was logged since, so all
    /// checkpoints together cost at most twice the log. Never while one is being written.
    #[must_use]
    pub fn wants_checkpoint(&self) -> bool {
        self.log.appended() >= self.due && self.log.poisoned().is_none() && !self.is_checkpointing()
    }

    fn is_checkpointing(&self) -> bool {
        self.checkpointing.strong_count() > 0
    }

    /// Writes all queues into a new file, makes it durable, and removes the log before it. Does
    /// nothing while another checkpoint is being written.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::Denied`] and [`Error::Io`] when it can't be written: the store goes on
    /// with the log, and wants the next checkpoint later. [`Error::Poisoned`] when it is not known what is durable.
    pub fn checkpoint(&mut self) -> Result<(), Error> {
        match self.begin_checkpoint()? {
            Some(begun) => self.end_checkpoint(begun.run()),
            None => Ok(()),
        }
    }

    /// Begins a checkpoint, so that it can be written while others append; none when nothing is to be
    /// done, or another one is being written. It copies all queues, which takes as long as copying
    /// their memory does, and holds the copy until it is written.
    ///
    /// # Errors
    /// As [`Store::checkpoint`].
    pub fn begin_checkpoint(&mut self) -> Result<Option<Checkpointing<S::File>>, Error> {
        self.ensure_sound()?;
        if self.is_checkpointing() {
            return Ok(None);
        }
        let appended = self.log.appended();
        self.due = appended + self.options.checkpoint_bytes;
        self.log.roll(&self.storage)?;
        let through = self.log.last();
        if through == self.checkpoint {
            return Ok(None);
        }
        let running = Arc::new(());
        let checkpointing = Arc::downgrade(&running);
        let task = Task {
            through,
            appended,
            running,
        };
        let begun = Checkpointing::begin(&self.storage, self.uuid, &self.queues, task)?;
        self.checkpointing = checkpointing;
        Ok(Some(begun))
    }

    /// Takes the outcome of a checkpoint: gives it its name, and removes the log before it.
    ///
    /// # Errors
    /// As [`Store::checkpoint`].
    pub fn end_checkpoint(&mut self, ended: Checkpointed) -> Result<(), Error> {
        let Checkpointed { task, outcome } = ended;
        if !Weak::ptr_eq(&self.checkpointing, &Arc::downgrade(&task.running)) {
            // Of another store.
            return Ok(());
        }
        self.checkpointing = Weak::new();
        self.ensure_sound()?;
        self.due = self.log.appended() + self.options.checkpoint_bytes;
        let bytes = self.name_checkpoint(task.through, outcome)?;
        self.checkpoint = task.through;
        self.due = task.appended + bytes.max(self.options.checkpoint_bytes);
        if let Ok(survey) = Survey::of(&self.storage) {
            clean(&self.storage, &survey, task.through);
        }
        Ok(())
    }

    /// Gives a checkpoint its name, durably; its bytes. One that could not be written is removed.
    fn name_checkpoint(&mut self, through: u64, written: io::Result<u64>) -> Result<u64, Error> {
        let kind = Kind::Checkpoint(through);
        let (unfinished, name) = (kind.unfinished(), kind.name());
        let named = match written {
            Err(error) => Err(Error::io("write", &unfinished, error)),
            Ok(bytes) => match self.storage.rename(&unfinished, &name) {
                Err(error) => Err(Error::io("name", &name, error)),
                Ok(()) => Ok(bytes),
            },
        };
        if named.is_err() {
            let _ = self.storage.remove(&unfinished);
            return named;
        }
        if let Err(error) = self.storage.sync_directory() {
            let cause = format!("could not sync the directory: {error}");
            return Err(self.log.poison(cause));
        }
        named
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
fn ensure_new(survey: &Survey, options: &Options) -> Result<(), Error> {
    if survey.has_identity {
        return Ok(());
    }
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
    let uuid = options.create.ok_or(Error::Missing)?;
    let name = Kind::Identity.name();
    let lost = || Error::corrupt(&name, 0, "the file is missing, but not what belongs to it");
    // An earlier attempt to make it may have come as far as an empty log.
    if !survey.checkpoints.is_empty() || survey.segments.iter().any(|&first| first != 1) {
        return Err(lost());
    }
    if !survey.segments.is_empty() {
        let file = storage.open(&Kind::Log(1).name());
        let length = file.and_then(|file| file.length());
        let length = length.map_err(|error| Error::io("read", &Kind::Log(1).name(), error))?;
        if length > crate::layout::HEADER as u64 {
            return Err(lost());
        }
    }
    Log::create(storage, uuid)?;
    let synced = storage.sync_directory();
    synced.map_err(|error| Error::io("sync", ".", error))?;
    log::write_identity(storage, &uuid)
}

/// Removes what a durable checkpoint made needless, and what was never finished. What can't be
/// removed is in nobody's way and is tried again with the next checkpoint.
fn clean<S: Storage>(storage: &S, survey: &Survey, through: u64) {
    let (old, _) = survey.segments_after(through);
    let older = survey.checkpoints.iter().filter(|&&c| c < through);
    let names = (survey.unfinished.iter().cloned())
        .chain(old.iter().map(|&first| Kind::Log(first).name()))
        .chain(older.map(|&c| Kind::Checkpoint(c).name()));
    for name in names {
        let _ = storage.remove(&name);
    }
}

/// Changes of queues that become durable together, or not at all.
///
/// Operations take effect in the queues at once, and nobody else sees them before
/// [`Record::append`]. A record that is dropped, or could not be written, is undone by reading
/// the queues again.
#[derive(Debug)]
pub struct Record<'a, S: Storage> {
    store: &'a mut Store<S>,
    /// Bytes of a record without changes.
    empty: usize,
}

impl<S: Storage> Record<'_, S> {
    /// The queues, with this record's changes.
    #[must_use]
    pub fn queues(&self) -> &Queues {
        &self.store.queues
    }

    /// Appends messages to a queue, which is made where there is none.
    ///
    /// # Errors
    /// As [`Queue::push`]; nothing is changed then.
    pub fn push<'p>(
        &mut self,
        name: &[u8],
        now: u64,
        elements: impl ExactSizeIterator<Item = &'p [u8]> + Clone,
    ) -> Result<Pushed, rq_core::Error> {
        let store = &mut *self.store;
        let effect = &mut store.effect;
        let pushed = (store.queues).push(name, now, elements.clone(), effect)?;
        if !effect.is_empty() {
            record::put_effect(&mut store.buffer, name, effect, elements);
        }
        Ok(pushed)
    }

    /// Appends messages of a producer that numbers them: what it sent before is not stored again.
    ///
    /// # Errors
    /// As [`Queue::produce`]; nothing is changed then.
    pub fn produce<'p>(
        &mut self,
        name: &[u8],
        now: u64,
        producer: (&[u8], u64),
        elements: impl ExactSizeIterator<Item = &'p [u8]> + Clone,
    ) -> Result<Produced, rq_core::Error> {
        let store = &mut *self.store;
        let effect = &mut store.effect;
        let produced = (store.queues).produce(name, now, producer, elements.clone(), effect)?;
        if let Some(pushed) = produced.pushed {
            let stored = usize::try_from(pushed.count).unwrap_or(usize::MAX);
            let elements = elements.clone().skip(elements.len().saturating_sub(stored));
            record::put_effect(&mut store.buffer, name, effect, elements);
        }
        Ok(produced)
    }

    /// Runs an operation that makes no IDs on a queue, where there is one. The operation writes
    /// its effect into the buffer that it is given.
    pub fn change<R>(
        &mut self,
        name: &[u8],
        operation: impl FnOnce(&mut Queue, &mut Vec<u8>) -> R,
    ) -> Option<R> {
        let store = &mut *self.store;
        let effect = &mut store.effect;
        effect.clear();
        let outcome = (store.queues).change(name, |queue| operation(queue, effect))?;
        if !effect.is_empty() {
            record::put_effect(&mut store.buffer, name, effect, std::iter::empty());
        }
        Some(outcome)
    }

    /// Applies an effect that was made elsewhere, such as a part of a snapshot. All parts of a
    /// snapshot belong into one record.
    ///
    /// # Errors
    /// [`rq_core::Error::BadEffect`] when it does not fit; nothing is changed then.
    pub fn apply<'p>(
        &mut self,
        name: &[u8],
        head: &[u8],
        payloads: impl ExactSizeIterator<Item = &'p [u8]> + Clone,
    ) -> Result<(), rq_core::Error> {
        self.store.queues.apply(name, head, payloads.clone())?;
        record::put_effect(&mut self.store.buffer, name, head, payloads);
        Ok(())
    }

    /// Removes a queue with all that it holds; whether there was one.
    pub fn remove(&mut self, name: &[u8]) -> bool {
        let removed = self.store.queues.remove(name);
        if removed {
            record::put_remove(&mut self.store.buffer, name);
        }
        removed
    }

    /// Hands the record to the system; its sequence number. A record without changes is not
    /// written, and has the number of the last one.
    ///
    /// # Errors
    /// [`Error::Full`], [`Error::Io`], [`Error::TooLarge`]: nothing was changed.
    /// [`Error::Poisoned`]: nothing more is stored.
    pub fn append(mut self) -> Result<u64, Error> {
        if self.store.buffer.len() == self.empty {
            return Ok(self.store.log.last());
        }
        let store = &mut *self.store;
        let appended = store.log.append(&mut store.buffer)?;
        self.empty = store.buffer.len();
        Ok(appended)
    }
}

impl<S: Storage> Drop for Record<'_, S> {
    fn drop(&mut self) {
        if self.store.buffer.len() != self.empty {
            self.store.reload();
        }
    }
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
