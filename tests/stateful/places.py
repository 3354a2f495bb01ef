"""The places where a queue can be, behind one face."""

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol, cast

import reliableq

from tests.stateful.model import Memory
from tests.support.client import Client
from tests.support.process import Keeper
from tests.support.server import Server

Taken = tuple[str, str, bytes]
"""Key, ID and body."""

Seen = tuple[str, bytes, int]
"""ID, body and how often it was delivered."""

Described = tuple[str, bytes, dict[bytes, bytes | int]]
"""ID, body and what is known of the message."""

COUNTERS = ("waiting", "delivered", "sent", "received", "returned", "dead", "deleted")


class Place(Protocol):
    """What every place of a queue can do. IDs are text; times are milliseconds."""

    memory: Memory

    def push(self, key: str, bodies: list[bytes]) -> list[str]: ...
    def pop(self, keys: list[str], count: int) -> list[Taken]: ...
    def ack(self, key: str, ids: list[str]) -> list[str]: ...
    def recover(self, key: str, count: int, elapsed: int) -> list[Taken]: ...
    def waiting(self, key: str, start: int, count: int) -> list[tuple[str, bytes]]: ...
    def pending(self, key: str, start: int, count: int) -> list[tuple[str, bytes, int]]: ...
    def look(self, key: str, low: str | None, high: str | None, backwards: bool, count: int) -> list[Seen]: ...
    def peek(self, key: str, back: bool) -> tuple[str, bytes] | None: ...
    def get(self, key: str, ids: list[str]) -> list[tuple[str, bytes] | None]: ...
    def split(self, key: str, parts: int) -> list[str]: ...
    def dump_and_restore(self, key: str) -> None: ...
    def length(self, key: str) -> int: ...
    def counters(self, key: str) -> dict[str, int] | None: ...
    def names(self) -> list[str]: ...
    def delete(self, key: str) -> None: ...
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

    def push(self, key: str, bodies: list[bytes]) -> list[str]:
        return [id.decode() for id in self.client.push(key, *bodies)]

    def produce(self, key: str, name: str, sequence: int, bodies: list[bytes]) -> list[str | None]:
        return [None if id is None else id.decode() for id in self.client.produce(key, name, sequence, *bodies)]

    def pop(self, keys: list[str], count: int) -> list[Taken]:
        return _taken(self.client.call("RQ.POP", "COUNT", count, "KEYS", len(keys), *keys) or [])

    def ack(self, key: str, ids: list[str]) -> list[str]:
        return [id.decode() for id in self.client.ack(key, *ids)]

    def recover(self, key: str, count: int, elapsed: int) -> list[Taken]:
        return _taken(self.client.recover(key, count, elapsed))

    def waiting(self, key: str, start: int, count: int) -> list[tuple[str, bytes]]:
        return [(id.decode(), body) for id, body in self.client.waiting(key, start, count)]

    def pending(self, key: str, start: int, count: int) -> list[tuple[str, bytes, int]]:
        rows = self.client.pending(key, start, count)
        return [(id.decode(), body, deliveries) for id, body, _, _, deliveries in rows]

    def peek(self, key: str, back: bool) -> tuple[str, bytes] | None:
        row = self.client.call("RQ.PEEK", key, *["BACK"] * back)
        return row and (row[0].decode(), row[1])

    def get(self, key: str, ids: list[str]) -> list[tuple[str, bytes] | None]:
        rows = self.client.call("RQ.GET", key, "IDS", len(ids), *ids)
        return [row and (row[0].decode(), row[1]) for row in rows]

    def range(self, key: str, low: str, high: str, *options: str | int) -> list[tuple[str, bytes]]:
        return [(id.decode(), body) for id, body in self.client.call("RQ.RANGE", key, low, high, *options)]

    def described(self, key: str, low: str, high: str, *options: str | int) -> list[Described]:
        rows = self.client.call("RQ.RANGE", key, low, high, *options, "WITHMETA")
        return [(id.decode(), body, dict(zip(meta[::2], meta[1::2], strict=True))) for id, body, meta in rows]

    def look(self, key: str, low: str | None, high: str | None, backwards: bool, count: int) -> list[Seen]:
        rows = self.described(key, low or "-", high or "+", *["REV"] * backwards, "COUNT", count)
        return [(id, body, int(meta[b"deliveries"])) for id, body, meta in rows]

    def dump_and_restore(self, key: str) -> None:
        if self.client.exists(key):
            self.client.call("RESTORE", key, 0, self.client.call("DUMP", key), "REPLACE")

    def split(self, key: str, parts: int) -> list[str]:
        return [id.decode() for id in self.client.call("RQ.SPLIT", key, parts)]

    def length(self, key: str) -> int:
        return self.client.length(key)

    def counters(self, key: str) -> dict[str, int] | None:
        info = self.client.queue_info(key)
        return None if info is None else {name: int(info[name]) for name in COUNTERS}

    def names(self) -> list[str]:
        return [key.decode() for key, _, _, _ in self.client.call("RQ.STATUS")]

    def delete(self, key: str) -> None:
        self.client.call("DEL", key)

    def close(self) -> None:
        self.client.close()


