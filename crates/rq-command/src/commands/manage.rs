//! Descriptions: settings, pauses, dead letters, consumers.

use super::{
    BAD_LIST, IDS, KEY, NAMED, TOKENS, WRONG_TYPE, argument, block, choice, named, option,
    optional, same, several,
};
use crate::refusal::Code;
use crate::table::{Access, Argument, Command, Keys, Kind, Outcome, Verb};

const SIDES: Argument = optional(choice(
    "sides",
    &[
        named("PUSH", "push", Kind::Word),
        named("POP", "pop", Kind::Word),
        named("ALL", "all", Kind::Word),
    ],
));
const BAD_SIDES: (Code, &str) = (
    Code::Argument,
    "an argument is missing or unknown, or there is more than one word",
);

pub(super) const DELETE: Command = Command {
    verb: Verb::Delete,
    name: "RQ.DELETE",
    summary: "Deletes messages, whatever their state.",
    complexity: "O(log n) for each ID, with n the number of pages of the queue",
    since: "0.1.0",
    access: Access::Remove,
    fast: false,
    blocking: false,
    keys: Keys::First,
    arguments: &[KEY, NAMED],
    outcomes: &[same(
        "always",
        "array of bulk strings: the IDs that were really deleted by this command, in their order; an empty array when there are none, or no queue",
    )],
    errors: &[BAD_LIST, WRONG_TYPE],
    notes: "\
Held and dead ones too; an ack that comes later is harmless. A receipt `ID@n` deletes only what is held under this very delivery. They count as `cancelled`.",
};

pub(super) const REDRIVE: Command = Command {
    verb: Verb::Redrive,
    name: "RQ.REDRIVE",
    summary: "Puts dead letters back to be delivered.",
    complexity: "O(log n) for each message, with n the dead letters",
    since: "0.1.0",
    access: Access::Write,
    fast: false,
    blocking: false,
    keys: Keys::First,
    arguments: &[
        KEY,
        optional(choice(
            "which",
            &[named("COUNT", "count", Kind::Integer), IDS, TOKENS],
        )),
    ],
    outcomes: &[same(
        "always",
        "array of bulk strings: the IDs that were really redriven by this command; an empty array when there are none, or no queue",
    )],
    errors: &[
        BAD_LIST,
        (
            Code::Argument,
            "`COUNT` is not a positive integer, or stands together with a list",
        ),
        WRONG_TYPE,
    ],
    notes: "\
All of them, the longest dead first, or the first `COUNT`, or those that are named. Each joins the tail of its priority, with its deliveries, without its failures, and without a time to live. No cap refuses it. \
It wakes who waits.",
};

pub(super) const FLUSH: Command = Command {
    verb: Verb::Flush,
    name: "RQ.FLUSH",
    summary: "Removes all messages of a queue, or its dead letters.",
    complexity: "O(n) with n the messages removed",
    since: "0.1.0",
    access: Access::Remove,
    fast: false,
    blocking: false,
    keys: Keys::First,
    arguments: &[KEY, option("DEAD", "dead", Kind::Word)],
    outcomes: &[same(
        "always",
        "integer: messages removed; 0 when there is no queue",
    )],
    errors: &[
        (
            Code::Argument,
            "an argument is missing, unknown or given twice",
        ),
        WRONG_TYPE,
    ],
    notes: "\
Without `DEAD` all go: scheduled, waiting, delivered and dead ones. A holder's later ack is harmless, and nothing returns. Settings and pauses stay; `DEL` takes these too. They \
count as `cancelled`.",
};

pub(super) const PAUSE: Command = Command {
    verb: Verb::Pause,
    name: "RQ.PAUSE",
    summary: "Stops the pops of a queue, its pushes, or both.",
    complexity: "O(1)",
    since: "0.1.0",
    access: Access::Write,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[KEY, SIDES],
    outcomes: &[same("always", "simple string `OK`")],
    errors: &[BAD_SIDES, WRONG_TYPE],
    notes: "\
`POP` unless told. A paused push is refused with `PAUSED`; a paused pop finds nothing, and whoever is blocked waits on. Leases, schedules, acks and nacks go on. What is paused already \
stays so. A paused queue exists also without messages: it is made when there is none.",
};

pub(super) const RESUME: Command = Command {
    verb: Verb::Resume,
    name: "RQ.RESUME",
    summary: "Lets the pops of a queue go on, its pushes, or both.",
    complexity: "O(1)",
    since: "0.1.0",
    access: Access::Write,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[KEY, SIDES],
    outcomes: &[same(
        "always, also when nothing was paused",
        "simple string `OK`",
    )],
    errors: &[BAD_SIDES, WRONG_TYPE],
    notes: "`POP` unless told. It wakes who waits.",
};

