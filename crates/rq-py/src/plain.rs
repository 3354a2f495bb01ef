//! The plain calls of a queue, without a Python frame between caller and core.
//!
//! `Queue` of the package is made from this class, and adds all that has options or needs checks. It has the
//! same name, so that errors about arguments show that.

use std::convert::Infallible;

use pyo3::prelude::*;

use crate::handle::Handle;

/// The plain calls of a queue, on the handle of any backend.
#[pyclass(name = "Queue", subclass, frozen, module = "reliableq")]
pub struct Plain {
    handle: Py<PyAny>,
    /// The same, where it is one of this process.
    native: Option<Py<Handle>>,
}

/// How long a pop waits.
enum Timeout<'py> {
    /// As when nothing is given: not at all.
    Now,
    /// As the package reads it.
    Given(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Timeout<'py> {
    type Error = Infallible;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Timeout::Given(given.to_owned()))
    }
}

#[pymethods]
impl Plain {
    /// The other arguments are for the class that is made from this one.
    #[new]
    #[pyo3(signature = (handle, *_arguments))]
    fn new(handle: &Bound<'_, PyAny>, _arguments: &Bound<'_, PyAny>) -> Self {
        let native = handle.cast_exact::<Handle>().ok();
        Self {
            handle: handle.clone().unbind(),
            native: native.map(|native| native.clone().unbind()),
        }
    }

    /// The queue's handle.
    #[getter]
    fn _handle<'py>(&self, py: Python<'py>) -> Bound<'py, PyAny> {
        self.handle.bind(py).clone()
    }

    /// Appends a message and returns its ID.
    #[pyo3(text_signature = "($self, body)")]
    fn push<'py>(&self, py: Python<'py>, body: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        match &self.native {
            Some(handle) => Ok(handle.get().push(py, body)?.into_any()),
            None => self.handle.bind(py).call_method1("push", (body,)),
        }
    }

    /// Takes the oldest waiting message, which then is delivered until it is acknowledged.
    ///
    /// When none waits, this waits for one, at most `timeout` (seconds or a timedelta; None: for ever), and returns
    /// None when that is over.
    #[pyo3(signature = (timeout = Timeout::Now), text_signature = "($self, timeout=0)")]
    fn pop<'py>(
        slf: &Bound<'py, Self>,
        timeout: Timeout<'py>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        match (timeout, &slf.get().native) {
            (Timeout::Now, Some(handle)) => Handle::pop(handle.bind(slf.py())),
            (Timeout::Now, None) => {
                let popped = slf.get().handle.bind(slf.py()).call_method0("pop")?;
                Ok((!popped.is_none()).then_some(popped))
            }
            (Timeout::Given(timeout), _) => {
                let popped = slf.call_method1("_pop_within", (timeout,))?;
                Ok((!popped.is_none()).then_some(popped))
            }
        }
    }
}
