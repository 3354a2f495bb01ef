"""User-space instructions in the server per message: the figure to steer by, it repeats."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from bench.callgrind import CallgrindMeter, CallgrindServer
from bench.environment import Environment
from bench.load import D64, Load, Mode
from bench.meter import PHASES, cycle
from bench.peer import FLOOR, Peer
from bench.plan import Plan
from bench.result import Row, progress

# Pushed, popped and acknowledged before counting, so that first-time work is not counted.
WARM_UP = 2_000
AOF = ("--appendonly", "yes", "--appendfsync", "no")


def measure(environment: Environment, plan: Plan, peers: tuple[Peer, ...], profiles: Path | None) -> Iterator[Row]:
    """Instructions of each phase and of the cycle, without AOF and, for 64 in flight, with it."""
    for mode, count in plan.instruction_count.items():
        for peer in peers:
            yield from _cycle(environment, plan, peer, mode, count, (), profiles)
    for peer in peers:
        if peer is not FLOOR:
            count = plan.instruction_count[D64]
            yield from _cycle(environment, plan, peer, D64, count, AOF, profiles)


def _cycle(
    environment: Environment,
    plan: Plan,
    peer: Peer,
    mode: Mode,
    count: int,
    options: tuple[str, ...],
    profiles: Path | None,
) -> Iterator[Row]:
    setting = "aof" if options else ""
    progress(f"instructions: {peer.name} {mode.name} {setting}")
    with (
        CallgrindServer(environment, module=peer.needs_module, options=options) as server,
        Load(server, peer, mode, plan.main_size) as load,
    ):
        load.push(WARM_UP)
        load.ack(load.pop(WARM_UP))
        meter = CallgrindMeter(server)
        costs = cycle(load, meter, count)
        if profiles:
            name = "-".join(filter(None, (peer.name, mode.name, setting)))
            # The first lap of the cycle only drew the line; the phases follow it.
            for lap, phase in enumerate(PHASES, start=2):
                meter.keep(lap, profiles / f"{name}-{phase}.callgrind")
    for what, cost in costs.items():
        yield Row(
            "instructions",
            peer.name,
            what,
            "instructions per message",
            cost,
            mode=mode.name,
            size=plan.main_size,
            count=count,
            setting=setting,
        )
