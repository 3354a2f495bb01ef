"""`reliableq inspect`: shows messages, and changes nothing."""

import click

from reliableq import Connection
from reliableq.cli import exits, messages, show
from reliableq.cli.numbers import COUNT
from reliableq.cli.place import connected


@click.command(short_help="Show messages, and change nothing.")
@click.argument("queue")
@click.option("--pending", is_flag=True, help="Those delivered and not acknowledged, the longest delivered first.")
@click.option("--start", type=int, default=0, show_default=True, help="From this position on; negative: from the end.")
@click.option("--count", "-n", type=COUNT, default=10, show_default=True, help="Show up to so many messages.")
@messages.raw
@show.as_json
@connected
def inspect(rq: Connection, queue: str, pending: bool, start: int, count: int, raw: bool, as_json: bool) -> int:
    """Show waiting messages of QUEUE, the next to be popped first, and change nothing. They are printed as `pop` does.

    Exit code 1 when there was no such message.
    """
    messages.check_form(raw, as_json)
    found = rq.queue(queue).inspect(start, count, pending=pending)
    messages.print_all(queue, found, raw, as_json)
    return exits.DONE if found else exits.NOTHING
