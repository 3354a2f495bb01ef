from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any, Protocol, Self, TypedDict, final

from typing_extensions import disjoint_base

from reliableq.arguments import HeadersGiven
from reliableq.protocol import Command, Pop
from reliableq.types import Body, Headers

__all__ = ["Clock", "Embedded", "Handle", "Message", "Queue", "__version__", "file_uuid", "portable", "repair"]

__version__: str

class _Holder(Protocol):
    @property
    def name(self) -> str: ...
    def acknowledge(self, ids: Sequence[str], /) -> list[str]: ...
    def call(self, command: Command, /) -> Any: ...

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
    """A message of a queue. It stays in the queue until it is acknowledged.

    What it tells is as it was when it was given. inspect() gives only what the state is about (times, deliveries, the
    reason), get() and the others give headers, priority and the like.
    """

    def __new__(
        cls,
        holder: _Holder,
        id: str,
        body: bytes,
        state: str,
        deliveries: int,
        last_delivery: int,
        *,
        failures: int = 0,
        deadline: int = 0,
        priority: int = 0,
        token: bytes | None = None,
        consumer: bytes | None = None,
        headers: list[tuple[bytes, bytes]] | None = None,
        due: int = 0,
        died: int = 0,
        reason: bytes | None = None,
    ) -> Message: ...
    @property
    def id(self) -> str:
        """Its ID, `milliseconds-sequence`."""

    @property
    def receipt(self) -> str:
        """This delivery of it, `ID@deliveries`; the ID when it was never delivered."""

    @property
    def body(self) -> bytes:
        """Its payload."""

    @property
    def queue(self) -> str:
        """Name of its queue."""

    @property
    def state(self) -> str:
        """Where it stood when it was given: "scheduled", "waiting", "delivered" or "dead"."""

    @property
    def deliveries(self) -> int:
        """How often it was delivered, this time included."""

    @property
    def failures(self) -> int:
        """How many of these deliveries came to nothing, and count."""

    @property
    def enqueued(self) -> datetime:
        """When it was pushed."""

    @property
    def last_delivery(self) -> datetime | None:
        """When it was last delivered; None for one that never was."""

    @property
    def deadline(self) -> datetime | None:
        """When its lease ends; None where it does not."""

    @property
    def due(self) -> datetime | None:
        """When a scheduled message begins to wait."""

    @property
    def died(self) -> datetime | None:
        """When it became a dead letter."""

    @property
    def priority(self) -> int:
        """0 to 255; higher ones are delivered first."""

    @property
    def token(self) -> bytes | None:
        """What it is known by beside its ID."""

    @property
    def consumer(self) -> str | None:
        """The name of the consumer that holds it, or held it last."""

    @property
    def reason(self) -> str | None:
        """Why it is dead."""

    @property
    def headers(self) -> Headers:
        """Names and values that travel with it."""

    def ack(self) -> bool:
        """Says that the work on it is done, so that the queue lets go of it.

        Returns whether this call did it: not when it was acknowledged before, still waits, or was lost to another
        consumer when its lease ended.
        """

    def nack(
        self,
        delay: float | timedelta | None = None,
        *,
        dead: bool = False,
        reason: str | None = None,
        silent: bool = False,
    ) -> bool:
        """Says that the work on it failed, so that it waits again: after `delay`; None: after the queue's back-off.

        At its limit of deliveries, or with `dead`, it becomes a dead letter, with this reason. `silent` counts no
        failure. Returns whether this call did it.
        """

    def extend(self, duration: float | timedelta, *, start: bool = False) -> bool:
        """Lets its lease end `duration` from now; 0: never. `start`: work on a message fetched with `prefetch` begins.

        Returns whether this call did it: not when the lease was over before.
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
        """Lets go of delivered messages, given as such, by their receipts; returns the IDs of those that this call let
        go. None, and nothing is done, when they are not all messages of this queue."""

    def length(self) -> int: ...
    def dump(self) -> bytes | None: ...
    def call(self, command: Command) -> Any:
        """Executes the words of a command; gives its reply as redis-py gives an undecoded one. A refusal is
        raised as reliableq.protocol.server_error() has it."""

    def take(self, pop: Pop, timeout: int | None) -> Any:
        """The reply of a pop with options. It waits as pop_many() does."""

@disjoint_base
class Queue:
    """The plain calls of a queue, on the handle of any backend. The package's Queue is made from it."""

    def __new__(cls, handle: object, *_arguments: object) -> Self: ...
    @property
    def _handle(self) -> Any: ...
    def push(
        self,
        body: Body,
        *,
        delay: float | timedelta | None = None,
        at: float | datetime | None = None,
        ttl: float | timedelta | None = None,
        retries: int | None = None,
        front: bool = False,
        priority: int = 0,
        headers: HeadersGiven | None = None,
        token: str | bytes | None = None,
        unique: bool = False,
    ) -> str:
        """Appends a message and returns its ID."""

    def pop(
        self,
        timeout: float | timedelta | None = 0,
        *,
        lease: float | timedelta | None = None,
        consumer: str | None = None,
        no_ack: bool = False,
        prefetch: bool = False,
    ) -> Message | None:
        """Takes the next waiting message, which then is delivered until it is acknowledged.

        When none waits, this waits for one, at most `timeout` (seconds or a timedelta; None: for ever), and returns
        None when that is over.
        """

@final
class Clock:
    """A time that stands still until it is advanced, for tests."""

    def __new__(cls) -> Clock: ...
    def now(self) -> int:
        """Unix milliseconds."""

    def advance(self, milliseconds: int) -> None:
        """Lets time pass, does what falls due, and wakes those who wait for it."""

@final
class Embedded:
    """A connection to queues in the memory of this process, or in a file that it owns.
    It is a backend: see reliableq.backends.base."""

    @staticmethod
    def memory(name: str | None, clock: Clock | None = None) -> Embedded:
        """Queues in memory: new ones, or with a name those that every connection with this name
        shares for as long as the process lives."""

    @staticmethod
    def file(path: str, sync: str, uuid: bytes | None, clock: Clock | None = None) -> Embedded | None:
        """Queues of a file, as its owner; None when another process owns it. `sync` is "always",
        "interval" or "os"; `uuid` is for a file that is made, and without it none is made."""

    @property
    def torn(self) -> str | None:
        """What was cut from the end of the file when it was opened, if anything."""

    @property
    def forked(self) -> bool:
        """Whether this process was forked from the one that made this connection."""

    def queue(self, name: str, successor: object | None = None, new: tuple[int, int] = ...) -> Handle:
        """The queue of a name. In a forked child its calls go to the `successor`, where there is one. A queue that a
        push makes gets the milliseconds of lease, and the deliveries, of `new`."""

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
