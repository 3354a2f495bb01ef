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
    /// This user may not do what the store needs, or the file system is read-only. Nothing was changed, and
    /// an open store goes on. Remedy: let the user read and write the directory and all files in it.
    Denied {
        /// What was tried.
        operation: &'static str,
        /// On which file.
        file: String,
        /// What the system said.
        source: io::Error,
    },
    /// The system refused an operation. Nothing was changed, and an open store goes on.
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
    /// Where a repaired store is to be, there is something already. Nothing was changed. Remedy: name a directory that
    /// is not there yet.
    Occupied {
        /// One of the files in it.
        file: String,
    },
    /// A store was to be repaired into itself. Nothing was changed. Remedy: as for `Occupied`.
    Same,
    /// The repaired store could not be made; every other error of a repair is about the damaged one, which is never changed.
    Destination(Box<Error>),
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
        use io::ErrorKind::{PermissionDenied, QuotaExceeded, ReadOnlyFilesystem, StorageFull};
        let file = file.to_owned();
        match source.kind() {
            StorageFull | QuotaExceeded => Error::Full { file, source },
            PermissionDenied | ReadOnlyFilesystem => Error::Denied {
                operation,
                file,
                source,
            },
            _ => Error::Io {
                operation,
                file,
                source,
            },
        }
    }

    /// What it means that the directory or the identity is not there: no store.
    pub(crate) fn or_missing(self) -> Self {
        match self {
            Error::Io { source, .. } if source.kind() == io::ErrorKind::NotFound => Error::Missing,
            error => error,
        }
    }

    /// The file of the store that it concerns, as it is named in the directory; `.` is the directory itself.
    #[must_use]
    pub fn file(&self) -> Option<&str> {
        match self {
            Error::Foreign { file }
            | Error::Occupied { file }
            | Error::Full { file, .. }
            | Error::Denied { file, .. }
            | Error::Io { file, .. }
            | Error::Corrupt { file, .. }
            | Error::Newer { file, .. } => Some(file),
            Error::Destination(error) => error.file(),
            Error::Busy
            | Error::Same
            | Error::Missing
            | Error::Poisoned { .. }
            | Error::TooLarge
            | Error::Core(_) => None,
        }
    }

    /// Where in the file, for damage.
    #[must_use]
    pub fn offset(&self) -> Option<u64> {
        match self {
            Error::Corrupt { offset, .. } => Some(*offset),
            _ => None,
        }
    }

    /// What is wrong, in a sentence.
    #[must_use]
    pub fn cause(&self) -> String {
        match self {
            Error::Busy => "the store is open elsewhere".to_owned(),
            Error::Missing => "there is no store here".to_owned(),
            Error::Foreign { file } => {
                format!("the directory is no store, it holds {file:?}")
            }
            Error::Full { file, source } => {
                let file = described(file);
                format!("there is no room to write {file}, so nothing was changed: {source}")
            }
            Error::Denied {
                operation,
                file,
                source,
            }
            | Error::Io {
                operation,
                file,
                source,
            } => format!("could not {operation} {}: {source}", described(file)),
            Error::Poisoned { cause } => format!(
                "the store takes nothing more, since it is not known what is on disk: {cause}"
            ),
            Error::Corrupt {
                file,
                offset,
                reason,
            } => format!("{file} is damaged at byte {offset}: {reason}"),
            Error::Newer { file, version } => {
                format!("{file} has format {version}, which a later release wrote")
            }
            Error::TooLarge => "the changes need a record of more than 4 GiB".to_owned(),
            Error::Occupied { file } => {
                format!("the destination is there already, it holds {file:?}")
            }
            Error::Same => "the destination is the source".to_owned(),
            Error::Destination(error) => {
                format!("the destination could not be made: {}", error.cause())
            }
            Error::Core(error) => error.to_string(),
        }
    }

    /// What to do about it; none for what the core refused.
    #[must_use]
    pub fn remedy(&self) -> Option<&'static str> {
        use io::ErrorKind::{NotADirectory, NotFound, ReadOnlyFilesystem};
        Some(match self {
            Error::Busy => "ask its owner, or wait until that ends",
            Error::Missing => "check the path, or let a store be made",
            Error::Foreign { .. } => "give the store a directory of its own",
            Error::Full { .. } => "make room and try again",
            Error::Denied { source, .. } if source.kind() == ReadOnlyFilesystem => {
                "mount the file system for writing"
            }
            Error::Denied { .. } => {
                "let this user read and write the directory and all files in it"
            }
            Error::Io { source, .. } if source.kind() == NotADirectory => {
                "give the path of a directory"
            }
            Error::Io { source, .. } if source.kind() == NotFound => {
                "see that the directory and all its files are there"
            }
            Error::Io { .. } => "see to the disk and try again",
            Error::Poisoned { .. } => "see to the disk and open the store again",
            Error::Corrupt { .. } => "restore a copy, or repair it into a new store",
            Error::Newer { .. } => "use that release",
            Error::TooLarge => "use fewer or smaller messages at a time",
            Error::Occupied { .. } | Error::Same => "name a destination that is not there yet",
            Error::Destination(error) => return error.remedy(),
            Error::Core(_) => return None,
        })
    }
}

