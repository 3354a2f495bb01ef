"""`reliableq push`: appends messages."""

import json
import os
import sys
from collections.abc import Iterable, Iterator

import click

from reliableq import Connection, Queue
from reliableq.cli import exits, lines, progress, show
from reliableq.cli.place import connected_or_made


@click.command(short_help="Append messages.")
@click.argument("queue")
@click.argument("bodies", metavar="[BODY]...", nargs=-1)
@click.option("--whole", is_flag=True, help="All of standard input is one message, newlines included.")
@show.as_json
@connected_or_made
def push(rq: Connection, queue: str, bodies: tuple[str, ...], whole: bool, as_json: bool) -> int:
    """Append messages to QUEUE, and print their IDs.

    Without a BODY, each line of standard input is a message, without its newline; other bytes are kept as they are.
    Lines are pushed as they come. When a push fails, those before it are stored, and their IDs printed.

    --json prints an array of IDs.
    """
    if whole and bodies:
        raise click.UsageError("--whole reads standard input; give no BODY with it")
    if bodies:
        batches: Iterable[list[bytes]] = [[os.fsencode(body) for body in bodies]]
    else:
        batches = [[sys.stdin.buffer.read()]] if whole else _from_stdin()
    report = _Array() if as_json else _Summary(queue) if show.at_terminal() else _Lines()
    try:
        for ids in _pushed(rq.queue(queue), batches):
            report.add(ids)
    finally:
        report.end()
    return exits.DONE if report.count else exits.NOTHING


def _from_stdin() -> Iterator[list[bytes]]:
    if sys.stdin.isatty():
        exits.tell("each line is a message; Ctrl-D ends")
        yield from lines.batches()
        return
    with progress.counting("messages pushed") as advance:
        for batch in lines.batches():
            yield batch
            advance(len(batch))


def _pushed(queue: Queue, batches: Iterable[list[bytes]]) -> Iterator[list[str]]:
    for batch in batches:
        yield queue.push_many(batch)


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
