"""`reliableq resume`: lets pops, pushes, or both go on."""

import click

from reliableq import Connection
from reliableq.cli import show
from reliableq.cli.pause import TOLD, what
from reliableq.cli.place import connected


@click.command(short_help="Let pops, pushes, or both go on.")
@click.argument("queue")
@what
@show.as_json
@connected
def resume(rq: Connection, queue: str, what: str, as_json: bool) -> None:
    """Let the pops of QUEUE go on, its pushes, or both.

    --json prints {"queue", "resumed"}.
    """
    rq.queue(queue).resume(what)
    if as_json:
        show.document({"queue": queue, "resumed": what})
    else:
        show.line(f"{show.word(queue)}: {TOLD[what]} go on")
