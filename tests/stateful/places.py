"""The places where a queue can be, behind one face."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple, Protocol, cast

import reliableq

from tests.stateful.model import COUNTERS, Headers, Memory, Nack, Options, Pop, Settings
from tests.support.client import Argument, Client
from tests.support.process import Keeper
from tests.support.server import Server

HOUR = 3600
"""Seconds of every lease and delay: none ends within a test."""

FIELDS = ("waiting", "delivered", "scheduled", "dead_letters", "consumers", "bytes", "paused", *COUNTERS)

Shown = tuple[str, bytes]
"""ID and body."""


class Row(NamedTuple):
    """What is known of a message."""

    id: str
    body: bytes
    state: str
    deliveries: int
    failures: int
    priority: int
    token: bytes | None
    headers: Headers
    consumer: str | None
    """Who holds it, or held it last where it is dead; nobody where it waits."""


class Letter(NamedTuple):
    """What is known of a dead letter."""

    id: str
    body: bytes
    deliveries: int
    failures: int
    reason: str
    consumer: str | None


class Place(Protocol):
    """What every place of a queue can do. IDs are text, receipts too; times are milliseconds."""

    memory: Memory

    def push(self, key: str, bodies: list[bytes], options: Options) -> list[str]: ...
    def pop(self, key: str, pop: Pop) -> list[Row]: ...
    def pop_from(self, keys: list[str], count: int) -> list[tuple[str, Row]]: ...
    def ack(self, key: str, ids: list[str]) -> list[str]: ...
    def ack_tokens(self, key: str, tokens: list[bytes]) -> list[bytes]: ...
    def nack(self, key: str, ids: list[str], nack: Nack) -> list[str]: ...
    def extend(self, key: str, ids: list[str], start: bool) -> list[str]: ...
    def claim(self, key: str, ids: list[str], consumer: str, idle: int) -> list[Row]: ...
    def recover(self, key: str, count: int, elapsed: int, consumer: str | None, source: str | None) -> list[Row]: ...
    def forward(self, key: str, ids: list[str], to: str, bodies: list[bytes]) -> list[str]: ...
    def waiting(self, key: str, start: int, count: int) -> list[Shown]: ...
    def pending(self, key: str, start: int, count: int, consumer: str | None) -> list[tuple[str, bytes, int]]: ...
    def scheduled(self, key: str) -> list[Shown]: ...
    def dead(self, key: str, start: int, count: int) -> list[Letter]: ...
    def look(self, key: str, low: str | None, high: str | None, backwards: bool, count: int) -> list[Row]: ...
    def peek(self, key: str, back: bool) -> Row | None: ...
    def get(self, key: str, ids: list[str]) -> list[Row | None]: ...
    def split(self, key: str, parts: int) -> list[str]: ...
    def consumers(self, key: str) -> dict[str, int]: ...
    def delete_consumer(self, key: str, name: str) -> int: ...
    def delete(self, key: str, ids: list[str]) -> list[str]: ...
    def redrive(self, key: str, ids: list[str] | None, count: int | None) -> list[str]: ...
    def flush(self, key: str, dead: bool) -> int: ...
    def pause(self, key: str, what: str) -> None: ...
    def resume(self, key: str, what: str) -> None: ...
    def setup(self, key: str, settings: Settings) -> None: ...
    def dump_and_restore(self, key: str) -> None: ...
    def length(self, key: str) -> int: ...
    def counters(self, key: str) -> dict[str, int | str] | None: ...
    def names(self) -> list[str]: ...
    def close(self) -> None: ...


class ModulePlace:
    """Queues in a server, through the module's commands."""

    memory = Memory.PRODUCERS

    def __init__(self, server: Server) -> None:
        self.server = server
        self.client: Client = server.client()

    def reconnect(self) -> None:
        """Follows the server into its next life."""
        self.client.close()
        self.client = self.server.client()

    # Producing and consuming.

    def push(self, key: str, bodies: list[bytes], options: Options) -> list[str]:
        if options == Options():
            return _texts(self.client.push(key, *bodies))
        words: list[Argument] = [*["FRONT"] * options.front, "PRIORITY", options.priority]
        words += ["DELAY", HOUR * 1000] * options.delayed
        words += [] if options.retries is None else ["RETRIES", options.retries]
        if options.headers:
            words += ["HEADERS", len(options.headers), *(part for pair in options.headers for part in pair)]
        words += [] if options.token is None else ["TOKEN", options.token, *["UNIQUE"] * options.unique]
        return _texts(self.client.call("RQ.PUSHEX", key, *words, "ELEMENTS", len(bodies), *bodies))

    def produce(self, key: str, name: str, sequence: int, bodies: list[bytes]) -> list[str | None]:
        return [None if id is None else id.decode() for id in self.client.produce(key, name, sequence, *bodies)]

    def pop(self, key: str, pop: Pop) -> list[Row]:
        words: list[Argument] = ["COUNT", pop.count]
        words += [] if pop.consumer is None else ["CONSUMER", pop.consumer]
        words += ["NOACK"] if pop.no_ack else ["LEASE", HOUR * 1000]
        words += ["PREFETCH"] * pop.prefetch
        words += [] if pop.max_bytes is None else ["MAXBYTES", pop.max_bytes]
        return _taken(self.client.call("RQ.POP", *words, "WITHMETA", "KEYS", 1, key))

    def pop_from(self, keys: list[str], count: int) -> list[tuple[str, Row]]:
        rows = self.client.call("RQ.POP", "COUNT", count, "LEASE", HOUR * 1000, "WITHMETA", "KEYS", len(keys), *keys)
        return [(row[0].decode(), _row(row[1:])) for row in rows or []]

    def ack(self, key: str, ids: list[str]) -> list[str]:
        return _texts(self.client.ack(key, *ids))

    def ack_tokens(self, key: str, tokens: list[bytes]) -> list[bytes]:
        done = self.client.call("RQ.ACK", key, "STATUS", "TOKENS", len(tokens), *tokens)
        return [token for token, status in zip(tokens, done, strict=True) if status == b"OK"]

    def nack(self, key: str, ids: list[str], nack: Nack) -> list[str]:
        words: list[Argument] = [] if nack.delay is None else ["DELAY", nack.delay * HOUR * 1000]
        words += ["DEAD"] * nack.dead + ["SILENT"] * nack.silent
        words += [] if nack.reason is None else ["REASON", nack.reason]
        return _texts(self.client.call("RQ.NACK", key, *words, *_ids(ids)))

    def extend(self, key: str, ids: list[str], start: bool) -> list[str]:
        return _texts(self.client.call("RQ.EXTEND", key, HOUR * 1000, *["START"] * start, *_ids(ids)))

    def claim(self, key: str, ids: list[str], consumer: str, idle: int) -> list[Row]:
        words = (consumer, idle, "LEASE", HOUR * 1000, "WITHMETA", *_ids(ids))
        return _taken(self.client.call("RQ.CLAIM", key, *words))

    def recover(self, key: str, count: int, elapsed: int, consumer: str | None, source: str | None) -> list[Row]:
        words: list[Argument] = ["LEASE", HOUR * 1000]
        words += [] if consumer is None else ["CONSUMER", consumer]
        words += [] if source is None else ["FROM", source]
        return _taken(self.client.call("RQ.RECOVER", key, count, elapsed, *words, "WITHMETA"))

    def forward(self, key: str, ids: list[str], to: str, bodies: list[bytes]) -> list[str]:
        return _texts(self.client.call("RQ.FORWARD", key, to, *_ids(ids), "ELEMENTS", len(bodies), *bodies))

    # Looking.

    def waiting(self, key: str, start: int, count: int) -> list[Shown]:
        return [(id.decode(), body) for id, body in self.client.waiting(key, start, count)]

    def pending(self, key: str, start: int, count: int, consumer: str | None) -> list[tuple[str, bytes, int]]:
        words = () if consumer is None else ("CONSUMER", consumer)
        rows = self.client.call("RQ.INSPECT", key, "PENDING", *words, start, count)
        return [(id.decode(), body, deliveries) for id, body, _, _, deliveries in rows]

    def scheduled(self, key: str) -> list[Shown]:
        return [(id.decode(), body) for id, body, _ in self.client.call("RQ.INSPECT", key, "SCHEDULED", 0, 1 << 40)]

    def dead(self, key: str, start: int, count: int) -> list[Letter]:
        rows = self.client.call("RQ.INSPECT", key, "DEAD", start, count)
        return [
            Letter(id.decode(), body, deliveries, failures, reason.decode(), consumer and consumer.decode())
            for id, body, _, deliveries, failures, reason, consumer in rows
        ]

    def peek(self, key: str, back: bool) -> Row | None:
        row = self.client.call("RQ.PEEK", key, *["BACK"] * back, "WITHMETA")
        return row and _row(row)

    def get(self, key: str, ids: list[str]) -> list[Row | None]:
        rows = self.client.call("RQ.GET", key, "WITHMETA", *_ids(ids))
        return [row and _row(row) for row in rows]

    def range(self, key: str, low: str, high: str, *options: Argument) -> list[Shown]:
        return [(id.decode(), body) for id, body in self.client.call("RQ.RANGE", key, low, high, *options)]

    def described(self, key: str, low: str, high: str, *options: Argument) -> list[Row]:
        return [_row(row) for row in self.client.call("RQ.RANGE", key, low, high, *options, "WITHMETA")]

    def look(self, key: str, low: str | None, high: str | None, backwards: bool, count: int) -> list[Row]:
        return self.described(key, low or "-", high or "+", *["REV"] * backwards, "COUNT", count)

    def split(self, key: str, parts: int) -> list[str]:
        return _texts(self.client.call("RQ.SPLIT", key, parts))

    def consumers(self, key: str) -> dict[str, int]:
        return {row[0].decode(): row[1] for row in self.client.call("RQ.CONSUMER", "LIST", key)}

    def length(self, key: str) -> int:
        return self.client.length(key)

    def counters(self, key: str) -> dict[str, int | str] | None:
        info = self.client.queue_info(key)
        if info is None:
            return None
        values = {name.replace("-", "_"): value for name, value in info.items()}
        return {name: _plain(values[name]) for name in FIELDS}

    def names(self) -> list[str]:
        return [key.decode() for key, total, _, _ in self.client.call("RQ.STATUS") if total > 0]

    # Managing.

    def delete_consumer(self, key: str, name: str) -> int:
        return int(self.client.call("RQ.CONSUMER", "DELETE", key, name))

    def delete(self, key: str, ids: list[str]) -> list[str]:
        return _texts(self.client.call("RQ.DELETE", key, *_ids(ids)))

    def redrive(self, key: str, ids: list[str] | None, count: int | None) -> list[str]:
        which = _ids(ids) if ids is not None else () if count is None else ("COUNT", count)
        return _texts(self.client.call("RQ.REDRIVE", key, *which))

    def flush(self, key: str, dead: bool) -> int:
        return int(self.client.call("RQ.FLUSH", key, *["DEAD"] * dead))

    def pause(self, key: str, what: str) -> None:
        self.client.call("RQ.PAUSE", key, what)

    def resume(self, key: str, what: str) -> None:
        self.client.call("RQ.RESUME", key, what)

    def setup(self, key: str, settings: Settings) -> None:
        words: list[Argument] = ["DELIVERIES", settings.deliveries, "MAXLEN", settings.maxlen]
        words += ["BACKOFF", HOUR * 1000 * settings.backoff, "1", 0, "DROP" if settings.drop else "REJECT"]
        words += ["INFLIGHT", settings.inflight, "LEASE", HOUR * 1000 * settings.lease]
        self.client.call("RQ.SETUP", key, *words)

    def dump_and_restore(self, key: str) -> None:
        if self.client.exists(key):
            self.client.call("RESTORE", key, 0, self.client.call("DUMP", key), "REPLACE")

    def close(self) -> None:
        self.client.close()


