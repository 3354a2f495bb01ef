"""What is counted while a load runs, lap by lap."""

from __future__ import annotations

from typing import Protocol

from bench.load import Load
from bench.server import Server

PHASES = ("push", "pop", "ack")


class Meter(Protocol):
    """Counts something that the server spends."""

    def lap(self) -> float:
        """What was spent since the last lap."""


class CpuMeter:
    """CPU nanoseconds of the server, system time included."""

    def __init__(self, server: Server) -> None:
        self._server = server
        self._last = server.cpu_ns()

    def lap(self) -> float:
        """Nanoseconds since the last lap."""
        now = self._server.cpu_ns()
        spent, self._last = now - self._last, now
        return float(spent)


def cycle(load: Load, meter: Meter, count: int) -> dict[str, float]:
    """Push, pop and acknowledge `count` messages; cost per message of each phase and of all."""
    meter.lap()
    load.push(count)
    push = meter.lap()
    ids = load.pop(count)
    pop = meter.lap()
    load.ack(ids)
    ack = meter.lap()
    load.check_empty()
    phases = dict(zip(PHASES, (push, pop, ack), strict=True))
    costs = {phase: spent / count for phase, spent in phases.items()}
    return {**costs, "cycle": sum(costs.values())}
