//! Durable queues in one directory.
//!
//! A [`Store`] holds the queues of the core in memory and writes every change into a log before
//! it counts; now and then all queues go into a checkpoint, and the log before it goes. Opening a
//! store reads both again. It starts no thread, reads no clock and makes no randomness.
//!
//! | file | holds |
//! |---|---|
//! | `storage` | [`Storage`]: what is asked of a disk |
//! | `files` | [`Files`]: a real directory |
//! | `disk` | [`Disk`]: a simulated one, with power losses and failures |
//! | `layout` | names and headers of files |
//! | `frame`, `record`, `number` | the bytes of a record |
//! | `queues` | [`Queues`]: queues by name, and the floor under new IDs |
//! | `log` | appending, segments, syncing |
//! | `checkpoint` | all queues in one file |
//! | `damage` | what is a torn tail, and what is damage |
//! | `recover` | reading it all again |
//! | `store` | [`Store`]: the whole; its records and checkpoints have files of their own |
//! | `repair` | [`repair()`]: what can be saved from a damaged store |
//!
//! Promises and bytes are in `docs/store.md`.

mod checkpoint;
mod damage;
mod disk;
mod error;
mod files;
mod frame;
mod layout;
mod log;
mod number;
mod queues;
mod record;
mod recover;
mod repair;
mod storage;
mod store;

pub use disk::{Crash, Disk, DiskFile, Failure, Fault, Operation};
pub use error::Error;
pub use files::{Files, OpenFile};
pub use queues::Queues;
pub use recover::{Torn, identity};
pub use repair::{Loss, Repaired, repair};
pub use storage::{File, Storage};
pub use store::{Checkpointed, Checkpointing, Opened, Options, Record, Store, Synced, Syncing};
