"""What schedules and leases cost: bytes of a delayed and of a leased message, and how messages fall due.

A million messages fall due over ten seconds while the server has nothing else to do but to answer two clients: one asks
for the first scheduled message again and again, and sees how late it is, the other sends PING, and sees how long that
takes.
"""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial

from bench.connection import Connection, encode
from bench.environment import Environment
from bench.plan import Plan
from bench.result import Row, progress
from bench.server import Server

SIZE = 100  # bytes of a payload
BATCH = 100
PIPELINE = 50
KEY = "life"
Lease = Callable[[], int]
"""Milliseconds of the next lease."""
HOUR = 3_600_000
SPREAD = 10_000
"""Milliseconds over which messages fall due."""
HEAD_START = 30
"""Microseconds that a push of a message takes at most, so that all are there before the first is due."""


def measure(environment: Environment, plan: Plan) -> Iterator[Row]:
    """Bytes of messages in several states, and lateness of those that fall due."""
    count = plan.life_count
    delays: dict[str, Callable[[int], int]] = {
        "delayed, in order": lambda _: HOUR,
        "delayed, in any order": lambda _: HOUR + random.randrange(HOUR),
    }
    for what, delay in delays.items():
        progress(f"life: {count:,} messages, {what}")
        yield _bytes(environment, what, count, partial(_push, count=count, delay=delay))
    any_length: Lease = lambda: HOUR + random.randrange(HOUR)  # noqa: E731
    leases: dict[str, tuple[Lease, int, str]] = {
        "leased": (lambda: HOUR, 1000, ""),
        "leased by name": (lambda: HOUR, 1000, "worker"),
        "leased, any length": (any_length, 10, ""),
        "leased, any length, by name": (any_length, 10, "worker"),
    }
    for what, (lease, batch, consumer) in leases.items():
        progress(f"life: {count:,} messages, {what}")
        hold = partial(_hold, count=count, lease=lease, batch=batch, consumer=consumer)
        yield _bytes(environment, what, count, hold)
    progress(f"life: {count:,} messages fall due over {SPREAD / 1000:.0f} s")
    yield from _fall_due(environment, count)


def _bytes(environment: Environment, what: str, count: int, bring: Callable[[Connection], None]) -> Row:
    with Server(environment, module=True) as server, Connection(server.port) as watch:
        before = server.info(watch, "memory", "used_memory")
        with Connection(server.port) as connection:
            bring(connection)
        while server.info(watch, "clients", "connected_clients") > 1:
            time.sleep(0.01)
        each = (server.info(watch, "memory", "used_memory") - before) / count - SIZE
    return Row("life", "reliableq", what, "bytes per message", each, size=SIZE, count=count)


def _push(connection: Connection, count: int, delay: Callable[[int], int], option: str = "DELAY") -> None:
    payload = b"x" * SIZE
    for start in range(0, count // BATCH, PIPELINE):
        turn = range(start, min(start + PIPELINE, count // BATCH))
        words = [
            encode(["RQ.PUSHEX", KEY, option, delay(n), "ELEMENTS", BATCH, *([payload] * BATCH)])
            if option
            else encode(["RQ.PUSH", KEY, *([payload] * BATCH)])
            for n in turn
        ]
        connection.send(b"".join(words))
        for _ in turn:
            connection.reply()


def _hold(connection: Connection, count: int, lease: Lease, batch: int, consumer: str) -> None:
    """Pops all messages, so many at a time with a lease each time."""
    _push(connection, count, lambda _: 0, "")
    name = ["CONSUMER", consumer] if consumer else []
    for start in range(0, count // batch, PIPELINE):
        turn = range(start, min(start + PIPELINE, count // batch))
        words = [encode(["RQ.POP", "COUNT", batch, "LEASE", lease(), *name, "KEYS", 1, KEY]) for _ in turn]
        connection.send(b"".join(words))
        for _ in turn:
            connection.reply()


def _fall_due(environment: Environment, count: int) -> Iterator[Row]:
    with Server(environment, module=True) as server, Connection(server.port) as connection:
        start = int(time.time() * 1000) + count * HEAD_START // 1000
        _push(connection, count, lambda _: start + random.randrange(SPREAD), "AT")
        slowest, ended = [0.0], threading.Event()
        pinging = threading.Thread(target=_ping, args=(server.port, slowest, ended))
        pinging.start()
        latest = early = 0.0
        while rows := connection.command("RQ.INSPECT", KEY, "SCHEDULED", 0, 1):
            now = time.time() * 1000
            assert isinstance(rows, list) and isinstance(rows[0], list) and isinstance(rows[0][2], int)
            latest = max(latest, now - rows[0][2])
            time.sleep(0.001)
        ended.set()
        pinging.join()
        early = max(early, start + SPREAD - 1000 - time.time() * 1000)
    for what, value in {"latest of those due": latest, "slowest command beside": slowest[0]}.items():
        yield Row("life", "reliableq", what, "milliseconds", value, size=SIZE, count=count)
    if early > 0:
        raise RuntimeError(f"all were due {early:.0f} ms before their time")


def _ping(port: int, slowest: list[float], ended: threading.Event) -> None:
    with Connection(port) as connection:
        while not ended.is_set():
            began = time.perf_counter()
            connection.command("PING")
            slowest[0] = max(slowest[0], (time.perf_counter() - began) * 1000)
            time.sleep(0.001)
