"""`reliableq nack`: returns messages whose work failed."""

import click

from reliableq import Connection
from reliableq.cli import ids as of_messages
from reliableq.cli import show
from reliableq.cli.place import connected
from reliableq.cli.values import DURATION


@click.command(short_help="Return messages whose work failed.")
@click.argument("queue")
@of_messages.argument
@click.option("--delay", type=DURATION, help="They wait again after so long.  [default: the queue's back-off]")
@click.option("--dead", is_flag=True, help="They become dead letters.")
@click.option("--reason", metavar="TEXT", help="Why; kept with a dead letter.")
@click.option("--silent", is_flag=True, help="Count no failure.")
@show.as_json
@connected
def nack(
    rq: Connection,
    queue: str,
    ids: tuple[str, ...],
    delay: float | None,
    dead: bool,
    reason: str | None,
    silent: bool,
    as_json: bool,
) -> int:
    """Return delivered messages to QUEUE, since the work on them failed. Prints the IDs of those that it returned.

    The failure that uses up its deliveries makes a message a dead letter; see `reliableq dead`. IDs, receipts and
    lines are taken as `reliableq ack` does.

    --json prints {"returned": [ID...], "missing": [ID...]}.

    Exit code 1 when none was returned.
    """
    if dead and delay is not None:
        raise click.UsageError("a dead letter has no delay: give --dead or --delay")
    target = rq.queue(queue)
    return of_messages.do(
        ids,
        lambda batch: target.nack(batch, delay=delay, dead=dead, reason=reason, silent=silent),
        "returned",
        "not held",
        as_json,
    )
