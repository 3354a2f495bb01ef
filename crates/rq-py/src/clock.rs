//! A time for tests.

use std::sync::Arc;

use pyo3::prelude::*;

use crate::errors;

/// A time that stands still until it is advanced.
#[pyclass(frozen, module = "reliableq._native")]
pub struct Clock {
    pub(crate) clock: Arc<rq_embedded::Clock>,
}

#[pymethods]
impl Clock {
    #[new]
    fn new() -> Self {
        Self {
            clock: Arc::default(),
        }
    }

    /// Unix milliseconds.
    fn now(&self) -> u64 {
        self.clock.now()
    }

    /// Lets time pass, does what falls due, and wakes those who wait for it.
    fn advance(&self, py: Python<'_>, milliseconds: u64) -> PyResult<()> {
        let advanced = py.detach(|| self.clock.advance(milliseconds));
        advanced.map_err(|error| errors::of(py, &error))
    }
}
