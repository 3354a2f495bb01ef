//! What went wrong, as exceptions of the package. Each has a cause and a remedy.

use pyo3::prelude::*;
use pyo3::types::PyString;
use rq_command::Refusal;
use rq_core::Error as CoreError;
use rq_embedded::Error;
use rq_store::Error as StoreError;

/// The exceptions of `python/reliableq/errors.py`.
#[allow(missing_docs, reason = "they are documented there")]
mod exceptions {
    pyo3::import_exception!(reliableq.errors, Closed);
    pyo3::import_exception!(reliableq.errors, Corrupt);
    pyo3::import_exception!(reliableq.errors, Damaged);
    pyo3::import_exception!(reliableq.errors, Exists);
    pyo3::import_exception!(reliableq.errors, Failed);
    pyo3::import_exception!(reliableq.errors, Forked);
    pyo3::import_exception!(reliableq.errors, Full);
    pyo3::import_exception!(reliableq.errors, InvalidArgument);
    pyo3::import_exception!(reliableq.errors, InvalidBody);
    pyo3::import_exception!(reliableq.errors, InvalidDump);
    pyo3::import_exception!(reliableq.errors, InvalidId);
    pyo3::import_exception!(reliableq.errors, Missing);
    pyo3::import_exception!(reliableq.errors, Refused);
}

/// A call on a connection that was closed.
pub(crate) fn closed() -> PyErr {
    exceptions::Closed::new_err(("the connection is closed", "connect again"))
}

/// A call in a forked child, on queues that are its parent's.
pub(crate) fn forked() -> PyErr {
    exceptions::Forked::new_err((
        "this process was forked from the one whose memory holds the queue",
        "connect after forking, or use a file: or redis:// URL, which processes can share",
    ))
}

/// An operation that was refused.
pub(crate) fn of(py: Python<'_>, error: &Error) -> PyErr {
    match error {
        Error::Closed => closed(),
        Error::Damaged => exceptions::Damaged::new_err((
            "an earlier call failed halfway, so the queues in memory are not to be trusted",
            "report that failure, and start the process again",
        )),
        Error::Exists => exceptions::Exists::new_err((
            "this name is taken already",
            "restore under another name, or with replace=True",
        )),
        Error::System(error) => exceptions::Failed::new_err((
            format!("the system refuses: {error}"),
            "see to what it says, and try again",
        )),
        Error::Store(StoreError::Core(error)) if !matches!(error, CoreError::BadEffect(_)) => {
            let refusal = Refusal::from(error.clone());
            let protocol = py.import("reliableq.protocol");
            let command = protocol.and_then(|protocol| protocol.getattr("PING"));
            command.map_or_else(|error| error, |command| refused(&refusal, &command))
        }
        Error::Refused(refusal) => exceptions::Refused::new_err((
            refusal.to_string(),
            "see to what it says, and try again",
        )),
        Error::Store(error) => of_store(error),
    }
}

/// A command that was refused, as the package tells it for every place.
pub(crate) fn refused(refusal: &Refusal, command: &Bound<'_, PyAny>) -> PyErr {
    let protocol = command.py().import("reliableq.protocol");
    let told = protocol
        .and_then(|protocol| protocol.call_method1("server_error", (refusal.to_string(), command)));
    told.map_or_else(|error| error, PyErr::from_value)
}

/// A file that this process owns already, and whose time is another.
pub(crate) fn other_clock() -> PyErr {
    exceptions::InvalidArgument::new_err((
        "the file is open in this process already, and has another clock",
        "give the test a file of its own",
    ))
}

/// An operation that a store refused.
pub(crate) fn of_store(error: &StoreError) -> PyErr {
    let (cause, remedy) = told(error);
    match error {
        StoreError::Core(CoreError::BadEffect(_)) => {
            exceptions::InvalidDump::new_err((cause, remedy))
        }
        StoreError::Missing => exceptions::Missing::new_err((cause, remedy)),
        StoreError::Destination(inner) if matches!(**inner, StoreError::Full { .. }) => {
            exceptions::Full::new_err((cause, remedy))
        }
        StoreError::Full { .. } => exceptions::Full::new_err((cause, remedy)),
        StoreError::Corrupt { .. } => exceptions::Corrupt::new_err((
            cause,
            "restore a copy, or save what is whole with `reliableq repair SOURCE DESTINATION`",
        )),
        StoreError::TooLarge => exceptions::Refused::new_err((cause, remedy)),
        _ => exceptions::Failed::new_err((cause, remedy)),
    }
}

/// Cause and remedy of an error.
fn told(error: &StoreError) -> (String, String) {
    let remedy = error
        .remedy()
        .unwrap_or("see to what it says, and try again");
    (error.cause(), remedy.to_owned())
}

/// Bytes that are no dump of a queue.
pub(crate) fn invalid_dump(refusal: &rq_dump::Refusal) -> PyErr {
    exceptions::InvalidDump::new_err((
        refusal.to_string(),
        "give the bytes that dump() of a queue gave, or DUMP of its key",
    ))
}

/// A text that is no ID.
pub(crate) fn invalid_id(text: &str) -> PyErr {
    const LONGEST: usize = 60;
    let begin: String = text.chars().take(LONGEST).collect();
    let more = if begin.len() < text.len() { "..." } else { "" };
    let shown = quoted(&begin).unwrap_or(begin);
    exceptions::InvalidId::new_err((
        format!("{shown}{more} is no message ID"),
        "expected milliseconds-sequence, such as 1601155608777-1",
    ))
}

/// A text in quotes, as Python's ascii() shows it, and so as the other backends do.
fn quoted(text: &str) -> PyResult<String> {
    Python::attach(|py| {
        let builtins = py.import("builtins")?;
        builtins.call_method1("ascii", (text,))?.extract()
    })
}

/// A payload that is no buffer.
pub(crate) fn invalid_body(given: &Bound<'_, PyAny>) -> PyErr {
    let kind =
        (given.get_type().name()).map_or_else(|_| "this".to_string(), |name| name.to_string());
    let remedy = if given.is_instance_of::<PyString>() {
        "turn text into bytes with text.encode()"
    } else {
        "turn it into bytes"
    };
    exceptions::InvalidBody::new_err((
        format!("a body is bytes, bytearray or memoryview, not {kind}"),
        remedy,
    ))
}
