"""The loop of a consumer: messages one after the other, each settled by how the work on it ended."""

import os
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from types import TracebackType
from typing import Any, Protocol, Self

from reliableq._native import Message
from reliableq.arguments import Duration
from reliableq.errors import Error

LONGEST_REASON = 1000
"""So many characters of an exception are kept as the reason."""


class Source(Protocol):
    """The queue that is consumed."""

    def pop_many(
        self,
        count: int,
        timeout: Duration | None = ...,
        *,
        lease: Duration | None = ...,
        consumer: str | None = ...,
        prefetch: bool = ...,
    ) -> list[Message]:
        """Takes messages."""

    def nack(self, messages: list[Message], *, silent: bool = ...) -> Any:
        """Returns messages."""


Turn = Callable[[Message, Message, float], bool]
"""Lets go of a message, and begins with another for so many seconds; tells whether that one was still held."""


class Consumption:
    """Messages of a queue, in a `for` loop, best within `with`. Made by Queue.consume().

    Asking for the next message acknowledges the one before. A message that is out when the loop ends is returned: see
    close() and __exit__().
    """

    def __init__(
        self,
        source: Source,
        turn: Turn,
        idle_timeout: Duration | None,
        consumer: str | None,
        lease: Duration | None,
        count: int,
        delay: Duration | None,
    ) -> None:
        self._source = source
        self._turn = turn
        self._idle_timeout = idle_timeout
        self._consumer = consumer
        self._lease = lease
        self._count = count
        self._delay = delay
        self._ready: deque[Message] = deque()
        self._out: Message | None = None
        self._ended = False
        self._process = os.getpid()

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> Message:
        """The next message, when the one before is acknowledged. Ends when none came within the idle time-out."""
        done = self._settle()
        while not self._ended:
            if not self._ready:
                if done is not None:
                    done.ack()
                done = None
                self._fetch()
                continue
            begun = self._begin(self._ready[0], done)
            done, message = None, self._ready.popleft()  # if it was not begun, it was lost before its turn came
            if begun:
                self._out = message
                return message
        raise StopIteration

    def close(self) -> None:
        """Ends the loop. What is out returns to the queue, available at once, and no failure is counted."""
        out = self._settle()
        self._end()
        if out is not None:
            out.nack(silent=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        """Ends the loop. After an exception what is out failed, for this reason; not by Ctrl-C or the like."""
        if not isinstance(error, Exception):
            self.close()
            return
        with suppress(Error):  # the exception of the work tells more
            self._fail(_reason(error))

    def __del__(self) -> None:
        """The loop was left, and nobody can tell how: by an exception, which then counts, or by break or return."""
        if getattr(self, "_process", None) == os.getpid():
            with suppress(Exception):
                self._fail(None)

    def _fail(self, reason: str | None) -> None:
        out = self._settle()
        try:
            if out is not None:
                out.nack(self._delay, reason=reason)
        finally:
            self._end()

    def _settle(self) -> Message | None:
        """What is out, which from now on is no longer."""
        out, self._out = self._out, None
        return out

    def _end(self) -> None:
        """Returns what was fetched and not begun."""
        self._ended = True
        rest = list(self._ready)
        self._ready.clear()
        if rest:
            self._source.nack(rest, silent=True)

    def _fetch(self) -> None:
        found = self._source.pop_many(
            self._count,
            self._idle_timeout,
            lease=self._lease,
            consumer=self._consumer,
            prefetch=self._count > 1,
        )
        self._ready.extend(found)
        self._ended = not found

    def _begin(self, message: Message, done: Message | None) -> bool:
        """Whether a message is still ours, when the one before it is acknowledged. One that was fetched with others
        gets its whole lease from now on."""
        if self._count == 1:
            return True
        lease = 0.0
        if message.deadline is not None and message.last_delivery is not None:
            lease = (message.deadline - message.last_delivery).total_seconds()
        return message.extend(lease, start=True) if done is None else self._turn(done, message, lease)


def _reason(error: Exception) -> str:
    """An exception as a text that every place takes."""
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return text[:LONGEST_REASON].encode(errors="replace").decode()
