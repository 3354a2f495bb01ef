//! The table as text.

use std::fmt::Write;

use crate::commands::COMMANDS;
use crate::table::{Access, Argument, Command, Kind};

/// The syntax of a command, in the usual notation.
#[must_use]
pub fn syntax(command: &Command) -> String {
    let mut text = command.name.to_owned();
    for argument in command.arguments {
        text.push(' ');
        text.push_str(&argument_syntax(argument));
    }
    text
}

fn argument_syntax(argument: &Argument) -> String {
    let name = argument.name;
    let one = match (argument.token, argument.kind) {
        (_, Kind::Block) => {
            let parts: Vec<String> = argument.parts.iter().map(argument_syntax).collect();
            parts.join(" ")
        }
        (Some(token), Kind::Word) => token.to_owned(),
        (Some(token), _) => format!("{token} {name}"),
        (None, _) => name.to_owned(),
    };
    let all = if argument.multiple {
        format!("{one} [{one} ...]")
    } else {
        one
    };
    if argument.optional {
        format!("[{all}]")
    } else {
        all
    }
}

/// ACL categories of a command, as the server's own commands have them by their flags.
#[must_use]
pub fn categories(command: &Command) -> String {
    let access = match command.access {
        Access::Read => "@read",
        Access::Write | Access::Remove | Access::Grow => "@write",
        Access::Admin => "@write @admin @dangerous",
    };
    let speed = if command.fast { " @fast" } else { " @slow" };
    let blocking = if command.blocking { " @blocking" } else { "" };
    format!("{access}{speed}{blocking}")
}

/// `docs/commands.md`.
#[must_use]
pub fn markdown() -> String {
    let mut text = String::from(HEAD);
    for command in COMMANDS {
        let _ = writeln!(
            text,
            "| [{}](#{}) | {} |",
            command.name,
            command.name.to_lowercase().replace('.', ""),
            command.summary
        );
    }
    text.push_str(GENERAL);
    for command in COMMANDS {
        describe(&mut text, command);
    }
    text
}

fn describe(text: &mut String, command: &Command) {
    let _ = write!(
        text,
        "\n## {}\n\n    {}\n\n{}\n\n",
        command.name,
        syntax(command),
        command.summary
    );
    if !command.notes.is_empty() {
        let _ = write!(text, "{}\n\n", command.notes);
    }
    text.push_str("| reply when | RESP2 | RESP3 |\n|---|---|---|\n");
    for outcome in command.outcomes {
        let _ = writeln!(
            text,
            "| {} | {} | {} |",
            outcome.when, outcome.resp2, outcome.resp3
        );
    }
    text.push_str("\n| error | when |\n|---|---|\n");
    for (code, when) in command.errors {
        let _ = writeln!(text, "| `{}` | {when} |", code.word());
    }
    let _ = writeln!(
        text,
        "\nCost: {}. Since {}. Categories: {}.",
        command.complexity,
        command.since,
        categories(command)
    );
}

const HEAD: &str = "\
# Commands

<!-- Written by `make docs` from the command table, crates/rq-command/src/commands.rs. -->

The commands of the Redis module, in any letter case.

| command | what it does |
|---|---|
";

const GENERAL: &str = "
## What holds for all of them

- **Errors** begin with a stable word, and say what was expected. A command that is refused has changed
  nothing. `ERR`: an argument is not what was expected. `WRONGTYPE`: the key holds another type.
  The number of arguments is checked by the command, whose error shows its syntax; `COMMAND INFO` says -1 for it.
- **Numbers** are decimal, in their shortest form, signed integers of 64 bits. **IDs** are `milliseconds-sequence`.
- **A queue that holds nothing ceases to exist**, as an empty list does: when its last message is
  acknowledged its key is gone, on replicas too. Its counters live on in the totals of the server
  (`INFO reliableq_totals`), which count since the server started. A client that waits makes no key. A queue that
  remembers a producer (`RQ.PUSHEX`) holds something: it goes when the last one is forgotten.
- **No queue gives an ID twice**, also not one that ceased to exist and was made again under its name, as far as persistence reaches: the server remembers the largest ID that
  it gave, in RDB files and with each queue in rewritten append-only files, and a new queue starts
  above it. `RESTORE`, `COPY` and `RENAME` stay outside of this: a copied queue
  makes the IDs that its original makes. So does an append-only file without RDB preamble that was
  rewritten while there was no queue.
- **ACL categories** are those named with each command, and `@reliableq` for all but `RQ.APPLY`, where the server lets modules set them:
  Redis 7.2 and later (its own category 7.4), Valkey. On Redis 7.0 commands of modules are in no category, as for every module: name
  them, `+rq.push`, `-rq.apply`. Key permissions hold everywhere.
- **Keyspace events** (class `d`, for modules): `rq.push`, `rq.pop`, `rq.ack`, `rq.recover`; and `del`
  (class `g`) when a queue ceases to exist.
";
