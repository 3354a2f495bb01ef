//! Errors of commands.

use std::borrow::Cow;
use std::fmt;

/// The stable first word of an error reply.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Code {
    /// `ERR`: an argument is not what was expected.
    Argument,
    /// `WRONGTYPE`: the key holds something else.
    WrongType,
    /// `EXHAUSTED`: the queue has no further IDs.
    Exhausted,
    /// `GAP`: a producer left numbers out.
    Gap,
    /// `DUPLICATE`: a token that must be unique is known.
    Duplicate,
    /// `CAPPED`: the queue has no room for a push.
    Capped,
    /// `PAUSED`: the queue takes no pushes.
    Paused,
    /// `NOTHELD`: a message that is to be handed over is not held.
    NotHeld,
    /// `BADEFFECT`: bytes that are no effect of this queue.
    BadEffect,
    /// `BUSYKEY`: there is a queue already.
    Exists,
    /// `FULL`: the disk of a file is full; nothing was changed, and it goes on when there is room.
    Full,
    /// `IOERR`: the system refused an operation on a file; nothing was changed.
    Io,
    /// `TOOLARGE`: more than a file takes at a time; nothing was changed.
    TooLarge,
    /// `POISONED`: a file takes nothing more until it is opened again.
    Poisoned,
}

impl Code {
    /// The word.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Code::Argument => "ERR",
            Code::WrongType => "WRONGTYPE",
            Code::Exhausted => "EXHAUSTED",
            Code::Gap => "GAP",
            Code::Duplicate => "DUPLICATE",
            Code::Capped => "CAPPED",
            Code::Paused => "PAUSED",
            Code::NotHeld => "NOTHELD",
            Code::BadEffect => "BADEFFECT",
            Code::Exists => "BUSYKEY",
            Code::Full => "FULL",
            Code::Io => "IOERR",
            Code::TooLarge => "TOOLARGE",
            Code::Poisoned => "POISONED",
        }
    }
}

/// A command that was refused: nothing was changed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Refusal {
    /// The first word.
    pub code: Code,
    /// What was expected, or what to do.
    pub text: Cow<'static, str>,
}

impl Refusal {
    /// A refusal with a fixed text.
    #[must_use]
    pub const fn new(code: Code, text: &'static str) -> Self {
        Self {
            code,
            text: Cow::Borrowed(text),
        }
    }

    /// An argument that is not what was expected.
    pub(crate) fn argument(text: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code: Code::Argument,
            text: text.into(),
        }
    }

    /// The key holds something else.
    #[must_use]
    pub const fn wrong_type() -> Self {
        Self::new(
            Code::WrongType,
            "Operation against a key holding the wrong kind of value, expected a reliable queue",
        )
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.code.word(), self.text)
    }
}

impl std::error::Error for Refusal {}

impl From<rq_core::Error> for Refusal {
    fn from(error: rq_core::Error) -> Self {
        let code = match error {
            rq_core::Error::Exhausted => Code::Exhausted,
            rq_core::Error::Gap(_) => Code::Gap,
            rq_core::Error::Duplicate(_) => Code::Duplicate,
            rq_core::Error::Capped(..) => Code::Capped,
            rq_core::Error::Paused => Code::Paused,
            rq_core::Error::NotHeld(_) => Code::NotHeld,
            rq_core::Error::Unbounded(_) => Code::Argument,
            rq_core::Error::BadEffect(_) => Code::BadEffect,
        };
        Self {
            code,
            text: error.to_string().into(),
        }
    }
}
