"""The outcome as a picture: cost of a cycle against Streams, bytes per message, growth."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from bench.result import Result, Row
from bench.verdict import BYTES, CPU, GROWTH, INSTRUCTIONS, LIMITED_SIZE, ratio

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.axes import Axes

COLOURS = {
    "reliableq": "#0b6e4f",
    "lists": "#8d99ae",
    "streams": "#c8553d",
    "floor": "#d9d4c7",
}
LIMIT_COLOUR = "#111111"
MODES = {
    ("d1", ""): "one at a time",
    ("d64", ""): "64 in flight",
    ("d64", "aof"): "64 in flight,\nAOF on",
    ("b100", ""): "batches\nof 100",
}
Find = Callable[[str, int], Row | None]
Text = Callable[[Row], str]


def draw(result: Result, path: Path) -> bool:
    """Draw what was measured; False, with a line in `left_out`, when matplotlib is missing."""
    try:
        import matplotlib
    except ImportError:
        result.leave_out("picture: matplotlib is not installed in this environment")
        return False
    matplotlib.use("Agg")
    from matplotlib import pyplot
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch

    panels = [panel for panel in (_instructions, _cpu, _memory, _growth) if panel(result, None)]
    if not panels:
        return False
    rows = (len(panels) + 1) // 2
    columns = min(len(panels), 2)
    figure, axes = pyplot.subplots(rows, columns, figsize=(7.2 * columns, 4.6 * rows))
    flat: list[Axes] = [axes] if len(panels) == 1 else list(axes.flat)
    for panel, axis in zip(panels, flat, strict=False):
        panel(result, axis)
        axis.spines[["top", "right"]].set_visible(False)
    for axis in flat[len(panels) :]:
        axis.set_visible(False)
    figure.suptitle(f"One message's life, {LIMITED_SIZE} B   ({_server(result)})", fontsize=14)
    names = [name for name in COLOURS if any(row.peer == name for row in result.rows)]
    handles: list[Artist] = [Patch(color=COLOURS[name], label=name) for name in names]
    handles.append(Line2D([], [], color=LIMIT_COLOUR, linewidth=1.6, label="limit for reliableq"))
    height = figure.get_figheight()
    figure.legend(
        handles=handles,
        loc="upper center",
        bbox_to_anchor=(0.5, 1 - 0.35 / height),
        ncols=len(handles),
        frameon=False,
    )
    figure.tight_layout(rect=(0, 0, 1, 1 - 0.6 / height), h_pad=2, w_pad=2)
    figure.savefig(path, dpi=130)
    pyplot.close(figure)
    return True


def _server(result: Result) -> str:
    words = str(result.environment["server"]).split()
    return " ".join([words[0], *[word[2:] for word in words if word.startswith("v=")]])


def _instructions(result: Result, axis: Axes | None) -> bool:
    groups = [key for key in MODES if _cycle(result, "instructions", "streams", key)]
    if axis is None or not groups:
        return bool(groups)
    _bars(
        axis,
        [MODES[key] for key in groups],
        lambda peer, i: _cycle(result, "instructions", peer, groups[i]),
        lambda row: ratio(result, row) or 0.0,
        lambda row: f"{row.value / 1000:.1f}k",
        [INSTRUCTIONS.get(key) for key in groups],
    )
    axis.set_title("User-space instructions of a cycle, Streams = 1", fontsize=11)
    axis.set_ylabel("of Streams (labels: per message)")
    return True


def _cpu(result: Result, axis: Axes | None) -> bool:
    groups = [key for key in MODES if not key[1] and _cycle(result, "cpu", "streams", key)]
    if axis is None or not groups:
        return bool(groups)
    _bars(
        axis,
        [MODES[key] for key in groups],
        lambda peer, i: _cycle(result, "cpu", peer, groups[i]),
        lambda row: ratio(result, row) or 0.0,
        lambda row: f"{row.value:.3g} s",
        [CPU.get(mode) for mode, _ in groups],
    )
    axis.set_title("Server CPU of a cycle, best round, Streams = 1", fontsize=11)
    axis.set_ylabel("of Streams (labels: per million)")
    return True


def _memory(result: Result, axis: Axes | None) -> bool:
    counts = [row.count for row in result.rows if row.part == "memory"]
    if axis is None or not counts:
        return bool(counts)
    states = [(what, pace) for what in ("waiting", "delivered") for pace in ("burst", "paced")]
    paces = {"burst": "in bursts", "paced": "1 per ms"}
    _bars(
        axis,
        [f"{what},\n{paces[pace]}" for what, pace in states],
        lambda peer, i: result.find(
            "memory",
            peer,
            states[i][0],
            setting=states[i][1],
            count=max(counts),
            size=LIMITED_SIZE,
        ),
        lambda row: row.value,
        lambda row: f"{row.value:.1f}",
        [BYTES[what] for what, _ in states],
    )
    axis.set_title(f"Bytes per message beyond its payload, {max(counts):,} messages", fontsize=11)
    axis.set_ylabel("bytes")
    return True


def _growth(result: Result, axis: Axes | None) -> bool:
    series: dict[tuple[str, str], dict[int, float]] = {}
    for row in result.rows:
        if row.part == "growth" and row.mode == "d64" and row.unit.startswith("CPU"):
            series.setdefault((row.peer, row.what), {})[row.count] = row.value
    if axis is None or not series:
        return bool(series)
    for (_, what), points in series.items():
        counts = sorted(points)
        cheapest = min(points.values())
        axis.plot(counts, [points[count] / cheapest for count in counts], marker="o", label=what)
    peer = next(iter(series))[0]
    axis.axhline(GROWTH, color=LIMIT_COLOUR, linestyle="--", linewidth=1)
    axis.annotate("limit", (0.99, GROWTH), xycoords=("axes fraction", "data"), ha="right", va="bottom")
    axis.set_xscale("log")
    ticks = sorted({count for points in series.values() for count in points})
    axis.set_xticks(ticks, [f"{tick:,}" for tick in ticks])
    axis.minorticks_off()
    axis.set_ylim(bottom=0)
    axis.set_xlabel("messages pending")
    axis.set_ylabel("CPU per message, cheapest = 1")
    axis.set_title(f"{peer}: cost by the number pending, 64 in flight", fontsize=11)
    axis.legend(frameon=False, fontsize=9, loc="lower left", ncols=2)
    return True


def _cycle(result: Result, part: str, peer: str, key: tuple[str, str]) -> Row | None:
    return result.find(part, peer, "cycle", mode=key[0], setting=key[1], size=LIMITED_SIZE)


def _bars(
    axis: Axes,
    labels: Sequence[str],
    find: Find,
    height: Callable[[Row], float],
    text: Text,
    limits: Sequence[float | None],
) -> None:
    """Groups of bars, one per peer that has a figure, each with its figure; limits as strokes."""
    peers = [name for name in COLOURS if any(find(name, i) for i in range(len(labels)))]
    width = 0.86 / len(peers)
    found = [find(name, i) for name in peers for i in range(len(labels))]
    near = 0.08 * max(height(row) for row in found if row)
    for place, peer in enumerate(peers):
        offset = (place - (len(peers) - 1) / 2) * width
        for i in range(len(labels)):
            row = find(peer, i)
            if row is None:
                continue
            top = height(row)
            axis.bar(i + offset, top, width * 0.92, color=COLOURS[peer])
            limit = limits[i]
            if peer == "reliableq" and limit is not None:
                left, right = i + offset - width * 0.55, i + offset + width * 0.55
                axis.plot([left, right], [limit, limit], color=LIMIT_COLOUR, linewidth=1.6)
                if top < limit < top + near:  # the figure stands clear of the stroke
                    top = limit
            axis.annotate(
                text(row),
                (i + offset, top),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                fontsize=8,
            )
    axis.set_xticks(range(len(labels)), labels)
    axis.margins(y=0.12)
