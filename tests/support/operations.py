"""Random changes to a few queues, the same for the same seed."""

import random

from tests.support.client import Client

KEYS = ["a", "b", "c", "d"]

SCRIPT = """
redis.call('RQ.PUSH', KEYS[1], ARGV[1])
return redis.call('RQ.POP', 'COUNT', 2, 'KEYS', 1, KEYS[1])"""

WEIGHTS = {
    "push": 30.0,
    "pop": 25.0,
    "pop_from_two": 5.0,
    "ack": 25.0,
    "recover": 10.0,
    "delete": 0.5,
    "rename": 0.5,
    "copy": 0.5,
    "transaction": 2.0,
    "script": 2.0,
}
"""How often each of them happens."""


class Operations:
    """Changes queues in every way there is, knowing only which messages it holds."""

    def __init__(self, client: Client, seed: int) -> None:
        self._client = client
        self._choose = random.Random(seed)
        self._held: dict[str, list[bytes]] = {key: [] for key in KEYS}

    def run(self, count: int) -> None:
        for _ in range(count):
            (deed,) = self._choose.choices(list(WEIGHTS), list(WEIGHTS.values()))
            key, other = self._choose.sample(KEYS, 2)
            getattr(self, deed)(key, other)

    def push(self, key: str, _: str) -> None:
        sizes = [self._choose.choice([0, 1, 20, 300]) for _ in range(self._choose.randint(1, 9))]
        self._client.push(key, *(self._choose.randbytes(size) for size in sizes))

    def pop(self, key: str, _: str) -> None:
        self._take(key)

    def pop_from_two(self, key: str, other: str) -> None:
        self._take(key, other)

    def _take(self, *keys: str) -> None:
        count = self._choose.randint(1, 12)
        for key, id, _ in self._client.call("RQ.POP", "COUNT", count, "KEYS", len(keys), *keys) or []:
            self._held[key.decode()].append(id)

    def ack(self, key: str, _: str) -> None:
        held = self._held[key]
        if held:
            self._choose.shuffle(held)
            cut = self._choose.randint(1, len(held))
            self._client.ack(key, *held[:cut])
            self._held[key] = held[cut:]

    def recover(self, key: str, _: str) -> None:
        self._client.recover(key, self._choose.randint(1, 9), self._choose.choice([0, 0, 1, 3_600_000]))

    def delete(self, key: str, _: str) -> None:
        self._client.call("DEL", key)
        self._held[key] = []

    def rename(self, key: str, other: str) -> None:
        if self._client.exists(key):
            self._client.call("RENAME", key, other)
            self._held[other], self._held[key] = self._held[key], []

    def copy(self, key: str, other: str) -> None:
        if self._client.exists(key):
            self._client.call("COPY", key, other, "REPLACE")
            self._held[other] = list(self._held[key])

    def transaction(self, key: str, other: str) -> None:
        self._client.transaction(("RQ.PUSH", key, "m1", "m2"), ("RQ.POP", other), ("RQ.RECOVER", key, 1, 0))

    def script(self, key: str, _: str) -> None:
        self._client.call("EVAL", SCRIPT, 1, key, "scripted")


def random_operations(client: Client, seed: int, count: int) -> None:
    Operations(client, seed).run(count)
