"""`reliableq recover`: takes messages over whose consumers did not acknowledge them."""

import click

from reliableq import Connection
from reliableq.cli import messages
from reliableq.cli.place import connected
from reliableq.cli.values import COUNT, DURATION, ELAPSED


@click.command(short_help="Take messages again that nobody acknowledged.")
@click.argument("queue")
@click.option("--elapsed", "-e", type=ELAPSED, required=True, help="Those delivered at least so long ago.")
@click.option("--count", "-n", type=COUNT, default=100, show_default=True, help="Take up to so many messages.")
@click.option("--lease", type=DURATION, help="They return after so long; 0: never.  [default: as the queue says]")
@click.option("--consumer", metavar="NAME", help="Who holds them now.")
@click.option("--from", "from_consumer", metavar="NAME", help="Only those that this consumer held.")
@messages.taking
@connected
def recover(
    rq: Connection,
    queue: str,
    elapsed: float,
    count: int,
    lease: float | None,
    consumer: str | None,
    from_consumer: str | None,
    acknowledge: bool,
    form: messages.Form,
) -> int:
    """Take messages of QUEUE again that were delivered long ago and never acknowledged, and print them as `pop` does.

    Give an --elapsed longer than the work on a message takes; 0 takes whatever is delivered. Each counts a failure, and
    one at its limit becomes a dead letter instead. A consumer that was restarted gets its own back with
    `--elapsed 0 --consumer NAME --from NAME`.

    Exit code 1 when there was no such message.
    """
    source = rq.queue(queue)
    found = source.recover(count, elapsed=elapsed, lease=lease, consumer=consumer, from_consumer=from_consumer)
    return messages.hand_over(source, found, acknowledge, form)
