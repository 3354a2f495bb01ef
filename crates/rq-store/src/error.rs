//! What can go wrong with a store, each with its cause and its remedy.

use std::fmt;
use std::io;

/// A store could not do what it was asked.
#[derive(Debug)]
pub enum Error {
    /// Somebody else has the store open. Remedy: ask them, or wait until they end.
    Busy,
    /// There is no store, and none was to be made. Remedy: check the path, or let it be made.
    Missing,
    /// The directory holds something else. Remedy: name a directory of its own for the store.
    Foreign {
        /// One of the files in it.
        file: String,
    },
    /// The disk is full. Nothing was changed; the store goes on when there is room again.
    Full {
        /// The file that was to grow.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused an operation. Nothing was changed, and the store goes on.
    Io {
        /// What was tried.
        operation: &'static str,
        /// On which file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// It is not known any more what is on disk, so nothing further is stored. Remedy: see to the disk, then
    /// open the store again.
    Poisoned {
        /// What made it so.
        cause: String,
    },
    /// Bytes are damaged or missing, and not because the last write was cut short. Nothing was
    /// changed. Remedy: a copy of the store, or [`repair`](crate::repair()).
    Corrupt {
        /// The file.
        file: String,
        /// Where in it.
        offset: u64,
        /// What is wrong there.
        reason: &'static str,
    },
    /// A later release wrote the store. Remedy: use that release.
    Newer {
        /// The file that says so.
        file: String,
        /// Its format.
        version: u32,
    },
    /// A record would not fit its length field. Nothing was changed. Remedy: fewer or smaller messages at a
    /// time.
    TooLarge,
    /// The core refused an operation.
    Core(rq_core::Error),
}

impl Error {
    pub(crate) fn corrupt(file: &str, offset: u64, reason: &'static str) -> Self {
        let file = file.to_owned();
        Error::Corrupt {
            file,
            offset,
            reason,
        }
    }

    /// The error for an operation that the system refused.
    pub(crate) fn io(operation: &'static str, file: &str, source: io::Error) -> Self {
        use io::ErrorKind::{QuotaExceeded, StorageFull};
        let file = file.to_owned();
        if matches!(source.kind(), StorageFull | QuotaExceeded) {
            return Error::Full { file, source };
        }
        Error::Io {
            operation,
            file,
            source,
        }
    }
}

impl From<rq_core::Error> for Error {
    fn from(error: rq_core::Error) -> Self {
        Error::Core(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Busy => f.write_str("the store is open elsewhere"),
            Error::Missing => f.write_str("there is no store here"),
            Error::Foreign { file } => write!(
                f,
                "the directory is no store, it holds {file:?}; give the store a directory of its own"
            ),
            Error::Full { file, source } => write!(
                f,
                "no room to write {file} ({source}); nothing was stored, make room and try again"
            ),
            Error::Io {
                operation,
                file,
                source,
            } => write!(f, "could not {operation} {file}: {source}"),
            Error::Poisoned { cause } => write!(
                f,
                "the store takes nothing more, since it is not known what is on disk: {cause}; see to the disk and open it again"
            ),
            Error::Corrupt {
                file,
                offset,
                reason,
            } => write!(
                f,
                "{file} is damaged at byte {offset}: {reason}; restore a copy, or repair it into a new store"
            ),
            Error::Newer { file, version } => write!(
                f,
                "{file} has format {version}, written by a later release; use that release"
            ),
            Error::TooLarge => {
                f.write_str("a record of more than 4 GiB; use fewer or smaller messages at a time")
            }
            Error::Core(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Full { source, .. } | Error::Io { source, .. } => Some(source),
            Error::Core(error) => Some(error),
            _ => None,
        }
    }
}
