//! Checkpoints of a store, written while others append.

use std::io;
use std::sync::{Arc, Weak};

use super::Store;
use crate::checkpoint;
use crate::error::Error;
use crate::layout::Kind;
use crate::queues::Queues;
use crate::recover::Survey;
use crate::storage::{File, Storage};

/// Fewer bytes on disk than these are never too many.
const BLOATED_BYTES: u64 = 512 << 10;
/// More than so many times the queues' memory are. A checkpoint never takes that much, so that it always helps.
const BLOATED_TIMES: u64 = 4;

impl<S: Storage> Store<S> {
    /// Whether the log has grown so much that a checkpoint is worth its cost: at least by the last
    /// checkpoint's bytes. A checkpoint writes at most those and what was logged since, so all
    /// checkpoints together cost at most twice the log. Never while one is being written.
    #[must_use]
    pub fn wants_checkpoint(&self) -> bool {
        self.log.appended() >= self.due && self.log.poisoned().is_none() && !self.is_checkpointing()
    }

    /// Whether most of what is on disk is of no use any more, as after a backlog was drained, so that a checkpoint
    /// is worth its cost though the log has not grown to what it waits for. Never while one is being written.
    /// Linear in the number of queues: to be asked once a second, not with each record.
    #[must_use]
    pub fn is_bloated(&self) -> bool {
        let (stored, appended) = self.stored;
        let stored = stored + (self.log.appended() - appended);
        stored > BLOATED_BYTES
            && self.log.poisoned().is_none()
            && !self.is_checkpointing()
            && stored / BLOATED_TIMES > self.queues.memory()
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
        self.stored = (bytes, task.appended);
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
}

/// A checkpoint that was begun: a copy of all queues, to be written. It needs no access to the
/// store, whose records go on meanwhile and which may even be dropped; one that is dropped itself is given up.
#[derive(Debug)]
pub struct Checkpointing<F> {
    file: F,
    uuid: [u8; 16],
    queues: Queues,
    task: Task,
}

/// Which checkpoint it is.
#[derive(Debug)]
struct Task {
    /// The last record in it.
    through: u64,
    /// Bytes that were appended to the log when it was begun.
    appended: u64,
    /// As long as it is there, the store begins no other checkpoint.
    running: Arc<()>,
}

impl<F: File> Checkpointing<F> {
    /// Makes the file, under its unfinished name, and copies the queues.
    fn begin<S: Storage<File = F>>(
        storage: &S,
        uuid: [u8; 16],
        queues: &Queues,
        task: Task,
    ) -> Result<Self, Error> {
        let name = Kind::Checkpoint(task.through).unfinished();
        let created = storage.create(&name);
        Ok(Self {
            file: created.map_err(|error| Error::io("make", &name, error))?,
            uuid,
            queues: queues.clone(),
            task,
        })
    }

    /// Writes all queues and waits for the disk. The outcome belongs to
    /// [`Store::end_checkpoint`].
    #[must_use]
    pub fn run(self) -> Checkpointed {
        let (file, task) = (&self.file, self.task);
        let outcome = checkpoint::write(file, &self.uuid, task.through, &self.queues);
        Checkpointed { task, outcome }
    }
}

/// The outcome of writing a checkpoint.
#[derive(Debug)]
pub struct Checkpointed {
    task: Task,
    /// Its bytes.
    outcome: io::Result<u64>,
}

/// Removes what a durable checkpoint made needless, and what was never finished. What can't be
/// removed is in nobody's way and is tried again with the next checkpoint.
pub(super) fn clean<S: Storage>(storage: &S, survey: &Survey, through: u64) {
    let (old, _) = survey.segments_after(through);
    let older = survey.checkpoints.iter().filter(|&&c| c < through);
    let names = (survey.unfinished.iter().cloned())
        .chain(old.iter().map(|&first| Kind::Log(first).name()))
        .chain(older.map(|&c| Kind::Checkpoint(c).name()));
    for name in names {
        let _ = storage.remove(&name);
    }
}
