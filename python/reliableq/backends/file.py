"""Queues in a file, which processes of one machine share.

The first process that opens a file owns it: it has the lock, and answers the others over a socket in the file's
directory. They are its clients, through the same code as for a server. When the owner ends, one of them takes the lock
and goes on as the owner; the others find it. A call that is under way then is made again at the new place: pushes
under the same numbers, so that they are stored once.
"""

import logging
import os
import re
import threading
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar, Union
from urllib.parse import unquote, unquote_to_bytes

from reliableq import protocol
from reliableq._native import Clock, Embedded, Message, file_uuid, portable
from reliableq._native import Handle as OwnHandle
from reliableq.backends.base import New, call_all, gone
from reliableq.backends.producers import Producers
from reliableq.errors import (
    Closed,
    Corrupt,
    Exists,
    Failed,
    Full,
    InvalidArgument,
    Missing,
    Unavailable,
    UnsupportedURL,
)
from reliableq.presets import DEFAULT
from reliableq.types import Body

if TYPE_CHECKING:
    from reliableq.backends.redis import Redis, RedisQueue

SHORTEST, LONGEST = 0.001, 0.05
"""Seconds between two attempts to find or to become the owner: doubled from the first to the second."""

LONGEST_ADDRESS = 107
"""Bytes of a path that the system takes for a socket."""

SOCKET = "socket"

REMEDY = (
    "expected file:path or file:///path, with options ?sync=always|interval|os, &timeout=seconds, &owner=never, "
    "&uuid=32 hexadecimal digits; in a path write ? as %3F and % as %25"
)

Outcome = TypeVar("Outcome")

logger = logging.getLogger("reliableq")


class Options(NamedTuple):
    """How a file is opened."""

    sync: str = "interval"
    """When changes are durable: "always", "interval" or "os"."""
    timeout: float = 5.0
    """Seconds that the owner may take to answer, and to be found."""
    owner: bool = True
    """Whether this process may create the file, and own it."""
    uuid: str | None = None
    """The file must be the one with this UUID."""


