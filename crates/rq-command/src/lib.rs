//! The `RQ.*` commands, described once.
//!
//! [`COMMANDS`] is the table: names, arguments, replies, errors and their documentation. Whoever
//! serves commands registers from it, has commands on one queue done by [`execute`], and the others by reading
//! arguments with [`parse`], calling the core, and replying with [`reply`]; `docs/commands.md` and the server's `COMMAND DOCS` are written from it too.
//!
//! | file | holds |
//! |---|---|
//! | `table` | the shape of a description |
//! | `commands` | the descriptions, by what commands are for |
//! | `parse` | arguments as requests, likewise |
//! | `refusal` | errors: a stable first word, and what was expected |
//! | `execute` | requests on one queue: parse, call the core, reply |
//! | `reply` | outcomes as reply events, for any protocol |
//! | `document` | the table as text |
//!
//! To add a command: its description in `commands`, its request in `parse`, its outcome in `reply`, and what it does in `execute`.

mod commands;
pub mod document;
pub mod execute;
pub mod parse;
mod refusal;
pub mod reply;
mod table;

pub use commands::COMMANDS;
pub use refusal::{Code, Refusal};
pub use table::{Access, Argument, Command, Keys, Kind, Outcome, Verb};
