//! The log: records appended to the last of several segments.
//!
//! Invariants:
//! - sequence numbers grow by one from record to record, also from segment to segment;
//! - every segment but the last is whole and durable: it was synced before the next one was made;
//! - a segment has its name only once its header is durable;
//! - after a failed write the segment ends with its last whole record, or the log is poisoned;
//! - after a failed sync the log is poisoned, for ever.

use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use crate::error::Error;
use crate::frame;
use crate::layout::{self, HEADER, Kind};
use crate::number;
use crate::storage::{File, Storage, write_all};

/// A file of records. It is shared with whoever syncs it while others append.
#[derive(Debug)]
pub(crate) struct Segment<F> {
    name: String,
    file: F,
    /// Why a sync failed. A later sync would say that all is well, though pages were lost; held
    /// while syncing, so that nobody takes such a success for one.
    failure: Mutex<Option<String>>,
}

impl<F: File> Segment<F> {
    /// Makes durable what was written; the cause when it failed, now or before.
    pub(crate) fn sync(&self) -> Result<(), String> {
        let mut failure = (self.failure.lock()).unwrap_or_else(PoisonError::into_inner);
        if failure.is_none()
            && let Err(error) = self.file.sync()
        {
            *failure = Some(format!("could not sync {}: {error}", self.name));
        }
        failure.clone().map_or(Ok(()), Err)
    }
}

/// The log, open for appending.
#[derive(Debug)]
pub(crate) struct Log<F> {
    uuid: [u8; 16],
    segment: Arc<Segment<F>>,
    seed: u32,
    /// The sequence number of the segment's first record.
    first: u64,
    /// Bytes of the segment that are whole records.
    length: u64,
    /// The last record.
    last: u64,
    /// The last record that changes something.
    last_change: u64,
    /// The last record that is durable.
    synced: u64,
    /// Bytes appended since the log was opened.
    appended: u64,
    poison: Option<String>,
    /// The most bytes for which there was no room, until there is.
    lacking: usize,
}

/// Where a log goes on after it was read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Tail {
    pub(crate) first: u64,
    /// Bytes that are whole; less than a header when that has to be written anew.
    pub(crate) length: u64,
    pub(crate) last: u64,
    pub(crate) last_change: u64,
}

impl<F: File> Log<F> {
    /// Makes the first segment of a new store.
    pub(crate) fn create<S: Storage<File = F>>(storage: &S, uuid: [u8; 16]) -> Result<(), Error> {
        let kind = Kind::Log(1);
        write_header(storage, kind, &uuid)?;
        let renamed = storage.rename(&kind.unfinished(), &kind.name());
        renamed.map_err(|error| Error::io("name", &kind.name(), error))
    }

    /// Opens the last segment, cuts what is not whole, and makes it durable.
    pub(crate) fn open<S: Storage<File = F>>(
        storage: &S,
        uuid: [u8; 16],
        tail: Tail,
    ) -> Result<Self, Error> {
        let kind = Kind::Log(tail.first);
        let header = layout::header(kind, &uuid);
        let name = kind.name();
        let failed = |operation, error| Error::io(operation, &kind.name(), error);
        let file = (storage.edit(&name)).map_err(|error| failed("open", error))?;
        let mut length = tail.length;
        if length < HEADER as u64 {
            length = HEADER as u64;
            (file.truncate(0)).map_err(|error| failed("cut", error))?;
            write_all(&file, 0, &header).map_err(|error| failed("write", error))?;
        } else if file.length().map_err(|error| failed("read", error))? != length {
            (file.truncate(length)).map_err(|error| failed("cut", error))?;
        }
        file.sync().map_err(|error| failed("sync", error))?;
        let mut log = Self {
            uuid,
            segment: Arc::new(Segment {
                name,
                file,
                failure: Mutex::new(None),
            }),
            seed: layout::seed(&header),
            first: tail.first,
            length,
            last: tail.last,
            last_change: tail.last_change,
            synced: tail.last,
            appended: 0,
            poison: None,
            lacking: 0,
        };
        log.witness();
        Ok(log)
    }

    pub(crate) fn last(&self) -> u64 {
        self.last
    }

    pub(crate) fn synced(&self) -> u64 {
        self.synced
    }

    pub(crate) fn appended(&self) -> u64 {
        self.appended
    }

    pub(crate) fn segment(&self) -> &Arc<Segment<F>> {
        &self.segment
    }

    /// Whether a record that changes something is not known to be durable.
    pub(crate) fn is_behind(&self) -> bool {
        self.last_change > self.synced
    }

    pub(crate) fn poisoned(&self) -> Option<&str> {
        self.poison.as_deref()
    }

    /// Refuses everything from now on.
    pub(crate) fn poison(&mut self, cause: String) -> Error {
        let cause = self.poison.get_or_insert(cause).clone();
        Error::Poisoned { cause }
    }

    /// Refuses when nothing can be appended: the log is poisoned, or there was no room and is none yet
    /// for so many bytes; no more are asked for than were lacking.
    pub(crate) fn ensure_ready(&mut self, bytes: usize) -> Result<(), Error> {
        if let Some(cause) = &self.poison {
            let cause = cause.clone();
            return Err(Error::Poisoned { cause });
        }
        if self.lacking > 0 {
            // Zeros are no record: were they left behind, they would be cut.
            self.write(&vec![0; self.lacking.min(bytes)])?;
            self.cut("make room in")?;
            if bytes >= self.lacking {
                self.lacking = 0;
            }
        }
        Ok(())
    }

