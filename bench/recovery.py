"""Finding the one message that is due for redelivery among very many that are not."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

from bench.connection import Connection
from bench.environment import Environment
from bench.load import B100, Load
from bench.meter import CpuMeter
from bench.peer import RELIABLEQ, STREAMS, Peer
from bench.plan import Plan
from bench.result import Row, progress
from bench.server import Server

REPEATS = 20
HOUR_MS = 3_600_000
DAY_MS = 24 * HOUR_MS
UNIT = "CPU microseconds per search"

Search = Callable[[], int]


def measure(environment: Environment, plan: Plan, peers: tuple[Peer, ...]) -> Iterator[Row]:
    """CPU of a search that finds one message, and of one that finds none."""
    pending = plan.recovery_pending
    for peer in peers:
        if peer not in (RELIABLEQ, STREAMS):
            continue
        progress(f"recovery: {peer.name}, {pending:,} pending")
        with (
            Server(environment, module=peer.needs_module) as server,
            Load(server, peer, B100, plan.main_size) as load,
        ):
            held = _fill(load, pending)
            searches = _reliableq(load) if peer is RELIABLEQ else _streams(load, held)
            for what, (search, expected, repeats) in searches.items():
                value = _cost(server, search, expected, repeats)
                yield Row("recovery", peer.name, what, UNIT, value, "", plan.main_size, pending)


def _fill(load: Load, pending: int) -> list[bytes]:
    load.push(pending)
    return load.pop(pending)


def _cost(server: Server, search: Search, expected: int, repeats: int) -> float:
    meter = CpuMeter(server)
    for _ in range(repeats):
        found = search()
        if found != expected:
            raise RuntimeError(f"found {found} messages, expected {expected}")
    return meter.lap() / repeats / 1000


def _reliableq(load: Load) -> dict[str, tuple[Search, int, int]]:
    """One that is due by age, one taken whatever its age, and a search in vain."""
    call = load.connection.command

    def recover(count: int, elapsed: int) -> int:
        rows = call("RQ.RECOVER", "q", count, elapsed)
        return len(rows) if isinstance(rows, list) else 0

    # Everything but one message is delivered again now, so that one alone is older than that.
    time.sleep(0.5)
    held = call("RQ.LEN", "q")
    assert isinstance(held, int)
    began = time.monotonic()
    for _ in range((held - 1) // 1000):
        recover(1000, 0)
    recover((held - 1) % 1000, 0)
    age = int((time.monotonic() - began) * 1000) + 250
    return {
        "1 due": (lambda: recover(100, age), 1, 1),
        "1 taken": (lambda: recover(1, 0), 1, REPEATS),
        "0 due": (lambda: recover(100, DAY_MS), 0, REPEATS),
    }


def _streams(load: Load, held: list[bytes]) -> dict[str, tuple[Search, int, int]]:
    """One in the middle is an hour idle; XAUTOCLAIM walks over all to find it."""
    connection = load.connection
    middle = held[len(held) // 2].split(b"\r\n")[1]
    connection.command("XCLAIM", "q", "g", "other", 0, middle, "IDLE", HOUR_MS, "JUSTID")
    return {
        "1 due": (lambda: _autoclaim(connection), 1, 1),
        "0 due": (lambda: _autoclaim(connection), 0, 1),
    }


def _autoclaim(connection: Connection) -> int:
    cursor: bytes = b"0-0"
    found = 0
    while True:
        reply = connection.command("XAUTOCLAIM", "q", "g", "rescue", HOUR_MS // 2, cursor, "COUNT", 100, "JUSTID")
        assert isinstance(reply, list)
        following, claimed = reply[0], reply[1]
        assert isinstance(following, bytes) and isinstance(claimed, list)
        found += len(claimed)
        cursor = following
        if cursor == b"0-0":
            return found
