//! The Python extension `reliableq._native`: the embedded queue.
//!
//! | file | holds |
//! |---|---|
//! | `embedded` | the class [`embedded::Embedded`], a connection: a backend of the package |
//! | `handle` | the class [`handle::Handle`], one queue of a connection |
//! | `plain` | the class [`plain::Plain`], from which the package's `Queue` is made: calls without options |
//! | `message` | the class [`message::Message`], the same for every backend |
//! | `link` | the way from these to the queues: the lock, the GIL, closing, forking |
//! | `call` | commands from Python, and their replies |
//! | `body`, `row` | payloads from Python, messages to Python |
//! | `clock` | the class [`clock::Clock`], a time for tests |
//! | `file` | functions about files and dumps, without a connection |
//! | `errors` | what went wrong, as exceptions of the package |
//!
//! Two rules keep threads from waiting for each other in a circle. While the lock is held no
//! Python object is made, dropped or iterated: each of these can run any Python code. And
//! nobody waits for the lock while holding the GIL.

mod body;
mod call;
mod clock;
mod embedded;
mod errors;
mod file;
mod handle;
mod link;
mod message;
mod plain;
mod row;

use pyo3::prelude::*;

/// The native half of the package `reliableq`.
#[pymodule]
mod _native {
    use pyo3::prelude::*;

    #[pymodule_export]
    use crate::clock::Clock;
    #[pymodule_export]
    use crate::embedded::Embedded;
    #[pymodule_export]
    use crate::file::{file_uuid, portable, repair};
    #[pymodule_export]
    use crate::handle::Handle;
    #[pymodule_export]
    use crate::message::Message;
    #[pymodule_export]
    use crate::plain::Plain;

    #[pymodule_init]
    fn init(module: &Bound<'_, PyModule>) -> PyResult<()> {
        module.add("__version__", env!("CARGO_PKG_VERSION"))
    }
}
