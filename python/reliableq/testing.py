"""For tests of programs that use queues: time that passes when the test says so."""

from types import TracebackType
from typing import Self

from reliableq import _native
from reliableq.arguments import Duration, milliseconds
from reliableq.backends.select import open_backend
from reliableq.connection import Connection

__all__ = ["Clock"]


class Clock:
    """A clock that stands still until advance(). Queues of its connections live by it: leases, delays, times to live.

    It starts at the time of the system. How long a pop waits at most is still told by the system.
    """

    def __init__(self) -> None:
        self._clock = _native.Clock()
        self._connections: list[Connection] = []

    def connect(self, place: str = "memory:") -> Connection:
        """As reliableq.connect(), for `memory:` and for a `file:path` that no other process has open."""
        connection = Connection(*open_backend(place, self._clock))
        self._connections.append(connection)
        return connection

    def advance(self, duration: Duration) -> None:
        """Lets time pass, seconds or a timedelta, does what falls due by then, and wakes those who wait for it."""
        self._clock.advance(milliseconds("duration", duration))

    def now(self) -> float:
        """Its time, as Unix seconds."""
        return self._clock.now() / 1000

    def close(self) -> None:
        """Closes its connections."""
        while self._connections:
            self._connections.pop().close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()