class FileQueue:
    """A queue of a file, wherever its owner is. It is a handle: see reliableq.backends.base."""

    __slots__ = ("_file", "_new", "name")

    def __init__(self, file: "File", name: str, new: New) -> None:
        self._file = file
        self._new = new
        self.name = name

    def push(self, body: Body) -> str:
        """Appends a message."""
        return self.push_many((body,))[0]

    def push_many(self, bodies: Sequence[Body]) -> list[str]:
        """Appends messages: the owner all of them or none, a client in parts as to a server."""
        place = self._file.place()
        if isinstance(place, Embedded):
            return self._own(place).push_many(bodies)
        ids: list[str] = []
        for chunk in protocol.chunks([protocol.body_bytes(body) for body in bodies]):
            ids += self._file.producers.push(self.name, len(chunk), partial(self._produce, bodies=chunk))
        return ids

    def produce(self, producer: bytes, sequence: int, bodies: Sequence[Body]) -> list[str | None]:
        """Appends messages under the numbers of a producer, and so once, at however many places it is tried."""
        return self._produce(producer, sequence, [protocol.body_bytes(body) for body in bodies])

    def pop(self) -> Message | None:
        """Delivers a waiting message."""
        messages = self.pop_many(1, 0)
        return messages[0] if messages else None

    def pop_many(self, count: int, timeout: int | None) -> list[Message]:
        """Delivers waiting messages. What an owner gave out just before it died returns by its lease."""
        left = _until(timeout)
        return self._ask(lambda queue: queue.pop_many(count, left()))

    def take(self, pop: protocol.Pop, timeout: int | None) -> Any:
        """The reply of a pop, as pop_many() gives messages."""
        left = _until(timeout)
        return self._ask(lambda queue: queue.take(pop, left()))

    def acknowledge(self, ids: Sequence[str]) -> list[str]:
        """Lets go of delivered messages. Those that are gone when it is asked again are taken to be let go by it."""
        asked = 0

        def acknowledge(queue: "QueueAtPlace") -> list[str]:
            nonlocal asked
            asked += 1
            found = queue.acknowledge(ids)
            return found if asked == 1 else gone(queue, ids, found)

        return self._ask(acknowledge)

    def length(self) -> int:
        """The number of messages held."""
        return self._ask(lambda queue: queue.length())

    def dump(self) -> bytes | None:
        """The whole queue; None when it holds nothing."""
        return self._ask(lambda queue: queue.dump())

    def call(self, command: protocol.Command) -> Any:
        """Executes a command. A client's pushes get numbers, under which they are stored once at all owners."""
        if command.pushes and not isinstance(self._file.place(), Embedded):
            return self._file.producers.push(
                self.name,
                command.pushes,
                lambda producer, sequence: self._repeated(protocol.numbered(command, producer, sequence)),
            )
        return self._repeated(command)

    def call_all(self, commands: Sequence[protocol.Command]) -> list[Any]:
        """Executes commands that may all be made again, together where the owner is another process."""
        return self._meant(commands, lambda queue: call_all(queue, commands), repeat=True)

    def _repeated(self, command: protocol.Command) -> Any:
        """The reply of a command, of the next owner's where that does no harm. What it takes may be taken twice."""
        return self._meant((command,), lambda queue: [queue.call(command)], command.resend or command.takes)[0]

    def _meant(
        self, commands: Sequence[protocol.Command], ask: Callable[["QueueAtPlace"], list[Any]], repeat: bool
    ) -> list[Any]:
        """What the replies to commands mean, given whether an owner before may have done them."""
        sent = False

        def call(queue: "QueueAtPlace") -> list[Any]:
            nonlocal sent
            try:
                replies = ask(queue)
            except Unavailable as error:
                sent = sent or protocol.was_sent(error)
                raise
            return [command.meant(reply, sent) for command, reply in zip(commands, replies, strict=True)]

        return self._ask(call, repeat)

    def _produce(self, producer: bytes, sequence: int, bodies: Sequence[bytes]) -> list[str | None]:
        return self._ask(lambda queue: queue.produce(producer, sequence, bodies))

    def _ask(self, call: Callable[["QueueAtPlace"], Outcome], repeat: bool = True) -> Outcome:
        return self._file.ask(lambda place: call(self._at(place)), repeat)

    def _at(self, place: "Place") -> "QueueAtPlace":
        """This queue at a place. Messages that it gives are settled through here, wherever the owner is then."""
        if isinstance(place, Embedded):
            return self._own(place)
        from reliableq.backends.redis import RedisQueue

        return RedisQueue(place, self.name, self._new, self)

    def _own(self, place: Embedded) -> OwnHandle:
        return place.queue(self.name, self, self._new)


def _until(timeout: int | None) -> Callable[[], int | None]:
    """Tells how much is left of a time-out that begins now."""
    end = None if timeout is None else time.monotonic() + timeout / 1000
    return lambda: None if end is None else max(round((end - time.monotonic()) * 1000), 0)


