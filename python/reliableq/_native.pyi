from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, Self, TypedDict, final

from typing_extensions import disjoint_base

from reliableq.types import Body, Info

__all__ = ["Embedded", "Handle", "Message", "Queue", "__version__", "file_uuid", "portable", "repair"]

__version__: str

class _Holder(Protocol):
    @property
    def name(self) -> str: ...
    def acknowledge(self, ids: Sequence[str], /) -> list[str]: ...

class _Loss(TypedDict):
    file: str
    offset: int
    bytes: int
    what: str

class _Repaired(TypedDict):
    queues: int
    messages: int
    losses: list[_Loss]

@final
class Message:
    """A message of a queue. It stays in the queue until it is acknowledged."""

    def __new__(
        cls, holder: _Holder, id: str, body: bytes, state: str, deliveries: int, last_delivery: int
    ) -> Message: ...
    @property
    def id(self) -> str:
        """Its ID, `milliseconds-sequence`."""

    @property
    def body(self) -> bytes:
        """Its payload."""

    @property
    def queue(self) -> str:
        """Name of its queue."""

    @property
    def state(self) -> str:
        """Where it stood when it was given: "waiting" or "delivered"."""

    @property
    def deliveries(self) -> int:
        """How often it was delivered, this time included."""

    @property
    def enqueued(self) -> datetime:
        """When it was pushed."""

    @property
    def last_delivery(self) -> datetime | None:
        """When it was last delivered; None for one that still waits."""

    def ack(self) -> bool:
        """Says that the work on it is done, so that the queue lets go of it.

        Returns whether this call did it: not when it was acknowledged before, or still waits.
        """

@final
class Handle:
    """A queue of a connection, by its name. See reliableq.backends.base."""

    @property
    def name(self) -> str: ...
    def push(self, body: Body) -> str: ...
    def push_many(self, bodies: Sequence[Body]) -> list[str]: ...
    def produce(self, producer: bytes, sequence: int, bodies: Sequence[Body]) -> list[str | None]:
        """Appends messages that a producer numbers, those that are stored already left out. Returns
        the IDs, None where one is not remembered."""

    def pop(self) -> Message | None: ...
    def pop_many(self, count: int, timeout: int | None) -> list[Message]: ...
    def acknowledge(self, ids: Sequence[str]) -> list[str]: ...
    def settle(self, messages: list[Message]) -> list[str] | None:
        """Lets go of delivered messages, given as such; returns the IDs of those that this call let go.
        None, and nothing is done, when they are not all messages of this queue."""

    def recover(self, count: int, elapsed: int) -> list[Message]: ...
    def inspect(self, start: int, count: int, pending: bool) -> list[Message]: ...
    def peek(self, back: bool) -> Message | None: ...
    def get(self, ids: Sequence[str]) -> list[Message | None]: ...
    def range(self, first: str, last: str, count: int, reverse: bool) -> list[Message]: ...
    def split(self, parts: int) -> list[str]: ...
    def length(self) -> int: ...
    def info(self) -> Info | None: ...
    def dump(self) -> bytes | None: ...

@disjoint_base
class Queue:
    """The plain calls of a queue, on the handle of any backend. The package's Queue is made from it."""

    def __new__(cls, handle: object, *_arguments: object) -> Self: ...
    @property
    def _handle(self) -> Any: ...
    def push(self, body: Body) -> str:
        """Appends a message and returns its ID."""

    def pop(self, timeout: float | timedelta | None = 0) -> Message | None:
        """Takes the oldest waiting message, which then is delivered until it is acknowledged.

        When none waits, this waits for one, at most `timeout` (seconds or a timedelta; None: for ever), and returns
        None when that is over.
        """

@final
class Embedded:
    """A connection to queues in the memory of this process, or in a file that it owns.
    It is a backend: see reliableq.backends.base."""

    @staticmethod
    def memory(name: str | None) -> Embedded:
        """Queues in memory: new ones, or with a name those that every connection with this name
        shares for as long as the process lives."""

    @staticmethod
    def file(path: str, sync: str, uuid: bytes | None) -> Embedded | None:
        """Queues of a file, as its owner; None when another process owns it. `sync` is "always",
        "interval" or "os"; `uuid` is for a file that is made, and without it none is made."""

    @property
    def torn(self) -> str | None:
        """What was cut from the end of the file when it was opened, if anything."""

    @property
    def forked(self) -> bool:
        """Whether this process was forked from the one that made this connection."""

    def queue(self, name: str, successor: object | None = None) -> Handle:
        """The queue of a name. In a forked child its calls go to the `successor`, where there is one."""

    def names(self) -> list[str]: ...
    def restore(self, name: str, data: bytes, replace: bool) -> None: ...
    def close(self) -> None: ...

def file_uuid(path: str) -> str:
    """The UUID of a file, as 32 hexadecimal digits. It is neither opened nor locked."""

def repair(source: str, destination: str, uuid: bytes) -> _Repaired:
    """Writes what is whole of a damaged file into a new one with this UUID, and tells what was
    saved and what was not."""

def portable(data: bytes) -> bytes:
    """What DUMP of any server gave, in the form that all of them take."""
