"""Server CPU per message, system time included: short runs, peers in turns, the best of many.

The best is far steadier than any mean on a machine that others use too; the median stands beside
it.
"""

from __future__ import annotations

import statistics
from collections import defaultdict
from collections.abc import Iterator

from bench.environment import Environment
from bench.load import Load, Mode
from bench.meter import CpuMeter, cycle
from bench.peer import Peer
from bench.plan import Plan
from bench.result import Row, progress
from bench.server import Server


def measure(environment: Environment, plan: Plan, peers: tuple[Peer, ...]) -> Iterator[Row]:
    """CPU seconds per million messages of each phase and of the cycle."""
    for size in plan.sizes:
        for mode, count in plan.cpu_count.items():
            yield from _alternate(environment, peers, plan.cpu_rounds, mode, size, count)


def _alternate(
    environment: Environment,
    peers: tuple[Peer, ...],
    rounds: int,
    mode: Mode,
    size: int,
    count: int,
) -> Iterator[Row]:
    spent: dict[tuple[str, str], list[float]] = defaultdict(list)
    for turn in range(rounds):
        progress(f"cpu: {mode.name} {size} B, round {turn + 1} of {rounds}")
        for peer in peers:
            with (
                Server(environment, module=peer.needs_module) as server,
                Load(server, peer, mode, size) as load,
            ):
                for what, cost in cycle(load, CpuMeter(server), count).items():
                    spent[peer.name, what].append(cost / 1000)
    for (name, what), costs in spent.items():
        yield Row(
            "cpu",
            name,
            what,
            "CPU seconds per million",
            min(costs),
            mode=mode.name,
            size=size,
            count=count,
            median=statistics.median(costs),
        )
