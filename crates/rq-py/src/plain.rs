//! The plain calls of a queue, without a Python frame between caller and core.
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
    /// What was given, if anything.
    fn value(self) -> Option<Bound<'py, PyAny>> {
        match self {
            Given::No => None,
            Given::Value(value) => Some(value),
        }
    }

    fn was(&self) -> bool {
        matches!(self, Given::Value(_))
    }

    /// What was given, or else False.
    pub(crate) fn or_false(self, py: Python<'py>) -> Bound<'py, PyAny> {
        let off = || PyBool::new(py, false).to_owned().into_any();
        self.value().unwrap_or_else(off)
    }
}

/// An option whose None is the same as leaving it out.
type Optional<'py> = Option<Bound<'py, PyAny>>;

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
        signature = (body, *, delay=None, at=None, ttl=None, retries=None, front=Given::No, priority=Given::No,
            headers=None, token=None, unique=Given::No),
        text_signature = "($self, body, *, delay=None, at=None, ttl=None, retries=None, front=False, priority=0, headers=None, token=None, unique=False)"
    )]
    #[allow(clippy::too_many_arguments)] // all of them are options
    fn push<'py>(
        slf: &Bound<'py, Self>,
        body: &Bound<'py, PyAny>,
        delay: Optional<'py>,
        at: Optional<'py>,
        ttl: Optional<'py>,
        retries: Optional<'py>,
        front: Given<'py>,
        priority: Given<'py>,
        headers: Optional<'py>,
        token: Optional<'py>,
        unique: Given<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let optional = [&delay, &at, &ttl, &retries, &headers, &token];
        let given = front.was() || priority.was() || unique.was();
        if !given && optional.iter().all(|option| option.is_none()) {
            return slf.get().push_plain(slf.py(), body);
        }
        let options = [
            ("delay", delay),
            ("at", at),
            ("ttl", ttl),
            ("retries", retries),
            ("front", front.value()),
            ("priority", priority.value()),
            ("headers", headers),
            ("token", token),
            ("unique", unique.value()),
        ];
        let options = keywords(slf.py(), options)?;
        slf.call_method("_push_with", (body,), Some(&options))
    }

    /// Takes the next waiting message, which then is delivered until it is acknowledged.
    ///
    /// When none waits, this waits for one, at most `timeout` (seconds or a timedelta; None: for ever), and returns
    /// None when that is over.
    #[pyo3(
        signature = (timeout=Given::No, *, lease=None, consumer=None, no_ack=Given::No, prefetch=Given::No),
        text_signature = "($self, timeout=0, *, lease=None, consumer=None, no_ack=False, prefetch=False)"
    )]
    fn pop<'py>(
        slf: &Bound<'py, Self>,
        timeout: Given<'py>,
        lease: Optional<'py>,
        consumer: Optional<'py>,
        no_ack: Given<'py>,
        prefetch: Given<'py>,
    ) -> PyResult<Option<Bound<'py, PyAny>>> {
        let given = no_ack.was() || prefetch.was();
        let plain = !given && lease.is_none() && consumer.is_none();
        let popped = match (timeout, &slf.get().native) {
            (Given::No, Some(handle)) if plain => return Handle::pop(handle.bind(slf.py())),
            (Given::No, None) if plain => slf.get().handle.bind(slf.py()).call_method0("pop")?,
            (Given::Value(timeout), _) if plain => slf.call_method1("_pop_within", (timeout,))?,
            (timeout, _) => {
                let timeout = match timeout {
                    Given::No => 0_u8.into_pyobject(slf.py())?.into_any(),
                    Given::Value(timeout) => timeout,
                };
                let options = [
                    ("lease", lease),
                    ("consumer", consumer),
                    ("no_ack", no_ack.value()),
                    ("prefetch", prefetch.value()),
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

/// Those that were given.
#[cold]
fn keywords<'py, const N: usize>(
    py: Python<'py>,
    options: [(&str, Optional<'py>); N],
) -> PyResult<Bound<'py, PyDict>> {
    let keywords = PyDict::new(py);
    for (name, value) in options {
        if let Some(value) = value {
            keywords.set_item(name, value)?;
        }
    }
    Ok(keywords)
}