impl From<rq_core::Error> for Error {
    fn from(error: rq_core::Error) -> Self {
        Error::Core(error)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause())?;
        match self.remedy() {
            Some(remedy) => write!(f, "; {remedy}"),
            None => Ok(()),
        }
    }
}

/// A file as a sentence names it.
fn described(file: &str) -> &str {
    match file {
        "." => "the directory",
        file => file,
    }
}

impl std::error::Error for Error {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Error::Full { source, .. }
            | Error::Denied { source, .. }
            | Error::Io { source, .. } => Some(source),
            Error::Destination(error) => Some(error),
            Error::Core(error) => Some(error),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_error_says_cause_file_and_remedy() {
        let io = |kind: io::ErrorKind| Error::io("read", "log-1", kind.into());
        let cause = "could not sync log-1".to_owned();
        let file = "log-1".to_owned();
        let all = [
            (Error::Busy, false),
            (Error::Missing, false),
            (Error::Foreign { file: file.clone() }, true),
            (io(io::ErrorKind::StorageFull), true),
            (io(io::ErrorKind::PermissionDenied), true),
            (io(io::ErrorKind::ReadOnlyFilesystem), true),
            (io(io::ErrorKind::NotADirectory), true),
            (io(io::ErrorKind::NotFound), true),
            (io(io::ErrorKind::Other), true),
            (Error::Poisoned { cause }, false),
            (Error::corrupt("log-1", 77, "no whole record"), true),
            (Error::Newer { file, version: 2 }, true),
            (Error::TooLarge, false),
            (
                Error::Occupied {
                    file: "log-1".to_owned(),
                },
                true,
            ),
            (Error::Same, false),
            (
                Error::Destination(Box::new(io(io::ErrorKind::StorageFull))),
                true,
            ),
        ];
        for (error, names) in &all {
            let text = error.to_string();
            let remedy = error.remedy().unwrap();
            assert_eq!(text, format!("{}; {remedy}", error.cause()));
            assert_eq!(error.file(), names.then_some("log-1"), "{text}");
            assert!(!names || text.contains("log-1"), "{text}");
        }
        let core = Error::Core(rq_core::Error::Exhausted);
        assert_eq!((core.file(), core.remedy()), (None, None));
        let corrupt = Error::corrupt("log-1", 77, "no whole record");
        assert_eq!(corrupt.offset(), Some(77));
        assert!(corrupt.to_string().contains("log-1 is damaged at byte 77"));
        assert_eq!(Error::Busy.offset(), None);
        let directory = Error::io("list", ".", io::ErrorKind::PermissionDenied.into());
        assert!(directory.to_string().contains("list the directory:"));
    }
}