    /// Makes a new segment when the last one has grown to `limit` bytes.
    pub(crate) fn roll_at<S: Storage<File = F>>(
        &mut self,
        storage: &S,
        limit: u64,
    ) -> Result<(), Error> {
        if self.length < limit {
            return Ok(());
        }
        self.roll(storage)
    }

    /// Makes a new segment, unless the last one has no record.
    pub(crate) fn roll<S: Storage<File = F>>(&mut self, storage: &S) -> Result<(), Error> {
        if self.first > self.last {
            return Ok(());
        }
        let through = self.last;
        let outcome = self.segment.sync();
        self.sync_ended(through, outcome)?;
        let kind = Kind::Log(self.last + 1);
        let file = write_header(storage, kind, &self.uuid)?;
        // From here on it is not known whether the segment is there: were it, and records went
        // on into the old one, the log would have two ends.
        if let Err(error) = storage.rename(&kind.unfinished(), &kind.name()) {
            return Err(self.poison(format!("could not name {}: {error}", kind.name())));
        }
        if let Err(error) = storage.sync_directory() {
            return Err(self.poison(format!("could not sync the directory: {error}")));
        }
        self.segment = Arc::new(Segment {
            name: kind.name(),
            file,
            failure: Mutex::new(None),
        });
        self.seed = layout::seed(&layout::header(kind, &self.uuid));
        self.first = self.last + 1;
        self.length = HEADER as u64;
        Ok(())
    }

    /// Begins a record in an empty buffer.
    pub(crate) fn begin(&self, buffer: &mut Vec<u8>) {
        buffer.clear();
        frame::begin(buffer);
        number::put(buffer, self.last + 1 - self.synced);
    }

    /// Appends the record in the buffer, whole or not at all; its sequence number.
    pub(crate) fn append(&mut self, buffer: &mut [u8]) -> Result<u64, Error> {
        if !frame::end(buffer, 0, self.seed, self.last + 1) {
            return Err(Error::TooLarge);
        }
        self.write(buffer)?;
        self.length += buffer.len() as u64;
        self.appended += buffer.len() as u64;
        self.last += 1;
        self.last_change = self.last;
        Ok(self.last)
    }

    /// Writes behind the last whole record.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        let Err(error) = write_all(&self.segment.file, self.length, bytes) else {
            return Ok(());
        };
        let error = Error::io("write", &self.segment.name, error);
        self.cut("cut a failed write from")?;
        if matches!(error, Error::Full { .. }) {
            self.lacking = self.lacking.max(bytes.len());
        }
        Err(error)
    }

    /// Cuts the segment to its whole records. It is synced, so that after a power loss nothing of
    /// what was cut is found below later records.
    fn cut(&mut self, operation: &str) -> Result<(), Error> {
        let failed =
            |error: io::Error| format!("could not {operation} {}: {error}", self.segment.name);
        let cut = self.segment.file.truncate(self.length).map_err(failed);
        let through = self.last;
        let outcome = cut.and_then(|()| self.segment.sync());
        self.sync_ended(through, outcome)
    }

    /// Takes the outcome of a sync of the records through `through`.
    pub(crate) fn sync_ended(
        &mut self,
        through: u64,
        outcome: Result<(), String>,
    ) -> Result<(), Error> {
        match outcome {
            Err(cause) => Err(self.poison(cause)),
            Ok(()) => {
                self.synced = self.synced.max(through);
                Ok(())
            }
        }
    }

    /// Writes down that all records are durable, in a record that changes nothing, where the
    /// next record would not be there to say so. It may fail: it is needed only to tell what
    /// damage is.
    pub(crate) fn witness(&mut self) {
        if self.poison.is_some() || self.last_change != self.last || self.synced != self.last {
            return;
        }
        let (last_change, lacking) = (self.last_change, self.lacking);
        if self.first > self.last || lacking > 0 {
            return;
        }
        let mut buffer = Vec::with_capacity(frame::HEAD + 10);
        self.begin(&mut buffer);
        let _ = self.append(&mut buffer);
        (self.last_change, self.lacking) = (last_change, lacking);
    }
}

/// Writes a file with nothing but its header, durable under its unfinished name. One that fails is removed.
fn write_header<S: Storage>(storage: &S, kind: Kind, uuid: &[u8; 16]) -> Result<S::File, Error> {
    let name = kind.unfinished();
    let write = || {
        let file = storage.create(&name)?;
        write_all(&file, 0, &layout::header(kind, uuid))?;
        file.sync()?;
        Ok(file)
    };
    write().map_err(|error| {
        let _ = storage.remove(&name);
        Error::io("make", &name, error)
    })
}

/// Writes the identity of a new store: the last step of making one.
pub(crate) fn write_identity<S: Storage>(storage: &S, uuid: &[u8; 16]) -> Result<(), Error> {
    let kind = Kind::Identity;
    write_header(storage, kind, uuid)?;
    let named = storage.rename(&kind.unfinished(), &kind.name());
    named.map_err(|error| Error::io("name", &kind.name(), error))?;
    let synced = storage.sync_directory();
    synced.map_err(|error| Error::io("sync", ".", error))
}
