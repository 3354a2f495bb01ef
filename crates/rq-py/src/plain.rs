//! The plain calls of a queue, without a Python frame between caller and core. Options are not read here: that would cost the
//! calls without any.
//!
//! `Queue` of the package is made from this class, and does all that has options or needs checks. It has the
//! same name, so that errors about arguments show that.

use std::convert::Infallible;

use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict};

use crate::handle::Handle;

/// The plain calls of a queue, on the handle of any backend.
#[pyclass(name = "Queue", subclass, frozen, module = "reliableq")]
pub struct Plain {
    handle: Py<PyAny>,
    /// The same, where it is one of this process.
    native: Option<Py<Handle>>,
}

/// An option whose None, too, is something that was given: the package says what is to be thought of it.
pub(crate) enum Given<'py> {
    /// It was left out.
    No,
    /// This.
    Value(Bound<'py, PyAny>),
}

impl<'py> FromPyObject<'_, 'py> for Given<'py> {
    type Error = Infallible;

    fn extract(given: Borrowed<'_, 'py, PyAny>) -> Result<Self, Infallible> {
        Ok(Given::Value(given.to_owned()))
    }
}

impl<'py> Given<'py> {
    /// What was given, or else False.
    pub(crate) fn or_false(self, py: Python<'py>) -> Bound<'py, PyAny> {
        match self {
            Given::No => PyBool::new(py, false).to_owned().into_any(),
            Given::Value(value) => value,
        }
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
    #[pyo3(
        signature = (body, **options),
        text_signature = "($self, body, *, delay=None, at=None, ttl=None, retries=None, front=False, priority=0, headers=None, token=None, unique=False)"
    )]
    fn push<'py>(
        slf: &Bound<'py, Self>,
        body: &Bound<'py, PyAny>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match options {
            None => slf.get().push_plain(slf.py(), body),
            options => slf.call_method("_push_with", (body,), options),
        }
    }

    /// Takes the next waiting message, which then is delivered until it is acknowledged.
    ///
    /// When none waits, this waits for one, at most `timeout` (seconds or a timedelta; None: for ever), and returns
    /// None when that is over.
    #[pyo3(
        signature = (timeout=Given::No, **options),
        text_signature = "($self, timeout=0, *, lease=None, consumer=None, no_ack=False, prefetch=False)"
    )]
    fn pop<'py>(
        slf: &Bound<'py, Self>,
        timeout: Given<'py>,
        options: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let popped = match (timeout, options, &slf.get().native) {
            (Given::No, None, Some(handle)) => return Handle::pop(handle.bind(slf.py())),
            (Given::No, None, None) => slf.get().handle.bind(slf.py()).call_method0("pop")?,
            (Given::No, options, _) => slf.call_method("_pop_with", (), options)?,
            (Given::Value(timeout), None, _) => slf.call_method1("_pop_within", (timeout,))?,
            (Given::Value(timeout), options, _) => {
                slf.call_method("_pop_with", (timeout,), options)?
            }
        };
        Ok((!popped.is_none()).then_some(popped))
    }
}

impl Plain {
    fn push_plain<'py>(
        &self,
        py: Python<'py>,
        body: &Bound<'py, PyAny>,
    ) -> PyResult<Bound<'py, PyAny>> {
        match &self.native {
            Some(handle) => Ok(handle.get().push(py, body)?.into_any()),
            None => self.handle.bind(py).call_method1("push", (body,)),
        }
    }
}
