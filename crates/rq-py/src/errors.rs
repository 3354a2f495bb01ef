//! What went wrong, as exceptions of the package. Each has a cause and a remedy.

use pyo3::prelude::*;
use pyo3::types::PyString;

/// The exceptions of `python/reliableq/errors.py`.
#[allow(missing_docs, reason = "they are documented there")]
mod exceptions {
    pyo3::import_exception!(reliableq.errors, Closed);
    pyo3::import_exception!(reliableq.errors, Damaged);
    pyo3::import_exception!(reliableq.errors, Exhausted);
    pyo3::import_exception!(reliableq.errors, InvalidBody);
    pyo3::import_exception!(reliableq.errors, InvalidId);
}

/// A call on a connection that was closed.
pub(crate) fn closed() -> PyErr {
    exceptions::Closed::new_err(("the connection is closed", "connect again"))
}

/// A panic of an earlier call left the queues in an unknown state.
pub(crate) fn damaged() -> PyErr {
    exceptions::Damaged::new_err((
        "an earlier call failed halfway, so the queues in memory are not to be trusted",
        "report that failure, and start the process again",
    ))
}

/// An operation that the core refused.
pub(crate) fn refused(error: &rq_core::Error) -> PyErr {
    match error {
        rq_core::Error::Exhausted => exceptions::Exhausted::new_err((
            "the queue has used up its IDs",
            "drain it and use another queue",
        )),
        // Queues in memory apply no effects, and have no producers.
        rq_core::Error::BadEffect(_) | rq_core::Error::Gap(_) => damaged(),
    }
}

/// A text that is no ID.
pub(crate) fn invalid_id(text: &str) -> PyErr {
    const LONGEST: usize = 60;
    let shown: String = text.chars().take(LONGEST).collect();
    let more = if shown.len() < text.len() { "..." } else { "" };
    exceptions::InvalidId::new_err((
        format!("{shown:?}{more} is no message ID"),
        "expected milliseconds-sequence, such as 1601155608777-1, as push() and Message.id give it",
    ))
}

/// A payload that is no buffer.
pub(crate) fn invalid_body(given: &Bound<'_, PyAny>) -> PyErr {
    let kind =
        (given.get_type().name()).map_or_else(|_| "this".to_string(), |name| name.to_string());
    let remedy = if given.is_instance_of::<PyString>() {
        "turn text into bytes with text.encode()"
    } else {
        "turn the value into bytes first"
    };
    exceptions::InvalidBody::new_err((
        format!("a body is bytes, bytearray or memoryview, not {kind}"),
        remedy,
    ))
}
