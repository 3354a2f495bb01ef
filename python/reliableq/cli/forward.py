"""`reliableq forward`: hands work on to another queue."""

import os
import sys
from collections.abc import Sequence

import click

from reliableq import Connection
from reliableq.cli import lines, show
from reliableq.cli.place import connected
from reliableq.errors import NotHeld


@click.command(short_help="Acknowledge messages and push others, as one step.")
@click.argument("queue")
@click.argument("to")
@click.argument("bodies", metavar="[BODY]...", nargs=-1)
@click.option(
    "--id", "ids", metavar="ID", multiple=True, required=True, help="What is done, or its receipt; again for more."
)
@click.option("--whole", is_flag=True, help="All of standard input is one message, newlines included.")
@show.as_json
@connected
def forward(
    rq: Connection, queue: str, to: str, bodies: tuple[str, ...], ids: tuple[str, ...], whole: bool, as_json: bool
) -> None:
    """Acknowledge delivered messages of QUEUE and push messages into the queue TO, as one step: both are done, or
    neither. Prints the new IDs.

    Without a BODY, each line of standard input is a message, as for `reliableq push`.

    --json prints an array of IDs, which has none when nothing was done.

    Exit code 1 when one of the messages is not held any more; then nothing was changed.
    """
    if whole and bodies:
        raise click.UsageError("--whole reads standard input; give no BODY with it")
    elements = _elements(bodies, whole)
    if not elements:
        raise click.UsageError("there is no message to push; to be done with the others, use `reliableq ack`")
    try:
        made = rq.queue(queue).forward(ids, to, elements)
    except NotHeld:
        if as_json:
            show.document([])
        raise
    if as_json:
        show.document(made)
    else:
        show.write("".join(f"{id}\n" for id in made).encode())


def _elements(bodies: Sequence[str], whole: bool) -> list[bytes]:
    if bodies:
        return [os.fsencode(body) for body in bodies]
    return [sys.stdin.buffer.read()] if whole else [line for batch in lines.batches() for line in batch]
