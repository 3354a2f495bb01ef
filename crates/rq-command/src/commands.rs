//! The descriptions of all commands.

use crate::refusal::Code;
use crate::table::{Access, Argument, Command, Keys, Kind, Outcome, Verb};

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
    Argument {
        optional: true,
        ..named(token, name, kind)
    }
}

const fn several(name: &'static str, kind: Kind) -> Argument {
    Argument {
        multiple: true,
        ..argument(name, kind)
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

/// Every command.
pub const COMMANDS: &[Command] = &[
    Command {
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
            EXHAUSTED,
        ],
        notes: "\
An element is any bytes, also none. The elements of one command are stored together or not at all, \
and get consecutive IDs `milliseconds-sequence`. IDs of a queue always grow, also when the \
server's clock goes back, and no queue gives an ID twice, also not one that was emptied or \
deleted and made again. The sequence starts at 1 in each millisecond; a queue that is made in a \
millisecond in which the server has given IDs already goes on above those.

A push wakes clients that wait in `RQ.POP ... BLOCK`. It is refused with `OOM` when the server is \
over its `maxmemory`.",
    },
    Command {
        verb: Verb::PushExtended,
        name: "RQ.PUSHEX",
        summary: "Appends messages with options: those of a numbered producer are stored once, however often they are sent.",
        complexity: "O(1) for each message, O(log p) with p producers remembered",
        since: "0.1.0",
        access: Access::Grow,
        fast: true,
        blocking: false,
        keys: Keys::First,
        arguments: &[
            KEY,
            Argument {
                optional: true,
                parts: &[
                    named("PRODUCER", "name", Kind::Text),
                    named("SEQ", "n", Kind::Integer),
                ],
                ..argument("producer", Kind::Block)
            },
            named("ELEMENTS", "count", Kind::Integer),
            several("element", Kind::Text),
        ],
        outcomes: &[Outcome {
            when: "always",
            resp2: "array of bulk strings: the ID of each element, in their order; null bulk string for one that an older push stored",
            resp3: "array of bulk strings: the ID of each element, in their order; null for one that an older push stored",
        }],
        errors: &[
            (
                Code::Argument,
                "an argument is missing, `SEQ` is not a positive integer, or `ELEMENTS` does not announce as many as follow",
            ),
            WRONG_TYPE,
            (
                Code::Gap,
                "the producer is known, and `SEQ` leaves out numbers behind its highest; nothing is stored",
            ),
            EXHAUSTED,
        ],
        notes: "\
Without options as `RQ.PUSH`. With `PRODUCER name SEQ n` the elements have consecutive numbers from n \
on. Those at or below the producer's highest number are stored already: what its latest push stored \
is answered with the same IDs, what is older with nulls. The others are stored, all or none. So a \
client that got no answer sends the same command again. A producer that is not known may start with \
any number.

A producer is remembered for 10 minutes after its last push, and so long the key stays, \
also when all messages are acknowledged. Use a name of its own for each process and connection.",
    },
    Command {
        verb: Verb::Pop,
        name: "RQ.POP",
        summary: "Delivers waiting messages from the first of several queues that has any, and waits for them if asked to.",
        complexity: "O(1) for each key and each message delivered",
        since: "0.1.0",
        access: Access::Write,
        fast: true,
        blocking: true,
        keys: Keys::Moving,
        arguments: &[
            option("COUNT", "count", Kind::Integer),
            option("BLOCK", "milliseconds", Kind::Integer),
            option("WITHMETA", "withmeta", Kind::Word),
            option("KEYS", "numkeys", Kind::Integer),
            several("key", Kind::Key),
        ],
        outcomes: &[
            same(
                "messages were delivered",
                "array of rows, each an array of three bulk strings: key, ID, payload",
            ),
            Outcome {
                when: "nothing was there to deliver, or not in time",
                resp2: "null array",
                resp3: "null",
            },
        ],
        errors: &[
            BAD_COUNT,
            (
                Code::Argument,
                "`BLOCK` is negative, or `KEYS` does not announce as many keys as follow",
            ),
            WRONG_TYPE,
        ],
        notes: "\
Takes all it can from the first queue, then from the second, and so on, up to `COUNT` (default 1). \
A delivered message is kept, in the list of delivered messages, until `RQ.ACK`.

Options stand before the keys, in any order; a word in the place of an option is taken as one \
unless it is the only argument, and one among the keys is refused. `KEYS numkeys` settles every \
doubt, as for a queue named `count`, and is what programs should send. The older form `RQ.POP count key [key ...]` works too: a number in the first place, followed \
by at least one key, is the count, and all that follows are keys, none of them named as an option.

With `BLOCK`, a client waits until one of the queues has a message, at most so many milliseconds, \
0 for ever. Clients are served in the order in which they began to wait; a client that is woken \
takes only from the queue that woke it. Waiting makes no key, and goes on when a key is \
deleted, renamed, evicted or replaced by another type. Inside `MULTI`, a script or a function \
`BLOCK` does not wait.

With `WITHMETA` each row has one more element, a map (a flat array in RESP2) with what is known of \
the message: `state` (`delivered`), `deliveries`, `enqueued` and `last-delivery` (Unix \
milliseconds). Later releases add fields; readers should pass over those they do not know.",
    },
    Command {
        verb: Verb::Acknowledge,
        name: "RQ.ACK",
        summary: "Acknowledges delivered messages, which are then gone.",
        complexity: "O(log n) for each ID, with n the number of pages of the queue; O(1) when acknowledged in order",
        since: "0.1.0",
        access: Access::Remove,
        fast: true,
        blocking: false,
        keys: Keys::First,
        arguments: &[KEY, several("id", Kind::Text)],
        outcomes: &[same(
            "always",
            "array of bulk strings: the IDs that were really acknowledged by this command, in their order; an empty array when there are none, or no queue",
        )],
        errors: &[
            (
                Code::Argument,
                "an argument is missing, or an ID is not `milliseconds-sequence`; nothing is acknowledged then",
            ),
            WRONG_TYPE,
        ],
        notes: "\
Only a delivered message can be acknowledged: IDs of waiting, unknown or already acknowledged \
messages are left out of the reply. When the last message of a queue is gone, so is its key.",
    },
    Command {
        verb: Verb::Recover,
        name: "RQ.RECOVER",
        summary: "Delivers messages again that were delivered and not acknowledged for a while.",
        complexity: "O(1) for each message recovered, whatever is delivered beside",
        since: "0.1.0",
        access: Access::Write,
        fast: true,
        blocking: false,
        keys: Keys::First,
        arguments: &[
            KEY,
            argument("count", Kind::Integer),
            argument("elapsed", Kind::Integer),
            option("WITHMETA", "withmeta", Kind::Word),
        ],
        outcomes: &[same(
            "always",
            "array of rows as those of `RQ.POP`, longest delivered first; an empty array when none is due, or there is no queue",
        )],
        errors: &[
            BAD_COUNT,
            (
                Code::Argument,
                "`elapsed` is not a number of milliseconds, 0 or more",
            ),
            WRONG_TYPE,
        ],
        notes: "\
Takes at most `count` messages whose last delivery was `elapsed` milliseconds ago or longer. Each \
counts one more delivery, its last delivery is now, and it moves to the tail of the delivered \
list. A message is looked at once, so that `elapsed` 0 gives each at most once. `WITHMETA` as \
for `RQ.POP`.",
    },
    Command {
        verb: Verb::Inspect,
        name: "RQ.INSPECT",
        summary: "Shows waiting or delivered messages without changing anything.",
        complexity: "O(n) with n the messages shown, plus the pages (waiting) or the messages (delivered, from the nearer end) before them",
        since: "0.1.0",
        access: Access::Read,
        fast: false,
        blocking: false,
        keys: Keys::First,
        arguments: &[
            KEY,
            option("PENDING", "pending", Kind::Word),
            argument("start", Kind::Integer),
            argument("count", Kind::Integer),
        ],
        outcomes: &[
            same(
                "without `PENDING`",
                "array of rows: ID, payload (bulk strings), in the order of delivery",
            ),
            same(
                "with `PENDING`",
                "array of rows: ID, payload (bulk strings), Unix milliseconds of the last delivery, milliseconds since then, number of deliveries (integers), in the order of last delivery",
            ),
            same(
                "there is no queue, or nothing at that position",
                "empty array",
            ),
        ],
        errors: &[
            BAD_COUNT,
            (Code::Argument, "`start` is not a number"),
            WRONG_TYPE,
        ],
        notes: "A negative `start` counts from the end: -1 is the last message.",
    },
    Command {
        verb: Verb::Peek,
        name: "RQ.PEEK",
        summary: "Shows the message that is delivered next, and leaves it where it is.",
        complexity: "O(1)",
        since: "0.1.0",
        access: Access::Read,
        fast: true,
        blocking: false,
        keys: Keys::First,
        arguments: &[
            KEY,
            option("BACK", "back", Kind::Word),
            option("WITHMETA", "withmeta", Kind::Word),
        ],
        outcomes: &[
            same(
                "without `WITHMETA`",
                "array: ID, payload (bulk strings)",
            ),
            Outcome {
                when: "with `WITHMETA`",
                resp2: "array: ID, payload (bulk strings), flat array of names and values",
                resp3: "array: ID, payload (bulk strings), map of names to values",
            },
            Outcome {
                when: "no message waits",
                resp2: "null array",
                resp3: "null",
            },
        ],
        errors: &[
            (Code::Argument, "an argument is missing, unknown or given twice"),
            WRONG_TYPE,
        ],
        notes: "\
`BACK` shows the last of those that wait. Another client may take the message before you do. \
`WITHMETA` as for `RQ.RANGE`.",
    },
    Command {
        verb: Verb::Get,
        name: "RQ.GET",
        summary: "Shows messages by their IDs, whatever their state.",
        complexity: "O(log n) for each ID, with n the number of pages of the queue",
        since: "0.1.0",
        access: Access::Read,
        fast: false,
        blocking: false,
        keys: Keys::First,
        arguments: &[
            KEY,
            option("WITHMETA", "withmeta", Kind::Word),
            named("IDS", "count", Kind::Integer),
            several("id", Kind::Text),
        ],
        outcomes: &[
            Outcome {
                when: "without `WITHMETA`",
                resp2: "array with a row for each ID, in their order: ID, payload (bulk strings); null array for one that the queue does not hold",
                resp3: "array with a row for each ID, in their order: ID, payload (bulk strings); null for one that the queue does not hold",
            },
            Outcome {
                when: "with `WITHMETA`",
                resp2: "the same, with a flat array of names and values more in each row",
                resp3: "the same, with a map of names to values more in each row",
            },
        ],
        errors: &[
            (
                Code::Argument,
                "an argument is no ID, missing or unknown, or `IDS` does not announce as many as follow",
            ),
            WRONG_TYPE,
        ],
        notes: "It takes nothing and delivers nothing. `WITHMETA` as for `RQ.RANGE`.",
    },
    Command {
        verb: Verb::Range,
        name: "RQ.RANGE",
        summary: "Shows messages in the order of their IDs, whatever their state.",
        complexity: "O(log n) to find the first, with n the number of pages of the queue, and O(1) for each message shown",
        since: "0.1.0",
        access: Access::Read,
        fast: false,
        blocking: false,
        keys: Keys::First,
        arguments: &[
            KEY,
            argument("min", Kind::Text),
            argument("max", Kind::Text),
            option("REV", "rev", Kind::Word),
            option("COUNT", "count", Kind::Integer),
            option("WITHMETA", "withmeta", Kind::Word),
        ],
        outcomes: &[
            same(
                "without `WITHMETA`",
                "array of rows: ID, payload (bulk strings)",
            ),
            Outcome {
                when: "with `WITHMETA`",
                resp2: "array of rows: ID, payload (bulk strings), flat array of names and values",
                resp3: "array of rows: ID, payload (bulk strings), map of names to values",
            },
            same(
                "there is no queue, or nothing between the bounds",
                "empty array",
            ),
        ],
        errors: &[
            BAD_COUNT,
            (
                Code::Argument,
                "`min` or `max` is none of `-`, `+`, an ID, or `(` and an ID",
            ),
            WRONG_TYPE,
        ],
        notes: "\
`-` and `+` are the ends, `(id` leaves that ID out. `min` stands before `max` also with `REV`, which \
gives the highest first. `COUNT` is 1000 unless told, and a reply ends early at about 8 MiB, but has \
at least one row if there is one: go on from the last ID seen, left out. What is acknowledged \
meanwhile may be missing; nothing appears twice. `WITHMETA` as for `RQ.POP`; `state` is `waiting` \
or `delivered`, and `last-delivery` 0 before the first.",
    },
    Command {
        verb: Verb::Split,
        name: "RQ.SPLIT",
        summary: "Gives IDs that cut a queue into parts of nearly equal counts.",
        complexity: "O(n) with n the number of pages of the queue; payloads are not touched",
        since: "0.1.0",
        access: Access::Read,
        fast: false,
        blocking: false,
        keys: Keys::First,
        arguments: &[KEY, argument("n", Kind::Integer)],
        outcomes: &[same(
            "always",
            "array of up to n - 1 bulk strings, growing: each is the first ID of a part; empty when one part is enough, or there is no queue",
        )],
        errors: &[
            (
                Code::Argument,
                "`n` is not from 1 to 65536, or an argument is missing",
            ),
            WRONG_TYPE,
        ],
        notes: "For readers that take a queue in parallel, each a range of `RQ.RANGE`.",
    },
    Command {
        verb: Verb::Length,
        name: "RQ.LEN",
        summary: "Tells how many messages a queue holds, waiting and delivered.",
        complexity: "O(1)",
        since: "0.1.0",
        access: Access::Read,
        fast: true,
        blocking: false,
        keys: Keys::First,
        arguments: &[KEY],
        outcomes: &[same("always", "integer; 0 when there is no queue")],
        errors: &[
            (Code::Argument, "an argument is missing, or one too many"),
            WRONG_TYPE,
        ],
        notes: "",
    },
    Command {
        verb: Verb::Info,
        name: "RQ.INFO",
        summary: "Shows a queue in numbers.",
        complexity: "O(1)",
        since: "0.1.0",
        access: Access::Read,
        fast: true,
        blocking: false,
        keys: Keys::First,
        arguments: &[KEY],
        outcomes: &[
            Outcome {
                when: "there is a queue",
                resp2: "flat array of names and values",
                resp3: "map of names to values",
            },
            Outcome {
                when: "there is none",
                resp2: "null array",
                resp3: "null",
            },
        ],
        errors: &[
            (Code::Argument, "an argument is missing, or one too many"),
            WRONG_TYPE,
        ],
        notes: "\
| field | is |
|---|---|
| `waiting` | messages that wait |
| `delivered` | messages that were delivered and not acknowledged |
| `sent` | messages pushed so far |
| `received` | deliveries so far, those of `RQ.RECOVER` included |
| `returned` | deliveries taken back by `RQ.RECOVER` |
| `dead` | messages that became dead letters (none yet: there is no limit of deliveries) |
| `deleted` | messages acknowledged |
| `memory` | bytes allocated for the queue |
| `age` | milliseconds since the oldest message held was pushed |
| `first-id` | ID of the oldest message held |
| `last-id` | the last ID made |

A queue that only remembers producers has `first-id` 0-0 and `age` 0. Later releases add fields; \
readers should pass over those they do not know.",
    },
    Command {
        verb: Verb::Status,
        name: "RQ.STATUS",
        summary: "Shows several queues, or all, in three numbers each.",
        complexity: "O(k) with k the keys named; O(n log n) without, with n the queues and the keys that clients wait for, whatever else the server holds",
        since: "0.1.0",
        access: Access::Read,
        fast: false,
        blocking: false,
        keys: Keys::All,
        arguments: &[Argument {
            optional: true,
            ..several("key", Kind::Key)
        }],
        outcomes: &[
            same(
                "always",
                "array of rows: key (bulk string), total, processing, consumers (integers)",
            ),
            same("without keys, and there is nothing to show", "empty array"),
        ],
        errors: &[WRONG_TYPE],
        notes: "\
| column | is |
|---|---|
| `total` | messages that the queue holds, as `RQ.LEN` counts them |
| `processing` | those of them that were delivered and not acknowledged |
| `consumers` | connections that wait for the queue in `RQ.POP ... BLOCK` |

With keys there is a row for each, in their order; zeros for one that does not exist. Without, there \
is a row for each queue of the database that holds messages, and for each key that connections wait \
for, in the order of the keys' bytes; only those that the user may read (ACL). In a cluster these are \
the queues of the node that is asked. On Valkey 8.1, which does not tell modules of it, a queue that \
was renamed or moved is among them again once any command has used it.

It is no use of a key: neither `OBJECT IDLETIME` nor eviction notices it. Waiting connections are \
known to the server that they are connected to only.",
    },
    Command {
        verb: Verb::Apply,
        name: "RQ.APPLY",
        summary: "Applies an effect, as replicas and append-only files get them. Not for clients.",
        complexity: "as the command that made the effect",
        since: "0.1.0",
        access: Access::Admin,
        fast: false,
        blocking: false,
        keys: Keys::First,
        arguments: &[
            KEY,
            argument("effect", Kind::Text),
            Argument {
                optional: true,
                ..several("payload", Kind::Text)
            },
        ],
        outcomes: &[same("it was applied", "simple string `OK`")],
        errors: &[
            (Code::Argument, "an argument is missing"),
            (
                Code::BadEffect,
                "the bytes are no effect, or none that this queue can have had; nothing is changed",
            ),
            WRONG_TYPE,
        ],
        notes: "\
Changes are propagated as this command: what happened, with IDs and times, and never what was \
asked. Its bytes are specified in [format.md](format.md). It is in the categories `@admin` and \
`@dangerous`: whoever may send it can make any queue, and use up all IDs. On Redis 7.0, where the \
commands of modules have no categories, take it from a user with `-rq.apply`.

The parts of a snapshot make a queue when the last of them has come, not before.",
    },
];
