//! The Python extension `reliableq._native`: the embedded queue.
//!
//! | file | holds |
//! |---|---|
//! | `memory` | the class [`memory::Memory`], what Python calls |
//! | `shared` | the lock around the queues, and waiting for a push |
//! | `queues` | queues by name, each a queue of the core; knows nothing of Python |
//! | `body`, `row` | payloads from Python, messages to Python |
//! | `clock` | the time that is given to the core |
//! | `errors` | what went wrong, as exceptions of the package |
//!
//! Two rules keep threads from waiting for each other in a circle. While the lock is held no
//! Python object is made, dropped or iterated: each of these can run any Python code. And
//! nobody waits for the lock while holding the GIL.

mod body;
mod clock;
mod errors;
mod memory;
mod queues;
mod row;
mod shared;

use pyo3::prelude::*;

/// The native half of the package `reliableq`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::memory::Memory;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
