//! The descriptions of all commands.

mod consume;
mod count;
mod look;
mod manage;
mod produce;
mod settle;

use crate::refusal::Code;
use crate::table::{Argument, Command, Kind, Outcome};

/// Every command.
pub const COMMANDS: &[Command] = &[
    produce::PUSH,
    produce::PUSH_EXTENDED,
    consume::POP,
    settle::ACKNOWLEDGE,
    settle::NACK,
    settle::EXTEND,
    settle::FORWARD,
    consume::RECOVER,
    consume::CLAIM,
    look::INSPECT,
    look::PEEK,
    look::GET,
    look::RANGE,
    look::SPLIT,
    count::LENGTH,
    count::INFO,
    count::STATUS,
    manage::DELETE,
    manage::REDRIVE,
    manage::FLUSH,
    manage::PAUSE,
    manage::RESUME,
    manage::SETUP,
    manage::CONSUMER,
    consume::REGISTER,
    consume::NOTIFY,
    manage::APPLY,
];

const fn argument(name: &'static str, kind: Kind) -> Argument {
    Argument {
        name,
        kind,
        token: None,
        optional: false,
        multiple: false,
        parts: &[],
    }
}

const fn named(token: &'static str, name: &'static str, kind: Kind) -> Argument {
    Argument {
        token: Some(token),
        ..argument(name, kind)
    }
}

const fn option(token: &'static str, name: &'static str, kind: Kind) -> Argument {
    optional(named(token, name, kind))
}

const fn optional(argument: Argument) -> Argument {
    Argument {
        optional: true,
        ..argument
    }
}

const fn several(name: &'static str, kind: Kind) -> Argument {
    several_of(argument(name, kind))
}

const fn several_of(argument: Argument) -> Argument {
    Argument {
        multiple: true,
        ..argument
    }
}

/// Arguments that stand together.
const fn block(name: &'static str, parts: &'static [Argument]) -> Argument {
    Argument {
        parts,
        ..argument(name, Kind::Block)
    }
}

/// One of these.
const fn choice(name: &'static str, parts: &'static [Argument]) -> Argument {
    Argument {
        parts,
        ..argument(name, Kind::OneOf)
    }
}

const fn same(when: &'static str, reply: &'static str) -> Outcome {
    Outcome {
        when,
        resp2: reply,
        resp3: reply,
    }
}

const KEY: Argument = argument("key", Kind::Key);
const WRONG_TYPE: (Code, &str) = (
    Code::WrongType,
    "the key holds a value that is not a reliable queue",
);
const EXHAUSTED: (Code, &str) = (
    Code::Exhausted,
    "the queue has no further IDs (its sequence is at the largest number of 64 bits)",
);
const BAD_COUNT: (Code, &str) = (
    Code::Argument,
    "a count is not a positive integer, or an argument is missing or unknown",
);
const BAD_LIST: (Code, &str) = (
    Code::Argument,
    "an argument is missing, unknown or given twice, an ID is neither `milliseconds-sequence` nor a receipt, or a list does not announce as many as follow",
);
const PAUSED: (Code, &str) = (
    Code::Paused,
    "the queue takes no pushes (`RQ.PAUSE`); nothing is changed",
);
const CAPPED: (Code, &str) = (
    Code::Capped,
    "the queue has no room (`MAXLEN`, `MAXBYTES` of `RQ.SETUP`), and drops nothing, or not enough; nothing is changed",
);

const IDS: Argument = block(
    "ids",
    &[
        named("IDS", "count", Kind::Integer),
        several("id", Kind::Text),
    ],
);
const TOKENS: Argument = block(
    "tokens",
    &[
        named("TOKENS", "count", Kind::Integer),
        several("token", Kind::Text),
    ],
);
/// Messages by their IDs, receipts or tokens.
const NAMED: Argument = choice("messages", &[IDS, TOKENS]);

/// What settles messages says of each.
const STATUS: Outcome = same(
    "with `STATUS`",
    "array of simple strings, one for each in the order of the list: `OK` (done), `STALE` (the message is not held, or not under this delivery), `UNKNOWN` (no such message)",
);
