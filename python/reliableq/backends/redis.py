"""Queues of a Redis or Valkey server that has loaded the module, through redis-py.

Connections are borrowed from the client's pool for each command, so that the client itself is not touched: neither
how it decodes, nor how long it waits.
"""

import math
import os
import re
import time
import weakref
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from typing import Any

from reliableq import protocol
from reliableq._native import Message, portable
from reliableq.backends.base import New, gone
from reliableq.backends.producers import Producers
from reliableq.errors import (
    Closed,
    Error,
    InvalidDump,
    InvalidType,
    MissingPackage,
    Refused,
    UnsupportedURL,
    WrongType,
)
from reliableq.presets import DEFAULT
from reliableq.protocol import Command
from reliableq.types import Body, holds_messages

try:
    import redis
    from redis.backoff import ExponentialWithJitterBackoff, NoBackoff
    from redis.retry import Retry
except ImportError as error:
    raise MissingPackage("the package redis is not installed", "pip install 'redis>=8'") from error

OLDEST = 8
"""The oldest major version of redis-py that this works with."""

if int(redis.__version__.partition(".")[0]) < OLDEST:
    raise MissingPackage(f"the package redis is {redis.__version__}, older than {OLDEST}", "pip install 'redis>=8'")

SLICE = 1.0
"""A wait asks the server anew after so many seconds, so that it sees when the connection was closed."""

URL_REMEDY = (
    "expected redis://[user:password@]host[:port][/number][?option=value], rediss:// likewise, or unix:///path, "
    "with redis-py's options, and with special characters of user and password percent-encoded"
)

UNLIMITED = 1 << 31
"""Connections that a pool may make: one for each thread that calls or waits."""

SYNC_CLIENT = "give a redis.Redis, or its URL"


class RedisQueue:
    """A queue of such a server. It is a handle: see reliableq.backends.base."""

    __slots__ = ("_holder", "_new", "_server", "name")

    def __init__(self, server: "Redis", name: str, new: New, holder: protocol.Holder | None = None) -> None:
        self._server = server
        self._new = new
        self._holder = holder or self
        self.name = name

    def push(self, body: Body) -> str:
        """Appends a message."""
        return self.push_many((body,))[0]

    def push_many(self, bodies: Sequence[Body]) -> list[str]:
        """Appends messages, in commands of about 1 MiB, each stored whole or not at all, and once."""
        self._server.check_open()
        ids: list[str] = []
        for chunk in protocol.chunks([protocol.body_bytes(body) for body in bodies]):
            ids += protocol.read_ids(self.call(protocol.push(self.name, chunk, self._new)))
        return ids

    def produce(self, producer: bytes, sequence: int, bodies: Sequence[bytes]) -> list[str | None]:
        """Appends messages under the numbers of a producer."""
        command = protocol.numbered(protocol.push(self.name, bodies, self._new), producer, sequence)
        return protocol.read_produced(self.call(command))

    def pop(self) -> Message | None:
        """Delivers a waiting message."""
        messages = self.pop_many(1, 0)
        return messages[0] if messages else None

    def pop_many(self, count: int, timeout: int | None) -> list[Message]:
        """Delivers waiting messages."""
        return protocol.read_taken(self._holder, self.take(protocol.Pop(self.name, count), timeout))

    def take(self, pop: protocol.Pop, timeout: int | None) -> Any:
        """The reply of a pop. A wait is cut into slices, each shorter than the client's time-out."""
        end = math.inf if timeout is None else time.monotonic() + timeout / 1000
        while True:
            with self._server.connection() as connection:
                left = end - time.monotonic() if timeout != 0 else 0
                block = max(math.ceil(min(left, _slice(connection)) * 1000), 1) if timeout != 0 else 0
                reply = self._server.once(connection, pop.command(block))
            if reply or time.monotonic() >= end:
                return reply

    def acknowledge(self, ids: Sequence[str]) -> list[str]:
        """Lets go of delivered messages. Those that are gone after a resend are taken to be let go by it."""
        self._server.check_open()
        protocol.check_ids(ids)
        done: list[str] = []
        for part in protocol.parts(ids):
            reply, resent = self._server.call(protocol.acknowledge(self.name, part))
            found = protocol.read_ids(reply)
            done += gone(self, part, found) if resent else found
        return done

    def length(self) -> int:
        """The number of messages held."""
        return int(self.call(protocol.length(self.name)))

    def dump(self) -> bytes | None:
        """The whole queue, in the form that all servers take; None when it holds nothing, not even a dead letter."""
        if not holds_messages(protocol.read_info(self.call(protocol.info(self.name)))):
            return None
        reply: bytes | None = self.call(protocol.dump(self.name))
        return None if reply is None else portable(reply)

    def call(self, command: Command) -> Any:
        """Sends a command and returns its reply. Pushes get numbers, under which they may be sent again."""
        if command.pushes:
            return self._server.producers.push(
                self.name,
                command.pushes,
                lambda producer, sequence: self.call(protocol.numbered(command, producer, sequence)),
            )
        return command.meant(*self._server.call(command))

    def call_all(self, commands: Sequence[Command]) -> list[Any]:
        """Sends commands together, which all may be sent again, and returns their replies."""
        replies, resent = self._server.call_all(commands)
        return [command.meant(reply, resent) for command, reply in zip(commands, replies, strict=True)]


