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
    let parts = |between| {
        let parts: Vec<String> = argument.parts.iter().map(argument_syntax).collect();
        parts.join(between)
    };
    // Brackets of an optional choice enclose it already, if nothing else stands in them.
    let bare = argument.optional && argument.token.is_none() && !argument.multiple;
    let value = match argument.kind {
        Kind::Word => None,
        Kind::Block => Some(parts(" ")),
        Kind::OneOf if bare => Some(parts(" | ")),
        Kind::OneOf => Some(format!("<{}>", parts(" | "))),
        _ => Some(argument.name.to_owned()),
    };
    let words = argument.token.map(str::to_owned).into_iter().chain(value);
    let one = words.collect::<Vec<_>>().join(" ");
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
        Access::Write | Access::Either | Access::Remove | Access::Grow => "@write",
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

<!-- Written by `make docs` from the command table, crates/rq-command/src/commands. -->

The commands of the Redis module, in any letter case.

| command | what it does |
|---|---|
";

const GENERAL: &str = "
## What holds for all of them

- **Errors** begin with a stable word, and say what was expected. A command that is refused has changed
  nothing. `ERR`: an argument is not what was expected. `WRONGTYPE`: the key holds another type.
  The number of arguments is checked by the command, whose error shows its syntax; `COMMAND INFO` says -1 for it.
- **Options** stand before counted lists (`ELEMENTS count element ...`, `IDS count id ...`), in any order and letter case, each at most once.
- **Numbers** are decimal, in their shortest form, signed integers of 64 bits. **IDs** are `milliseconds-sequence`. Wherever an ID is taken, a
  **receipt** `ID@n` is, too, which means the message only while it is held under its n-th delivery; and `TOKENS count token ...` may stand
  where `IDS count id ...` stands.
- **What happens to a message** from its push until it is gone, states, order, leases, failures and dead letters, is told in [life.md](life.md).
- **A queue that holds nothing ceases to exist**, as an empty list does: when its last message is
  acknowledged its key is gone, on replicas too. Its counters live on in the totals of the server
  (`INFO reliableq_totals`), which count since the server started. A client that waits makes no key. A queue that
  remembers producers or tokens (`RQ.PUSHEX`) holds something: it goes when the last one is forgotten. One with settings (`RQ.SETUP`), and one that is paused, stays.
- **Read-only commands change nothing**: what is due and not yet moved is shown in its old place. `RQ.SETUP key` alone and `RQ.CONSUMER LIST` are read-only, too, and work
  on replicas. A server takes these two commands for some that may write, whatever their arguments say: it refuses them in read-only scripts (`EVAL_RO`, `no-writes`), and has
  them wait while writes are paused. What they would change is refused where the server refuses to write (`READONLY`, `NOREPLICAS`, `MISCONF`), and with `TRYAGAIN` by
  a transaction that has paused it.
- **No queue gives an ID twice**, also not one that ceased to exist and was made again under its name, as far as persistence reaches: the server remembers the largest ID that
  it gave, in RDB files and with each queue in rewritten append-only files, and a new queue starts
  above it. `RESTORE`, `COPY` and `RENAME` stay outside of this: a copied queue
  makes the IDs that its original makes. So does an append-only file without RDB preamble that was
  rewritten while there was no queue.
- **ACL categories** are those named with each command, and `@reliableq` for all but `RQ.APPLY`, where the server lets modules set them:
  Redis 7.2 and later (its own category 7.4), Valkey. On Redis 7.0 commands of modules are in no category, as for every module: name
  them, `+rq.push`, `-rq.apply`. Key permissions hold everywhere.
- **Keyspace events** (class `d`, for modules): `rq.push`, `rq.pop`, `rq.ack`, `rq.nack`, `rq.extend`, `rq.claim`, `rq.recover`, `rq.delete`,
  `rq.redrive`, `rq.flush`, `rq.setup`, `rq.pause` (also for `RQ.RESUME`) for what commands changed; `rq.due` when messages fell due, or returned because
  their lease ended; `rq.dead`, `rq.expired`, `rq.capped` when messages died, or were let go because of their time to live, or of a cap; and `del`
  (class `g`) when a queue ceases to exist.
";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::{Keys, Verb};

    fn syntax_of(verb: Verb) -> String {
        let mut all = COMMANDS.iter().filter(|command| command.verb == verb);
        all.next().map(syntax).unwrap_or_default()
    }

    #[test]
    fn choices_and_blocks_are_told_apart() {
        for (verb, text) in [
            (Verb::Pause, "RQ.PAUSE key [PUSH | POP | ALL]"),
            (
                Verb::Delete,
                "RQ.DELETE key <IDS count id [id ...] | TOKENS count token [token ...]>",
            ),
            (
                Verb::Redrive,
                "RQ.REDRIVE key [COUNT count | IDS count id [id ...] | TOKENS count token [token ...]]",
            ),
            (
                Verb::Acknowledge,
                "RQ.ACK key <id [id ...] | [STATUS] <IDS count id [id ...] | TOKENS count token [token ...]>>",
            ),
            (
                Verb::Consumer,
                "RQ.CONSUMER <LIST key | DELETE key consumer>",
            ),
            (
                Verb::PushExtended,
                "RQ.PUSHEX key [FRONT] [DELAY milliseconds | AT unix-milliseconds] [TTL milliseconds] [RETRIES retries] [PRIORITY priority] [HEADERS count field value [field value ...]] [TOKEN token [UNIQUE]] [PRODUCER name SEQ n] [NEW lease deliveries] ELEMENTS count element [element ...]",
            ),
            (
                Verb::Inspect,
                "RQ.INSPECT key [PENDING | DEAD | SCHEDULED] [IDLE milliseconds] [CONSUMER consumer] [RANGE min max] start count",
            ),
            (Verb::Notify, "RQ.NOTIFY milliseconds"),
            (Verb::Register, "RQ.REGISTER [key [key ...]]"),
        ] {
            assert_eq!(syntax_of(verb), text);
        }
        assert!(syntax_of(Verb::Setup).contains(" [REJECT | DROP] "));
        assert!(syntax_of(Verb::Setup).contains(" [EXPIRED <DROP | DEAD>] "));
    }

    #[test]
    fn keys_are_where_the_table_says() {
        for command in COMMANDS {
            let syntax = syntax(command);
            let words: Vec<&str> = syntax.split(' ').collect();
            let expected: &[&str] = match command.keys {
                Keys::First => &["key"],
                Keys::FirstTwo => &["source", "destination"],
                Keys::Second => &["<LIST", "key"],
                Keys::All => &["[key"],
                Keys::Moving => &["[COUNT"],
                Keys::None => &["milliseconds"],
            };
            assert!(words[1..].starts_with(expected), "{syntax}");
        }
    }

    #[test]
    fn verbs_and_names_are_described_once() {
        for (at, command) in COMMANDS.iter().enumerate() {
            let mut later = COMMANDS[at + 1..].iter();
            assert!(later.all(|other| other.verb != command.verb && other.name != command.name));
            assert!(!command.outcomes.is_empty() && !command.summary.is_empty());
        }
        assert_eq!(COMMANDS.len(), 27);
    }
}
