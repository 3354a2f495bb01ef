"""What a measure yields, and the file that keeps it."""

from __future__ import annotations

import json
import sys
import time
from dataclasses import asdict, dataclass, field
from pathlib import Path

_began = time.monotonic()


@dataclass(frozen=True)
class Row:
    """One figure.

    part     the measure that it belongs to
    what     the phase or state that was measured
    setting  what else was special: "aof", "paced", a number of pending messages
    value    the figure to compare: the exact one, or the best of several
    median   the median of several, where there were several
    """

    part: str
    peer: str
    what: str
    unit: str
    value: float
    mode: str = ""
    size: int = 0
    count: int = 0
    setting: str = ""
    median: float | None = None


@dataclass
class Result:
    """A whole run."""

    environment: dict[str, str | int]
    quick: bool
    rows: list[Row] = field(default_factory=list)
    left_out: list[str] = field(default_factory=list)
    failed: bool = False
    seconds: float = 0.0

    def leave_out(self, text: str) -> None:
        """Remember, and say at once, that something was not measured."""
        self.left_out.append(text)
        progress(f"LEFT OUT: {text}")

    def find(self, part: str, peer: str, what: str, **labels: object) -> Row | None:
        """The row with these labels, or None when it was not measured."""
        for row in self.rows:
            if (row.part, row.peer, row.what) == (part, peer, what) and all(
                getattr(row, name) == value for name, value in labels.items()
            ):
                return row
        return None

    def write(self, path: Path, verdicts: list[dict[str, object]]) -> None:
        """Write all of it as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        document = {
            "environment": self.environment,
            "quick": self.quick,
            "seconds": round(self.seconds),
            "left_out": self.left_out,
            "verdicts": verdicts,
            "rows": [asdict(row) for row in self.rows],
        }
        path.write_text(json.dumps(document, indent=1) + "\n")


def progress(text: str) -> None:
    """One line on standard error, with the seconds since the start."""
    print(f"[{time.monotonic() - _began:5.0f} s] {text}", file=sys.stderr, flush=True)
