"""Random changes to a few queues, the same for the same seed."""

import random

from tests.support.client import Client, CommandError

KEYS = ["a", "b", "c", "d"]

SCRIPT = """
redis.call('RQ.PUSH', KEYS[1], ARGV[1])
return redis.call('RQ.POP', 'COUNT', 2, 'KEYS', 1, KEYS[1])"""

WEIGHTS = {
    "push": 20.0,
    "produce": 10.0,
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
    """Changes queues in every way there is, knowing only which messages it holds, and how far its
    producers have come, whose names are its own."""

    def __init__(self, client: Client, seed: int) -> None:
        self._client = client
        self._choose = random.Random(seed)
        self._held: dict[str, list[bytes]] = {key: [] for key in KEYS}
        self._producers = [f"{seed}-{number}" for number in range(2)]
        self._highest: dict[str, dict[str, int]] = {key: {} for key in KEYS}

    def run(self, count: int) -> None:
        for _ in range(count):
            (deed,) = self._choose.choices(list(WEIGHTS), list(WEIGHTS.values()))
            key, other = self._choose.sample(KEYS, 2)
            getattr(self, deed)(key, other)

    def push(self, key: str, _: str) -> None:
        self._client.push(key, *self._bodies())

    def _bodies(self) -> list[bytes]:
        sizes = [self._choose.choice([0, 1, 20, 300]) for _ in range(self._choose.randint(1, 9))]
        return [self._choose.randbytes(size) for size in sizes]

    def produce(self, key: str, _: str) -> None:
        """Pushes what follows, or some of it again, or leaves a gap, which is refused."""
        name, bodies = self._choose.choice(self._producers), self._bodies()
        known = self._highest[key].get(name)
        sequence = max(1, (known or 0) + self._choose.choice([1, 1, 1, 1, 0, -4, -9, 2]))
        try:
            self._client.produce(key, name, sequence, *bodies)
        except CommandError as error:
            assert error.code == "GAP" and known is not None and sequence > known + 1
        else:
            assert known is None or sequence <= known + 1
            self._highest[key][name] = max(known or 0, sequence + len(bodies) - 1)

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
        self._held[key], self._highest[key] = [], {}

    def rename(self, key: str, other: str) -> None:
        if self._client.exists(key):
            self._client.call("RENAME", key, other)
            self._held[other], self._held[key] = self._held[key], []
            self._highest[other], self._highest[key] = self._highest[key], {}

    def copy(self, key: str, other: str) -> None:
        if self._client.exists(key):
            self._client.call("COPY", key, other, "REPLACE")
            self._held[other] = list(self._held[key])
            self._highest[other] = dict(self._highest[key])

    def transaction(self, key: str, other: str) -> None:
        self._client.transaction(("RQ.PUSH", key, "m1", "m2"), ("RQ.POP", other), ("RQ.RECOVER", key, 1, 0))

    def script(self, key: str, _: str) -> None:
        self._client.call("EVAL", SCRIPT, 1, key, "scripted")


def random_operations(client: Client, seed: int, count: int) -> None:
    Operations(client, seed).run(count)
