"""`reliableq claim`: takes over certain messages from whoever holds them."""

import click

from reliableq import Connection
from reliableq.cli import ids as of_messages
from reliableq.cli import messages
from reliableq.cli.place import connected
from reliableq.cli.values import DURATION, ELAPSED


@click.command(short_help="Take certain messages over for a consumer.")
@click.argument("queue")
@click.argument("consumer")
@of_messages.argument
@click.option("--idle", type=ELAPSED, default=0.0, show_default=True, help="Only those delivered at least so long ago.")
@click.option("--lease", type=DURATION, help="They return after so long; 0: never.  [default: as the queue says]")
@messages.taking
@connected
def claim(
    rq: Connection,
    queue: str,
    consumer: str,
    ids: tuple[str, ...],
    idle: float,
    lease: float | None,
    acknowledge: bool,
    form: messages.Form,
) -> int:
    """Take delivered messages of QUEUE over for CONSUMER, and print them as `pop` does. No failure is counted.

    IDs, receipts and lines are taken as `reliableq ack` does.

    Exit code 1 when none was taken over.
    """
    source = rq.queue(queue)
    given = [id for batch in of_messages.batches(ids) for id in batch]
    found = source.claim(given, consumer, idle=idle, lease=lease)
    code = messages.hand_over(source, found, acknowledge, form)
    if not form.as_json:
        missing = of_messages.missing(given, [message.id for message in found])
        of_messages.tell_missing("taken over", "not held, or not for so long", missing)
    return code
