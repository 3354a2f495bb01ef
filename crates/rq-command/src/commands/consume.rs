//! Descriptions: taking messages.

use super::{
    BAD_COUNT, BAD_LIST, KEY, NAMED, WRONG_TYPE, argument, option, optional, same, several,
};
use crate::refusal::Code;
use crate::table::{Access, Command, Keys, Kind, Outcome, Verb};

const BAD_CONSUMER: (Code, &str) = (
    Code::Argument,
    "a consumer's name is empty or longer than 1024 bytes, or `LEASE` is not from 0 to 2^47 - 1",
);

pub(super) const POP: Command = Command {
    verb: Verb::Pop,
    name: "RQ.POP",
    summary: "Delivers waiting messages from the first of several queues that has any, and waits for them if asked to.",
    complexity: "O(1) for each key and each message delivered; O(log n) for each with a lease, with n those that have one",
    since: "0.1.0",
    access: Access::Write,
    fast: true,
    blocking: true,
    keys: Keys::Moving,
    arguments: &[
        option("COUNT", "count", Kind::Integer),
        option("BLOCK", "milliseconds", Kind::Integer),
        option("CONSUMER", "consumer", Kind::Text),
        option("LEASE", "milliseconds", Kind::Integer),
        option("NOACK", "noack", Kind::Word),
        option("PREFETCH", "prefetch", Kind::Word),
        option("MAXBYTES", "bytes", Kind::Integer),
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
            when: "the same, with `WITHMETA`",
            resp2: "array of rows: key, ID, payload (bulk strings), flat array of names and values",
            resp3: "array of rows: key, ID, payload (bulk strings), map of names to values",
        },
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
            "`BLOCK` is negative, `MAXBYTES` is not positive, or `KEYS` does not announce as many keys as follow",
        ),
        BAD_CONSUMER,
        (Code::Argument, "`NOACK` together with `LEASE` or `PREFETCH`"),
        WRONG_TYPE,
    ],
    notes: "\
Takes all it can from the first queue, then from the second, and so on, up to `COUNT` (default 1). \
A delivered message is held until it is settled (`RQ.ACK`, `RQ.NACK`), or its lease ends. The order of delivery: higher priority first; \
within one priority returned messages, lowest ID first, then those pushed with `FRONT`, the latest first, then the others as they came.

| option | says |
|---|---|
| `COUNT` | at most so many messages |
| `BLOCK` | wait so many milliseconds if there is nothing, 0 for ever |
| `CONSUMER` | the name, of 1 to 1024 bytes, of who holds what is delivered |
| `LEASE` | milliseconds after which a message that was not settled returns by itself, 0 for never; as the queue says unless told |
| `NOACK` | at most once: what is delivered is gone, as if acknowledged |
| `PREFETCH` | work begins later, with `RQ.EXTEND ... START`; a lease that ends before counts no failure |
| `MAXBYTES` | payloads of at most so many bytes together, but one message in any case |
| `WITHMETA` | rows tell what is known of the message |
| `KEYS` | so many keys follow, and nothing else |

Options stand before the keys, in any order; a word in the place of an option is taken as one \
unless it is the only argument, and one among the keys is refused. `KEYS numkeys` settles every \
doubt, as for a queue named `count`, and is what programs should send. The older form `RQ.POP count key [key ...]` works too: a number in the first place, followed \
by at least one key, is the count, and all that follows are keys, none of them named as an option.

With `BLOCK`, a client waits until one of the queues has a message, at most so many milliseconds, \
0 for ever. Clients are served in the order in which they began to wait; a client that is woken \
takes only from the queue that woke it. Waiting makes no key, and goes on when a key is \
deleted, renamed, evicted or replaced by another type. Inside `MULTI`, a script or a function \
`BLOCK` does not wait. A paused queue (`RQ.PAUSE`), and one whose consumer has as many messages as `INFLIGHT` allows, has nothing to deliver.

With `WITHMETA` each row has one more element, a map (a flat array in RESP2) with what is known of the message:

| field | is |
|---|---|
| `state` | `scheduled`, `waiting`, `delivered` or `dead` |
| `deliveries` | how often it was delivered; it never restarts |
| `failures` | how often a delivery that counts came to nothing, since the last redrive |
| `enqueued` | Unix milliseconds of its push |
| `last-delivery` | Unix milliseconds of its last delivery, 0 before the first |
| `deadline` | Unix milliseconds at which its lease ends, 0: never |
| `receipt` | `ID@n`, n the number of its last delivery; null before the first |
| `priority` | 0 to 255 |
| `token` | its token, null without one |
| `consumer` | the name of who holds it, or held it last where it is dead; null without one |
| `headers` | flat array of names and values, in their order |
| `died`, `reason` | of dead letters only: Unix milliseconds of the death, and why |

