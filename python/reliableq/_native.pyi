from collections.abc import Sequence
from typing import final

from reliableq.types import Body, Info, Row

__all__ = ["Memory", "__version__"]

__version__: str

@final
class Memory:
    """A connection to queues in the memory of this process: its own, or with a name those that
    every connection with this name shares. It is a backend: see reliableq.backends.base."""

    def __new__(cls, name: str | None = None) -> Memory: ...
    def push(self, name: str, bodies: Sequence[Body]) -> list[str]:
        """Appends messages, all of them or none, and returns their IDs."""

    def pop(self, name: str, count: int, timeout: int | None) -> list[Row]:
        """Delivers up to `count` waiting messages. When there are none, waits for the first until
        `timeout` is over, for ever when it is None."""

    def acknowledge(self, name: str, ids: Sequence[str]) -> list[str]:
        """Lets go of delivered messages; returns the IDs of those that this call let go."""

    def recover(self, name: str, count: int, elapsed: int) -> list[Row]:
        """Delivers again up to `count` messages that were delivered at least `elapsed` ago."""

    def inspect(self, name: str, start: int, count: int, pending: bool) -> list[Row]:
        """Messages from a position on, the waiting or the delivered ones."""

    def length(self, name: str) -> int:
        """The number of messages that the queue holds."""

    def info(self, name: str) -> Info | None:
        """The queue in numbers, or None when it holds nothing."""

    def close(self) -> None:
        """Ends this connection: every later call raises, and so does one that waits. Other
        connections to the same queues go on."""
