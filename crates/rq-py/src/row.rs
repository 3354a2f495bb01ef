//! Messages to Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyString};
use rq_core::{Id, IdText};

/// What is told of a message, its payload aside.
struct Row {
    id: Id,
    /// Where its payload ends in the bytes of all; it starts where the one before ends.
    end: usize,
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
    /// Adds a message.
    pub(crate) fn add(&mut self, id: Id, payload: &[u8], deliveries: u32, last_delivery: u64) {
        self.payloads.extend_from_slice(payload);
        self.rows.push(Row {
            id,
            end: self.payloads.len(),
            deliveries,
            last_delivery,
        });
    }

    /// Whether there is no message.
    pub(crate) fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// A list of tuples: ID, payload, deliveries, last delivery.
    pub(crate) fn into_list(self, py: Python<'_>) -> PyResult<Bound<'_, PyList>> {
        let mut text = IdText::default();
        let mut start = 0;
        let list = PyList::empty(py);
        for row in &self.rows {
            let payload = PyBytes::new(py, &self.payloads[start..row.end]);
            let id = PyString::from_bytes(py, text.of(row.id))?;
            list.append((id, payload, row.deliveries, row.last_delivery))?;
            start = row.end;
        }
        Ok(list)
    }
}

/// A list of the texts of IDs.
pub(crate) fn id_list<'py>(
    py: Python<'py>,
    ids: impl Iterator<Item = Id>,
) -> PyResult<Bound<'py, PyList>> {
    let mut text = IdText::default();
    let list = PyList::empty(py);
    for id in ids {
        list.append(PyString::from_bytes(py, text.of(id))?)?;
    }
    Ok(list)
}
