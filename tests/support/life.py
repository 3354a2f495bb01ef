"""Random changes to a few queues by every command and option there is, the same for the same seed."""

import random
import time
from typing import Any

from tests.support.client import Argument, Client, CommandError
from tests.support.wait import wait_until

KEYS = ["{q}a", "{q}b", "{q}c"]
CONSUMERS = ["ann", "bob", b"\xff\0"]
REFUSALS = {"GAP", "DUPLICATE", "CAPPED", "PAUSED", "NOTHELD"}
"""What may happen to a command that is right."""

LONG = 3_600_000
"""Milliseconds that no test lives to see the end of."""

WEIGHTS = {
    "push": 10.0,
    "push_extended": 35.0,
    "pop": 30.0,
    "ack": 12.0,
    "nack": 12.0,
    "extend": 8.0,
    "claim": 5.0,
    "recover": 5.0,
    "forward": 5.0,
    "delete": 3.0,
    "redrive": 4.0,
    "setup": 4.0,
    "pause": 2.0,
    "resume": 5.0,
    "end_consumer": 2.0,
    "flush": 0.5,
    "remove": 0.3,
    "rename": 0.3,
    "copy": 0.3,
    "dump": 0.3,
    "look": 5.0,
    "transaction": 2.0,
}
"""How often each of them happens."""


