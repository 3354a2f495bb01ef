//! What Python calls: queues in the memory of this process.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rq_core::{Counters, Id, Info};

use crate::row::{Rows, id_list};
use crate::shared::{Shared, State};
use crate::{body, clock, errors};

/// A push of more bytes than this releases the GIL.
const LONG: usize = 64 * 1024;

/// How often a wait in the main thread looks for signals. Nothing wakes a waiting thread when
/// one arrives, and only the main thread runs their handlers.
const SIGNALS: Duration = Duration::from_millis(50);

/// A connection to queues in the memory of this process: its own, or with a name those that
/// every connection with this name shares.
///
/// Numbers are not checked here beyond their range: the package does that for every backend.
/// Times are in milliseconds.
#[pyclass(frozen, module = "reliableq._native")]
pub struct Memory {
    shared: Arc<Shared>,
    closed: AtomicBool,
}

#[pymethods]
impl Memory {
    #[new]
    #[pyo3(signature = (name=None))]
    fn new(py: Python<'_>, name: Option<&str>) -> PyResult<Self> {
        let shared = match name {
            Some(name) => Shared::named(py, name)?,
            None => Arc::default(),
        };
        let closed = AtomicBool::new(false);
        Ok(Self { shared, closed })
    }

    /// Appends messages, all of them or none, and returns their IDs.
    fn push<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        bodies: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let bodies = bodies.iter().map(body::bytes);
        let bodies: Vec<Bound<'py, PyBytes>> = bodies.collect::<PyResult<_>>()?;
        let slices: Vec<&[u8]> = bodies.iter().map(|body| body.as_bytes()).collect();
        let long = slices.iter().map(|slice| slice.len()).sum::<usize>() > LONG;
        let pushed = self.work(py, long, |state| {
            let pushed = state.queues.push(clock::now(), name, &slices);
            if let Ok(pushed) = &pushed {
                state.ring(name, pushed.count);
            }
            pushed
        })?;
        id_list(py, pushed.map_err(|error| errors::refused(&error))?.ids())
    }

    /// Delivers up to `count` waiting messages. When there are none, waits for the first until
    /// `timeout` is over, for ever when it is None.
    #[pyo3(signature = (name, count, timeout))]
    fn pop<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        count: u64,
        timeout: Option<u64>,
    ) -> PyResult<Bound<'py, PyList>> {
        let mut rows = self.take(py, name, count)?;
        if rows.is_empty() && timeout != Some(0) {
            rows = self.take_later(py, name, count, timeout)?;
        }
        rows.into_list(py)
    }

    /// Lets go of delivered messages; returns the IDs of those that this call let go.
    fn acknowledge<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        ids: Vec<Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyList>> {
        let ids: Vec<Id> = ids.iter().map(parse).collect::<PyResult<_>>()?;
        let done = self.work(py, false, |state| state.queues.acknowledge(name, &ids))?;
        id_list(py, done.into_iter())
    }

    /// Delivers again up to `count` messages that were delivered at least `elapsed` ago.
    fn recover<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        count: u64,
        elapsed: u64,
    ) -> PyResult<Bound<'py, PyList>> {
        self.work(py, false, |state| {
            state.queues.recover(clock::now(), name, count, elapsed)
        })?
        .into_list(py)
    }

    /// Messages from a position on, the waiting or the delivered ones.
    fn inspect<'py>(
        &self,
        py: Python<'py>,
        name: &str,
        start: i64,
        count: u64,
        pending: bool,
    ) -> PyResult<Bound<'py, PyList>> {
        let look = |state: &mut State| {
            if pending {
                (state.queues).inspect_pending(clock::now(), name, start, count)
            } else {
                state.queues.inspect_waiting(name, start, count)
            }
        };
        self.work(py, false, look)?.into_list(py)
    }

    /// The number of messages that the queue holds.
    fn length(&self, py: Python<'_>, name: &str) -> PyResult<u64> {
        self.work(py, false, |state| state.queues.length(name))
    }

    /// The queue in numbers, or None when it holds nothing.
    fn info<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Option<Bound<'py, PyDict>>> {
        let info = self.work(py, false, |state| state.queues.info(clock::now(), name))?;
        info.map(|info| describe(py, &info)).transpose()
    }

    /// Ends this connection: every later call raises, and so does one that waits. Other
    /// connections to the same queues go on.
    fn close(&self, py: Python<'_>) -> PyResult<()> {
        self.closed.store(true, Ordering::Relaxed);
        self.shared.work(py, false, |state| state.ring_all())
    }
}

impl Memory {
    /// Does something under the lock, unless this connection is closed.
    fn work<T: Send>(
        &self,
        py: Python<'_>,
        long: bool,
        act: impl FnOnce(&mut State) -> T + Send,
    ) -> PyResult<T> {
        if self.closed.load(Ordering::Relaxed) {
            return Err(errors::closed());
        }
        self.shared.work(py, long, act)
    }

    fn take(&self, py: Python<'_>, name: &str, count: u64) -> PyResult<Rows> {
        self.work(py, false, |state| {
            state.queues.pop(clock::now(), name, count)
        })
    }

    /// Waits for messages and takes them. Signals are looked for before they are taken, so that
    /// an interrupted call has taken nothing.
    fn take_later(
        &self,
        py: Python<'_>,
        name: &str,
        count: u64,
        timeout: Option<u64>,
    ) -> PyResult<Rows> {
        let end = timeout.and_then(|ms| Instant::now().checked_add(Duration::from_millis(ms)));
        let signals = in_main_thread(py)?;
        loop {
            let look = signals.then(|| Instant::now() + SIGNALS);
            let until = end.into_iter().chain(look).min();
            self.shared.wait(py, name, until, &self.closed)?;
            let rows = py.check_signals().and_then(|()| self.take(py, name, count));
            let over = end.is_some_and(|end| end <= Instant::now());
            match rows {
                Ok(rows) if rows.is_empty() && !over => {}
                Ok(rows) => return Ok(rows),
                Err(error) => {
                    self.shared.work(py, false, |state| state.pass_on(name))?;
                    return Err(error);
                }
            }
        }
    }
}

/// Whether this is the thread that runs the handlers of signals.
fn in_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    main.eq(threading.call_method0("get_ident")?)
}

fn parse(id: &Bound<'_, PyAny>) -> PyResult<Id> {
    let text: &str = id.extract()?;
    Id::parse(text.as_bytes()).map_err(|_| errors::invalid_id(text))
}

fn describe<'py>(py: Python<'py>, info: &Info) -> PyResult<Bound<'py, PyDict>> {
    let described = PyDict::new(py);
    described.set_item("waiting", info.waiting)?;
    described.set_item("delivered", info.delivered)?;
    for (name, value) in Counters::NAMES.iter().zip(info.counters.values()) {
        described.set_item(name, value)?;
    }
    described.set_item("memory", info.memory)?;
    described.set_item("first_id", info.first_id.map(|id| id.to_string()))?;
    described.set_item("last_id", info.last_id.to_string())?;
    described.set_item("age", info.age)?;
    Ok(described)
}