def _taken(rows: list[list[bytes]]) -> list[Taken]:
    return [(key.decode(), id.decode(), body) for key, id, body in rows]


class PackagePlace:
    """Queues of any place, through the package."""

    memory = Memory.NOTHING

    def __init__(self, url: str) -> None:
        self._queues = reliableq.connect(url)

    def push(self, key: str, bodies: list[bytes]) -> list[str]:
        queue = self._queues.queue(key)
        return [queue.push(bodies[0])] if len(bodies) == 1 else queue.push_many(bodies)

    def pop(self, keys: list[str], count: int) -> list[Taken]:
        taken: list[Taken] = []
        for key in keys:
            if len(taken) < count:
                messages = self._queues.queue(key).pop_many(count - len(taken))
                taken += [(key, message.id, message.body) for message in messages]
        return taken

    def ack(self, key: str, ids: list[str]) -> list[str]:
        return self._queues.queue(key).ack(ids)

    def recover(self, key: str, count: int, elapsed: int) -> list[Taken]:
        messages = self._queues.queue(key).recover(count=count, elapsed=elapsed / 1000)
        return [(key, message.id, message.body) for message in messages]

    def waiting(self, key: str, start: int, count: int) -> list[tuple[str, bytes]]:
        messages = self._queues.queue(key).inspect(start, count, pending=False)
        return [(message.id, message.body) for message in messages]

    def pending(self, key: str, start: int, count: int) -> list[tuple[str, bytes, int]]:
        messages = self._queues.queue(key).inspect(start, count, pending=True)
        return [(message.id, message.body, message.deliveries) for message in messages]

    def peek(self, key: str, back: bool) -> tuple[str, bytes] | None:
        message = self._queues.queue(key).peek(back=back)
        return message and (message.id, message.body)

    def get(self, key: str, ids: list[str]) -> list[tuple[str, bytes] | None]:
        return [message and (message.id, message.body) for message in self._queues.queue(key).get(ids)]

    def look(self, key: str, low: str | None, high: str | None, backwards: bool, count: int) -> list[Seen]:
        messages = self._queues.queue(key).range(low, high, count=count, reverse=backwards)
        assert [message.state for message in messages] == [
            "delivered" if message.deliveries else "waiting" for message in messages
        ]
        return [(message.id, message.body, message.deliveries) for message in messages]

    def split(self, key: str, parts: int) -> list[str]:
        return self._queues.queue(key).split(parts)

    def dump_and_restore(self, key: str) -> None:
        data = self._queues.queue(key).dump()
        if data is not None:
            self._queues.restore(key, data, replace=True)

    def length(self, key: str) -> int:
        return len(self._queues.queue(key))

    def counters(self, key: str) -> dict[str, int] | None:
        info = cast(Mapping[str, int] | None, self._queues.queue(key).info())
        return None if info is None else {name: info[name] for name in COUNTERS}

    def names(self) -> list[str]:
        return self._queues.names()

    def delete(self, key: str) -> None:
        """Uses the queue up, which is the same to whoever comes later."""
        self.pop([key], 1 << 30)
        ids = [id for id, _, _ in self.pending(key, 0, 1 << 30)]
        if ids:
            self.ack(key, ids)

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
