"""A queue: the calls of producers and consumers, the same for every backend."""

from collections.abc import Iterable
from itertools import islice
from typing import NoReturn, overload

from reliableq._native import Handle as NativeHandle
from reliableq._native import Message
from reliableq._native import Queue as Plain
from reliableq.arguments import (
    Duration,
    check_bodies,
    check_bound,
    check_count,
    check_flag,
    check_id,
    check_messages,
    check_parts,
    check_pending,
    check_start,
    milliseconds,
)
from reliableq.backends.base import Handle
from reliableq.errors import InvalidArgument, InvalidType
from reliableq.types import Body, Info

CHUNK = 1000
"""So many bodies push_many() sends at a time."""


class Queue(Plain):
    """A queue of a connection, by its name. Its calls without options, push(body) and pop(), are native."""

    __slots__ = ("_place", "name")

    _handle: Handle

    def __init__(self, handle: Handle, place: str) -> None:
        self._place = place
        self.name = handle.name

    def push_many(self, bodies: Iterable[Body]) -> list[str]:
        """Appends messages and returns their IDs.

        They are sent in chunks of 1000, each stored whole or not at all: when a body is refused, or the iterable
        raises, the chunks before stay pushed.
        """
        if type(bodies) is list and len(bodies) <= CHUNK:
            return self._handle.push_many(bodies)
        rest = check_bodies(bodies)
        ids: list[str] = []
        while chunk := list(islice(rest, CHUNK)):
            ids += self._handle.push_many(chunk)
        return ids

    def pop_many(self, count: int, timeout: Duration | None = 0) -> list[Message]:
        """Takes up to `count` waiting messages, the oldest first. It waits for the first only, as pop() does."""
        return self._handle.pop_many(check_count(count), _timeout(timeout))

    @overload
    def ack(self, messages: Message | str) -> bool: ...  # type: ignore[overload-overlap]

    @overload
    def ack(self, messages: Iterable[Message | str]) -> list[str]: ...

    def ack(self, messages: Message | str | Iterable[Message | str]) -> bool | list[str]:
        """Lets go of delivered messages, given as such or by ID.

        For one, returns whether this call let go of it; for many, the IDs of those that it let go.
        """
        if isinstance(messages, Message | str):
            return bool(self._handle.acknowledge((self._id("ack", messages),)))
        if type(messages) is list and isinstance(self._handle, NativeHandle):
            done = self._handle.settle(messages)
            if done is not None:
                return done
        return self._handle.acknowledge([self._id("ack", message) for message in check_messages("ack", messages)])

    def recover(self, count: int = 100, *, elapsed: Duration) -> list[Message]:
        """Takes over up to `count` messages whose consumers have not acknowledged them for at least `elapsed`.

        They are delivered again, to the caller, the longest delivered first. `elapsed` is seconds or a timedelta.
        """
        return self._handle.recover(check_count(count), milliseconds("elapsed", elapsed))

    def inspect(self, start: int = 0, count: int = 10, *, pending: bool = False) -> list[Message]:
        """Shows up to `count` waiting messages from a position on, the next to be popped first, and changes nothing.

        With `pending`, shows those that are delivered and not acknowledged, the longest delivered first. A negative
        `start` counts from the end.
        """
        return self._handle.inspect(check_start(start), check_count(count), check_pending(pending))

    def peek(self, *, back: bool = False) -> Message | None:
        """Shows the message that is delivered next, or with `back` the last of those that wait, and takes nothing."""
        return self._handle.peek(check_flag("back", back))

    @overload
    def get(self, messages: Message | str) -> Message | None: ...  # type: ignore[overload-overlap]

    @overload
    def get(self, messages: Iterable[Message | str]) -> list[Message | None]: ...

    def get(self, messages: Message | str | Iterable[Message | str]) -> Message | list[Message | None] | None:
        """Shows messages as they are now, whatever their state, given by ID; None for one that the queue does not hold.

        For many, a list with one entry for each.
        """
        if isinstance(messages, Message | str):
            return self._handle.get((self._id("get", messages),))[0]
        return self._handle.get([self._id("get", message) for message in check_messages("get", messages)])

    def range(
        self, first: str | None = None, last: str | None = None, *, count: int = 1000, reverse: bool = False
    ) -> list[Message]:
        """Shows up to `count` messages in the order of their IDs, whatever their state, and changes nothing.

        From the ID `first` to the ID `last`, both included; `(` before an ID leaves it out, and None is the end of the
        queue. With `reverse`, from the highest ID down. What is acknowledged meanwhile may be missing.
        """
        low, high = check_bound("first", first, "-"), check_bound("last", last, "+")
        count, reverse = check_count(count), check_flag("reverse", reverse)
        messages: list[Message] = []
        while part := self._handle.range(low, high, count - len(messages), reverse):
            messages += part
            if len(messages) >= count:
                break
            low, high = (low, f"({part[-1].id}") if reverse else (f"({part[-1].id}", high)
        return messages

    def split(self, parts: int) -> list[str]:
        """Up to `parts` - 1 IDs that cut the queue into parts of nearly equal counts, for readers side by side.

        Each is the first of its part: the parts are range(last="(" + ids[0]), range(ids[0], "(" + ids[1]), and so on.
        """
        return self._handle.split(check_parts(parts))

    def __len__(self) -> int:
        """The number of messages held, whether they wait or were delivered."""
        return self._handle.length()

    def __bool__(self) -> bool:
        """True, also for a queue that holds nothing: `queue or other` must not depend on its messages."""
        return True

    def info(self) -> Info | None:
        """The queue in numbers; None when it holds nothing, for then there is no queue."""
        return self._handle.info()

    def dump(self) -> bytes | None:
        """The whole queue as bytes, for restore() of any place and RESTORE of a server; None when it holds nothing."""
        return self._handle.dump()

    def __reduce__(self) -> NoReturn:
        raise InvalidType("a Queue belongs to its process, and can't be pickled", "connect in the child process")

    def __repr__(self) -> str:
        return f"<Queue {self.name!r} of {self._place!r}>"

    def _pop_within(self, timeout: Duration | None) -> Message | None:
        """pop() with a time-out."""
        messages = self._handle.pop_many(1, _timeout(timeout))
        return messages[0] if messages else None

    def _id(self, call: str, message: Message | str) -> str:
        if not isinstance(message, Message):
            return check_id(call, message)
        if message.queue != self.name:
            cause = f"message {message.id} is of queue {message.queue!r}, not {self.name!r}"
            raise InvalidArgument(cause, "use its own queue")
        return message.id


def _timeout(timeout: Duration | None) -> int | None:
    if timeout is None:
        return None
    return milliseconds("timeout", timeout, ", or None to wait for ever")
