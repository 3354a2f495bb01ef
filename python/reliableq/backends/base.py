"""What a place that keeps queues must do. All that stands above is written once, in terms of this.

Arguments were checked by the caller: counts are at least 1, times are whole milliseconds from 0 on. A queue that
holds nothing does not exist, and looking makes none. Every method raises Closed after close(), and those that ask a
server raise Unavailable, MissingModule, WrongType and Refused.
"""

from collections.abc import Sequence
from typing import Protocol

from reliableq.types import Body, Info, Row


class Backend(Protocol):
    """A connection to such a place. It may be used from many threads at a time."""

    def push(self, name: str, bodies: Sequence[Body]) -> list[str]:
        """Appends messages, all of them or none, and returns their IDs in the same order.

        A server is sent about 1 MiB at a time, and each such part is stored whole or not at all.
        Raises InvalidBody for what is no buffer, and Exhausted.
        """

    def pop(self, name: str, count: int, timeout: int | None) -> list[Row]:
        """Delivers up to `count` waiting messages, the oldest first.

        When there are none, it waits for the first until `timeout` is over: not at all for 0, for ever for None. A wait
        that an exception ends (KeyboardInterrupt) has taken nothing; what a server sent just then stays delivered.
        """

    def acknowledge(self, name: str, ids: Sequence[str]) -> list[str]:
        """Lets go of delivered messages; returns the IDs of those that this call let go. Raises InvalidId."""

    def recover(self, name: str, count: int, elapsed: int) -> list[Row]:
        """Delivers again up to `count` messages, each delivered at least `elapsed` ago, the longest ago first."""

    def inspect(self, name: str, start: int, count: int, pending: bool) -> list[Row]:
        """Shows waiting messages, or delivered ones if `pending`, from a position on; from the end when negative."""

    def length(self, name: str) -> int:
        """The number of messages held, whether they wait or were delivered."""

    def info(self, name: str) -> Info | None:
        """The queue in numbers; None when it holds nothing."""

    def close(self) -> None:
        """Ends the connection and every wait on it. May be called again."""
