"""What a place that keeps queues must do. All that stands above is written once, in terms of this.

Arguments were checked by the caller: counts are at least 1, times are whole milliseconds from 0 on, bounds are IDs. A
queue that holds nothing does not exist, and looking makes none. Every method raises Closed after close(), and those
that ask a server raise Unavailable, MissingModule, WrongType and Refused.
"""

from collections.abc import Sequence
from typing import Protocol

from reliableq._native import Message
from reliableq.types import Body, Info


class Handle(Protocol):
    """One queue of such a place, by its name. It may be used from many threads at a time."""

    @property
    def name(self) -> str:
        """The queue's name."""

    def push(self, body: Body) -> str:
        """Appends a message and returns its ID. Raises InvalidBody for what is no buffer, and Exhausted."""

    def push_many(self, bodies: Sequence[Body]) -> list[str]:
        """Appends messages, all of them or none, and returns their IDs in the same order.

        A server is sent about 1 MiB at a time, and each such part is stored whole or not at all.
        """

    def pop(self) -> Message | None:
        """Delivers the oldest waiting message, if there is one. It does not wait."""

    def pop_many(self, count: int, timeout: int | None) -> list[Message]:
        """Delivers up to `count` waiting messages, the oldest first.

        When there are none, it waits for the first until `timeout` is over: not at all for 0, for ever for None. A wait
        that an exception ends (KeyboardInterrupt) has taken nothing; what a server sent just then stays delivered.
        """

    def acknowledge(self, ids: Sequence[str]) -> list[str]:
        """Lets go of delivered messages; returns the IDs of those that this call let go. Raises InvalidId."""

    def recover(self, count: int, elapsed: int) -> list[Message]:
        """Delivers again up to `count` messages, each delivered at least `elapsed` ago, the longest ago first."""

    def inspect(self, start: int, count: int, pending: bool) -> list[Message]:
        """Shows waiting messages, or delivered ones if `pending`, from a position on; from the end when negative."""

    def peek(self, back: bool) -> Message | None:
        """Shows the message that is delivered next, or with `back` last of those that wait, if there is one."""

    def get(self, ids: Sequence[str]) -> list[Message | None]:
        """Shows the message with each ID, whatever its state; None for one that the queue does not hold."""

    def range(self, first: str, last: str, count: int, reverse: bool) -> list[Message]:
        """Shows messages in the order of their IDs, whatever their state, the highest first if `reverse`.

        A bound is an ID, `(` and an ID that is left out, or `-` and `+` for the ends. It gives fewer than there
        are when these are large, but at least one.
        """

    def split(self, parts: int) -> list[str]:
        """Up to `parts` - 1 IDs that cut the queue into parts of nearly equal counts."""

    def length(self) -> int:
        """The number of messages held, whether they wait or were delivered."""

    def info(self) -> Info | None:
        """The queue in numbers; None when it holds nothing."""

    def dump(self) -> bytes | None:
        """The queue as bytes that RESTORE of a server takes; None when it holds nothing."""


class Backend(Protocol):
    """A connection to such a place. It may be used from many threads at a time."""

    def queue(self, name: str) -> Handle:
        """The queue of this name, which need not exist."""

    def names(self) -> list[str]:
        """The names of the queues that hold messages, sorted."""

    def restore(self, name: str, data: bytes, replace: bool) -> None:
        """Makes a queue of what dump() gave. Raises Exists and InvalidDump."""

    def close(self) -> None:
        """Ends the connection and every wait on it. May be called again."""
