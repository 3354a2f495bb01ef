//! A file of its own for each test, owned by this process.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rq_embedded::{Clock, Owner, Sync};
use tempfile::TempDir;

use crate::client::Client;

pub(crate) struct File {
    _temporary: TempDir,
    path: PathBuf,
    owner: Option<Arc<Owner>>,
    clock: Option<Arc<Clock>>,
}

impl File {
    pub(crate) fn new() -> Self {
        Self::at("jobs.rq")
    }

    /// One in a place below a temporary directory.
    pub(crate) fn at(place: &str) -> Self {
        Self::with(place, None)
    }

    /// One whose time stands still.
    pub(crate) fn timed() -> (Self, Arc<Clock>) {
        let clock = Arc::new(Clock::default());
        (Self::with("jobs.rq", Some(Arc::clone(&clock))), clock)
    }

    fn with(place: &str, clock: Option<Arc<Clock>>) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join(place);
        std::fs::create_dir_all(&path).unwrap();
        let mut file = Self {
            _temporary: temporary,
            path,
            owner: None,
            clock,
        };
        file.open();
        file
    }

    /// A copy as it is on disk now, not opened.
    pub(crate) fn copy(&self) -> Self {
        let temporary = tempfile::tempdir().unwrap();
        let path = temporary.path().join("copy.rq");
        std::fs::create_dir(&path).unwrap();
        for entry in std::fs::read_dir(&self.path).unwrap() {
            let entry = entry.unwrap();
            if entry.file_type().unwrap().is_file() {
                std::fs::copy(entry.path(), path.join(entry.file_name())).unwrap();
            }
        }
        Self {
            _temporary: temporary,
            path,
            owner: None,
            clock: None,
        }
    }

    pub(crate) fn open(&mut self) {
        let (owner, _) =
            Owner::open(&self.path, Some([7; 16]), Sync::Os, self.clock.clone()).unwrap();
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
        state.push(name.as_bytes(), None, elements).unwrap();
    }
}

impl Drop for File {
    fn drop(&mut self) {
        self.close();
    }
}
