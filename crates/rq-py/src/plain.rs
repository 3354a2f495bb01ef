//! The plain calls of a queue, without a Python frame between caller and core.
//!
//! `Queue` of the package is made from this class, and does all that has options or needs checks. It has the
//! same name, so that errors about arguments show that.

use std::convert::Infallible;

use pyo3::prelude::*;
use pyo3::types::PyDict;

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
    #[pyo3(
        signature = (body, *, delay=None, at=None, ttl=None, retries=None, front=None, priority=None, headers=None,
            token=None, unique=None),
        text_signature = "($self, body, *, delay=None, at=None, ttl=None, retries=None, front=False, priority=0, headers=None, token=None, unique=False)"
    )]
    #[allow(clippy::too_many_arguments)] // all of them are options
    fn push<'py>(
        slf: &Bound<'py, Self>,
        body: &Bound<'py, PyAny>,
        delay: Given<'py>,
        at: Given<'py>,
        ttl: Given<'py>,
        retries: Given<'py>,
        front: Given<'py>,
        priority: Given<'py>,
        headers: Given<'py>,
        token: Given<'py>,
        unique: Given<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let given = [
            &delay, &at, &ttl, &retries, &front, &priority, &headers, &token, &unique,
        ];
        if given.iter().all(|option| option.is_none()) {
            return slf.get().push_plain(slf.py(), body);
        }
        let options = [
            ("delay", delay),
            ("at", at),
            ("ttl", ttl),
            ("retries", retries),
            ("front", front),
            ("priority", priority),
            ("headers", headers),
            ("token", token),
            ("unique", unique),
        ];
        let options = keywords(slf.py(), options)?;
        slf.call_method("_push_with", (body,), Some(&options))
    }

    /// Takes the next waiting message, which then is delivered until it is acknowledged.
    ///
    /// When none waits, this waits for one, at most `timeout` (seconds or a timedelta; None: for ever), and returns
    /// None when that is over.
    #[pyo3(
        signature = (timeout = Timeout::Now, *, lease=None, consumer=None, no_ack=None, prefetch=None),
        text_signature = "($self, timeout=0, *, lease=None, consumer=None, no_ack=False, prefetch=False)"
    )]
    fn pop<'py>(
        slf: &Bound<'py, Self>,
        timeout: Timeout<'py>,
        lease: Given<'py>,
        consumer: Given<'py>,
        no_ack: Given<'py>,
        prefetch: Given<'py>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let given = [&lease, &consumer, &no_ack, &prefetch];
        let plain = given.iter().all(|option| option.is_none());
        let popped = match (timeout, &slf.get().native) {
            (Timeout::Now, Some(handle)) if plain => return Handle::pop(handle.bind(slf.py())),
            (Timeout::Now, None) if plain => slf.get().handle.bind(slf.py()).call_method0("pop")?,
            (Timeout::Given(timeout), _) if plain => slf.call_method1("_pop_within", (timeout,))?,
            (timeout, _) => {
                let timeout = match timeout {
                    Timeout::Now => 0_u8.into_pyobject(slf.py())?.into_any(),
                    Timeout::Given(timeout) => timeout,
                };
                let options = [
                    ("lease", lease),
                    ("consumer", consumer),
                    ("no_ack", no_ack),
                    ("prefetch", prefetch),
                ];
                let options = keywords(slf.py(), options)?;
                slf.call_method("_pop_with", (timeout,), Some(&options))?
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

/// An option that may be left out.
type Given<'py> = Option<Bound<'py, PyAny>>;

/// Those that were given.
#[cold]
fn keywords<'py, const N: usize>(
    py: Python<'py>,
    options: [(&str, Given<'py>); N],
) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    for (name, value) in options {
        if let Some(value) = value {
            keywords.set_item(name, value)?;
        }
    }
    Ok(keywords)
}
