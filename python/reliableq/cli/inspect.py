"""`reliableq inspect`: shows messages, and changes nothing."""

import click

from reliableq import Connection
from reliableq.arguments import LARGEST
from reliableq.cli import exits, messages
from reliableq.cli.place import connected
from reliableq.cli.values import COUNT, ELAPSED, Number
from reliableq.options import STATES

start = click.option(
    "--start",
    type=Number(-LARGEST),
    default=0,
    show_default=True,
    help="From this position on; negative: from the end.",
)
count = click.option("--count", "-n", type=COUNT, default=10, show_default=True, help="Show up to so many messages.")


@click.command(short_help="Show messages, and change nothing.")
@click.argument("queue")
@click.option("--state", type=click.Choice(STATES), help="Those in this state.  [default: waiting]")
@click.option("--pending", is_flag=True, help="Those delivered and not acknowledged, the longest delivered first.")
@click.option("--idle", type=ELAPSED, help="Only those delivered at least so long ago.")
@click.option("--consumer", metavar="NAME", help="Only those that it holds, or held last where they are dead.")
@click.option("--first", metavar="ID", help="Only those from this ID on; `(` before it leaves it out.")
@click.option("--last", metavar="ID", help="Only those up to this ID; `(` before it leaves it out.")
@start
@count
@messages.shown
@connected
def inspect(
    rq: Connection,
    queue: str,
    state: str | None,
    pending: bool,
    idle: float | None,
    consumer: str | None,
    first: str | None,
    last: str | None,
    start: int,
    count: int,
    form: messages.Form,
) -> int:
    """Show messages of QUEUE in one state, and change nothing. They are printed as `pop` does.

    Waiting ones come as they would be popped, the others with the longest delivered, dead, or due, first.

    Exit code 1 when there was no such message.
    """
    _check(state, pending, idle, consumer)
    source = rq.queue(queue)
    found = source.inspect(
        start, count, state=state, pending=pending, idle=idle, consumer=consumer, first=first, last=last
    )
    messages.print_all(queue, messages.whole(source, found), form)
    return exits.DONE if found else exits.NOTHING


def _check(state: str | None, pending: bool, idle: float | None, consumer: str | None) -> None:
    chosen = state or ("delivered" if pending else "waiting")
    if pending and chosen != "delivered":
        raise click.UsageError("--pending means delivered messages, and --state others; give one of them")
    if idle is not None and chosen != "delivered":
        raise click.UsageError("--idle is for delivered messages: give --state delivered")
    if consumer is not None and chosen not in {"delivered", "dead"}:
        raise click.UsageError("--consumer is for messages that somebody holds or held: give --state delivered or dead")
