//! Queues inside a process: in its memory, or in a file that it shares with other processes.
//!
//! | file | holds |
//! |---|---|
//! | `keeper` | where queues are kept: in memory, or in a store too |
//! | `engine` | the lock around them, waiting, group commit |
//! | `state` | what the lock guards; operations that are made for each message |
//! | `command` | all others, as `RQ.*` |
//! | `due` | what queues do by themselves, and when |
//! | `house` | the thread for that, and for syncs and checkpoints |
//! | `waiting` | those who wait for messages |
//! | `owner` | one owner for each place in a process; its threads |
//! | `endpoint` | the socket through which other processes reach the queues of a file |
//! | `memory` | giving memory back to the system |
//! | `fork` | what a forked child must not keep |
//! | `clock` | the time that is given to the core: the system's, or a test's |
//!
//! Promises are in `docs/embedded.md`.

mod clock;
mod command;
mod due;
mod endpoint;
mod engine;
mod error;
pub mod fork;
mod house;
mod keeper;
mod memory;
mod owner;
mod state;
mod waiting;

pub use clock::Clock;
pub use command::{is_durable, pop_of};
pub use engine::{Engine, Sync};
pub use error::Error;
pub use owner::Owner;
pub use state::State;
