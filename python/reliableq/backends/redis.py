"""Queues of a Redis or Valkey server that has loaded the module, through redis-py.

Connections are borrowed from the client's pool for each command, so that the client itself is not touched: neither
how it decodes, nor how long it waits.
"""

import math
import os
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from reliableq import protocol
from reliableq.errors import Closed, Error, InvalidType, MissingPackage, UnsupportedURL
from reliableq.protocol import Command
from reliableq.types import Body, Info, Row

try:
    import redis
    from redis.backoff import ExponentialWithJitterBackoff
    from redis.retry import Retry
except ImportError as error:
    raise MissingPackage("the package redis is not installed", "pip install 'redis>=8'") from error

OLDEST = 8
"""The oldest major version of redis-py that this works with."""

if int(redis.__version__.partition(".")[0]) < OLDEST:
    raise MissingPackage(
        f"the package redis is {redis.__version__}, older than {OLDEST}", "pip install 'redis>=8'"
    )

SLICE = 1.0
"""A wait asks the server anew after so many seconds, so that it sees when the connection was closed."""

MOST_PRODUCERS = 10_000
"""For so many queues the producers are kept. Those that are let go are made anew, under new names."""

URL_REMEDY = (
    "expected redis://[user:password@]host[:port][/number][?option=value], rediss:// likewise, or unix:///path, "
    "with redis-py's options, and with special characters of user and password percent-encoded"
)

SYNC_CLIENT = "give a redis.Redis, or its URL"


class Producer:
    """Numbers the messages that one thread at a time pushes into one queue."""

    __slots__ = ("name", "next")

    def __init__(self) -> None:
        self.name = os.urandom(16).hex().encode()
        self.next = 1


