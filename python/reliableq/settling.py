"""Settling messages: what becomes of those that a consumer holds. Message and Queue do it through here."""

from collections.abc import Sequence

from reliableq import protocol
from reliableq.arguments import Duration, check_flag, check_text, term
from reliableq.backends.base import Handle, call_all
from reliableq.errors import InvalidArgument

LONGEST_REASON = 4096
"""So many bytes a reason may have."""


def nack(
    handle: Handle, receipts: Sequence[str], delay: Duration | None, dead: bool, reason: str | None, silent: bool
) -> list[str]:
    """Returns messages to their queue, and returns the IDs of those for which it was done."""
    wait = None if delay is None else term("delay", delay)
    dead, silent = check_flag("dead", dead), check_flag("silent", silent)
    told = None if reason is None else check_text("reason", reason)
    if told is not None and len(told) > LONGEST_REASON:
        raise InvalidArgument(f"reason has {len(told)} bytes", f"expected at most {LONGEST_REASON}")
    if dead and wait is not None:
        raise InvalidArgument("a dead message has no delay, and one was given", "give either dead=True or a delay")
    protocol.check_ids(receipts)
    done: list[str] = []
    for part in protocol.parts(receipts):
        done += _settled(handle, part, protocol.nack(handle.name, part, wait, dead, told, silent))
    return done


def extend(handle: Handle, receipts: Sequence[str], duration: Duration, start: bool) -> list[str]:
    """Sets the end of leases, counted from now, and returns the IDs of those for which it was done."""
    wait, start = term("duration", duration), check_flag("start", start)
    protocol.check_ids(receipts)
    done: list[str] = []
    for part in protocol.parts(receipts):
        done += _settled(handle, part, protocol.extend(handle.name, part, wait, start))
    return done


def turn(handle: Handle, done: str, begun: str, duration: Duration) -> bool:
    """Lets go of one message and begins with another, whose lease is set; tells whether that one was still held."""
    let_go = protocol.acknowledge(handle.name, (done,))
    begin = protocol.extend(handle.name, (begun,), term("duration", duration), start=True)
    _, statuses = call_all(handle, (let_go, begin))
    return protocol.read_done(statuses)[0]


def acknowledge_tokens(handle: Handle, tokens: Sequence[bytes]) -> list[bool]:
    """Lets go of delivered messages by their tokens, and tells for each whether it was done."""
    done: list[bool] = []
    for part in protocol.parts(tokens):
        done += protocol.read_done(handle.call(protocol.acknowledge_tokens(handle.name, part)))
    return done


def delete(handle: Handle, ids: Sequence[str]) -> list[str]:
    """Removes messages, whatever their state, and returns the IDs of those that were there."""
    protocol.check_ids(ids)
    done: list[str] = []
    for part in protocol.parts(ids):
        done += protocol.read_ids(handle.call(protocol.delete(handle.name, part)))
    return done


def _settled(handle: Handle, receipts: Sequence[str], command: protocol.Command) -> list[str]:
    done = protocol.read_done(handle.call(command))
    return [protocol.message_id(receipt) for receipt, settled in zip(receipts, done, strict=True) if settled]
