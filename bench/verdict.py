"""The limits that the project sets itself, beside what was measured."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from bench.load import B100, D1, D64
from bench.result import Result, Row

INSTRUCTIONS = {(B100.name, ""): 0.15, (D64.name, ""): 0.36, (D64.name, "aof"): 0.40}
CPU = {B100.name: 0.30, D64.name: 0.45, D1.name: 0.78}
BYTES = {"waiting": 8.0, "delivered": 44.0, "left of peak": 0.01}
LIFE = {
    "delayed, in order": 24.0,
    "delayed, in any order": 24.0,
    "leased": 48.0,
    "leased by name": 64.0,
    "leased, any length": 48.0,
    "leased, any length, by name": 64.0,
    "latest of those due": 50.0,
    "slowest command beside": 10.0,
}
GROWTH = 1.5
EMBEDDED = (("one by one", "deque + dict", 2.0), ("file, one by one", "write()", 1.5))
BATCHES = 0.25
BUSY = 3.0
LIMITED_SIZE = 100  # the size for which the limits hold


@dataclass(frozen=True)
class Verdict:
    """One limit. `measured` is a ratio to Streams where `unit` says so."""

    name: str
    measured: float
    limit: float
    unit: str

    @property
    def met(self) -> bool:
        """Whether the measured value stays within the limit."""
        return self.measured <= self.limit


def verdicts(result: Result) -> list[Verdict]:
    """Every limit for which there is a figure."""
    return [
        *_instructions(result),
        *_cpu(result),
        *_memory(result),
        *_growth(result),
        *_life(result),
        *_embedded(result),
    ]


def ratio(result: Result, row: Row) -> float | None:
    """A row against the same row of Streams, or None when that is missing or zero."""
    reference = result.find(
        row.part,
        "streams",
        row.what,
        unit=row.unit,
        mode=row.mode,
        size=row.size,
        setting=row.setting,
        count=row.count,
    )
    return row.value / reference.value if reference and reference.value else None


def _instructions(result: Result) -> Iterator[Verdict]:
    for (mode, setting), limit in INSTRUCTIONS.items():
        row = result.find("instructions", "reliableq", "cycle", mode=mode, setting=setting, size=LIMITED_SIZE)
        measured = ratio(result, row) if row else None
        if measured is not None:
            name = f"instructions, cycle, {mode}{', AOF' if setting else ''}"
            yield Verdict(name, measured, limit, "of Streams")


def _cpu(result: Result) -> Iterator[Verdict]:
    for mode, limit in CPU.items():
        row = result.find("cpu", "reliableq", "cycle", mode=mode, size=LIMITED_SIZE)
        measured = ratio(result, row) if row else None
        if measured is not None:
            yield Verdict(f"server CPU, cycle, {mode}", measured, limit, "of Streams")


def _memory(result: Result) -> Iterator[Verdict]:
    for row in result.rows:
        limit = BYTES.get(row.what)
        if row.part != "memory" or row.peer != "reliableq" or limit is None:
            continue
        # What is left behind has a limit at every size, bytes beyond the payload at one.
        if row.what == "left of peak" or row.size == LIMITED_SIZE:
            name = f"memory, {row.what}, {row.size} B x {row.count:,}, {row.setting}"
            unit = "of the peak" if row.what == "left of peak" else "bytes per message"
            yield Verdict(name, row.value, limit, unit)


def _life(result: Result) -> Iterator[Verdict]:
    for row in result.rows:
        if row.part == "life" and row.what in LIFE:
            yield Verdict(f"life, {row.what}, {row.count:,}", row.value, LIFE[row.what], row.unit)


def _embedded(result: Result) -> Iterator[Verdict]:
    for mode, peer, limit in EMBEDDED:
        ours = result.find("embedded", "reliableq", "cycle", mode=mode)
        theirs = result.find("embedded", peer, "cycle", mode=mode)
        if ours and theirs:
            yield Verdict(f"embedded, {mode}, CPU", ours.value / theirs.value, limit, f"of {peer}")
    if batches := result.find("embedded", "reliableq", "cycle", mode="batches of 100"):
        yield Verdict("embedded, batches of 100, CPU", batches.value, BATCHES, "us a message")
    alone = result.find("embedded", "reliableq", "alone")
    busy = result.find("embedded", "reliableq", "beside a busy thread")
    if alone and busy:
        yield Verdict("embedded, beside a busy thread, wall", busy.value / alone.value, BUSY, "of alone")


def _growth(result: Result) -> Iterator[Verdict]:
    series: dict[tuple[str, str, str], list[Row]] = {}
    for row in result.rows:
        if row.part == "growth" and row.peer == "reliableq":
            series.setdefault((row.unit, row.mode, row.what), []).append(row)
    for (unit, mode, what), rows in series.items():
        values = [row.value for row in rows]
        low, high = min(row.count for row in rows), max(row.count for row in rows)
        kind = unit.split()[0]
        name = f"growth, {what}, {mode}, {kind}, {low:,} to {high:,} pending"
        yield Verdict(name, max(values) / min(values), GROWTH, "dearest to cheapest")
