"""`reliableq push`: appends messages."""

import json
import os
import sys
from collections.abc import Iterable, Iterator
from typing import TypedDict, Unpack

import click

from reliableq import Connection
from reliableq.arguments import MOST_TRIES
from reliableq.cli import exits, lines, progress, show
from reliableq.cli.place import connected_or_made
from reliableq.cli.values import DURATION, POSITIVE, Header, Moment, Number
from reliableq.options import HIGHEST_PRIORITY


class Options(TypedDict):
    """Those of each message."""

    delay: float | None
    at: float | None
    ttl: float | None
    retries: int | None
    priority: int
    front: bool
    headers: tuple[tuple[bytes, bytes], ...] | None


@click.command(short_help="Append messages.")
@click.argument("queue")
@click.argument("bodies", metavar="[BODY]...", nargs=-1)
@click.option("--whole", is_flag=True, help="All of standard input is one message, newlines included.")
@click.option("--delay", type=DURATION, help="Not to be delivered before so long from now.")
@click.option("--at", type=Moment(), help="Not to be delivered before then: ISO 8601, or Unix seconds.")
@click.option("--ttl", type=POSITIVE, help="To be dropped when it waited so long for its first delivery.")
@click.option("--retries", type=Number(0, MOST_TRIES), help="Tries after the first.  [default: as the queue says]")
@click.option(
    "--priority", type=Number(0, HIGHEST_PRIORITY), default=0, show_default=True,
    help="0 to 255; higher ones are delivered first.",
)  # fmt: skip
@click.option("--front", is_flag=True, help="First of all that were never delivered.")
@click.option("--header", "headers", type=Header(), multiple=True, help="Travels with the message; again for more.")
@click.option("--token", help="Store nothing where a message with this token is, or was until lately; print its ID.")
@click.option("--unique", is_flag=True, help="In that case end with exit code 1.")
@show.as_json
@connected_or_made
def push(
    rq: Connection,
    queue: str,
    bodies: tuple[str, ...],
    whole: bool,
    token: str | None,
    unique: bool,
    as_json: bool,
    **options: Unpack[Options],
) -> int:
    """Append messages to QUEUE, and print their IDs.

    Without a BODY, each line of standard input is a message, without its newline; other bytes are kept as they are.
    Lines are pushed as they come. When a push fails, those before it are stored, and their IDs printed.

    --json prints an array of IDs.
    """
    _check(bodies, whole, token, unique, options)
    options["headers"] = options["headers"] or None  # so that a push without options is a plain one
    if bodies:
        batches: Iterable[list[bytes]] = [[os.fsencode(body) for body in bodies]]
    else:
        batches = [[sys.stdin.buffer.read()]] if whole else _from_stdin()
    report = _Array() if as_json else _Summary(queue) if show.at_terminal() else _Lines()
    target = rq.queue(queue)
    try:
        for batch in batches:
            if token is None:
                report.add(target.push_many(batch, **options))
            else:
                report.add([target.push(batch[0], token=os.fsencode(token), unique=unique, **options)])
    finally:
        report.end()
    return exits.DONE if report.count else exits.NOTHING


def _check(bodies: tuple[str, ...], whole: bool, token: str | None, unique: bool, options: Options) -> None:
    if whole and bodies:
        raise click.UsageError("--whole reads standard input; give no BODY with it")
    if options["delay"] is not None and options["at"] is not None:
        raise click.UsageError("give --delay or --at, not both")
    if token is None and unique:
        raise click.UsageError("--unique is about a --token; give one")
    if token is not None and not token:
        raise click.UsageError("a --token has at least a byte")
    if token is not None and not whole and len(bodies) != 1:
        raise click.UsageError("a --token is that of one message: give one BODY, or --whole")


def _from_stdin() -> Iterator[list[bytes]]:
    if sys.stdin.isatty():
        exits.tell("each line is a message; Ctrl-D ends")
        yield from lines.batches()
        return
    with progress.counting("messages pushed") as advance:
        for batch in lines.batches():
            yield batch
            advance(len(batch))


class _Lines:
    """An ID a line."""

    def __init__(self) -> None:
        self.count = 0

    def add(self, ids: list[str]) -> None:
        self.count += len(ids)
        show.write("".join(f"{id}\n" for id in ids).encode())

    def end(self) -> None:
        pass


class _Array(_Lines):
    """A JSON array, written as the IDs come, and whole also when an error ends it."""

    def add(self, ids: list[str]) -> None:
        parts = ", ".join(json.dumps(id) for id in ids)
        show.write(f"{', ' if self.count else '['}{parts}".encode())
        self.count += len(ids)

    def end(self) -> None:
        show.write(b"]\n" if self.count else b"[]\n")


class _Summary(_Lines):
    """A sentence, since nobody reads a thousand IDs."""

    def __init__(self, queue: str) -> None:
        super().__init__()
        self._queue = queue
        self._first = self._last = ""

    def add(self, ids: list[str]) -> None:
        self.count += len(ids)
        self._first, self._last = self._first or ids[0], ids[-1]

    def end(self) -> None:
        if self.count == 1:
            show.line(f"pushed {self._first} to {self._queue}")
        elif self.count:
            show.line(f"pushed {show.counted(self.count, 'message')} to {self._queue}, {self._first} to {self._last}")
