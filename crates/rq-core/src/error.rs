//! What can go wrong in the core, each with its cause.

use std::fmt;

use crate::id::Id;

/// An operation that was refused. The queue is as it was before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Error {
    /// No further ID can be made: milliseconds and sequence are at their largest.
    /// Cause: an ID from the far future was restored or applied. Remedy: none but to drain the queue
    /// and, where new queues are refused too, to start the server anew without its last ID.
    Exhausted,
    /// A producer's number is not the next one: elements between are missing, and would be taken
    /// for stored ones when they come. Holds the highest number known.
    Gap(u64),
    /// A token that must be unique belongs to a message already. Holds its ID.
    Duplicate(Id),
    /// More than the queue may hold: messages, or bytes of payloads and headers. Holds the cap's name and size.
    Capped(&'static str, u64),
    /// Pushes are paused.
    Paused,
    /// A message that was to be handed over is not held, or not by this delivery.
    NotHeld(Id),
    /// A search found less than it was asked for among so many messages, and ended.
    /// Cause: filters that no index helps with. Remedy: others.
    Unbounded(u64),
    /// An effect that does not fit this queue, or bytes that are no effect. The text says why.
    /// Cause: another version wrote it, bytes were damaged, or the queue is not the one that
    /// the effect was made from.
    BadEffect(&'static str),
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Error::Exhausted => f.write_str(
                "no further ID can be made: the last one given is at the largest time and sequence",
            ),
            Error::Gap(highest) => write!(
                f,
                "the producer's highest number is {highest}, expected at most the one behind it"
            ),
            Error::Duplicate(id) => write!(
                f,
                "the token belongs to message {id} already, expected one that the queue does not know"
            ),
            Error::Capped(cap, size) => write!(
                f,
                "the queue would exceed its {cap} of {size}; push again when messages were acknowledged, or raise it with RQ.SETUP"
            ),
            Error::Paused => {
                f.write_str("pushes to the queue are paused; RQ.RESUME lets them go on")
            }
            Error::NotHeld(id) => write!(
                f,
                "message {id} is not held, or not by this delivery; nothing was changed"
            ),
            Error::Unbounded(looks) => write!(
                f,
                "the filters leave too little of the first {looks} messages, expected a narrower RANGE, or none of the filters"
            ),
            Error::BadEffect(reason) => write!(f, "bad effect: {reason}"),
        }
    }
}

impl std::error::Error for Error {}
