//! Functions about files and dumps, without a connection.

use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList};
use rq_store::{Files, Options};

use crate::errors;

/// The UUID of a file, as 32 hexadecimal digits. It is neither opened nor locked.
#[pyfunction]
pub(crate) fn file_uuid(path: PathBuf) -> PyResult<String> {
    let uuid = rq_store::identity(&Files::new(path)).map_err(|error| errors::of_store(&error))?;
    Ok(uuid.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Writes what is whole of a damaged file into a new one with this UUID, and tells what was
/// saved and what was not.
#[pyfunction]
pub(crate) fn repair<'py>(
    py: Python<'py>,
    source: PathBuf,
    destination: PathBuf,
    uuid: [u8; 16],
) -> PyResult<Bound<'py, PyDict>> {
    let options = Options {
        create: Some(uuid),
        ..Options::default()
    };
    let work = || rq_store::repair(Files::new(source), Files::new(destination), options);
    let repaired = py.detach(work).map_err(|error| errors::of_store(&error))?;
    let losses = PyList::empty(py);
    for loss in &repaired.losses {
        let told = PyDict::new(py);
        told.set_item("file", &loss.file)?;
        told.set_item("offset", loss.offset)?;
        told.set_item("bytes", loss.bytes)?;
        told.set_item("what", loss.reason)?;
        losses.append(told)?;
    }
    let told = PyDict::new(py);
    told.set_item("queues", repaired.queues)?;
    told.set_item("messages", repaired.messages)?;
    told.set_item("losses", losses)?;
    Ok(told)
}

/// What DUMP of any server gave, in the form that all of them take.
#[pyfunction]
pub(crate) fn portable<'py>(py: Python<'py>, data: &[u8]) -> PyResult<Bound<'py, PyBytes>> {
    let read = py.detach(|| rq_dump::read(data).map(|queue| rq_dump::write(&queue)));
    let written = read.map_err(|refusal| errors::invalid_dump(&refusal))?;
    Ok(PyBytes::new(py, &written))
}