class Life:
    """Changes queues in every way there is, knowing only which messages it has met."""

    def __init__(self, client: Client, seed: int) -> None:
        self._client = client
        self._random = random.Random(seed)
        self._met: dict[str, list[bytes]] = {key: [] for key in KEYS}
        self._count = 0

    def run(self, count: int) -> None:
        for _ in range(count):
            (deed,) = self._random.choices(list(WEIGHTS), list(WEIGHTS.values()))
            key, other = self._random.sample(KEYS, 2)
            getattr(self, deed)(key, other)

    # Drawing.

    def _one(self, *values: Any) -> Any:
        return self._random.choice(values)

    def _maybe(self, *words: Argument, chance: float = 0.3) -> list[Argument]:
        return list(words) if self._random.random() < chance else []

    def _span(self) -> int:
        """Milliseconds: over at once, soon, or never."""
        return int(self._one(0, 1, 2, 5, 20, LONG, LONG))

    def _bodies(self, most: int = 5) -> list[Argument]:
        sizes = [self._one(0, 1, 20, 300) for _ in range(self._random.randint(1, most))]
        return [self._random.randbytes(size) for size in sizes]

    def _token(self) -> str:
        return f"token-{self._random.randint(0, 15)}"

    def _messages(self, key: str) -> list[Argument]:
        """A list of messages: some that were met, one or the other that there never was."""
        if self._random.random() < 0.15:
            tokens = [self._token() for _ in range(self._random.randint(1, 4))]
            return ["TOKENS", len(tokens), *tokens]
        met = self._met[key][-30:] or [b"1-1"]
        chosen: list[Argument] = [self._random.choice(met) for _ in range(self._random.randint(1, 6))]
        chosen += self._maybe("7-7", chance=0.05)
        return ["IDS", len(chosen), *chosen]

    # Calling.

    def _call(self, *command: Argument) -> Any:
        try:
            return self._client.call(*command)
        except CommandError as error:
            if error.code not in REFUSALS:
                raise AssertionError(f"{command!r}: {error.line}") from error
            return None

    def _meet(self, rows: list[list[Any]] | None) -> None:
        """Remembers what was delivered, by receipts and by bare IDs."""
        for row in rows or []:
            if len(row) > 3 and self._random.random() < 0.5:
                meta = dict(zip(row[3][::2], row[3][1::2], strict=True))
                self._met[row[0].decode()].append(meta[b"receipt"])
            else:
                self._met[row[0].decode()].append(row[1])

    # Producing.

    def push(self, key: str, _: str) -> None:
        self._met[key] += self._call("RQ.PUSH", key, *self._bodies()) or []

    def push_extended(self, key: str, _: str) -> None:
        self._count += 1
        words = self._maybe("FRONT")
        if self._random.random() < 0.3:
            due = self._one(("DELAY", self._span()), ("AT", 1), ("AT", 4_000_000_000_000))
            words += due
        words += self._maybe("TTL", max(1, self._span()))
        words += self._maybe("RETRIES", self._one(0, 1, 2))
        words += self._maybe("PRIORITY", self._one(0, 1, 7, 255))
        words += self._maybe("HEADERS", 2, "trace", str(self._count), "trace", b"\xff\0")
        bodies = self._bodies()
        if self._random.random() < 0.3:
            words += ["TOKEN", self._token(), *self._maybe("UNIQUE")]
            bodies = bodies[:1]
        if self._random.random() < 0.2:
            words += ["PRODUCER", self._one("p1", "p2"), "SEQ", self._random.randint(1, 40)]
        words += self._maybe("NEW", self._span(), self._one(0, 3), chance=0.1)
        ids = self._call("RQ.PUSHEX", key, *words, "ELEMENTS", len(bodies), *bodies)
        self._met[key] += [id for id in ids or [] if id is not None]

    # Consuming.

    def pop(self, key: str, other: str) -> None:
        words: list[Argument] = ["COUNT", self._random.randint(1, 8)]
        words += self._maybe("CONSUMER", self._one(*CONSUMERS), chance=0.5)
        if self._random.random() < 0.1:
            words += ["NOACK"]
        else:
            words += self._maybe("LEASE", self._span(), chance=0.5) + self._maybe("PREFETCH")
        words += self._maybe("MAXBYTES", self._one(1, 100, 1000)) + self._maybe("WITHMETA", chance=0.6)
        keys = [key, *self._maybe(other)]
        self._meet(self._call("RQ.POP", *words, "KEYS", len(keys), *keys))

    def ack(self, key: str, _: str) -> None:
        self._call("RQ.ACK", key, *self._maybe("STATUS"), *self._messages(key))

    def nack(self, key: str, _: str) -> None:
        words = self._one([], [], ["DELAY", self._span()], ["DEAD"])
        words = words + self._maybe("REASON", self._one("", "why", b"\xff\0")) + self._maybe("SILENT")
        self._call("RQ.NACK", key, *words, *self._maybe("STATUS"), *self._messages(key))

    def extend(self, key: str, _: str) -> None:
        words = self._maybe("START") + self._maybe("STATUS")
        self._call("RQ.EXTEND", key, self._span(), *words, *self._messages(key))

    def claim(self, key: str, _: str) -> None:
        words = self._maybe("LEASE", self._span()) + self._maybe("WITHMETA", chance=0.6)
        idle = self._one(0, 0, 1, LONG)
        self._meet(self._call("RQ.CLAIM", key, self._one(*CONSUMERS), idle, *words, *self._messages(key)))

    def recover(self, key: str, _: str) -> None:
        words = self._maybe("LEASE", self._span()) + self._maybe("CONSUMER", self._one(*CONSUMERS))
        words += self._maybe("FROM", self._one(*CONSUMERS)) + self._maybe("WITHMETA", chance=0.6)
        self._meet(self._call("RQ.RECOVER", key, self._random.randint(1, 5), self._one(0, 0, 1, LONG), *words))

    def forward(self, key: str, other: str) -> None:
        bodies = self._bodies(3)
        target = self._one(other, other, key)
        ids = self._call("RQ.FORWARD", key, target, *self._messages(key), "ELEMENTS", len(bodies), *bodies)
        self._met[target] += ids or []

    # Managing.

    def delete(self, key: str, _: str) -> None:
        self._call("RQ.DELETE", key, *self._messages(key))

    def redrive(self, key: str, _: str) -> None:
        self._call("RQ.REDRIVE", key, *self._one([], ["COUNT", 2], self._messages(key)))

    def setup(self, key: str, _: str) -> None:
        changes: list[list[Argument]] = [
            ["LEASE", self._span()],
            ["DELIVERIES", self._one(0, 1, 2, 3)],
            ["BACKOFF", self._one(0, 1, 5), self._one("1", "1.5", "2"), self._one(0, 10)],
            ["JITTER", self._one(0, 50, 100)],
            ["MAXLEN", self._one(0, 0, 5, 50)],
            ["MAXBYTES", self._one(0, 0, 500, 5000)],
            [self._one("REJECT", "DROP")],
            ["DEDUP", self._one(0, 1, 20, 600_000)],
            ["EXPIRED", self._one("DROP", "DEAD")],
            ["DEADMAX", self._one(0, 0, 3)],
            ["DEADTTL", self._one(0, 0, 1, LONG)],
            ["INFLIGHT", self._one(0, 0, 4)],
        ]
        chosen = self._random.sample(changes, self._random.randint(1, 4))
        self._call("RQ.SETUP", key, *(word for words in chosen for word in words))

    def pause(self, key: str, _: str) -> None:
        self._call("RQ.PAUSE", key, *self._one([], ["PUSH"], ["POP"], ["ALL"]))

    def resume(self, key: str, _: str) -> None:
        self._call("RQ.RESUME", key, *self._one([], ["PUSH"], ["ALL"], ["ALL"]))

    def end_consumer(self, key: str, _: str) -> None:
        self._call("RQ.CONSUMER", "DELETE", key, self._one(*CONSUMERS))

    def flush(self, key: str, _: str) -> None:
        self._call("RQ.FLUSH", key, *self._maybe("DEAD", chance=0.6))

    # What the server does to keys.

    def remove(self, key: str, _: str) -> None:
        self._call("DEL", key)

    def rename(self, key: str, other: str) -> None:
        if self._client.exists(key):
            self._call("RENAME", key, other)
            self._met[other], self._met[key] = self._met[key], []

    def copy(self, key: str, other: str) -> None:
        if self._client.exists(key):
            self._call("COPY", key, other, "REPLACE")
            self._met[other] = list(self._met[key])

    def dump(self, key: str, _: str) -> None:
        value = self._client.call("DUMP", key)
        if value is not None:
            self._call("RESTORE", key, 0, value, "REPLACE")

    def look(self, key: str, _: str) -> None:
        for state in ([], ["PENDING"], ["DEAD"], ["SCHEDULED"]):
            self._call("RQ.INSPECT", key, *state, 0, 1000)
        self._call("RQ.INFO", key)
        self._call("RQ.RANGE", key, "-", "+", "WITHMETA")
        self._call("RQ.PEEK", key), self._call("RQ.STATUS"), self._call("RQ.CONSUMER", "LIST", key)

    def transaction(self, key: str, other: str) -> None:
        self._client.transaction(
            ("RQ.PUSHEX", key, "PRIORITY", 3, "ELEMENTS", 2, "m1", "m2"),
            ("RQ.POP", "LEASE", 5, "COUNT", 2, "KEYS", 2, other, key),
            ("RQ.RECOVER", key, 1, 0),
            ("RQ.REDRIVE", other),
        )


def random_life(client: Client, seed: int, count: int) -> None:
    Life(client, seed).run(count)


def rest(client: Client) -> dict[bytes, bytes]:
    """Waits until nothing happens by itself any more, for what is not due at once is not due for long, and returns
    the digest of each key."""
    seen, since = digests(client), time.monotonic()

    def unchanged() -> bool:
        nonlocal seen, since
        now = digests(client)
        if now != seen:
            seen, since = now, time.monotonic()
        return time.monotonic() - since > 0.3

    wait_until("nothing happens any more", unchanged)
    return seen


def digests(client: Client) -> dict[bytes, bytes]:
    return {key: client.digest(key) for key in client.call("KEYS", "*")}