class Redis:
    """A connection to such a server. It is a backend: see reliableq.backends.base."""

    def __init__(self, client: "redis.Redis", owned: bool) -> None:
        self._client = client
        self._pool: Any = client.connection_pool
        self._owned = owned
        self._closed = False
        self._producers: dict[tuple[int, str], list[Producer]] = {}

    def push(self, name: str, bodies: Sequence[Body]) -> list[str]:
        """Appends messages, in commands of about 1 MiB, each stored whole or not at all, and once."""
        self._check_open()
        ids: list[str] = []
        for chunk in protocol.chunks([protocol.body_bytes(body) for body in bodies]):
            ids += self._push(name, chunk)
        return ids

    def pop(self, name: str, count: int, timeout: int | None) -> list[Row]:
        """Delivers waiting messages. A wait is cut into slices, each shorter than the client's time-out."""
        end = math.inf if timeout is None else time.monotonic() + timeout / 1000
        while True:
            with self._connection() as connection:
                left = end - time.monotonic() if timeout != 0 else 0
                block = max(math.ceil(min(left, _slice(connection)) * 1000), 1) if timeout != 0 else 0
                command = protocol.pop(name, count, block)
                rows = protocol.read_taken(self._once(connection, command))
            if rows or time.monotonic() >= end:
                return rows

    def acknowledge(self, name: str, ids: Sequence[str]) -> list[str]:
        """Lets go of delivered messages. Those that are gone after a resend are taken to be let go by it."""
        self._check_open()
        protocol.check_ids(ids)
        done: list[str] = []
        for start in range(0, len(ids), protocol.ACK_CHUNK):
            chunk = ids[start : start + protocol.ACK_CHUNK]
            reply, resent = self._call(protocol.acknowledge(name, chunk))
            found = protocol.read_ids(reply)
            done += self._gone(name, chunk, set(found)) if resent else found
        return done

    def recover(self, name: str, count: int, elapsed: int) -> list[Row]:
        """Delivers again what was not acknowledged."""
        return protocol.read_taken(self._call(protocol.recover(name, count, elapsed))[0])

    def inspect(self, name: str, start: int, count: int, pending: bool) -> list[Row]:
        """Shows messages."""
        return protocol.read_shown(self._call(protocol.inspect(name, start, count, pending))[0], pending)

    def length(self, name: str) -> int:
        """The number of messages held."""
        return int(self._call(protocol.length(name))[0])

    def info(self, name: str) -> Info | None:
        """The queue in numbers; None when it holds nothing."""
        return protocol.read_info(self._call(protocol.info(name))[0])

    def close(self) -> None:
        """Ends the connection; waits end with their slice. A client that was given stays as it is."""
        self._closed = True
        self._disconnect_idle()

    # Pushing.

    def _push(self, name: str, bodies: Sequence[bytes]) -> list[str]:
        """Pushes under a number of a producer that nobody else uses meanwhile, in this process or a forked one.

        After any error the producer is let go: its number may be taken by what the error hid.
        """
        idle = self._idle_producers(name)
        try:
            producer = idle.pop()
        except IndexError:
            producer = Producer()
        try:
            reply, _ = self._call(protocol.push(name, producer.name, producer.next, bodies))
        except protocol.Gap:
            producer = Producer()
            reply, _ = self._call(protocol.push(name, producer.name, producer.next, bodies))
        ids = protocol.read_pushed(reply)
        producer.next += len(bodies)
        idle.append(producer)
        return ids

    def _idle_producers(self, name: str) -> list[Producer]:
        if len(self._producers) >= MOST_PRODUCERS:
            self._producers = {}
        return self._producers.setdefault((os.getpid(), name), [])

    # Acknowledging.

    def _gone(self, name: str, ids: Sequence[str], found: set[str]) -> list[str]:
        """Those that the queue does not hold: the reply that said so may have been lost."""
        return [id for id in dict.fromkeys(ids) if id in found or not self._call(protocol.find(name, id))[0]]

    # Talking to the server.

    def _call(self, command: Command) -> tuple[Any, bool]:
        """Sends a command and returns its reply, and whether it was sent more than once."""
        failures: list[Exception] = []
        with self._connection() as connection:
            if not command.resend:
                return self._once(connection, command), False
            with _explaining(command, failures):
                reply = connection.retry.call_with_retry(lambda: _exchange(connection, command), failures.append)
                return reply, bool(failures)

    def _once(self, connection: Any, command: Command) -> Any:
        with _explaining(command):
            return _exchange(connection, command)

    @contextmanager
    def _connection(self) -> Iterator[Any]:
        """A connection of the pool. The pool has seen to it that it was alive just now."""
        self._check_open()
        try:
            connection = self._pool.get_connection()
        except (redis.RedisError, OSError) as error:
            raise _explained(error, Command("", (b"CONNECT",), True, protocol.NOTHING_SENT)) from error
        try:
            yield connection
        finally:
            self._pool.release(connection)
            if self._closed:
                self._disconnect_idle()

    def _disconnect_idle(self) -> None:
        if self._owned:
            self._pool.disconnect(inuse_connections=False)

    def _check_open(self) -> None:
        if self._closed:
            raise Closed("the connection is closed", "connect again")


def open_url(url: str, shown: str) -> Redis:
    """Queues of the server that a URL names. It is asked for the first time by the first call."""
    try:
        client = redis.Redis.from_url(url, retry=Retry(ExponentialWithJitterBackoff(cap=1, base=0.05), 5))
        pool: Any = client.connection_pool
        pool.connection_class(**pool.connection_kwargs)  # refuses unknown options; it does not connect
    except (ValueError, TypeError, redis.RedisError):
        # Without the original: it may show parts of a password.
        raise UnsupportedURL(f"cannot connect to {shown!r}: it is not well-formed", URL_REMEDY) from None
    return Redis(client, owned=True)


def open_client(client: object) -> tuple[Redis, str]:
    """Queues of the server that a client of redis-py is connected to, and where that is."""
    kind = type(client).__name__
    if isinstance(client, redis.client.Pipeline):
        raise InvalidType(f"a {kind} collects commands, and gives no replies", "give the client that it was made of")
    if isinstance(client, redis.Redis):
        return Redis(client, owned=False), _shown(client)
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
    """Sends a command and reads its reply, undecoded. A connection whose reply is still to come is not used again."""
    try:
        connection.send_command(*command.words)
        return connection.read_response(disable_decoding=True)
    except redis.ResponseError:
        raise
    except BaseException:
        connection.disconnect()
        raise


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
