//! Payloads from Python.

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyList, PyMemoryView};

use crate::errors;

/// The bytes of a payload. Those of a buffer that can change are copied: another thread might
/// change them as soon as the GIL is released.
pub(crate) fn bytes<'py>(body: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyBytes>> {
    if let Ok(bytes) = body.cast::<PyBytes>() {
        return Ok(bytes.clone());
    }
    let view = PyMemoryView::from(body).map_err(|_| errors::invalid_body(body))?;
    Ok(view.call_method0("tobytes")?.cast_into::<PyBytes>()?)
}

/// The bytes of all of them.
pub(crate) fn all<'py>(bodies: &Bound<'py, PyAny>) -> PyResult<Vec<Bound<'py, PyBytes>>> {
    let mut all = Vec::with_capacity(bodies.len()?);
    if let Ok(list) = bodies.cast::<PyList>() {
        for body in list {
            all.push(match body.cast_into::<PyBytes>() {
                Ok(bytes) => bytes,
                Err(other) => bytes(&other.into_inner())?,
            });
        }
    } else {
        for body in bodies.try_iter()? {
            all.push(bytes(&body?)?);
        }
    }
    Ok(all)
}
