//! Descriptions: what becomes of delivered messages.

use super::produce::NEW;
use super::{
    BAD_LIST, CAPPED, EXHAUSTED, KEY, NAMED, PAUSED, STATUS, WRONG_TYPE, argument, block, choice,
    named, option, same, several,
};
use crate::refusal::Code;
use crate::table::{Access, Command, Keys, Kind, Verb};

pub(super) const ACKNOWLEDGE: Command = Command {
    verb: Verb::Acknowledge,
    name: "RQ.ACK",
    summary: "Acknowledges delivered messages, which are then gone.",
    complexity: "O(log n) for each ID, with n the number of pages of the queue; O(1) when acknowledged in order",
    since: "0.1.0",
    access: Access::Remove,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[
        KEY,
        choice(
            "messages",
            &[
                several("id", Kind::Text),
                block("counted", &[option("STATUS", "status", Kind::Word), NAMED]),
            ],
        ),
    ],
    outcomes: &[
        same(
            "without `STATUS`",
            "array of bulk strings: the IDs that were really acknowledged by this command, in their order; an empty array when there are none, or no queue",
        ),
        STATUS,
    ],
    errors: &[BAD_LIST, WRONG_TYPE],
    notes: "\
Only a delivered message can be acknowledged: IDs of waiting, unknown or already acknowledged \
messages are left out of the reply. A bare ID acts whoever holds the message, a receipt `ID@n` only if it is held under this very delivery; the reply has bare IDs. `TOKENS` \
names messages by their tokens. When the last message of a queue is gone, so is its key, unless there is something to remember.",
};

pub(super) const NACK: Command = Command {
    verb: Verb::Nack,
    name: "RQ.NACK",
    summary: "Gives delivered messages back: to be tried again, later if so said, or dead.",
    complexity: "O(log n) for each ID, with n the number of pages of the queue and of those scheduled",
    since: "0.1.0",
    access: Access::Write,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[
        KEY,
        option("DELAY", "milliseconds", Kind::Integer),
        option("DEAD", "dead", Kind::Word),
        option("REASON", "text", Kind::Text),
        option("SILENT", "silent", Kind::Word),
        option("STATUS", "status", Kind::Word),
        NAMED,
    ],
    outcomes: &[
        same(
            "without `STATUS`",
            "array of bulk strings: the IDs that were really given back by this command, in their order; an empty array when there are none, or no queue",
        ),
        STATUS,
    ],
    errors: &[
        BAD_LIST,
        (
            Code::Argument,
            "`DELAY` is not from 0 to 2^47 - 1, or stands together with `DEAD`, or `REASON` has more than 4096 bytes",
        ),
        WRONG_TYPE,
    ],
    notes: "\
A failure is counted, unless the delivery was not begun (`PREFETCH`), or the nack is `SILENT`. At the last failure allowed (`DELIVERIES` of the queue, or the \
message's `RETRIES`) the message is dead, with `REASON`, or `nack`, as its reason; with `DEAD` it is so at once. Otherwise it returns to the front of its priority, \
after the queue's back-off, or `DELAY`, which overrides it; a `SILENT` nack without `DELAY` has none. It wakes who waits.",
};

pub(super) const EXTEND: Command = Command {
    verb: Verb::Extend,
    name: "RQ.EXTEND",
    summary: "Sets anew when the leases of delivered messages end.",
    complexity: "O(log n) for each ID, with n the number of pages of the queue and of leases",
    since: "0.1.0",
    access: Access::Write,
    fast: true,
    blocking: false,
    keys: Keys::First,
    arguments: &[
        KEY,
        argument("milliseconds", Kind::Integer),
        option("START", "start", Kind::Word),
        option("STATUS", "status", Kind::Word),
        NAMED,
    ],
    outcomes: &[
        same(
            "without `STATUS`",
            "array of bulk strings: the IDs whose lease was set by this command, in their order; an empty array when there are none, or no queue",
        ),
        STATUS,
    ],
    errors: &[
        BAD_LIST,
        (Code::Argument, "`milliseconds` is not from 0 to 2^47 - 1"),
        WRONG_TYPE,
    ],
    notes: "\
The lease ends so many milliseconds from now, 0 for never; nothing else changes. `START` says that work begins on what was popped with `PREFETCH`: from then on \
an end of the lease counts as a failure.",
};

pub(super) const FORWARD: Command = Command {
    verb: Verb::Forward,
    name: "RQ.FORWARD",
    summary: "Acknowledges messages of one queue and pushes others to a second one, both or nothing.",
    complexity: "O(log n) for each ID, with n the number of pages of the source, and O(1) for each element",
    since: "0.1.0",
    access: Access::Grow,
    fast: true,
    blocking: false,
    keys: Keys::FirstTwo,
    arguments: &[
        argument("source", Kind::Key),
        argument("destination", Kind::Key),
        NEW,
        NAMED,
        named("ELEMENTS", "count", Kind::Integer),
        several("element", Kind::Text),
    ],
    outcomes: &[same(
        "all messages were held",
        "array of bulk strings: the IDs of the new messages, in the order of the elements",
    )],
    errors: &[
        BAD_LIST,
        (
            Code::NotHeld,
            "one of the messages is not held, or not under the delivery that its receipt names; nothing is changed",
        ),
        WRONG_TYPE,
        PAUSED,
        CAPPED,
        EXHAUSTED,
    ],
    notes: "\
Hands work over from one stage to the next exactly once: it is one step and one record in the log. There may be more elements than messages, or fewer. Give receipts, so that a \
consumer whose lease ended forwards nothing. In a cluster both keys are in one slot (`{orders}:new`, `{orders}:paid`).",
};
