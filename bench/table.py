"""The outcome as text for a terminal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from bench.result import Result, Row
from bench.verdict import Verdict, ratio

PHASES = ("push", "pop", "ack", "cycle")
EMBEDDED_SIZE = 100
STATES = ("waiting", "delivered", "after ack", "left of peak", "milliseconds per message")


def render(result: Result, verdicts: Sequence[Verdict]) -> str:
    """All tables, the limits last."""
    parts = [
        _phases(result, "instructions", "User-space instructions in the server per message", 0),
        _phases(result, "cpu", "Server CPU seconds per million messages, best of all rounds", 2),
        _memory(result),
        _growth(result),
        _plain(result, "recovery", "Recovery: server CPU microseconds of one search"),
        _plain(result, "blocked", "A push while clients wait on the key"),
        _plain(result, "life", "Schedules and leases"),
        _embedded(result),
        _limits(verdicts),
    ]
    parts += [f"LEFT OUT: {text}" for text in result.left_out]
    return "\n\n".join(part for part in parts if part)


def _grid(title: str, head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [list(head), *(list(row) for row in rows)]
    if len(lines) == 1:
        return ""
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    # The first column is text, the others figures.
    texts = [
        "  ".join(
            cell.rjust(width) if i else cell.ljust(width)
            for i, (cell, width) in enumerate(zip(line, widths, strict=True))
        )
        for line in lines
    ]
    return "\n".join([title, texts[0], "-" * len(texts[0]), *texts[1:]])


def _ratio(value: float | None) -> str:
    return "" if value is None else f"{value:.3f}"


def _phases(result: Result, part: str, title: str, digits: int) -> str:
    groups: dict[tuple[str, str, str, str], dict[str, Row]] = {}
    for row in result.rows:
        if row.part == part:
            key = (f"{row.size} B", row.mode, row.setting, row.peer)
            groups.setdefault(key, {})[row.what] = row
    medians = part == "cpu"
    head = ["peer", "size", "mode", *PHASES, "cycle/Streams"] + ["by medians"] * medians
    rows = []
    for (size, mode, setting, peer), by in groups.items():
        cells = [f"{by[phase].value:,.{digits}f}" for phase in PHASES]
        line = [peer, size, f"{mode} {setting}".strip(), *cells]
        line.append(_ratio(ratio(result, by["cycle"])))
        if medians:
            line.append(_ratio(_median_ratio(result, by["cycle"])))
        rows.append(line)
    return _grid(title, head, rows)


def _median_ratio(result: Result, row: Row) -> float | None:
    reference = result.find(row.part, "streams", row.what, mode=row.mode, size=row.size)
    if reference is None or row.median is None or not reference.median:
        return None
    return row.median / reference.median


def _memory(result: Result) -> str:
    groups: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in result.rows:
        if row.part == "memory":
            key = (row.peer, f"{row.size} B", f"{row.count:,}", row.setting)
            groups.setdefault(key, {})[row.what] = row
    head = ["peer", "size", "messages", "pace", *STATES[:3], "left of peak", "ms/message"]
    rows = []
    for labels, by in groups.items():
        bytes_each = [f"{by[state].value:.2f}" for state in STATES[:3]]
        pace = f"{by[STATES[4]].value:.3f}" if STATES[4] in by else ""
        rows.append([*labels, *bytes_each, f"{by['left of peak'].value:.4%}", pace])
    return _grid("Bytes per message beyond the payload", head, rows)


def _growth(result: Result) -> str:
    rows = [row for row in result.rows if row.part == "growth"]
    counts = sorted({row.count for row in rows})
    series: dict[tuple[str, ...], dict[int, float]] = {}
    for row in rows:
        key = (row.peer, row.what, row.mode, row.unit)
        series.setdefault(key, {})[row.count] = row.value
    head = ["peer", "operation", "mode", "unit", *(f"{count:,}" for count in counts), "max/min"]
    lines = [
        [
            *key,
            *(_number(by[count]) if count in by else "" for count in counts),
            f"{max(by.values()) / min(by.values()):.2f}",
        ]
        for key, by in series.items()
    ]
    return _grid("Cost per message by the number of pending messages", head, lines)


def _plain(result: Result, part: str, title: str) -> str:
    rows = [
        [row.peer, row.what, f"{row.count:,}", _number(row.value), row.unit, _against(result, row)]
        for row in result.rows
        if row.part == part
    ]
    count = {"recovery": "pending", "blocked": "clients"}.get(part, "messages")
    return _grid(title, ["peer", "what", count, "cost", "unit", "/Streams"], rows)


def _embedded(result: Result) -> str:
    rows = [
        [row.peer, row.mode or row.what, f"{row.value:.2f}", f"{row.median or 0:.2f}", row.unit]
        for row in result.rows
        if row.part == "embedded"
    ]
    title = f"The embedded queue: push, pop and ack of a message, {EMBEDDED_SIZE} B"
    return _grid(title, ["peer", "how", "best", "median", "unit"], rows)


def _against(result: Result, row: Row) -> str:
    value = ratio(result, row)
    return "" if value is None else f"{value:.2g}"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _limits(verdicts: Sequence[Verdict]) -> str:
    rows = [
        [
            verdict.name,
            f"{verdict.measured:.4g}",
            f"{verdict.limit:g}",
            verdict.unit,
            "met" if verdict.met else "MISSED",
        ]
        for verdict in verdicts
    ]
    missed = sum(not verdict.met for verdict in verdicts)
    title = f"Limits: {len(verdicts) - missed} met, {missed} missed"
    return _grid(title, ["limit", "measured", "at most", "", ""], rows)
