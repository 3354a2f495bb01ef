"""Bytes per message beyond its payload: waiting, delivered, and what is left after all are acked.

`used_memory` is exact. It is read with the load's connection closed, so no buffer of it is counted.
Bursts are batches; `paced` is one message per millisecond of the server's clock, which the stepping
clock gives without waiting for it.
"""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator

from bench.clock import NS_PER_MS, SteppingClock
from bench.connection import Connection
from bench.environment import Environment, Missing
from bench.load import B100, D64, Load
from bench.peer import Peer
from bench.plan import Plan
from bench.result import Result, Row, progress
from bench.server import Server

CALIBRATION = 6_400
UNIT = "bytes per message"


def measure(environment: Environment, plan: Plan, peers: tuple[Peer, ...], result: Result) -> Iterator[Row]:
    """Memory of every peer, size, count and pace."""
    paces = ["burst", "paced"]
    try:
        SteppingClock().__exit__()
    except Missing as missing:
        result.leave_out(f"memory at one message per millisecond: {missing}")
        paces.remove("paced")
    for size in plan.sizes:
        for count in plan.memory_counts:
            for pace in paces:
                for peer in peers:
                    progress(f"memory: {peer.name} {size} B x {count:,} {pace}")
                    yield from _life(environment, peer, size, count, pace)


def _life(environment: Environment, peer: Peer, size: int, count: int, pace: str) -> Iterator[Row]:
    with contextlib.ExitStack() as stack:
        clock = stack.enter_context(SteppingClock()) if pace == "paced" else None
        variables = clock.variables if clock else None
        server = stack.enter_context(Server(environment, module=peer.needs_module, variables=variables))
        load = stack.enter_context(Load(server, peer, B100, size))
        if clock:
            _calibrate(load, clock)
        watch = stack.enter_context(Connection(server.port))
        before = _used(server, load, watch)
        load.mode = D64 if clock else B100
        pushed = load.push(count)
        waiting = _used(server, load, watch)
        load.mode = B100
        ids = load.pop(count)
        delivered = _used(server, load, watch)
        load.ack(ids)
        load.check_empty()
        after = _used(server, load, watch)
    figures = {
        "waiting": (waiting - before) / count - size,
        "delivered": (delivered - before) / count - size,
        "after ack": (after - before) / count,
        "left of peak": (after - before) / (max(waiting, delivered) - before),
    }
    if clock and b"-" in pushed[0]:
        figures["milliseconds per message"] = (_ms(pushed[-1]) - _ms(pushed[0])) / (count - 1)
    for what, value in figures.items():
        unit = UNIT if what in ("waiting", "delivered", "after ack") else "ratio"
        yield Row("memory", peer.name, what, unit, value, "", size, count, pace)


def _calibrate(load: Load, clock: SteppingClock) -> None:
    """Find how often a push reads the clock, and set the step to a push per millisecond."""
    load.mode = D64
    before = clock.readings()
    load.push(CALIBRATION)
    readings = (clock.readings() - before) / CALIBRATION
    load.mode = B100
    load.ack(load.pop(CALIBRATION))
    clock.step(round(NS_PER_MS / readings))


def _used(server: Server, load: Load, watch: Connection) -> int:
    """used_memory once the load's connection is gone."""
    load.disconnect()
    for _ in range(500):
        if server.info(watch, "clients", "connected_clients") == 1:
            return server.info(watch, "memory", "used_memory")
        time.sleep(0.01)
    raise RuntimeError("the load's connection did not go away")


def _ms(token: bytes) -> int:
    """The milliseconds of an ID that is still a bulk string."""
    return int(token.split(b"\r\n")[1].split(b"-")[0])
