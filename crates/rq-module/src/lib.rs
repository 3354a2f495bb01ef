//! reliableq: module.
