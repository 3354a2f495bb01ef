"""Does the cost of a message depend on how many are pending? It must not.

With P messages delivered and unacknowledged: push, pop, recover and acknowledge (oldest first) more
messages on top, in groups of which the best counts; then acknowledge all P in random order,
compaction and cache misses included. A small P is filled and drained until enough went through.
"""

from __future__ import annotations

import random
import statistics
from collections import defaultdict, deque
from collections.abc import Iterator

from bench.callgrind import CallgrindMeter, CallgrindServer
from bench.environment import Environment, Missing
from bench.load import B100, D64, Load, Mode
from bench.meter import CpuMeter, Meter
from bench.peer import Peer
from bench.plan import Plan
from bench.result import Result, Row, progress
from bench.server import Server

GROUP = 10_000  # messages in a group
GROUPS = 12  # groups that go through on top of the pending ones
DRAINED = 100_000  # messages that at least are acknowledged in random order
COUNTED = 5_000  # messages in the one group under callgrind, which is slow

CPU = "CPU seconds per million"
INSTRUCTIONS = "instructions per message"

Costs = dict[str, list[float]]


def measure(environment: Environment, plan: Plan, peer: Peer, result: Result) -> Iterator[Row]:
    """CPU per message for every number of pending messages, and instructions in batches."""
    for mode in (D64, B100):
        yield from _cpu(environment, plan, peer, mode)
    try:
        yield from _instructions(environment, plan, peer)
    except Missing as missing:
        result.leave_out(f"growth in instructions: {missing}")


def _cpu(environment: Environment, plan: Plan, peer: Peer, mode: Mode) -> Iterator[Row]:
    spent: dict[int, Costs] = {pending: defaultdict(list) for pending in plan.growth_pending}
    for turn in range(plan.growth_rounds):
        for pending, costs in spent.items():
            progress(f"growth: {mode.name}, {pending:,} pending, round {turn + 1}")
            with (
                Server(environment, module=peer.needs_module) as server,
                Load(server, peer, mode, plan.main_size) as load,
            ):
                held = deque(_fill(load, pending))
                meter = CpuMeter(server)
                for _ in range(GROUPS):
                    _on_top(load, meter, held, GROUP, costs)
                costs["ack random"].append(_drain(load, meter, list(held)))
    for pending, costs in spent.items():
        for what, values in costs.items():
            yield _row(plan, peer, mode, what, pending, CPU, [value / 1000 for value in values])


def _instructions(environment: Environment, plan: Plan, peer: Peer) -> Iterator[Row]:
    for pending in plan.growth_pending:
        progress(f"growth: instructions, {pending:,} pending")
        with (
            CallgrindServer(environment, module=peer.needs_module, options=()) as server,
            Load(server, peer, B100, plan.main_size) as load,
        ):
            costs: Costs = defaultdict(list)
            held = deque(_fill(load, pending))
            meter = CallgrindMeter(server)
            _on_top(load, meter, held, COUNTED, costs)
            costs["ack random"].append(_sample(load, meter, list(held)))
        for what, values in costs.items():
            yield _row(plan, peer, B100, what, pending, INSTRUCTIONS, values)


def _row(plan: Plan, peer: Peer, mode: Mode, what: str, pending: int, unit: str, values: list[float]) -> Row:
    best, median = min(values), statistics.median(values)
    return Row("growth", peer.name, what, unit, best, mode.name, plan.main_size, pending, "", median)


def _fill(load: Load, pending: int) -> list[bytes]:
    """Bring `pending` messages to delivered, the quick way whatever the mode."""
    mode, load.mode = load.mode, B100
    load.push(pending)
    held = load.pop(pending)
    load.mode = mode
    return held


def _on_top(load: Load, meter: Meter, held: deque[bytes], group: int, costs: Costs) -> None:
    """Send a group of messages through, on top of those held; afterwards as many are held."""
    total: dict[str, float] = defaultdict(float)
    chunk = min(len(held), group)
    for _ in range(group // chunk):
        meter.lap()
        load.push(chunk)
        total["push"] += meter.lap()
        fresh = load.pop(chunk)
        total["pop"] += meter.lap()
        if load.peer.recover is not None:
            load.recover(chunk)
            total["recover"] += meter.lap()
        oldest = [held.popleft() for _ in range(chunk)]
        load.ack(oldest)
        total["ack in order"] += meter.lap()
        held.extend(fresh)
    for what, spent in total.items():
        costs[what].append(spent / group)


def _drain(load: Load, meter: Meter, held: list[bytes]) -> float:
    """Acknowledge all in random order, and again as many new ones until enough were."""
    pending = len(held)
    spent, count = 0.0, 0
    while True:
        random.Random(count).shuffle(held)
        meter.lap()
        load.ack(held)
        spent += meter.lap()
        count += pending
        if count >= DRAINED:
            load.check_empty()
            return spent / count
        held = _fill(load, pending)


def _sample(load: Load, meter: Meter, held: list[bytes]) -> float:
    """Acknowledge a random part of those held, in turns with as many new ones."""
    chunk = min(len(held), COUNTED)
    spent = 0.0
    for turn in range(COUNTED // chunk):
        chosen = random.Random(turn).sample(range(len(held)), chunk)
        meter.lap()
        load.ack([held[i] for i in chosen])
        spent += meter.lap()
        load.push(chunk)
        for i, token in zip(chosen, load.pop(chunk), strict=True):
            held[i] = token
    return spent / COUNTED
