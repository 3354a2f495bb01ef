"""What a place that keeps queues must do. All that stands above is written once, in terms of this.

Arguments were checked by the caller: counts are at least 1, times are whole milliseconds from 0 on, bounds are IDs.
Looking makes no queue. Every method raises Closed after close(), and those that ask a server raise Unavailable,
MissingModule, WrongType and Refused.
"""

from collections.abc import Sequence
from typing import Any, Protocol

from reliableq import protocol
from reliableq._native import Message
from reliableq.types import Body

New = tuple[int, int]
"""Milliseconds of lease, and deliveries, that a queue gets when a push makes it."""


class Handle(Protocol):
    """One queue of such a place, by its name. It may be used from many threads at a time.

    The calls that are made for each message have methods of their own. All others are commands.
    """

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
        """Delivers the next waiting message, if there is one. It does not wait."""

    def pop_many(self, count: int, timeout: int | None) -> list[Message]:
        """Delivers up to `count` waiting messages, the next first.

        When there are none, it waits for the first until `timeout` is over: not at all for 0, for ever for None. A wait
        that an exception ends (KeyboardInterrupt) has taken nothing; what a server sent just then stays delivered.
        """

    def acknowledge(self, ids: Sequence[str]) -> list[str]:
        """Lets go of delivered messages, by ID or receipt; returns the IDs of those that this call let go.

        Raises InvalidId.
        """

    def length(self) -> int:
        """The number of messages held: scheduled, waiting and delivered."""

    def dump(self) -> bytes | None:
        """The queue as bytes that RESTORE of a server takes; None when it holds nothing."""

    def call(self, command: protocol.Command) -> Any:
        """Executes a command, and gives its reply as redis-py gives an undecoded one. An error reply is raised.

        Where replies can be lost, `command.resend` says whether it is made again, and its `pushes` are numbered.
        """

    def take(self, pop: protocol.Pop, timeout: int | None) -> Any:
        """The reply of a pop with options. It waits as pop_many() does."""


class Backend(Protocol):
    """A connection to such a place. It may be used from many threads at a time."""

    def queue(self, name: str, *, new: New = ...) -> Handle:
        """The queue of this name, which need not exist."""

    def names(self) -> list[str]:
        """The names of the queues that hold messages, sorted."""

    def restore(self, name: str, data: bytes, replace: bool) -> None:
        """Makes a queue of what dump() gave. Raises Exists and InvalidDump."""

    def close(self) -> None:
        """Ends the connection and every wait on it. May be called again."""


def look_up(handle: Handle, ids: Sequence[str]) -> list[Any]:
    """A row for each ID, None for a message that the queue does not hold; a thousand at a time."""
    rows: list[Any] = []
    for part in protocol.parts(ids, protocol.GET_CHUNK):
        rows += handle.call(protocol.get(handle.name, part))
    return rows


def call_all(handle: Handle, commands: Sequence[protocol.Command]) -> list[Any]:
    """The replies to commands that may be made again. A place that is elsewhere takes them together."""
    together = getattr(handle, "call_all", None)
    return [handle.call(command) for command in commands] if together is None else together(commands)


def gone(handle: Handle, ids: Sequence[str], found: Sequence[str]) -> list[str]:
    """Those that were let go, or that the queue does not hold: the reply that said so may have been lost."""
    asked = list(dict.fromkeys(map(protocol.message_id, ids)))
    done = set(found)
    return [id for id, row in zip(asked, look_up(handle, asked), strict=True) if id in done or row is None]
