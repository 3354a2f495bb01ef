"""`reliableq pause`: stops pops, pushes, or both."""

import click

from reliableq import Connection
from reliableq.cli import show
from reliableq.cli.place import connected
from reliableq.queue import PAUSABLE

what = click.argument("what", type=click.Choice(PAUSABLE), default="pop", metavar="[pop|push|all]")

TOLD = {"pop": "pops", "push": "pushes", "all": "pops and pushes"}


@click.command(short_help="Stop pops, pushes, or both.")
@click.argument("queue")
@what
@show.as_json
@connected
def pause(rq: Connection, queue: str, what: str, as_json: bool) -> None:
    """Stop the pops of QUEUE, which then find nothing, its pushes, which then are refused, or both.

    Leases, schedules and acks go on. `reliableq resume` ends it. --json prints {"queue", "paused"}.
    """
    rq.queue(queue).pause(what)
    if as_json:
        show.document({"queue": queue, "paused": what})
    else:
        show.line(f"{show.word(queue)}: {TOLD[what]} are paused")