class Redis:
    """A connection to such a server. It is a backend: see reliableq.backends.base."""

    def __init__(self, client: "redis.Redis", make: "Callable[[], redis.Redis] | None" = None) -> None:
        """Uses a client of somebody else, or its own, which `make` makes anew where that is needed."""
        self._client = client
        self._pool: Any = client.connection_pool
        self._make = make
        self._made: weakref.WeakSet[Any] = weakref.WeakSet()
        self._inherited: redis.Redis | None = None
        self._closed = False
        self.producers = Producers()
        if make is not None:
            _own.add(self)

    def queue(self, name: str, *, new: New = DEFAULT.new) -> RedisQueue:
        """The queue of this name."""
        return RedisQueue(self, name, new)

    def names(self) -> list[str]:
        """The names of the queues that hold messages."""
        return sorted(protocol.read_names(self.call(protocol.STATUS)[0]))

    def restore(self, name: str, data: bytes, replace: bool) -> None:
        """Makes a queue of what dump() or any server gave, in the form that all servers take."""
        command = protocol.restore(name, portable(data), replace)
        try:
            self.call(command)
        except InvalidDump:
            # The bytes are a dump, but no server can read it without the module, which a command of it tells.
            with suppress(WrongType, Refused):
                self.call(protocol.length(name))
            raise

    def close(self) -> None:
        """Ends the connection; waits end with their slice. A client that was given stays as it is."""
        self._closed = True
        self.disconnect_idle()

    # Talking to the server.

    def call(self, command: Command) -> tuple[Any, bool]:
        """Sends a command and returns its reply, and whether it was sent more than once."""
        failures: list[Exception] = []
        with self.connection() as connection:
            if not command.resend:
                return self.once(connection, command), False
            with _explaining(command, failures):
                reply = connection.retry.call_with_retry(lambda: _exchange(connection, command), failures.append)
                return reply, bool(failures)

    def call_all(self, commands: Sequence[Command]) -> tuple[list[Any], bool]:
        """Sends commands that may be sent again, and then reads their replies. Tells as call() does."""
        failures: list[Exception] = []
        with self.connection() as connection, _explaining(commands[0], failures):
            replies = connection.retry.call_with_retry(lambda: _exchange_all(connection, commands), failures.append)
        for command, reply in zip(commands, replies, strict=True):
            if isinstance(reply, redis.ResponseError):
                with _explaining(command, failures):
                    raise reply
        return replies, bool(failures)

    def once(self, connection: Any, command: Command) -> Any:
        """Sends a command once and returns its reply."""
        with _explaining(command):
            return _exchange(connection, command)

    @contextmanager
    def connection(self) -> Iterator[Any]:
        """A connection of the pool. The pool has seen to it that it was alive just now."""
        self.check_open()
        pool = self._pool
        try:
            connection = pool.get_connection()
        except (redis.RedisError, OSError) as error:
            raise _explained(error, Command("", (b"CONNECT",), True, protocol.NOTHING_SENT)) from error
        except BaseException:
            self.disconnect_idle()  # Ctrl-C may have left one that is not introduced yet
            raise
        if self._make is not None:
            self._made.add(connection)
        try:
            yield connection
        finally:
            if getattr(connection, "unanswered", False):
                connection.disconnect()
            pool.release(connection)
            if self._closed:
                self.disconnect_idle()

    def disconnect_idle(self) -> None:
        """Lets go of connections that nobody uses, where they are ours."""
        if self._make is not None:
            self._pool.disconnect(inuse_connections=False)

    def renew(self) -> None:
        """In a forked child: closes its copies of the parent's connections, so that their other side sees when the
        parent ends, and begins with a new client. The old one is kept, unused: a thread that is not there may
        hold its locks."""
        for connection in list(self._made):
            connection.disconnect()
        self._made.clear()
        if self._make is not None:
            self._inherited = self._client
            self._client = self._make()
            self._pool = self._client.connection_pool

    def check_open(self) -> None:
        """Refuses calls after close()."""
        if self._closed:
            raise Closed("the connection is closed", "connect again")


_own: "weakref.WeakSet[Redis]" = weakref.WeakSet()
"""Those whose clients are ours."""


def _renew_all() -> None:
    for server in list(_own):
        server.renew()


os.register_at_fork(after_in_child=_renew_all)


def open_url(url: str, shown: str) -> Redis:
    """Queues of the server that a URL names. It is asked for the first time by the first call."""

    def make() -> "redis.Redis":
        return _client(url)

    if not _is_well_formed(url):
        option = _wrong_option(url)
        reason = f"the option {option} is unknown, or its value is wrong" if option else "it is not well-formed"
        raise UnsupportedURL(f"cannot connect to {shown!r}: {reason}", URL_REMEDY)
    return Redis(make(), make)


def _client(url: str) -> "redis.Redis":
    retry = Retry(ExponentialWithJitterBackoff(cap=1, base=0.05), 5)
    return redis.Redis.from_url(url, retry=retry, max_connections=UNLIMITED)