pub(super) const SETUP: Command = Command {
    verb: Verb::Setup,
    name: "RQ.SETUP",
    summary: "Changes the settings of a queue, or shows them.",
    complexity: "O(1)",
    since: "0.1.0",
    access: Access::Either,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[
        KEY,
        option("LEASE", "milliseconds", Kind::Integer),
        option("DELIVERIES", "deliveries", Kind::Integer),
        optional(block(
            "backoff",
            &[
                named("BACKOFF", "base", Kind::Integer),
                argument("factor", Kind::Text),
                argument("max", Kind::Integer),
            ],
        )),
        option("JITTER", "percent", Kind::Integer),
        option("MAXLEN", "messages", Kind::Integer),
        option("MAXBYTES", "bytes", Kind::Integer),
        optional(choice(
            "overflow",
            &[
                named("REJECT", "reject", Kind::Word),
                named("DROP", "drop", Kind::Word),
            ],
        )),
        option("DEDUP", "milliseconds", Kind::Integer),
        Argument {
            token: Some("EXPIRED"),
            ..optional(choice(
                "expired",
                &[
                    named("DROP", "drop", Kind::Word),
                    named("DEAD", "dead", Kind::Word),
                ],
            ))
        },
        option("DEADMAX", "messages", Kind::Integer),
        option("DEADTTL", "milliseconds", Kind::Integer),
        option("INFLIGHT", "messages", Kind::Integer),
    ],
    outcomes: &[
        same("a setting was named", "simple string `OK`"),
        Outcome {
            when: "none was named",
            resp2: "flat array of names and values",
            resp3: "map of names to values",
        },
        Outcome {
            when: "none was named, and there is no queue",
            resp2: "null array",
            resp3: "null",
        },
    ],
    errors: &[
        (
            Code::Argument,
            "an argument is missing, unknown or given twice, `REJECT` stands together with `DROP`, or a value is out of its range",
        ),
        WRONG_TYPE,
    ],
    notes: "\
Those named change, all or none, the others stay. 0 clears one. Without any it only looks, also on a replica.

| setting | says | default | shown as |
|---|---|---|---|
| `LEASE` | milliseconds after which a delivered message returns | 0: never | `lease` |
| `DELIVERIES` | the failed delivery that was the last one, up to 65535 | 0: no limit | `deliveries` |
| `BACKOFF` | wait after the f-th failure: min(base * factor^(f-1), max) milliseconds; the factor is a number from 1 to 1000 with at most three decimals; max 0: no limit | 0 1 0: none | `backoff-base`, `backoff-factor` (bulk string such as `1.5`), `backoff-max` |
| `JITTER` | percent of the wait, 0 to 100, up to which a part of it is left out | 0 | `jitter` |
| `MAXLEN` | most messages, as `RQ.LEN` counts them | 0: no cap | `maxlen` |
| `MAXBYTES` | most bytes of their payloads and headers | 0: no cap | `maxbytes` |
| `REJECT`, `DROP` | what a push beyond a cap does: it is refused with `CAPPED`, or drops waiting messages | `REJECT` | `overflow` (`reject` or `drop`) |
| `DEDUP` | milliseconds for which tokens of messages that left, and producers, are remembered; 0: not at all | 600000 | `dedup` |
| `EXPIRED` | what becomes of a message whose time to live is over | `DROP` | `expired` (`drop` or `dead`) |
| `DEADMAX` | most dead letters: the longest dead goes | 0: no limit | `deadmax` |
| `DEADTTL` | milliseconds after which a dead letter goes | 0: never | `deadttl` |
| `INFLIGHT` | most delivered messages for each named consumer, and for all unnamed ones together | 0: no limit | `inflight` |

Milliseconds are below 2^47. `DROP` makes room from the lowest priority upwards, in each the head of what came in order, then the oldest `FRONT`, then returned messages; what is scheduled or held is never dropped, and too little \
waiting is a refusal.

A queue with settings exists also without messages: it is made when there is none, and ceases to exist with `DEL`, or when all settings are as those of a new queue. A setting that is 0 leaves it to the \
server's default (`CONFIG SET reliableq.lease ...`), where there is one; shown is what the queue says.",
};

pub(super) const CONSUMER: Command = Command {
    verb: Verb::Consumer,
    name: "RQ.CONSUMER",
    summary: "Shows the consumers of a queue, or ends one, whose messages return.",
    complexity: "O(n) with n the consumers, or the messages that return",
    since: "0.1.0",
    access: Access::Either,
    fast: false,
    blocking: false,
    keys: Keys::Second,
    arguments: &[choice(
        "subcommand",
        &[
            named("LIST", "key", Kind::Key),
            block(
                "delete",
                &[
                    named("DELETE", "key", Kind::Key),
                    argument("consumer", Kind::Text),
                ],
            ),
        ],
    )],
    outcomes: &[
        same(
            "`LIST`",
            "array of rows: name (bulk string), messages held, milliseconds since it was last seen, Unix milliseconds when it was last seen (integers); an empty array when there are none, or no queue",
        ),
        same(
            "`DELETE`",
            "integer: messages that returned; 0 when there is no such consumer, or no queue",
        ),
    ],
    errors: &[
        (
            Code::Argument,
            "an argument is missing, unknown, or one too many, or the name is empty or longer than 1024 bytes",
        ),
        WRONG_TYPE,
    ],
    notes: "\
A consumer exists as long as it holds something (`CONSUMER` of `RQ.POP`, `RQ.CLAIM`, `RQ.RECOVER`). It is seen when it pops, also when it finds nothing; that is not replicated. `LIST` only looks, also on a replica. `DELETE` returns what it \
holds to the front, and counts no failure.",
};

pub(super) const APPLY: Command = Command {
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
        optional(several("payload", Kind::Text)),
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
};
