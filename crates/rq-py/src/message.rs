//! A message as its consumer sees it: one class for every backend.

use std::borrow::Cow;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyString};
use rq_core::Id;

use crate::errors;
use crate::handle::Handle;
use crate::row::id_text;

/// The queue that a message is of.
pub(crate) enum Holder {
    /// One of this process.
    Native(Py<Handle>),
    /// Another backend's handle: it has a `name`, and `acknowledge(ids)`.
    Other(Py<PyAny>),
}

/// A message of a queue. It stays in the queue until it is acknowledged.
#[pyclass(frozen, module = "reliableq")]
pub struct Message {
    pub(crate) holder: Holder,
    pub(crate) id: Id,
    pub(crate) body: Py<PyBytes>,
    pub(crate) state: Cow<'static, str>,
    pub(crate) deliveries: u32,
    /// Milliseconds, 0 when it was never delivered.
    pub(crate) last_delivery: u64,
}

#[pymethods]
impl Message {
    #[new]
    fn new(
        holder: &Bound<'_, PyAny>,
        id: &str,
        body: Py<PyBytes>,
        state: &str,
        deliveries: u32,
        last_delivery: u64,
    ) -> PyResult<Self> {
        let state = match state {
            "waiting" => Cow::Borrowed("waiting"),
            "delivered" => Cow::Borrowed("delivered"),
            other => Cow::Owned(other.to_owned()),
        };
        Ok(Self {
            holder: Holder::Other(holder.clone().unbind()),
            id: Id::parse(id.as_bytes()).map_err(|_| errors::invalid_id(id))?,
            body,
            state,
            deliveries,
            last_delivery,
        })
    }

    /// Its ID, `milliseconds-sequence`.
    #[getter]
    fn id<'py>(&self, py: Python<'py>) -> Bound<'py, PyString> {
        id_text(py, self.id)
    }

    /// Its payload.
    #[getter]
    fn body<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        self.body.bind(py).clone()
    }

    /// Name of its queue.
    #[getter]
    fn queue<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        match &self.holder {
            Holder::Native(handle) => Ok(handle.get().name_text(py).into_any()),
            Holder::Other(handle) => handle.bind(py).getattr("name"),
        }
    }

    /// Where it stood when it was given: "waiting" or "delivered".
    #[getter]
    fn state(&self) -> &str {
        &self.state
    }

    /// How often it was delivered, this time included.
    #[getter]
    fn deliveries(&self) -> u32 {
        self.deliveries
    }

    /// When it was pushed.
    #[getter]
    fn enqueued<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        moment(py, self.id.milliseconds)
    }

    /// When it was last delivered; None for one that still waits.
    #[getter]
    fn last_delivery<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let delivered = (self.last_delivery > 0).then_some(self.last_delivery);
        delivered.map(|time| moment(py, time)).transpose()
    }

    /// Says that the work on it is done, so that the queue lets go of it.
    ///
    /// Returns whether this call did it: not when it was acknowledged before, or still waits.
    fn ack(&self, py: Python<'_>) -> PyResult<bool> {
        match &self.holder {
            Holder::Native(handle) => handle.get().acknowledge_one(py, self.id),
            Holder::Other(handle) => acknowledge_elsewhere(handle.bind(py), self.id),
        }
    }

    fn __repr__(&self, py: Python<'_>) -> PyResult<String> {
        const LONGEST: usize = 40;
        let bytes = self.body.as_bytes(py);
        let mut shown = bytes.get(..LONGEST).unwrap_or(bytes).to_vec();
        if shown.len() < bytes.len() {
            shown.extend_from_slice(b"...");
        }
        let (id, queue) = (self.id(py), self.queue(py)?.repr()?);
        let (body, deliveries) = (PyBytes::new(py, &shown).repr()?, self.deliveries);
        Ok(format!(
            "<Message {id} of {queue}, deliveries={deliveries}, body={body}>"
        ))
    }
}

/// Acknowledges through the handle of another backend.
pub(crate) fn acknowledge_elsewhere(handle: &Bound<'_, PyAny>, id: Id) -> PyResult<bool> {
    let ids = (id_text(handle.py(), id),);
    handle.call_method1("acknowledge", (ids,))?.is_truthy()
}

/// Unix milliseconds as a datetime in UTC.
fn moment<'py>(py: Python<'py>, milliseconds: u64) -> PyResult<Bound<'py, PyAny>> {
    let datetime = py.import("datetime")?;
    let utc = datetime.getattr("UTC")?;
    let seconds = milliseconds as f64 / 1000.0;
    (datetime.getattr("datetime")?).call_method1("fromtimestamp", (seconds, utc))
}