Later releases add fields; readers should pass over those they do not know.",
};

pub(super) const RECOVER: Command = Command {
    verb: Verb::Recover,
    name: "RQ.RECOVER",
    summary: "Delivers messages again that were delivered and not settled for a while.",
    complexity: "O(log n) for each message recovered, with n those that have a lease; O(1) without leases, whatever is delivered beside",
    since: "0.1.0",
    access: Access::Write,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[
        KEY,
        argument("count", Kind::Integer),
        argument("elapsed", Kind::Integer),
        option("LEASE", "milliseconds", Kind::Integer),
        option("CONSUMER", "consumer", Kind::Text),
        option("FROM", "consumer", Kind::Text),
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
        BAD_CONSUMER,
        WRONG_TYPE,
    ],
    notes: "\
Takes at most `count` messages whose last delivery was `elapsed` milliseconds ago or longer. Each \
counts a failure, unless its delivery was not begun (`PREFETCH`), and one more delivery; its last delivery is now, and it moves to the tail of the delivered \
list. One whose deliveries are used up is dead instead: it counts towards `count`, and has no row. A message is looked at once, so that `elapsed` 0 gives each at most once.

They get the queue's lease, or `LEASE` (0: none). `CONSUMER` is the new owner; `FROM` takes only what that consumer holds: with its own name for both, \
a consumer that was restarted gets its messages back. `WITHMETA` as for `RQ.POP`.",
};

pub(super) const CLAIM: Command = Command {
    verb: Verb::Claim,
    name: "RQ.CLAIM",
    summary: "Delivers certain messages again, to another consumer.",
    complexity: "O(log n) for each ID, with n the number of pages of the queue",
    since: "0.1.0",
    access: Access::Write,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[
        KEY,
        argument("consumer", Kind::Text),
        argument("min-idle", Kind::Integer),
        option("LEASE", "milliseconds", Kind::Integer),
        option("WITHMETA", "withmeta", Kind::Word),
        NAMED,
    ],
    outcomes: &[same(
        "always",
        "array of rows as those of `RQ.POP`, for those that were claimed, in the order of the list; an empty array when there are none, or no queue",
    )],
    errors: &[
        BAD_LIST,
        (
            Code::Argument,
            "`min-idle` is not a number of milliseconds, 0 or more",
        ),
        BAD_CONSUMER,
        WRONG_TYPE,
    ],
    notes: "\
Takes only messages that are delivered, under the delivery that a receipt names, and whose last delivery was `min-idle` milliseconds ago or longer; the others are left out of the reply. \
Each counts one more delivery, so that older receipts are stale, and no failure. They get the queue's lease, or `LEASE` (0: none). `WITHMETA` as for `RQ.POP`.",
};

pub(super) const REGISTER: Command = Command {
    verb: Verb::Register,
    name: "RQ.REGISTER",
    summary: "Makes this connection a consumer of queues, in place of those that it named before.",
    complexity: "O(k) with k the keys named, now and before",
    since: "0.1.0",
    access: Access::Read,
    fast: false,
    blocking: false,
    keys: Keys::All,
    arguments: &[optional(several("key", Kind::Key))],
    outcomes: &[same("always", "simple string `OK`")],
    errors: &[
        WRONG_TYPE,
        (
            Code::Argument,
            "it is called by a script or a function, whose connection is the server's own",
        ),
    ],
    notes: "\
The connection counts as a consumer of these queues in `RQ.STATUS`, and `RQ.NOTIFY` waits for them. Without keys, and when it is closed, the connection is a consumer of \
none. It is known to the server that it is connected to only, makes no key, and nothing of it is replicated or saved.",
};

pub(super) const NOTIFY: Command = Command {
    verb: Verb::Notify,
    name: "RQ.NOTIFY",
    summary: "Waits until one of the queues that this connection registered for has something to pop.",
    complexity: "O(k) with k the keys registered",
    since: "0.1.0",
    access: Access::Read,
    fast: true,
    blocking: true,
    keys: Keys::None,
    arguments: &[argument("milliseconds", Kind::Integer)],
    outcomes: &[
        same(
            "a queue has something to pop",
            "bulk string: its key; the first one in the order of `RQ.REGISTER`",
        ),
        Outcome {
            when: "none has, in time, or none is registered",
            resp2: "null bulk string",
            resp3: "null",
        },
    ],
    errors: &[(
        Code::Argument,
        "`milliseconds` is missing or not a number, 0 or more",
    )],
    notes: "\
0 waits for ever. Nothing is taken: another client may pop before you do. Inside `MULTI`, a script or a function it does not wait.",
};