def _plain(value: bytes | int) -> str | int:
    return value.decode() if isinstance(value, bytes) else value


def _texts(ids: list[bytes]) -> list[str]:
    return [id.decode() for id in ids]


def _ids(ids: list[str]) -> tuple[Argument, ...]:
    return "IDS", len(ids), *ids


def _taken(rows: list[list[Any]] | None) -> list[Row]:
    return [_row(row[1:]) for row in rows or []]


def _row(row: list[Any]) -> Row:
    id, body, flat = row
    meta = dict(zip(flat[::2], flat[1::2], strict=True))
    state, headers, consumer = meta[b"state"].decode(), meta[b"headers"], meta[b"consumer"]
    deliveries = meta[b"deliveries"]
    assert meta[b"enqueued"] == int(id.partition(b"-")[0])
    assert meta[b"receipt"] == (b"%s@%d" % (id, deliveries) if deliveries else None)
    assert bool(meta[b"last-delivery"]) == bool(deliveries) and (state == "delivered" or not meta[b"deadline"])
    return Row(
        id.decode(),
        body,
        state,
        deliveries,
        meta[b"failures"],
        meta[b"priority"],
        meta[b"token"],
        tuple(zip(headers[::2], headers[1::2], strict=True)),
        consumer and consumer.decode(),
    )


