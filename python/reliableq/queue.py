"""A queue: the calls of producers and consumers, the same for every backend."""

from collections.abc import Iterable
from itertools import islice
from typing import overload

from reliableq.arguments import (
    Duration,
    check_bodies,
    check_count,
    check_id,
    check_messages,
    check_name,
    check_pending,
    check_start,
    milliseconds,
)
from reliableq.backends.base import Backend
from reliableq.errors import InvalidArgument
from reliableq.message import Message
from reliableq.types import Body, Info, Row

CHUNK = 1000
"""So many bodies push_many() sends at a time."""


class Queue:
    """A queue of a connection, by its name."""

    __slots__ = ("_backend", "_place", "name")

    def __init__(self, backend: Backend, name: str, place: str) -> None:
        self._backend = backend
        self._place = place
        self.name = check_name(name)

    def push(self, body: Body) -> str:
        """Appends a message and returns its ID."""
        return self._backend.push(self.name, (body,))[0]

    def push_many(self, bodies: Iterable[Body]) -> list[str]:
        """Appends messages and returns their IDs.

        They are sent in chunks of 1000, each stored whole or not at all: when a body is refused, or the iterable
        raises, the chunks before stay pushed.
        """
        rest = check_bodies(bodies)
        ids: list[str] = []
        while chunk := list(islice(rest, CHUNK)):
            ids += self._backend.push(self.name, chunk)
        return ids

    def pop(self, timeout: Duration | None = 0) -> Message | None:
        """Takes the oldest waiting message, which then is delivered until it is acknowledged.

        When none waits, this waits for one, at most `timeout` (seconds or a timedelta; None: for ever), and returns
        None when that is over.
        """
        rows = self._backend.pop(self.name, 1, _timeout(timeout))
        return self._message(rows[0]) if rows else None

    def pop_many(self, count: int, timeout: Duration | None = 0) -> list[Message]:
        """Takes up to `count` waiting messages, the oldest first. It waits for the first only, as pop() does."""
        return self._messages(self._backend.pop(self.name, check_count(count), _timeout(timeout)))

    @overload
    def ack(self, messages: Message | str) -> bool: ...  # type: ignore[overload-overlap]

    @overload
    def ack(self, messages: Iterable[Message | str]) -> list[str]: ...

    def ack(self, messages: Message | str | Iterable[Message | str]) -> bool | list[str]:
        """Lets go of delivered messages, given as such or by ID.

        For one, returns whether this call let go of it; for many, the IDs of those that it let go.
        """
        if isinstance(messages, Message | str):
            return self._settle(self._id(messages))
        ids = [self._id(message) for message in check_messages(messages)]
        return self._backend.acknowledge(self.name, ids)

    def recover(self, count: int = 100, *, elapsed: Duration) -> list[Message]:
        """Takes over up to `count` messages whose consumers have not acknowledged them for at least `elapsed`.

        They are delivered again, to the caller, the longest delivered first. `elapsed` is seconds or a timedelta.
        """
        rows = self._backend.recover(self.name, check_count(count), milliseconds("elapsed", elapsed))
        return self._messages(rows)

    def inspect(self, start: int = 0, count: int = 10, *, pending: bool = False) -> list[Message]:
        """Shows up to `count` waiting messages from a position on, the next to be popped first, and changes nothing.

        With `pending`, shows those that are delivered and not acknowledged, the longest delivered first. A negative
        `start` counts from the end.
        """
        rows = self._backend.inspect(self.name, check_start(start), check_count(count), check_pending(pending))
        return self._messages(rows)

    def __len__(self) -> int:
        """The number of messages held, whether they wait or were delivered."""
        return self._backend.length(self.name)

    def __bool__(self) -> bool:
        """True, also for a queue that holds nothing: `queue or other` must not depend on its messages."""
        return True

    def info(self) -> Info | None:
        """The queue in numbers; None when it holds nothing, for then there is no queue."""
        return self._backend.info(self.name)

    def __repr__(self) -> str:
        return f"<Queue {self.name!r} of {self._place!r}>"

    def _settle(self, id: str) -> bool:
        return bool(self._backend.acknowledge(self.name, (id,)))

    def _id(self, message: Message | str) -> str:
        if not isinstance(message, Message):
            return check_id(message)
        if message.queue != self.name:
            cause = f"message {message.id} is of queue {message.queue!r}, not {self.name!r}"
            raise InvalidArgument(cause, "call its own ack()")
        return message.id

    def _message(self, row: Row) -> Message:
        return Message(self._settle, self.name, *row)

    def _messages(self, rows: list[Row]) -> list[Message]:
        return [self._message(row) for row in rows]


def _timeout(timeout: Duration | None) -> int | None:
    if timeout is None:
        return None
    return milliseconds("timeout", timeout)
