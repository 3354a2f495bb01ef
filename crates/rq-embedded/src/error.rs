//! What can go wrong in a place that keeps queues.

use std::fmt;
use std::sync::PoisonError;

use rq_command::{Code, Refusal};

/// An operation that was refused, or did not work.
#[derive(Debug)]
pub enum Error {
    /// The store or the core refused it.
    Store(rq_store::Error),
    /// A panic of an earlier operation left the queues in an unknown state.
    Damaged,
    /// There is a queue already, and it was not to be replaced.
    Exists,
    /// Its last user has let go of the place.
    Closed,
    /// The system refused something, such as the socket for other processes.
    System(std::io::Error),
    /// A command was refused.
    Refused(Refusal),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Store(error) => error.fmt(f),
            Error::Damaged => f.write_str("an earlier operation failed halfway"),
            Error::Exists => f.write_str("there is such a queue already"),
            Error::Closed => f.write_str("it was closed"),
            Error::System(error) => error.fmt(f),
            Error::Refused(refusal) => refusal.fmt(f),
        }
    }
}

impl std::error::Error for Error {}

impl From<rq_store::Error> for Error {
    fn from(error: rq_store::Error) -> Self {
        Error::Store(error)
    }
}

impl From<rq_core::Error> for Error {
    fn from(error: rq_core::Error) -> Self {
        Error::Store(error.into())
    }
}

impl From<std::io::Error> for Error {
    fn from(error: std::io::Error) -> Self {
        Error::System(error)
    }
}

impl<T> From<PoisonError<T>> for Error {
    fn from(_: PoisonError<T>) -> Self {
        Error::Damaged
    }
}

impl From<Refusal> for Error {
    fn from(refusal: Refusal) -> Self {
        Error::Refused(refusal)
    }
}

impl From<Error> for Refusal {
    fn from(error: Error) -> Self {
        use rq_store::Error as Store;
        let code = match error {
            Error::Refused(refusal) => return refusal,
            Error::Store(Store::Core(error)) => return error.into(),
            Error::Exists => {
                return Refusal::new(Code::Exists, "Target key name already exists.");
            }
            Error::Store(Store::Full { .. }) => Code::Full,
            Error::Store(Store::TooLarge) => Code::TooLarge,
            Error::Store(Store::Poisoned { .. }) | Error::Damaged | Error::Closed => Code::Poisoned,
            Error::Store(_) | Error::System(_) => Code::Io,
        };
        Refusal {
            code,
            text: error.to_string().into(),
        }
    }
}
