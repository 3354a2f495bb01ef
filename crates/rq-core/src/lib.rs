//! reliableq: core.
