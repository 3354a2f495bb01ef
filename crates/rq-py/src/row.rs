//! Messages to Python.

use std::cell::Cell;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use rq_core::{Delivery, Held, Id, IdText, Meta, Pending, State, Waiting};

use crate::handle::Handle;
use crate::message::{Holder, Message};

/// What is told of a message, its payload aside.
struct Row {
    id: Id,
    /// Where its payload ends in the bytes of all; it starts where the one before ends.
    end: usize,
    state: State,
    deliveries: u32,
    /// Milliseconds of its last delivery, 0 when it was never delivered.
    last_delivery: u64,
}

/// Messages copied out of the queues, so that Python objects are made after the lock is given
/// back.
#[derive(Default)]
pub(crate) struct Rows {
    rows: Vec<Row>,
    payloads: Vec<u8>,
}

impl Rows {
    pub(crate) fn with_capacity(count: u64) -> Self {
        Self {
            rows: Vec::with_capacity(usize::try_from(count).unwrap_or_default()),
            payloads: scratch(),
        }
    }

    pub(crate) fn add(&mut self, id: Id, payload: &[u8], meta: &Meta) {
        self.payloads.extend_from_slice(payload);
        self.rows.push(Row {
            id,
            end: self.payloads.len(),
            state: meta.state,
            deliveries: meta.deliveries,
            last_delivery: meta.last_delivery,
        });
    }

    pub(crate) fn add_delivery(&mut self, delivery: &Delivery<'_>) {
        self.add(delivery.id, delivery.payload, &delivery.meta());
    }

    pub(crate) fn add_waiting(&mut self, message: &Waiting<'_>) {
        let meta = Meta {
            state: State::Waiting,
            deliveries: 0,
            enqueued: message.id.milliseconds,
            last_delivery: 0,
        };
        self.add(message.id, message.payload, &meta);
    }

    pub(crate) fn add_pending(&mut self, message: &Pending<'_>) {
        let meta = Meta {
            state: State::Delivered,
            deliveries: message.deliveries,
            enqueued: message.id.milliseconds,
            last_delivery: message.last_delivery,
        };
        self.add(message.id, message.payload, &meta);
    }

    pub(crate) fn add_held(&mut self, message: &Held<'_>) {
        self.add(message.id, message.payload, &message.meta);
    }

    /// Whether there is no message.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Bytes of all payloads.
    pub(crate) fn bytes(&self) -> usize {
        self.payloads.len()
    }

    /// The messages.
    pub(crate) fn into_messages(self, handle: &Bound<'_, Handle>) -> PyResult<Vec<Py<Message>>> {
        let py = handle.py();
        let mut start = 0;
        let messages = self.rows.iter().map(|row| {
            let body = PyBytes::new(py, self.payloads.get(start..row.end).unwrap_or_default());
            start = row.end;
            Py::new(
                py,
                Message {
                    holder: Holder::Native(handle.clone().unbind()),
                    id: row.id,
                    body: body.unbind(),
                    state: row.state.name().into(),
                    deliveries: row.deliveries,
                    last_delivery: row.last_delivery,
                },
            )
        });
        let messages: Vec<Py<Message>> = messages.collect::<PyResult<_>>()?;
        keep_scratch(self.payloads);
        Ok(messages)
    }

    /// A list of the messages.
    pub(crate) fn into_list<'py>(
        self,
        handle: &Bound<'py, Handle>,
    ) -> PyResult<Bound<'py, PyList>> {
        PyList::new(handle.py(), self.into_messages(handle)?)
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
