//! Descriptions: pushes.

use super::{
    CAPPED, EXHAUSTED, KEY, PAUSED, WRONG_TYPE, argument, block, choice, named, option, optional,
    same, several, several_of,
};
use crate::refusal::Code;
use crate::table::{Access, Argument, Command, Keys, Kind, Outcome, Verb};

/// Settings of a queue that is made.
pub(super) const NEW: Argument = optional(block(
    "new",
    &[
        named("NEW", "lease", Kind::Integer),
        argument("deliveries", Kind::Integer),
    ],
));

pub(super) const PUSH: Command = Command {
    verb: Verb::Push,
    name: "RQ.PUSH",
    summary: "Appends messages to a queue, which is created when there is none.",
    complexity: "O(1) for each message",
    since: "0.1.0",
    access: Access::Grow,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[KEY, several("element", Kind::Text)],
    outcomes: &[same(
        "always",
        "array of bulk strings: the ID of each element, in their order",
    )],
    errors: &[
        (Code::Argument, "an argument is missing"),
        WRONG_TYPE,
        PAUSED,
        CAPPED,
        EXHAUSTED,
    ],
    notes: "\
An element is any bytes, also none. The elements of one command are stored together or not at all, \
and get consecutive IDs `milliseconds-sequence`. IDs of a queue always grow, also when the \
server's clock goes back, and no queue gives an ID twice, also not one that was emptied or \
deleted and made again. The sequence starts at 1 in each millisecond; a queue that is made in a \
millisecond in which the server has given IDs already goes on above those.

A queue that was set up so (`RQ.SETUP`) refuses a push, or makes room for it. A push wakes clients that wait in `RQ.POP ... BLOCK`. It is refused with `OOM` when the server is \
over its `maxmemory`.",
};

pub(super) const PUSH_EXTENDED: Command = Command {
    verb: Verb::PushExtended,
    name: "RQ.PUSHEX",
    summary: "Pushes messages with options: when and in which order they are delivered, what travels with them, and that each is stored once.",
    complexity: "O(1) for each message; O(log n) for each with a delay or a time to live, with n those that have one; O(log p) with p producers or tokens remembered",
    since: "0.1.0",
    access: Access::Grow,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[
        KEY,
        option("FRONT", "front", Kind::Word),
        optional(choice(
            "due",
            &[
                named("DELAY", "milliseconds", Kind::Integer),
                named("AT", "unix-milliseconds", Kind::Integer),
            ],
        )),
        option("TTL", "milliseconds", Kind::Integer),
        option("RETRIES", "retries", Kind::Integer),
        option("PRIORITY", "priority", Kind::Integer),
        optional(block(
            "headers",
            &[
                named("HEADERS", "count", Kind::Integer),
                several_of(block(
                    "header",
                    &[argument("field", Kind::Text), argument("value", Kind::Text)],
                )),
            ],
        )),
        optional(block(
            "deduplication",
            &[
                named("TOKEN", "token", Kind::Text),
                option("UNIQUE", "unique", Kind::Word),
            ],
        )),
        optional(block(
            "producer",
            &[
                named("PRODUCER", "name", Kind::Text),
                named("SEQ", "n", Kind::Integer),
            ],
        )),
        NEW,
        named("ELEMENTS", "count", Kind::Integer),
        several("element", Kind::Text),
    ],
    outcomes: &[Outcome {
        when: "always",
        resp2: "array of bulk strings: the ID of each element, in their order; with a known `TOKEN`, the ID of the message that has it; null bulk string for an element that an older push of its producer stored",
        resp3: "array of bulk strings: the ID of each element, in their order; with a known `TOKEN`, the ID of the message that has it; null for an element that an older push of its producer stored",
    }],
    errors: &[
        (
            Code::Argument,
            "an argument is missing, unknown or given twice, the value of an option is not what it says, or `ELEMENTS` or `HEADERS` do not announce as many as follow",
        ),
        (Code::Argument, "`DELAY` together with `AT`, or `TOKEN` for several elements"),
        WRONG_TYPE,
        PAUSED,
        CAPPED,
        (
            Code::Duplicate,
            "`UNIQUE` is given, and the token is known; nothing is stored",
        ),
        (
            Code::Gap,
            "the producer is known, and `SEQ` leaves out numbers behind its highest; nothing is stored",
        ),
        EXHAUSTED,
    ],
    notes: "\
Without options as `RQ.PUSH`. Options stand before `ELEMENTS`, in any order; they hold for all elements, which are stored \
together or not at all.

| option | says |
|---|---|
| `FRONT` | first among the never delivered of its priority; the elements of one command in their order |
| `DELAY`, `AT` | not to be delivered before: milliseconds from now, or a time (Unix milliseconds), which is turned into a delay at once |
| `TTL` | milliseconds, 1 or more, from the due time until the first delivery; one that waited longer is dropped, or dead where the queue says `EXPIRED DEAD` |
| `RETRIES` | 0 to 65535 tries after the first, in place of the queue's `DELIVERIES` |
| `PRIORITY` | 0 (the default) to 255; higher ones are delivered first |
| `HEADERS` | so many pairs of names and values, which travel with the message; order, duplicates and bytes are kept |
| `TOKEN` | what the message is known by, any bytes but not none; one element only |
| `PRODUCER`, `SEQ` | who pushes, a name of 1 to 1024 bytes, and the number of the first element, 1 or more |
| `NEW` | lease (milliseconds) and deliveries (0 to 65535) of the queue, should this command make it; unlike those of `RQ.SETUP` they go with its last message |

Durations and times are below 2^47 milliseconds.

A push whose token belongs to a message of the queue (dead ones included), or to one that left less than the queue's `DEDUP` window \
ago, stores nothing and gives that message's ID; with `UNIQUE` it is refused.

With `PRODUCER name SEQ n` the elements have consecutive numbers from n \
on. Those at or below the producer's highest number are stored already: what its latest push stored \
is answered with the same IDs, what is older with nulls. The others are stored, all or none. So a \
client that got no answer sends the same command again. A producer that is not known may start with \
any number. It is judged before the token.

Tokens of messages that left, and producers since their last push, are remembered for the `DEDUP` window of the queue \
(`RQ.SETUP`), 10 minutes unless told, and so long the key stays, \
also when all messages are gone. Use a producer's name of its own for each process and connection.",
};
