//! The endpoint of a file, over its socket.
#![allow(clippy::unwrap_used, clippy::panic, missing_docs)]

mod blocking;
mod client;
mod durability;
mod file;
mod life;
mod protocol;
mod queues;
mod session;
mod socket;
mod status;
