//! Messages to Python.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use rq_core::{Delivery, Id, IdText};

use crate::handle::Handle;
use crate::message::{Facts, Holder, Message};

/// Messages copied out of the queues, so that Python objects are made after the lock is given
/// back.
#[derive(Default)]
pub(crate) struct Rows {
    /// What is told of each, and where its payload ends in the bytes of all; it starts where the one before ends.
    rows: Vec<(Facts, usize)>,
    payloads: Vec<u8>,
}

impl Rows {
    pub(crate) fn with_capacity(count: u64) -> Self {
        Self {
            rows: Vec::with_capacity(usize::try_from(count).unwrap_or_default()),
            payloads: scratch(),
        }
    }

    pub(crate) fn add(&mut self, delivery: &Delivery<'_>) {
        self.payloads.extend_from_slice(delivery.payload);
        let facts = Facts::of(delivery);
        self.rows.push((facts, self.payloads.len()));
    }

    /// Whether there is no message.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A list of the messages.
    pub(crate) fn into_list<'py>(
        self,
        handle: &Bound<'py, Handle>,
    ) -> PyResult<Bound<'py, PyList>> {
        let py = handle.py();
        let (mut start, payloads) = (0, self.payloads);
        let messages = self.rows.into_iter().map(|(facts, end)| {
            let body = PyBytes::new(py, payloads.get(start..end).unwrap_or_default());
            start = end;
            let holder = Holder::Native(handle.clone().unbind());
            Py::new(py, Message::new_of(holder, body.unbind(), facts))
        });
        let messages: Vec<Py<Message>> = messages.collect::<PyResult<_>>()?;
        keep_scratch(payloads);
        PyList::new(py, messages)
    }
}

thread_local! {
    /// Where payloads are copied to; kept to be used again.
    static SCRATCH: Cell<Vec<u8>> = const { Cell::new(Vec::new()) };
}

/// An empty buffer.
pub(crate) fn scratch() -> Vec<u8> {
    let mut scratch = SCRATCH.take();
    scratch.clear();
    scratch
}

/// Gives the buffer back, unless it has grown large.
pub(crate) fn keep_scratch(scratch: Vec<u8>) {
    const LARGEST: usize = 64 * 1024;
    if scratch.capacity() <= LARGEST {
        SCRATCH.set(scratch);
    }
}

/// The text of an ID.
pub(crate) fn id_text(py: Python<'_>, id: Id) -> Bound<'_, PyString> {
    shown(py, IdText::default().of(id))
}

/// A list of the texts of IDs.
pub(crate) fn id_list<'py>(
    py: Python<'py>,
    ids: impl ExactSizeIterator<Item = Id>,
) -> PyResult<Bound<'py, PyList>> {
    let mut text = IdText::default();
    PyList::new(py, ids.map(|id| shown(py, text.of(id))))
}

/// The text of an ID, as [`IdText`] gives it.
fn shown<'py>(py: Python<'py>, id: &[u8]) -> Bound<'py, PyString> {
    // SAFETY: decimal digits and a dash. Looking at each byte again is a twentieth of a batch.
    PyString::new(py, unsafe { str::from_utf8_unchecked(id) })
}