class File:
    """A connection to a file. It is a backend: see reliableq.backends.base."""

    def __init__(self, path: str, options: Options, clock: Clock | None = None) -> None:
        self._path = os.path.abspath(path)
        self._options = options
        self._clock = clock
        self._closed = False
        self._lock = threading.Lock()
        self._directory: int | None = None
        self.producers = Producers()
        _files.add(self)
        self._place = self._open()

    def queue(self, name: str, *, new: New = DEFAULT.new) -> "OwnHandle | FileQueue":
        """The queue of this name: straight to the queues where this process owns them."""
        queue, place = FileQueue(self, name, new), self.place()
        return place.queue(name, queue, new) if isinstance(place, Embedded) else queue

    def names(self) -> list[str]:
        """The names of the queues that hold messages."""
        return self.ask(lambda place: place.names())

    def restore(self, name: str, data: bytes, replace: bool) -> None:
        """Makes a queue of what dump() gave. When it is asked again, the queue that it left before is no other one."""
        asked = 0

        def restore(place: "Place") -> None:
            nonlocal asked
            asked += 1
            try:
                place.restore(name, data, replace)
            except Exists:
                if asked == 1 or place.queue(name).dump() != portable(data):
                    raise

        self.ask(restore)

    def close(self) -> None:
        """Ends the connection. When this process owned the file and nothing else in it does, another may own it."""
        self._closed = True
        self._place.close()
        if self._directory is not None:
            os.close(self._directory)
            self._directory = None

    # Where the queues are.

    def place(self) -> "Place":
        """Where the queues are now: here, or at their owner's. A forked child is a client of its parent's."""
        place = self._place
        if isinstance(place, Embedded) and place.forked:
            return self._move(place)
        return place

    def ask(self, call: Callable[["Place"], Outcome], repeat: bool = True) -> Outcome:
        """Makes a call where the queues are. When their owner goes meanwhile, it is made again at the next one; without
        `repeat` only if this one can't have got it."""
        place, failures = self.place(), 0
        while True:
            begun = time.monotonic()
            try:
                return call(place)
            except Unavailable as error:
                if isinstance(place, Embedded) or self._closed:
                    raise
                if _is_timeout(error):
                    raise self._silent(error.remedy.removeprefix(protocol.SEE_WHETHER_IT_RUNS)) from error
                if not repeat and protocol.was_sent(error):
                    raise
                failures = failures + 1 if time.monotonic() - begun < 1 else 1
                if failures > MOST_FAILURES:
                    raise
                place = self._move(place)

    def _move(self, gone: "Place") -> "Place":
        """Finds the next place, once for all threads that found the last one gone."""
        with self._lock:
            if self._place is gone:
                self._place = self._open()
                if self._closed:  # meanwhile, by another thread
                    self._place.close()
                if not isinstance(gone, Embedded):
                    gone.disconnect_idle()
            return self._place

    def _open(self) -> "Place":
        """Becomes the owner, or finds it. Neither works for the moment in which one recovers the file."""
        end, pause = time.monotonic() + self._options.timeout, SHORTEST
        while True:
            if self._closed:
                raise Closed("the connection is closed", "connect again")
            self._check_identity()
            if place := self._own() or self._connect():
                return place
            if time.monotonic() >= end:
                raise self._silent(protocol.NOTHING_SENT)
            time.sleep(pause)
            pause = min(pause * 2, LONGEST)

    def _own(self) -> Embedded | None:
        if not self._options.owner:
            return None
        with naming(self._path):
            place = Embedded.file(self._path, self._options.sync, os.urandom(16), self._clock)
        if place is not None and place.torn:
            logger.warning("%s ended in a write that was cut short; cut off: %s", self._path, place.torn)
        return place

    def _connect(self) -> "Redis | None":
        if self._clock is not None:
            cause = f"{self._path} is owned by another process, whose clock it has"
            raise InvalidArgument(cause, "give the test a file of its own")
        from reliableq.backends.redis import open_socket

        try:
            return open_socket(self._address(), self._options.timeout, self._options.sync)
        except Unavailable as error:
            if _is_timeout(error):
                raise self._silent(protocol.NOTHING_SENT) from error
            return None

    def _address(self) -> str:
        """The path of the socket; through an open directory where it is too long for the system."""
        path = os.path.join(self._path, SOCKET)
        if len(os.fsencode(path)) <= LONGEST_ADDRESS:
            return path
        if self._directory is None:
            try:
                self._directory = os.open(self._path, os.O_RDONLY | os.O_DIRECTORY)
            except OSError:
                return path
        return f"/proc/self/fd/{self._directory}/{SOCKET}"

    # What can be wrong with it.

    def _check_identity(self) -> None:
        """Refuses another file, and where none may be made a missing one."""
        if self._options.owner and self._options.uuid is None:
            return
        try:
            uuid = file_uuid(self._path)
        except Missing as error:
            raise Missing(f"there is no file {self._path} on {_host()}", SEEN_BY_ALL) from error
        if self._options.uuid not in {None, uuid}:
            cause = f"{self._path} on {_host()} is another file: its UUID is {uuid}, not {self._options.uuid}"
            raise Missing(cause, SEEN_BY_ALL)

    def _silent(self, doubt: str) -> Unavailable:
        patience = f"{self._options.timeout:g} s"
        if self._options.owner:
            cause = f"the owner of {self._path} does not answer within {patience}"
            return Unavailable(cause, f"see whether that process is stopped or overloaded; {doubt}")
        cause = f"no owner of {self._path} answers on {_host()} within {patience}"
        return Unavailable(cause, f"keep it open in the driver, or run `reliableq serve`; {doubt}")


