"""`reliableq extend`: gives whoever works on messages more time."""

import click

from reliableq import Connection
from reliableq.cli import ids as of_messages
from reliableq.cli import show
from reliableq.cli.place import connected
from reliableq.cli.values import DURATION


@click.command(short_help="Give the work on messages more time.")
@click.argument("queue")
@click.argument("time", type=DURATION)
@of_messages.argument
@click.option("--start", is_flag=True, help="The work on messages that were popped with --prefetch begins.")
@show.as_json
@connected
def extend(rq: Connection, queue: str, time: float, ids: tuple[str, ...], start: bool, as_json: bool) -> int:
    """Let the leases of delivered messages of QUEUE end TIME from now; 0: never. Prints the IDs of those for which it
    was done.

    IDs, receipts and lines are taken as `reliableq ack` does.

    --json prints {"extended": [ID...], "missing": [ID...]}.

    Exit code 1 when it was done for none.
    """
    target = rq.queue(queue)
    return of_messages.do(ids, lambda batch: target.extend(batch, time, start=start), "extended", "not held", as_json)
