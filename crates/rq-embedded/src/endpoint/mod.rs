//! The endpoint of a file: other processes reach its queues over a Unix socket in it.

use std::io;
use std::path::Path;
use std::sync::Arc;

use crate::engine::Engine;

/// A thread that answers on the socket, until this is dropped.
pub(crate) struct Endpoint;

impl Endpoint {
    pub(crate) fn start(_engine: Arc<Engine>, _directory: &Path) -> io::Result<Self> {
        Ok(Self)
    }
}
