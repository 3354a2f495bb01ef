"""`reliableq status`: the queues, a line each."""

import click

from reliableq import Connection
from reliableq.cli import exits, queues, show
from reliableq.cli.place import connected
from reliableq.cli.queues import Row
from reliableq.types import holds_messages


@click.command(short_help="Show queues, a line each.")
@click.argument("names", metavar="[QUEUE]...", nargs=-1)
@show.as_json
@connected
def status(rq: Connection, names: tuple[str, ...], as_json: bool) -> int:
    """Show queues, a line each: those named, or all that hold messages, have settings, are paused, or are waited for.
    It changes nothing.

    Total are the messages held, processing those of them that are delivered, and consumers those who wait, are
    registered, or hold something. Scheduled and dead ones, and what is paused, are told where there are any.

    --json prints an array with an object for each queue: `queue`, `total`, `processing`, `consumers`, and the fields of
    Queue.info(); only `waiting` and `delivered`, both 0, of these where there is no queue.

    Exit code 1 when none of them holds a message.
    """
    found = queues.look(rq, names)
    if as_json:
        show.document([row.described for row in found])
    elif found:
        show.aligned(_lines(found))
    else:
        exits.tell("no queue holds a message")
    return exits.DONE if any(holds_messages(row.info) for row in found) else exits.NOTHING


def _lines(found: list[Row]) -> list[list[str]]:
    """A line for each, with the columns that have something to tell."""
    columns = [
        [show.word(row.status.name) for row in found],
        [f"total: {row.status.total}" for row in found],
        [f"processing: {row.status.processing}" for row in found],
        [f"consumers: {row.status.consumers}" for row in found],
    ]
    for name, field in (("scheduled", "scheduled"), ("dead", "dead_letters")):
        if any(row.number(field) for row in found):
            columns.append([f"{name}: {row.number(field)}" for row in found])
    if any(row.paused for row in found):
        columns.append([f"paused: {row.paused or 'none'}" for row in found])
    return [list(line) for line in zip(*columns, strict=True)]
