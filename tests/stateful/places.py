"""The places where a queue can be, behind one face."""

from collections.abc import Mapping
from typing import Protocol, cast

import reliableq

from tests.support.client import Client
from tests.support.server import Server

Taken = tuple[str, str, bytes]
"""Key, ID and body."""

Described = tuple[str, bytes, dict[bytes, bytes | int]]
"""ID, body and what is known of the message."""

COUNTERS = ("waiting", "delivered", "sent", "received", "returned", "dead", "deleted")


class Place(Protocol):
    """What every place of a queue can do. IDs are text; times are milliseconds."""

    remembers_producers: bool

    def push(self, key: str, bodies: list[bytes]) -> list[str]: ...
    def pop(self, keys: list[str], count: int) -> list[Taken]: ...
    def ack(self, key: str, ids: list[str]) -> list[str]: ...
    def recover(self, key: str, count: int, elapsed: int) -> list[Taken]: ...
    def waiting(self, key: str, start: int, count: int) -> list[tuple[str, bytes]]: ...
    def pending(self, key: str, start: int, count: int) -> list[tuple[str, bytes, int]]: ...
    def length(self, key: str) -> int: ...
    def counters(self, key: str) -> dict[str, int] | None: ...
    def delete(self, key: str) -> None: ...
    def close(self) -> None: ...


class ModulePlace:
    """Queues in a server, through the module's commands."""

    remembers_producers = True

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

    def range(self, key: str, low: str, high: str, *options: str | int) -> list[tuple[str, bytes]]:
        return [(id.decode(), body) for id, body in self.client.call("RQ.RANGE", key, low, high, *options)]

    def described(self, key: str, low: str, high: str, *options: str | int) -> list[Described]:
        rows = self.client.call("RQ.RANGE", key, low, high, *options, "WITHMETA")
        return [(id.decode(), body, dict(zip(meta[::2], meta[1::2], strict=True))) for id, body, meta in rows]

    def split(self, key: str, parts: int) -> list[str]:
        return [id.decode() for id in self.client.call("RQ.SPLIT", key, parts)]

    def length(self, key: str) -> int:
        return self.client.length(key)

    def counters(self, key: str) -> dict[str, int] | None:
        info = self.client.queue_info(key)
        return None if info is None else {name: int(info[name]) for name in COUNTERS}

    def delete(self, key: str) -> None:
        self.client.call("DEL", key)

    def close(self) -> None:
        self.client.close()


def _taken(rows: list[list[bytes]]) -> list[Taken]:
    return [(key.decode(), id.decode(), body) for key, id, body in rows]


class EmbeddedPlace:
    """Queues in this process."""

    remembers_producers = False

    def __init__(self) -> None:
        self._queues = reliableq.connect("memory:")

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

    def length(self, key: str) -> int:
        return len(self._queues.queue(key))

    def counters(self, key: str) -> dict[str, int] | None:
        info = cast(Mapping[str, int] | None, self._queues.queue(key).info())
        return None if info is None else {name: info[name] for name in COUNTERS}

    def delete(self, key: str) -> None:
        """Uses the queue up, which is the same to whoever comes later."""
        self.pop([key], 1 << 30)
        ids = [id for id, _, _ in self.pending(key, 0, 1 << 30)]
        if ids:
            self.ack(key, ids)

    def close(self) -> None:
        self._queues.close()
