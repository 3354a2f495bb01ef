"""How much is measured: one plan for the whole run, one for a quick look."""

from __future__ import annotations

from dataclasses import dataclass

from bench.load import B100, D1, D64, Mode


@dataclass(frozen=True)
class Plan:
    """Counts of messages, rounds and sizes of every measure."""

    quick: bool
    sizes: tuple[int, ...]
    main_size: int
    instruction_count: dict[Mode, int]
    cpu_count: dict[Mode, int]
    cpu_rounds: int
    memory_counts: tuple[int, ...]
    growth_pending: tuple[int, ...]
    growth_rounds: int
    recovery_pending: int
    blocked_clients: tuple[int, ...]
    life_count: int


def full(sizes: tuple[int, ...]) -> Plan:
    """Everything, in about a quarter of an hour on two processors."""
    return Plan(
        quick=False,
        sizes=sizes,
        main_size=_main(sizes),
        instruction_count={D1: 4_000, D64: 10_000, B100: 10_000},
        cpu_count={D1: 5_000, D64: 40_000, B100: 40_000},
        cpu_rounds=10,
        memory_counts=(1_000_000, 550_000),
        growth_pending=(1_000, 100_000, 5_000_000),
        growth_rounds=3,
        recovery_pending=1_000_000,
        blocked_clients=(100, 10_000),
        life_count=1_000_000,
    )


def quick(sizes: tuple[int, ...]) -> Plan:
    """A look in a few minutes: the main size only, fewer messages where that changes little."""
    main = _main(sizes)
    return Plan(
        quick=True,
        sizes=(main,),
        main_size=main,
        instruction_count={D64: 5_000, B100: 10_000},
        cpu_count={D1: 4_000, D64: 20_000, B100: 20_000},
        cpu_rounds=8,
        memory_counts=(550_000,),
        growth_pending=(1_000, 100_000, 500_000),
        growth_rounds=2,
        recovery_pending=200_000,
        blocked_clients=(100, 2_000),
        life_count=200_000,
    )


def _main(sizes: tuple[int, ...]) -> int:
    return 100 if 100 in sizes else sizes[0]
