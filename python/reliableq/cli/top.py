"""`reliableq top`: the queues, live."""

import time
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

import click

from reliableq import Connection
from reliableq.cli import exits, keys, queues, show
from reliableq.cli.place import connected
from reliableq.cli.queues import Row
from reliableq.cli.rates import Meter, Rates
from reliableq.cli.values import Duration
from reliableq.types import holds_messages

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMNS = (
    *("queue", "waiting", "delivered", "scheduled", "dead", "consumers"),
    *("sent/s", "received/s", "acked/s", "oldest"),
)

FRAME = 5
"""Lines of a screen that are not for queues."""


class Line(NamedTuple):
    """A queue at a moment."""

    row: Row
    rates: Rates | None

    def cells(self) -> list[str]:
        """It in a table."""
        row, paused = self.row, f" ({self.row.paused} paused)" if self.row.paused else ""
        held = [row.number(field) for field in ("waiting", "delivered", "scheduled", "dead_letters")]
        rates = ["-"] * 3 if self.rates is None else map(_rate, self.rates)
        oldest = show.span(row.number("age") / 1000) if holds_messages(row.info) else "-"
        numbers = (f"{number:,}" for number in (*held, row.status.consumers))
        return [show.word(row.status.name) + paused, *numbers, *rates, oldest]

    def described(self) -> dict[str, object]:
        """It in JSON."""
        rates = (None, None, None) if self.rates is None else (round(rate, 3) for rate in self.rates)
        return {**self.row.described, **dict(zip(("sent_rate", "received_rate", "acked_rate"), rates, strict=True))}


@click.command(short_help="Show queues live.")
@click.argument("names", metavar="[QUEUE]...", nargs=-1)
@click.option("--interval", type=Duration(least=0.05), default=1.0, show_default=True, help="Look again after so long.")
@click.option("--once", is_flag=True, help="Show them once, and end.")
@show.as_json
@connected
def top(rq: Connection, names: tuple[str, ...], interval: float, once: bool, as_json: bool) -> int:
    """Show queues live: those named, or all that `reliableq status` shows. `q` or Ctrl-C ends it.

    Rates are messages a second since the look before: pushed, delivered and acknowledged. Oldest is the age of the
    oldest message, dead letters included.

    --json prints an array for each look, each on a line: the objects of `reliableq status --json`, with sent_rate,
    received_rate and acked_rate, which are null in the first.
    """
    looks = _looks(rq, names)
    try:
        if once:
            _print(next(looks), as_json)
        elif show.at_terminal() and not as_json:
            _live(looks, interval)
        else:
            for lines in looks:
                _print(lines, as_json)
                time.sleep(interval)
    except KeyboardInterrupt:
        pass
    return exits.DONE


def _looks(rq: Connection, names: Sequence[str]) -> Iterator[list[Line]]:
    meter = Meter()
    while True:
        rows = queues.look(rq, names)
        yield list(map(Line, rows, meter.measure(rows, time.monotonic())))


def _print(lines: list[Line], as_json: bool) -> None:
    if as_json:
        show.document([line.described() for line in lines])
    else:
        show.aligned([COLUMNS, *(line.cells() for line in lines)], numbers=True)


def _live(looks: Iterator[list[Line]], interval: float) -> None:
    from rich.console import Console
    from rich.live import Live

    console = Console()
    with keys.read(), Live(console=console, screen=True, auto_refresh=False) as live:
        for lines in looks:
            live.update(_drawn(lines, console.height - FRAME), refresh=True)
            if keys.pressed(b"qQ", interval):
                return


def _drawn(lines: list[Line], most: int) -> "RenderableType":
    rows, more = [line.cells() for line in lines[:most]], len(lines) - most
    told = f"{more} more; " if more > 0 else "" if lines else "no queue holds a message; "
    return show.drawn("", COLUMNS, rows, numbers=COLUMNS[1:], caption=f"{told}q ends")


def _rate(rate: float) -> str:
    return f"{rate:,.0f}" if rate >= 10 or rate == 0 else f"{rate:.1f}"
