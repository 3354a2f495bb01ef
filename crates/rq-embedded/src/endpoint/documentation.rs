//! `COMMAND`, from the command table: what `redis-cli` shows as hints and help.

use rq_command::reply::Sink;
use rq_command::{Access, Argument, Command, Keys, Kind, document};

use super::commands::{of_queues, unknown_subcommand, wrong_number};
use super::reply::Reply;
use super::request::Words;

/// `COMMAND [COUNT | DOCS [name ...] | INFO [name ...]]`
pub(super) fn execute(words: Words<'_>, reply: &mut Reply<'_>) -> Result<(), String> {
    if words.count() == 1 {
        information(reply, of_queues().map(Some).collect());
    } else if words.is(1, "COUNT") {
        if words.count() > 2 {
            return Err(wrong_number("command|count"));
        }
        reply.integer(of_queues().count() as u64);
    } else if words.is(1, "DOCS") {
        let found = asked(words).into_iter().flatten().collect::<Vec<_>>();
        reply.map(found.len());
        for command in found {
            documentation(reply, command);
        }
    } else if words.is(1, "INFO") {
        information(reply, asked(words));
    } else {
        return Err(unknown_subcommand(words, "COUNT, DOCS or INFO"));
    }
    Ok(())
}

/// The commands that are named, or all.
fn asked(words: Words<'_>) -> Vec<Option<&'static Command>> {
    if words.count() == 2 {
        return of_queues().map(Some).collect();
    }
    (2..words.count())
        .map(|at| of_queues().find(|command| words.is(at, command.name)))
        .collect()
}

/// Name, number of arguments (which the command checks itself), flags, first and last key and step,
/// categories, and what the endpoint does not tell: hints for proxies, key specifications, subcommands.
fn information(reply: &mut Reply<'_>, commands: Vec<Option<&Command>>) {
    reply.array(commands.len());
    for command in commands {
        let Some(command) = command else {
            reply.null();
            continue;
        };
        reply.array(10);
        reply.bytes(command.name.to_lowercase().as_bytes());
        reply.signed(-1);
        words(reply, &flags(command));
        let (first, last, step) = match command.keys {
            Keys::First => (1, 1, 1),
            Keys::FirstTwo => (1, 2, 1),
            Keys::Second => (2, 2, 1),
            Keys::All => (1, -1, 1),
            Keys::Moving | Keys::None => (0, 0, 0),
        };
        for place in [first, last, step] {
            reply.signed(place);
        }
        words(reply, &document::categories(command));
        for _ in 0..3 {
            reply.array(0);
        }
    }
}

fn flags(command: &Command) -> String {
    let mut flags = match command.access {
        Access::Read => "readonly",
        Access::Either => "",
        Access::Write | Access::Remove | Access::Admin => "write",
        Access::Grow => "write denyoom",
    }
    .to_owned();
    let further = [
        (command.fast, " fast"),
        (command.blocking, " blocking"),
        (command.keys == Keys::Moving, " movablekeys"),
    ];
    for (_, flag) in further.iter().filter(|(given, _)| *given) {
        flags.push_str(flag);
    }
    flags
}

fn words(reply: &mut Reply<'_>, words: &str) {
    reply.set(words.split_ascii_whitespace().count());
    for word in words.split_ascii_whitespace() {
        reply.status(word);
    }
}

fn documentation(reply: &mut Reply<'_>, command: &Command) {
    reply.bytes(command.name.to_lowercase().as_bytes());
    reply.map(5);
    let texts = [
        ("summary", command.summary),
        ("since", command.since),
        ("group", "reliableq"),
        ("complexity", command.complexity),
    ];
    for (name, text) in texts {
        pair(reply, name, text);
    }
    reply.bytes(b"arguments");
    arguments(reply, command.arguments);
}

fn arguments(reply: &mut Reply<'_>, arguments: &[Argument]) {
    reply.array(arguments.len());
    for each in arguments {
        argument(reply, each);
    }
}

fn argument(reply: &mut Reply<'_>, argument: &Argument) {
    let kind = match argument.kind {
        Kind::Key => "key",
        Kind::Text => "string",
        Kind::Integer => "integer",
        Kind::Word => "pure-token",
        Kind::Block => "block",
        Kind::OneOf => "oneof",
    };
    let flags = match (argument.optional, argument.multiple) {
        (true, true) => "optional multiple",
        (true, false) => "optional",
        (false, true) => "multiple",
        (false, false) => "",
    };
    let further = [
        argument.token.is_some(),
        !flags.is_empty(),
        !argument.parts.is_empty(),
    ];
    reply.map(2 + further.iter().filter(|given| **given).count());
    pair(reply, "name", argument.name);
    pair(reply, "type", kind);
    if let Some(token) = argument.token {
        pair(reply, "token", token);
    }
    if !flags.is_empty() {
        reply.bytes(b"flags");
        words(reply, flags);
    }
    if !argument.parts.is_empty() {
        reply.bytes(b"arguments");
        arguments(reply, argument.parts);
    }
}

fn pair(reply: &mut Reply<'_>, name: &str, text: &str) {
    reply.bytes(name.as_bytes());
    reply.bytes(text.as_bytes());
}
