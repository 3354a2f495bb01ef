//! reliableq: command.
