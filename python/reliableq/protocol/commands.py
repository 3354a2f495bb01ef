"""What to send for each call."""

from collections.abc import Sequence
from typing import Any

from reliableq.presets import DEFAULT
from reliableq.protocol.command import (
    ACK_DOUBT,
    CALL_AGAIN,
    LOOK,
    NOTHING_SENT,
    PUSH_DOUBT,
    READ_AGAIN,
    RESTORE_DOUBT,
    TAKE_DOUBT,
    Command,
    Words,
)
from reliableq.protocol.elements import message_id
from reliableq.protocol.options import PLAIN, Delivery, Filter, flag, given

PING = Command("", (b"PING",), True, NOTHING_SENT)
"""Asks whether anybody answers."""

STATUS = Command("", (b"RQ.STATUS",), True, READ_AGAIN)
"""Asks for the numbers of all queues."""

# Producing.


def push(name: str, bodies: Sequence[bytes], new: tuple[int, int] = DEFAULT.new, delivery: Delivery = PLAIN) -> Command:
    """Stores bodies. A queue that it makes gets the lease and the deliveries of `new`."""
    made = (b"NEW", *new) if any(new) else ()
    words = (b"RQ.PUSHEX", name.encode(), *delivery.words(), *made, b"ELEMENTS", len(bodies), *bodies)
    return Command(name, words, False, PUSH_DOUBT, pushes=len(bodies))


def numbered(command: Command, producer: bytes, sequence: int) -> Command:
    """A push under the numbers of a producer: it stores once, however often it is sent."""
    verb, key, *rest = command.words
    words = (verb, key, b"PRODUCER", producer, b"SEQ", sequence, *rest)
    return command._replace(words=words, resend=True, pushes=0)


def forward(name: str, ids: Sequence[str], to: str, new: tuple[int, int], bodies: Sequence[bytes]) -> Command:
    """Lets go of messages and stores bodies in another queue, both or nothing."""
    words = (name.encode(), to.encode(), b"NEW", *new, *_ids(ids), b"ELEMENTS", len(bodies), *bodies)
    return Command(name, (b"RQ.FORWARD", *words), False, LOOK)


# Consuming.


def acknowledge(name: str, ids: Sequence[str]) -> Command:
    """Lets go of messages."""
    return Command(name, (b"RQ.ACK", name.encode(), *(id.encode() for id in ids)), True, ACK_DOUBT)


def acknowledge_tokens(name: str, tokens: Sequence[bytes]) -> Command:
    """Lets go of the messages with these tokens; gives a status for each."""
    words: Words = (b"RQ.ACK", name.encode(), b"STATUS", b"TOKENS", len(tokens), *tokens)
    return Command(name, words, True, ACK_DOUBT, resent=_gone_is_done)


def nack(name: str, ids: Sequence[str], delay: int | None, dead: bool, reason: bytes | None, silent: bool) -> Command:
    """Returns messages; gives a status for each. By a bare ID, a second one could hit the next consumer."""
    when = (*given(b"DELAY", delay), *flag(b"DEAD", dead))
    words: Words = (b"RQ.NACK", name.encode(), *when, *given(b"REASON", reason), *flag(b"SILENT", silent))
    words += (b"STATUS", *_ids(ids))
    return Command(name, words, all("@" in id for id in ids), CALL_AGAIN, resent=_all_is_done)


def extend(name: str, ids: Sequence[str], duration: int, start: bool) -> Command:
    """Sets the end of leases; gives a status for each."""
    words = (b"RQ.EXTEND", name.encode(), duration, *flag(b"START", start), b"STATUS", *_ids(ids))
    return Command(name, words, True, CALL_AGAIN, resent=_all_is_done)


def claim(name: str, ids: Sequence[str], consumer: bytes, idle: int, lease: int | None) -> Command:
    """Takes over messages by their IDs."""
    words = (b"RQ.CLAIM", name.encode(), consumer, idle, *given(b"LEASE", lease), b"WITHMETA", *_ids(ids))
    return Command(name, words, False, TAKE_DOUBT)


def recover(
    name: str,
    count: int,
    elapsed: int,
    lease: int | None = None,
    consumer: bytes | None = None,
    from_consumer: bytes | None = None,
) -> Command:
    """Takes over messages that were delivered long ago."""
    options = (*given(b"LEASE", lease), *given(b"CONSUMER", consumer), *given(b"FROM", from_consumer))
    words = (b"RQ.RECOVER", name.encode(), count, elapsed, *options, b"WITHMETA")
    return Command(name, words, False, TAKE_DOUBT)


