//! A file of its own for each test, owned by this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rq_embedded::{Owner, Sync, clock};
use tempfile::TempDir;

use crate::client::Client;

pub(crate) struct File {
    _temporary: TempDir,
    path: PathBuf,
    owner: Option<Arc<Owner>>,
}

impl File {
    pub(crate) fn new() -> Self {
        Self::at("jobs.rq")
    }

    /// One in a place below a temporary directory.
    pub(crate) fn at(place: &str) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join(place);
        std::fs::create_dir_all(&path).unwrap();
        let mut file = Self {
            _temporary: temporary,
            path,
            owner: None,
        };
        file.open();
        file
    }

    pub(crate) fn open(&mut self) {
        let (owner, _) = Owner::open(&self.path, Some([7; 16]), Sync::Os).unwrap();
        self.owner = Some(owner);
    }

    pub(crate) fn close(&mut self) {
        if let Some(owner) = self.owner.take() {
            owner.release().unwrap();
        }
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn socket(&self) -> PathBuf {
        self.path.join("socket")
    }

    pub(crate) fn owner(&self) -> &Owner {
        self.owner.as_ref().unwrap()
    }

    /// How many queues there are.
    pub(crate) fn queues(&self) -> usize {
        self.owner().engine().lock().unwrap().queues().len()
    }

    pub(crate) fn connect(&self) -> Client {
        Client::connect(&self.socket())
    }

    /// Pushes from within the process.
    pub(crate) fn push(&self, name: &str, element: &[u8]) {
        let mut state = self.owner().engine().lock().unwrap();
        let elements = [element].into_iter();
        state.push(clock::now(), name.as_bytes(), elements).unwrap();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.close();
    }
}
