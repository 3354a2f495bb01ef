//! The Python extension `reliableq._native`: the embedded queue.

use pyo3::prelude::*;

/// The native half of the package `reliableq`.
#[pymodule]
mod _native {}
