"""Command line of the benchmark: `python -m bench` in the root of the repository."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict
from pathlib import Path

from bench import blocked, cpu, embedded, growth, instructions, life, memory, picture, plan, recovery, table
from bench.connection import ServerError
from bench.environment import ROOT, Environment, Missing, discover
from bench.peer import PEERS, QUEUES, RELIABLEQ, STREAMS, Peer
from bench.result import Result, Row, progress
from bench.verdict import verdicts

PARTS = ("instructions", "cpu", "memory", "growth", "recovery", "blocked", "life", "embedded")
Measure = Callable[[], Iterator[Row]]


def main() -> int:
    """Measure, print, write. Exit status 1: a measure failed, or with --check missed a limit."""
    options = _options()
    try:
        environment = discover()
    except Missing as missing:
        sys.exit(f"bench: {missing}")
    chosen = plan.quick(options.sizes) if options.quick else plan.full(options.sizes)
    result = Result(environment.describe(), options.quick)
    began = time.monotonic()
    for name, measure in _measures(environment, chosen, result, options.profiles).items():
        if name in options.only:
            _collect(name, measure, result)
    result.seconds = time.monotonic() - began
    judged = verdicts(result)
    print(table.render(result, judged))
    out: Path = options.out
    result.write(out, [asdict(verdict) | {"met": verdict.met} for verdict in judged])
    print(f"\nwritten: {out}")
    if picture.draw(result, out.with_suffix(".png")):
        print(f"drawn:   {out.with_suffix('.png')}")
    missed = options.check and not all(verdict.met for verdict in judged)
    return int(result.failed or missed)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a look in a few minutes")
    parser.add_argument(
        "--only",
        type=_parts,
        default=PARTS,
        metavar="PART,...",
        help=f"some of: {', '.join(PARTS)}",
    )
    parser.add_argument("--sizes", type=_sizes, default=(16, 100, 1024), metavar="BYTES,...")
    parser.add_argument(
        "--out",
        type=Path,
        default=ROOT / "bench-results/latest.json",
        help="where the JSON goes; the picture goes beside it (default: bench-results/latest.json)",
    )
    parser.add_argument("--profiles", type=Path, metavar="DIR", help="keep callgrind's profile of every phase")
    parser.add_argument("--check", action="store_true", help="fail when a limit is missed")
    return parser.parse_args()


def _parts(text: str) -> tuple[str, ...]:
    names = tuple(text.split(","))
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        raise argparse.ArgumentTypeError(f"unknown: {', '.join(unknown)}")
    return names


def _sizes(text: str) -> tuple[int, ...]:
    return tuple(int(size) for size in text.split(","))


def _measures(environment: Environment, chosen: plan.Plan, result: Result, profiles: Path | None) -> dict[str, Measure]:
    def available(peers: tuple[Peer, ...]) -> tuple[Peer, ...]:
        return tuple(peer for peer in peers if environment.module or not peer.needs_module)

    if environment.module is None:
        result.leave_out("reliableq: no target/release/librq_module.so; build it with `make build`")
    peers, queues = available(PEERS), available(QUEUES)
    growing = RELIABLEQ if environment.module else STREAMS
    return {
        "instructions": lambda: instructions.measure(environment, chosen, peers, profiles),
        "cpu": lambda: cpu.measure(environment, chosen, peers),
        "memory": lambda: memory.measure(environment, chosen, queues, result),
        "growth": lambda: growth.measure(environment, chosen, growing, result),
        "recovery": lambda: recovery.measure(environment, chosen, queues),
        "blocked": lambda: blocked.measure(environment, chosen, queues, result),
        "life": lambda: life.measure(environment, chosen) if environment.module else iter(()),
        "embedded": lambda: embedded.measure(chosen),
    }


def _collect(name: str, measure: Measure, result: Result) -> None:
    """Keep what a measure yields; one that fails must not cost the others their figures."""
    try:
        for row in measure():
            result.rows.append(row)
    except Missing as missing:
        result.leave_out(f"{name}: {missing}")
    except (ServerError, RuntimeError, OSError) as error:
        result.failed = True
        result.leave_out(f"{name}: failed: {error!r}")
    progress(f"{name}: done")


if __name__ == "__main__":
    sys.exit(main())