def _is_well_formed(url: str) -> bool:
    """Whether redis-py takes it. Why not is not told: its errors may show parts of a password."""
    try:
        pool: Any = _client(url).connection_pool
        pool.connection_class(**pool.connection_kwargs)  # refuses unknown options; it does not connect
    except (ValueError, TypeError, redis.RedisError):
        return False
    return True


def _wrong_option(url: str) -> str | None:
    """The name of the first option that alone makes a URL a wrong one; none where it may be part of a password."""
    place, _, query = url.partition("?")
    if "@" in query or not _is_well_formed(place):
        return None
    options = (part for part in query.split("&") if not _is_well_formed(f"{place}?{part}"))
    name = next(options, "").partition("=")[0]
    return name if re.fullmatch("[a-z_]{1,40}", name) else None


def open_socket(path: str, timeout: float, sync: str) -> Redis:
    """Queues of a file, at the owner that listens on this socket. It is asked once; later calls are not sent again."""

    def announce(connection: Any) -> None:
        connection.on_connect()
        connection.send_command("CLIENT", "SETINFO", "SYNC", sync)
        connection.read_response()

    def make() -> "redis.Redis":
        return redis.Redis(
            unix_socket_path=path,
            socket_timeout=timeout,
            socket_connect_timeout=timeout,
            retry=Retry(NoBackoff(), 0),
            max_connections=UNLIMITED,
            redis_connect_func=announce,  # type: ignore[arg-type] # it is called with the connection
        )

    server = Redis(make(), make)
    try:
        server.call(protocol.PING)
    except BaseException:
        server.close()
        raise
    return server


def open_client(client: object) -> tuple[Redis, str]:
    """Queues of the server that a client of redis-py is connected to, and where that is."""
    kind = type(client).__name__
    if isinstance(client, redis.client.Pipeline):
        raise InvalidType(f"a {kind} collects commands, and gives no replies", "give the client that it was made of")
    if isinstance(client, redis.Redis):
        return Redis(client), _shown(client)
    if isinstance(client, redis.RedisCluster):
        raise InvalidType(f"a {kind} is a client of a cluster, which is not followed", SYNC_CLIENT)
    module = type(client).__module__
    if any(base.__module__.startswith("redis.asyncio") for base in type(client).__mro__):
        raise InvalidType(f"a {kind} of {module} is asynchronous, and these calls are not", SYNC_CLIENT)
    raise InvalidType(f"a {kind} of {module} is no client that queues can use", SYNC_CLIENT)


def _shown(client: "redis.Redis") -> str:
    pool: Any = client.connection_pool
    options = pool.connection_kwargs
    if service := getattr(pool, "service_name", None):
        return f"sentinel:{service}"
    if path := options.get("path"):
        return f"unix://{path}"
    scheme = "rediss" if issubclass(pool.connection_class, redis.SSLConnection) else "redis"
    return f"{scheme}://{options.get('host', 'localhost')}:{options.get('port', 6379)}/{options.get('db') or 0}"


def _slice(connection: Any) -> float:
    """Seconds that one command may wait: half of the socket's time-out leaves the other half for its reply."""
    patience = connection.socket_timeout
    return SLICE if patience is None else min(SLICE, patience / 2)


def _exchange(connection: Any, command: Command) -> Any:
    """Sends a command and reads its reply, undecoded. A connection whose reply is still to come is not used again:
    `unanswered` says so also where Ctrl-C comes while it is disconnected."""
    connection.unanswered = True
    try:
        connection.send_command(*command.words)
        reply = connection.read_response(disable_decoding=True)
    except redis.ResponseError:
        connection.unanswered = False
        raise
    except BaseException:
        connection.disconnect()
        raise
    connection.unanswered = False
    return reply


def _exchange_all(connection: Any, commands: Sequence[Command]) -> list[Any]:
    """The same for several. An error that one of them got stands for its reply."""
    connection.unanswered = True
    try:
        connection.send_packed_command(connection.pack_commands([command.words for command in commands]))
        replies = [_reply_or_error(connection) for _ in commands]
    except BaseException:
        connection.disconnect()
        raise
    connection.unanswered = False
    return replies


def _reply_or_error(connection: Any) -> Any:
    try:
        return connection.read_response(disable_decoding=True)
    except redis.ResponseError as error:
        return error


@contextmanager
def _explaining(command: Command, failures: Sequence[Exception] = ()) -> Iterator[None]:
    try:
        yield
    except (redis.RedisError, OSError) as error:
        explained = _explained(error, command)
        before = any(_error_line(failure) is None for failure in failures)
        raise (protocol.in_doubt(explained, command) if before and _error_line(error) else explained) from error


def _explained(error: Exception, command: Command) -> Error:
    line = _error_line(error)
    return protocol.server_error(line, command) if line else protocol.no_reply(str(error), command.doubt)


def _error_line(error: Exception) -> str | None:
    """The reply of the server, if the error is one."""
    if code := getattr(error, "status_code", None):
        return f"{code} {error}"
    return str(error) if isinstance(error, redis.ResponseError) else None