def _described(message: reliableq.Message) -> Row:
    assert message.receipt == (f"{message.id}@{message.deliveries}" if message.deliveries else message.id)
    return Row(
        message.id,
        message.body,
        message.state,
        message.deliveries,
        message.failures,
        message.priority,
        message.token,
        message.headers.raw,
        message.consumer,
    )


class PackagePlace:
    """Queues of any place, through the package."""

    memory = Memory.NOTHING

    def __init__(self, url: str) -> None:
        self._queues = reliableq.connect(url)

    def _queue(self, key: str) -> reliableq.Queue:
        """As those that a plain push makes: what a lease does is none of the steps."""
        return self._queues.queue(key, preset=reliableq.PLAIN)

    # Producing and consuming.

    def push(self, key: str, bodies: list[bytes], options: Options) -> list[str]:
        queue = self._queue(key)
        if options == Options():
            return [queue.push(bodies[0])] if len(bodies) == 1 else queue.push_many(bodies)
        given: dict[str, Any] = {
            "front": options.front,
            "priority": options.priority,
            "retries": options.retries,
            "headers": options.headers,
            "delay": HOUR if options.delayed else None,
        }
        if len(bodies) == 1:
            return [queue.push(bodies[0], token=options.token, unique=options.unique, **given)]
        return queue.push_many(bodies, **given)

    def pop(self, key: str, pop: Pop) -> list[Row]:
        messages = self._queue(key).pop_many(
            pop.count,
            lease=None if pop.no_ack else HOUR,
            consumer=pop.consumer,
            no_ack=pop.no_ack,
            prefetch=pop.prefetch,
            max_bytes=pop.max_bytes,
        )
        return [_described(message) for message in messages]

    def pop_from(self, keys: list[str], count: int) -> list[tuple[str, Row]]:
        """One after the other; plain pops, or one with a lease."""
        taken: list[tuple[str, Row]] = []
        for key in keys:
            if len(taken) < count:
                messages = self._queue(key).pop_many(count - len(taken))
                taken += [(key, _described(message)) for message in messages]
        return taken

    def ack(self, key: str, ids: list[str]) -> list[str]:
        return self._queue(key).ack(ids)

    def ack_tokens(self, key: str, tokens: list[bytes]) -> list[bytes]:
        return cast("list[bytes]", self._queue(key).ack(tokens=tokens))

    def nack(self, key: str, ids: list[str], nack: Nack) -> list[str]:
        delay = None if nack.delay is None else nack.delay * HOUR
        return self._queue(key).nack(ids, delay=delay, dead=nack.dead, reason=nack.reason, silent=nack.silent)

    def extend(self, key: str, ids: list[str], start: bool) -> list[str]:
        return self._queue(key).extend(ids, HOUR, start=start)

    def claim(self, key: str, ids: list[str], consumer: str, idle: int) -> list[Row]:
        messages = self._queue(key).claim(ids, consumer, idle=idle / 1000, lease=HOUR)
        return [_described(message) for message in messages]

    def recover(self, key: str, count: int, elapsed: int, consumer: str | None, source: str | None) -> list[Row]:
        messages = self._queue(key).recover(
            count, elapsed=elapsed / 1000, lease=HOUR, consumer=consumer, from_consumer=source
        )
        return [_described(message) for message in messages]

    def forward(self, key: str, ids: list[str], to: str, bodies: list[bytes]) -> list[str]:
        return self._queue(key).forward(ids, to, bodies)

    # Looking.

    def waiting(self, key: str, start: int, count: int) -> list[Shown]:
        return [(message.id, message.body) for message in self._queue(key).inspect(start, count)]

    def pending(self, key: str, start: int, count: int, consumer: str | None) -> list[tuple[str, bytes, int]]:
        messages = self._queue(key).inspect(start, count, pending=True, consumer=consumer)
        return [(message.id, message.body, message.deliveries) for message in messages]

    def scheduled(self, key: str) -> list[Shown]:
        return [(message.id, message.body) for message in self._queue(key).scheduled(0, 1 << 40)]

    def dead(self, key: str, start: int, count: int) -> list[Letter]:
        return [
            Letter(m.id, m.body, m.deliveries, m.failures, m.reason or "", m.consumer)
            for m in self._queue(key).dead(start, count)
        ]

    def peek(self, key: str, back: bool) -> Row | None:
        message = self._queue(key).peek(back=back)
        return message and _described(message)

    def get(self, key: str, ids: list[str]) -> list[Row | None]:
        return [message and _described(message) for message in self._queue(key).get(ids)]

    def look(self, key: str, low: str | None, high: str | None, backwards: bool, count: int) -> list[Row]:
        messages = self._queue(key).range(low, high, count=count, reverse=backwards)
        return [_described(message) for message in messages]

    def split(self, key: str, parts: int) -> list[str]:
        return self._queue(key).split(parts)

    def consumers(self, key: str) -> dict[str, int]:
        return {row.name: row.pending for row in self._queue(key).consumers()}

    def length(self, key: str) -> int:
        return len(self._queue(key))

    def counters(self, key: str) -> dict[str, int | str] | None:
        info = cast("Mapping[str, int | str] | None", self._queue(key).info())
        return None if info is None else {name: info[name] for name in FIELDS}

    def names(self) -> list[str]:
        return self._queues.names()

    # Managing.

    def delete_consumer(self, key: str, name: str) -> int:
        return self._queue(key).delete_consumer(name)

    def delete(self, key: str, ids: list[str]) -> list[str]:
        return self._queue(key).delete(ids)

    def redrive(self, key: str, ids: list[str] | None, count: int | None) -> list[str]:
        return self._queue(key).redrive(ids, count=count)

    def flush(self, key: str, dead: bool) -> int:
        return self._queue(key).flush(dead=dead)

    def pause(self, key: str, what: str) -> None:
        self._queue(key).pause(what)

    def resume(self, key: str, what: str) -> None:
        self._queue(key).resume(what)

    def setup(self, key: str, settings: Settings) -> None:
        given: Any = {
            "deliveries": settings.deliveries,
            "backoff": float(HOUR * settings.backoff),
            "maxlen": settings.maxlen,
            "overflow": "drop" if settings.drop else "reject",
            "inflight": settings.inflight,
            "lease": HOUR * settings.lease,
        }
        self._queue(key).setup(**given)

    def dump_and_restore(self, key: str) -> None:
        data = self._queue(key).dump()
        if data is not None:
            self._queues.restore(key, data, replace=True)

    def close(self) -> None:
        self._queues.close()