# Looking.


def inspect(name: str, start: int, count: int, which: Filter) -> Command:
    """Shows messages of one state."""
    return _read(name, b"RQ.INSPECT", *which.words(), start, count)


def peek(name: str, back: bool) -> Command:
    """Shows the next message, or the last one."""
    return _read(name, b"RQ.PEEK", *flag(b"BACK", back), b"WITHMETA")


def get(name: str, ids: Sequence[str]) -> Command:
    """Shows messages by their IDs."""
    return _read(name, b"RQ.GET", b"WITHMETA", *_ids(ids))


def range_of(name: str, first: str, last: str, count: int, reverse: bool) -> Command:
    """Shows messages in the order of their IDs."""
    order = flag(b"REV", reverse)
    return _read(name, b"RQ.RANGE", first.encode(), last.encode(), *order, b"COUNT", count, b"WITHMETA")


def split(name: str, parts: int) -> Command:
    """Asks for IDs that cut the queue into parts."""
    return _read(name, b"RQ.SPLIT", parts)


def length(name: str) -> Command:
    """Counts messages."""
    return _read(name, b"RQ.LEN")


def info(name: str) -> Command:
    """Asks for a queue's numbers."""
    return _read(name, b"RQ.INFO")


def status(name: str) -> Command:
    """Asks for a queue's three numbers."""
    return _read(name, b"RQ.STATUS")


def consumers(name: str) -> Command:
    """Asks who holds messages."""
    return Command(name, (b"RQ.CONSUMER", b"LIST", name.encode()), True, READ_AGAIN)


def dump(name: str) -> Command:
    """Asks for the whole queue."""
    return _read(name, b"DUMP")


# Managing.


def delete(name: str, ids: Sequence[str]) -> Command:
    """Removes messages, whatever their state."""
    gone = [message_id(id).encode() for id in dict.fromkeys(ids)]
    return Command(name, (b"RQ.DELETE", name.encode(), *_ids(ids)), True, CALL_AGAIN, resent=lambda _: gone)


def redrive(name: str, ids: Sequence[str] | None, count: int | None) -> Command:
    """Lets dead messages wait again: those with these IDs, so many, or all."""
    which = given(b"COUNT", count) if ids is None else _ids(ids)
    return Command(name, (b"RQ.REDRIVE", name.encode(), *which), False, LOOK)


def flush(name: str, dead: bool) -> Command:
    """Removes all messages, or the dead ones. Not sent again: it would remove what was pushed since."""
    return Command(name, (b"RQ.FLUSH", name.encode(), *flag(b"DEAD", dead)), False, LOOK)


def pause(name: str, what: str) -> Command:
    """Stops pops, pushes, or both."""
    return _write(name, b"RQ.PAUSE", what.upper().encode())


def resume(name: str, what: str) -> Command:
    """Lets pops, pushes, or both go on."""
    return _write(name, b"RQ.RESUME", what.upper().encode())


def delete_consumer(name: str, consumer: bytes) -> Command:
    """Returns what a consumer holds."""
    return Command(name, (b"RQ.CONSUMER", b"DELETE", name.encode(), consumer), False, CALL_AGAIN)


def settings(name: str) -> Command:
    """Asks for a queue's settings."""
    return _read(name, b"RQ.SETUP")


def setup(name: str, words: Words) -> Command:
    """Changes settings."""
    return _write(name, b"RQ.SETUP", *words)


def restore(name: str, data: bytes, replace: bool) -> Command:
    """Makes a queue of what DUMP gave."""
    return Command(name, (b"RESTORE", name.encode(), 0, data, *flag(b"REPLACE", replace)), replace, RESTORE_DOUBT)


def _read(name: str, verb: bytes, *words: bytes | int) -> Command:
    return Command(name, (verb, name.encode(), *words), True, READ_AGAIN)


def _write(name: str, verb: bytes, *words: bytes | int) -> Command:
    return Command(name, (verb, name.encode(), *words), True, CALL_AGAIN)


def _ids(ids: Sequence[str]) -> Words:
    return (b"IDS", len(ids), *(id.encode() for id in ids))


def _gone_is_done(statuses: Any) -> list[bytes]:
    """Of an ack that was sent again: what is gone was let go by the first."""
    return [b"OK" if status in {b"UNKNOWN", "UNKNOWN"} else status for status in statuses]


def _all_is_done(statuses: Any) -> list[bytes]:
    """Of a call that was sent again: what is no longer held so was settled by the first."""
    return [b"OK" for _ in statuses]