Place = Union[Embedded, "Redis"]
"""Where the queues of a file are: in this process, or at their owner's."""

QueueAtPlace = Union[OwnHandle, "RedisQueue"]

MOST_FAILURES = 50
"""So many owners may be lost one after the other, each within a second, before a call gives up."""

SEEN_BY_ALL = "use a path that this host sees, or queues of a server, which every host reaches"

_files: "weakref.WeakSet[File]" = weakref.WeakSet()


def _renew_locks() -> None:
    """In a forked child: a lock may be held by a thread that is not there."""
    for file in list(_files):
        file._lock = threading.Lock()


os.register_at_fork(after_in_child=_renew_locks)


@contextmanager
def naming(path: str) -> Iterator[None]:
    """Puts the path before what went wrong with it."""
    try:
        yield
    except (Corrupt, Failed, Full) as error:
        raise type(error)(f"{path}: {error.cause}", error.remedy) from error


def open_file(path: str, options: Options, clock: Clock | None = None) -> File:
    """Opens a file, and makes it where there is none."""
    return File(path, options, clock)


def read_url(rest: str) -> tuple[str, Options]:
    """The path and the options in a URL, behind `file:`."""
    path, _, query = rest.partition("?")
    if path.startswith("//"):
        if not path.startswith("///"):
            raise UnsupportedURL(f"the URL names a host, {path[2:].partition('/')[0]!r}", REMEDY)
        path = path[2:]
    path = os.fsdecode(unquote_to_bytes(path))
    if not path or "\0" in path:
        raise UnsupportedURL("the URL names no file", REMEDY)
    options, given = Options(), set[str]()
    for part in filter(None, query.split("&")):
        name, _, value = part.partition("=")
        if name in given:
            raise UnsupportedURL(f"the option {name} is given twice", REMEDY)
        given.add(name)
        options = _with_option(options, name, unquote(value))
    return path, options


def _with_option(options: Options, name: str, value: str) -> Options:
    if name == "sync" and value in {"always", "interval", "os"}:
        return options._replace(sync=value)
    if name == "owner" and value == "never":
        return options._replace(owner=False)
    if name == "uuid" and re.fullmatch("[0-9a-f]{32}", value):
        return options._replace(uuid=value)
    if name == "timeout" and re.fullmatch(r"[0-9]{1,6}(\.[0-9]{1,6})?", value) and float(value) > 0:
        return options._replace(timeout=float(value))
    if name in {"sync", "owner", "uuid", "timeout"}:
        raise UnsupportedURL(f"the option {name} is {value!r}", REMEDY)
    raise UnsupportedURL(f"a file has no option {name!r}", REMEDY)


def _is_timeout(error: Unavailable) -> bool:
    cause = error.__cause__
    return any(base.__name__ == "TimeoutError" for base in type(cause).__mro__)


def _host() -> str:
    return os.uname().nodename
