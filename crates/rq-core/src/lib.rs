//! The reliable queue, as a deterministic state machine.
//!
//! A [`Queue`] holds messages. A message waits until it is popped, is then *delivered* until it
//! is acknowledged, and is gone after that. Nothing here reads a clock, opens a file or starts a
//! thread: the time comes in with each operation, and every change goes out as an *effect*
//! ([`effect`]), a few bytes that say what happened. Applying the effects of a queue to an empty
//! one gives the same queue again; a snapshot ([`snapshot`]) is a queue written as such effects.
//!
//! | file | holds |
//! |---|---|
//! | `agenda` | [`Agenda`]: when to look at which queue, for whoever keeps queues |
//! | `id` | [`Id`]: milliseconds and sequence, always growing, and its text |
//! | `segment` | one page of messages in ID order |
//! | `store` | all messages, as segments found by ID or by ordinal |
//! | `record` | one record per delivered message, in chunks that are given back |
//! | `delivered` | the list of delivered messages, ordered by last delivery |
//! | `group` | a cursor over the store, its records and its delivered list |
//! | `producer` | numbers of producers, so that a push sent again is stored once |
//! | `outcome` | what operations and looks give |
//! | `queue` | the operations: push, pop, acknowledge, recover, and looking |
//! | `effect`, `apply` | every change as bytes, and those bytes as a change |
//! | `snapshot` | a whole queue as effects |
//! | `salvage` | what can be had of effects and snapshots of which something is missing |
//! | `invariants` | what must hold between two operations |
//!
//! Invariants of the whole are in `docs/design.md`, the bytes in `docs/format.md`.

mod agenda;
mod apply;
mod counters;
mod delivered;
pub mod effect;
mod error;
mod group;
mod id;
mod invariants;
mod outcome;
mod producer;
mod queue;
mod record;
mod salvage;
mod segment;
pub mod snapshot;
mod store;
mod varint;

pub use agenda::Agenda;
pub use apply::Applied;
pub use counters::Counters;
pub use error::Error;
pub use id::{Id, IdText, InvalidId};
pub use outcome::{Delivery, Held, Info, Meta, Pending, Produced, Pushed, State, Waiting};
pub use queue::Queue;
