//! Queues inside a process: in its memory, or in a file that it shares with other processes.
//!
//! | file | holds |
//! |---|---|
//! | `keeper` | where queues are kept: in memory, or in a store too |
//! | `engine` | the lock around them, operations, waiting, group commit, chores |
//! | `waiting` | those who wait for messages |
//! | `owner` | one owner for each place in a process; its threads |
//! | `endpoint` | the socket through which other processes reach the queues of a file |
//! | `memory` | giving memory back to the system |
//! | `fork` | what a forked child must not keep |
//! | `clock` | the time that is given to the core |
//!
//! Promises are in `docs/embedded.md`.

pub mod clock;
mod endpoint;
mod engine;
mod error;
pub mod fork;
mod keeper;
mod memory;
mod owner;
mod waiting;

pub use engine::{Engine, State, Sync};
pub use error::Error;
pub use owner::Owner;
