"""How fast queues go: counters between two looks."""

from collections.abc import Sequence
from typing import NamedTuple

from reliableq.cli.queues import Row

COUNTERS = ("sent", "received", "deleted")


class Rates(NamedTuple):
    """Messages a second."""

    sent: float
    received: float
    acked: float


class Meter:
    """Remembers the counters of queues, and tells how fast they grew."""

    def __init__(self) -> None:
        self._seen: dict[str, tuple[float, list[int]]] = {}
        self._began: float | None = None

    def measure(self, rows: Sequence[Row], now: float) -> list[Rates | None]:
        """The rates of each since it was last looked at; None when this is the first look.

        A queue that ended tells no counters: what it did meanwhile is told when there is one again. Where they began
        anew, they count from 0.
        """
        found = [self._rates(row, now) for row in rows]
        if self._began is None:
            self._began = now
        return found

    def _rates(self, row: Row, now: float) -> Rates | None:
        if row.info is None:
            return None if self._began is None else Rates(0, 0, 0)
        counters = [row.number(name) for name in COUNTERS]
        then, before = self._seen.get(row.status.name, (self._began, [0] * len(COUNTERS)))
        self._seen[row.status.name] = now, counters
        if then is None:
            return None
        if any(new < old for new, old in zip(counters, before, strict=True)):
            before = [0] * len(COUNTERS)
        elapsed = max(now - then, 0.001)
        return Rates(*((new - old) / elapsed for new, old in zip(counters, before, strict=True)))
