"""`reliableq delete`: removes messages, whatever their state."""

import click

from reliableq import Connection
from reliableq.cli import ids as of_messages
from reliableq.cli import show
from reliableq.cli.place import connected


@click.command(short_help="Remove messages, whatever their state.")
@click.argument("queue")
@of_messages.argument
@show.as_json
@connected
def delete(rq: Connection, queue: str, ids: tuple[str, ...], as_json: bool) -> int:
    """Remove messages of QUEUE, whatever their state, those that somebody holds too. Prints the IDs of those that were
    there.

    IDs and lines are taken as `reliableq ack` does.

    --json prints {"deleted": [ID...], "missing": [ID...]}.

    Exit code 1 when none was there.
    """
    return of_messages.do(ids, rq.queue(queue).delete, "deleted", "not there", as_json)
