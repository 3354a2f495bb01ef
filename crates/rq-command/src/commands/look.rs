//! Descriptions: what shows messages and changes nothing.

use super::{
    BAD_COUNT, BAD_LIST, KEY, NAMED, WRONG_TYPE, argument, block, choice, named, option, optional,
    same,
};
use crate::refusal::Code;
use crate::table::{Access, Command, Keys, Kind, Outcome, Verb};

pub(super) const INSPECT: Command = Command {
    verb: Verb::Inspect,
    name: "RQ.INSPECT",
    summary: "Shows waiting, delivered, dead or scheduled messages without changing anything.",
    complexity: "O(n) with n the messages shown, plus the pages (waiting) or the messages (the others, from the nearer end) before them; with filters O(k) with k what the list of that state, or of the consumer, or the range of IDs has, whichever is less, and at most 1,000,000",
    since: "0.1.0",
    access: Access::Read,
    fast: false,
    blocking: false,
    keys: Keys::First,
    arguments: &[
        KEY,
        optional(choice(
            "state",
            &[
                named("PENDING", "pending", Kind::Word),
                named("DEAD", "dead", Kind::Word),
                named("SCHEDULED", "scheduled", Kind::Word),
            ],
        )),
        option("IDLE", "milliseconds", Kind::Integer),
        option("CONSUMER", "consumer", Kind::Text),
        optional(block(
            "range",
            &[
                named("RANGE", "min", Kind::Text),
                argument("max", Kind::Text),
            ],
        )),
        argument("start", Kind::Integer),
        argument("count", Kind::Integer),
    ],
    outcomes: &[
        same(
            "without a state",
            "array of rows: ID, payload (bulk strings), of the waiting messages in the order of delivery",
        ),
        same(
            "with `PENDING`",
            "array of rows: ID, payload (bulk strings), Unix milliseconds of the last delivery, milliseconds since then, number of deliveries (integers), in the order of last delivery",
        ),
        Outcome {
            when: "with `DEAD`",
            resp2: "array of rows: ID, payload (bulk strings), Unix milliseconds of its death, deliveries, failures (integers), reason, last consumer (bulk strings; null bulk string without one), longest dead first",
            resp3: "array of rows: ID, payload (bulk strings), Unix milliseconds of its death, deliveries, failures (integers), reason, last consumer (bulk strings; null without one), longest dead first",
        },
        same(
            "with `SCHEDULED`",
            "array of rows: ID, payload (bulk strings), Unix milliseconds at which it is due (integer), earliest first",
        ),
        same(
            "there is no queue, or nothing at that position",
            "empty array",
        ),
    ],
    errors: &[
        BAD_COUNT,
        (
            Code::Argument,
            "`start` is not a number, `IDLE` is negative, or a bound of `RANGE` is none of `-`, `+`, an ID, or `(` and an ID",
        ),
        (
            Code::Argument,
            "`IDLE` without `PENDING`, or `CONSUMER` without `PENDING` or `DEAD`",
        ),
        (
            Code::Argument,
            "the filters leave too little of the first 1,000,000 messages that they are held against",
        ),
        WRONG_TYPE,
    ],
    notes: "\
A negative `start` counts from the end: -1 is the last message. `start` and `count` are always the last two arguments; the state stands first, filters behind it in any order. \
`IDLE`: last delivered so many milliseconds ago or longer. `CONSUMER`: held by it, or by it last where they are dead. `RANGE`: with IDs between bounds, as those of `RQ.RANGE`. `start` counts \
what the filters leave. With `RANGE` rows come in the order of IDs. Filters are held against what has least: what the consumer holds, the list of the state, or the range of IDs; \
where that is more than 1,000,000 messages before enough is found, the answer is an error, since all others wait meanwhile: a narrower `RANGE` helps. What is due and not yet moved is shown in its old place.",
};

pub(super) const PEEK: Command = Command {
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
        same("without `WITHMETA`", "array: ID, payload (bulk strings)"),
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
        (
            Code::Argument,
            "an argument is missing, unknown or given twice",
        ),
        WRONG_TYPE,
    ],
    notes: "\
`BACK` shows the last of those that wait. Another client may take the message before you do. \
`WITHMETA` as for `RQ.POP`.",
};

pub(super) const GET: Command = Command {
    verb: Verb::Get,
    name: "RQ.GET",
    summary: "Shows messages by their IDs, whatever their state.",
    complexity: "O(log n) for each ID, with n the number of pages of the queue",
    since: "0.1.0",
    access: Access::Read,
    fast: false,
    blocking: false,
    keys: Keys::First,
    arguments: &[KEY, option("WITHMETA", "withmeta", Kind::Word), NAMED],
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
    errors: &[BAD_LIST, WRONG_TYPE],
    notes: "It takes nothing and delivers nothing. A receipt `ID@n` shows the message only while n is its last delivery. `WITHMETA` as for `RQ.POP`.",
};

pub(super) const RANGE: Command = Command {
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
meanwhile may be missing; nothing appears twice. `WITHMETA` as for `RQ.POP`.",
};

pub(super) const SPLIT: Command = Command {
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
};
