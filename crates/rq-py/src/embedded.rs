//! A connection to queues of this process.

use std::path::PathBuf;
use std::sync::Arc;

use pyo3::prelude::*;
use pyo3::types::PyString;
use rq_command::reply::Status;
use rq_embedded::{Error, Owner, Sync};

use crate::clock::Clock;
use crate::errors;
use crate::handle::Handle;
use crate::link::Link;

/// A connection to queues in the memory of this process, or in a file that it owns.
#[pyclass(frozen, module = "reliableq._native")]
pub struct Embedded {
    link: Arc<Link>,
    torn: Option<String>,
}

impl Embedded {
    fn new(owner: Arc<Owner>, sync: Sync, torn: Option<String>) -> Self {
        let link = Arc::new(Link::new(owner, sync));
        Self { link, torn }
    }

    /// Another connection to a file that this process owns; none when it was closed just now by another thread.
    fn share(
        py: Python<'_>,
        owner: Arc<Owner>,
        sync: Sync,
        clock: Option<&Clock>,
    ) -> PyResult<Option<Self>> {
        let embedded = Self::new(owner, sync, None);
        let same = embedded.link.work(py, false, |state| {
            state.raise_sync(sync);
            Ok(clock.is_none_or(|clock| state.lives_by(&clock.clock)))
        });
        match same {
            Ok(true) => Ok(Some(embedded)),
            Ok(false) => Err(errors::other_clock()),
            Err(_) => Ok(None),
        }
    }
}

#[pymethods]
impl Embedded {
    /// Queues in memory: new ones, or with a name those that every connection with this name
    /// shares for as long as the process lives.
    #[staticmethod]
    #[pyo3(signature = (name, clock=None))]
    fn memory(py: Python<'_>, name: Option<&str>, clock: Option<&Clock>) -> PyResult<Self> {
        let clock = clock.map(|clock| Arc::clone(&clock.clock));
        let owner = py.detach(|| Owner::memory(name, clock));
        let owner = owner.map_err(|error| errors::of(py, &error))?;
        Ok(Self::new(owner, Sync::Os, None))
    }

    /// Queues of a file, as its owner; None when another process owns it. `sync` is "always",
    /// "interval" or "os"; `uuid` is for a file that is made, and without it none is made.
    #[staticmethod]
    #[pyo3(signature = (path, sync, uuid, clock=None))]
    fn file(
        py: Python<'_>,
        path: PathBuf,
        sync: &str,
        uuid: Option<[u8; 16]>,
        clock: Option<&Clock>,
    ) -> PyResult<Option<Self>> {
        let sync = match sync {
            "always" => Sync::Always,
            "interval" => Sync::Interval,
            _ => Sync::Os,
        };
        let shared = py.detach(|| Owner::of_file(&path));
        let shared = shared.map_err(|error| errors::of(py, &error))?;
        if let Some(owner) = shared {
            return Self::share(py, owner, sync, clock);
        }
        let clock = clock.map(|clock| Arc::clone(&clock.clock));
        match py.detach(|| Owner::open(&path, uuid, sync, clock)) {
            Ok((owner, opened)) => {
                let torn = opened.torn.map(|torn| {
                    let (bytes, file, offset) = (torn.bytes, torn.file, torn.offset);
                    format!("the last {bytes} bytes of {file} from byte {offset} on")
                });
                Ok(Some(Self::new(owner, sync, torn)))
            }
            Err(Error::Store(rq_store::Error::Busy)) => Ok(None),
            Err(error) => Err(errors::of(py, &error)),
        }
    }

    /// What was cut from the end of the file when it was opened, if anything.
    #[getter]
    fn torn(&self) -> Option<&str> {
        self.torn.as_deref()
    }

    /// Whether this process was forked from the one that made this connection.
    #[getter]
    fn forked(&self) -> bool {
        self.link.is_forked()
    }

    /// The queue of a name. In a forked child its calls go to the `successor`, where there is one. A queue that a
    /// push makes gets the milliseconds of lease, and the deliveries, of `new`.
    #[pyo3(signature = (name, successor=None, new=(30_000, 3)))]
    fn queue(
        &self,
        name: &Bound<'_, PyString>,
        successor: Option<Py<PyAny>>,
        new: (u64, u32),
    ) -> PyResult<Handle> {
        Handle::new(Arc::clone(&self.link), name, successor, new)
    }

    /// The names of the queues that hold messages, sorted.
    fn names(&self, py: Python<'_>) -> PyResult<Vec<String>> {
        let names = self.link.work(py, true, |state| {
            let queues = state.queues().sorted();
            // Those with dead letters or settings alone do not count, as for a server.
            let held = queues.filter(|(_, queue)| Status::of(Some(queue), 0).total > 0);
            Ok(held.map(|(name, _)| name.to_vec()).collect::<Vec<_>>())
        })?;
        let text = |name: Vec<u8>| String::from_utf8_lossy(&name).into_owned();
        Ok(names.into_iter().map(text).collect())
    }

    /// Makes a queue of what DUMP gave.
    fn restore(&self, py: Python<'_>, name: &str, data: &[u8], replace: bool) -> PyResult<()> {
        let queue = py.detach(|| rq_dump::read(data));
        let queue = queue.map_err(|refusal| errors::invalid_dump(&refusal))?;
        self.link.store(py, true, |state| {
            state.restore(name.as_bytes(), &queue, replace)
        })
    }

    /// Ends this connection: every later call raises, and so does one that waits. Other
    /// connections to the same queues go on.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.link.close(py)
    }
}
