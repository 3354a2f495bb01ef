"""`reliableq restore`: a queue from its dump."""

from typing import IO

import click

from reliableq import Connection, Queue
from reliableq.cli import exits, progress, show
from reliableq.cli.place import connected_or_made
from reliableq.errors import Exists, InvalidDump


@click.command(short_help="Make a queue from its dump.")
@click.argument("queue")
@click.argument("file", type=click.File("rb"))
@click.option("--replace", is_flag=True, help="In place of what QUEUE holds now.")
@show.as_json
@connected_or_made
def restore(rq: Connection, queue: str, file: IO[bytes], replace: bool, as_json: bool) -> None:
    """Make QUEUE from FILE, or from standard input when that is `-`: what `reliableq dump` or DUMP of a server gave.

    IDs, counts and states are kept. A QUEUE that is there is only touched with --replace.

    --json prints {"queue", "messages"}.
    """
    if file.isatty():
        raise click.UsageError("a dump is bytes, not text from a terminal: name a FILE, or redirect the input")
    with progress.working(f"restoring {queue}"):
        count = len(_restore(rq, queue, file, replace))
    if as_json:
        show.document({"queue": queue, "messages": count})
    else:
        show.line(f"{queue}: restored {show.counted(count, 'message')}")


def _restore(rq: Connection, queue: str, file: IO[bytes], replace: bool) -> Queue:
    try:
        return rq.restore(queue, file.read(), replace=replace)
    except Exists as error:
        raise exits.Failure(f"there is a {queue} already; restore under another name, or with --replace") from error
    except InvalidDump as error:
        remedy = "give what `reliableq dump` or DUMP of a server gave"
        raise exits.Failure(f"{file.name}: {error.cause}; {remedy}") from error
