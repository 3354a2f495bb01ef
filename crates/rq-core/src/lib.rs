//! The reliable queue, as a deterministic state machine.
//!
//! A [`Queue`] holds messages. A message waits until it is popped, is then *delivered* until it
//! is acknowledged, and is gone after that; `docs/life.md` tells the whole life. Nothing here reads a clock, opens a file or starts a
//! thread: the time comes in with each operation, and every change goes out as an *effect*
//! ([`effect`]), a few bytes that say what happened. Applying the effects of a queue to an empty
//! one gives the same queue again; a snapshot ([`snapshot`]) is a queue written as such effects.
//!
//! | file | holds |
//! |---|---|
//! | `agenda`, `clock` | for whoever keeps queues: when to look at which, and the time |
//! | `id`, `receipt` | [`Id`]: milliseconds and sequence, always growing; [`Receipt`]: one delivery |
//! | `message`, `policy`, `counters` | what travels with a message; settings and counts of a queue |
//! | `segment`, `store` | one page of messages in ID order; all of them, found by ID or by ordinal |
//! | `record` | one record per message from its first delivery on, in chunks that are given back |
//! | `delivered`, `deadlines` | what is delivered, by last delivery and by the end of leases |
//! | `lane` | what waits outside the order of IDs: priorities, front, returned, late |
//! | `index` | messages in the order of a time: schedule, times to live |
//! | `dead`, `consumer` | dead letters; consumers by name and what they hold |
//! | `group` | a cursor over the store, and where each message stands |
//! | `remembered` | producers and tokens, so that a push sent again is stored once |
//! | `queue`, `look`, `search` | what a queue is made of, looking at it, finding what is asked for |
//! | `produce`, `consume`, `settle`, `manage`, `expire` | the operations |
//! | `outcome` | what operations and looks give |
//! | `effect`, `apply` | every change as bytes, and those bytes as a change |
//! | `snapshot`, `parts`, `load` | a whole queue as effects |
//! | `salvage` | what can be had of effects and snapshots of which something is missing |
//! | `invariants` | what must hold between two operations |
//!
//! Invariants of the whole are in `docs/design.md`, the bytes in `docs/format.md`.

mod agenda;
mod apply;
mod clock;
mod consume;
mod consumer;
mod counters;
mod dead;
mod deadlines;
mod delivered;
pub mod effect;
mod error;
mod expire;
mod group;
mod id;
mod index;
mod invariants;
mod lane;
mod load;
mod look;
mod manage;
mod message;
mod outcome;
mod parts;
mod policy;
mod produce;
mod queue;
mod receipt;
mod record;
mod remembered;
mod salvage;
mod search;
mod segment;
mod settle;
pub mod snapshot;
mod store;
mod varint;

pub use agenda::Agenda;
pub use clock::Clock;
pub use consume::{Pop, Recover, TakeOver};
pub use counters::Counters;
pub use error::Error;
pub use id::{Id, IdText, InvalidId};
pub use message::{Fields, Headers};
pub use outcome::{
    Dead, Delivery, Held, Holder, Info, Meta, Paused, Pending, Produced, Pushed, Scheduled,
    Settled, State, Waiting,
};
pub use policy::{Backoff, Change, DEDUP, Policy};
pub use produce::Options;
pub use queue::{Moment, Queue};
pub use receipt::Receipt;
pub use search::{Filter, Window};
pub use settle::Nack;
