//! Descriptions: queues in numbers.

use super::{KEY, WRONG_TYPE, optional, same, several};
use crate::refusal::Code;
use crate::table::{Access, Command, Keys, Kind, Outcome, Verb};

pub(super) const LENGTH: Command = Command {
    verb: Verb::Length,
    name: "RQ.LEN",
    summary: "Tells how many messages a queue holds: scheduled, waiting and delivered, not dead.",
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
};

pub(super) const INFO: Command = Command {
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
| `delivered` | messages that were delivered and not settled |
| `scheduled` | messages that are not due yet |
| `dead-letters` | messages that are dead |
| `consumers` | named consumers that hold something |
| `bytes` | bytes of payloads and headers, as `MAXBYTES` counts them |
| `paused` | `none`, `push`, `pop` or `all` |
| `sent` | messages pushed so far |
| `received` | deliveries so far, those of `RQ.RECOVER` and `RQ.CLAIM` included |
| `returned` | the next three together |
| `returned_lease` | deliveries that came to nothing: the lease ended |
| `returned_nack` | deliveries that came to nothing: a nack, or the end of a consumer |
| `returned_recover` | deliveries that came to nothing: `RQ.RECOVER` |
| `dead` | messages that became dead letters |
| `deleted` | messages acknowledged |
| `cancelled` | messages deleted or flushed |
| `expired` | messages that the queue let go by itself: time to live, caps, bounds of the dead letters |
| `duplicates` | elements that were pushed again, by token or number, and not stored |
| `memory` | bytes allocated for the queue |
| `age` | milliseconds since the oldest message, dead ones included, was pushed |
| `first-id` | ID of the oldest message, dead ones included |
| `last-id` | the last ID made |

A queue without messages, which is kept for its settings or for what it remembers, has `first-id` 0-0 and `age` 0. Later releases add fields; \
readers should pass over those they do not know.",
};

pub(super) const STATUS: Command = Command {
    verb: Verb::Status,
    name: "RQ.STATUS",
    summary: "Shows several queues, or all, in three numbers each.",
    complexity: "O(k) with k the keys named; O(n log n) without, with n the queues and the keys that clients wait for, whatever else the server holds",
    since: "0.1.0",
    access: Access::Read,
    fast: false,
    blocking: false,
    keys: Keys::All,
    arguments: &[optional(several("key", Kind::Key))],
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
| `processing` | those of them that were delivered and not settled |
| `consumers` | connections that wait for the queue in `RQ.POP ... BLOCK` or are registered for it (`RQ.REGISTER`), each once, and named consumers that hold something and have no such connection |

With keys there is a row for each, in their order; zeros for one that does not exist. Without, there \
is a row for each queue of the database that holds messages, dead letters, settings or a pause, and for each key that connections wait \
or are registered for, in the order of the keys' bytes; only those that the user may read (ACL). In a cluster these are \
the queues of the node that is asked. On Valkey 8.1, which does not tell modules of it, a queue that \
was renamed or moved is among them again once any command has used it.

It is no use of a key: neither `OBJECT IDLETIME` nor eviction notices it. Waiting and registered connections are \
known to the server that they are connected to only.",
};