class SocketPlace(PackagePlace):
    """The same over a socket: the pushes are numbered, and so remembered."""

    memory = Memory.PUSHES


class OwnFilePlace(PackagePlace):
    """Queues of a file that this process owns."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._copies = 0
        super().__init__(self._url)

    @property
    def _url(self) -> str:
        return f"file:{self._folder}/own-{self._copies}.rq"

    def reopen(self) -> None:
        self._queues.close()
        self._queues = reliableq.connect(self._url)

    def crash(self) -> None:
        """Goes on with what a process that was killed at this moment would have left."""
        left = self._folder / f"own-{self._copies}.rq"
        self._copies += 1
        shutil.copytree(left, self._folder / f"own-{self._copies}.rq", ignore=shutil.ignore_patterns("socket"))
        self._queues.close()
        self._queues = reliableq.connect(self._url)


class FileClientPlace(SocketPlace):
    """Queues of a file that another process owns, and this one never does."""

    def __init__(self, folder: Path, keeper: Keeper) -> None:
        self._file = f"file:{folder}/kept.rq"
        self._keeper = keeper
        keeper.open(self._file)
        super().__init__(f"{self._file}?owner=never&timeout=30")

    def change_owner(self) -> None:
        self._keeper.open(self._file)

    def kill_owner(self) -> None:
        self._keeper.kill()

    def close(self) -> None:
        super().close()
        self._keeper.close()
