"""`reliableq recover`: takes messages over whose consumers did not acknowledge them."""

import click

from reliableq import Connection
from reliableq.cli import messages
from reliableq.cli.numbers import COUNT, Seconds
from reliableq.cli.place import connected


@click.command(short_help="Take messages again that nobody acknowledged.")
@click.argument("queue")
@click.option("--elapsed", "-e", type=Seconds(), required=True, help="Those delivered at least so many seconds ago.")
@click.option("--count", "-n", type=COUNT, default=100, show_default=True, help="Take up to so many messages.")
@messages.taking
@connected
def recover(rq: Connection, queue: str, elapsed: float, count: int, acknowledge: bool, raw: bool, as_json: bool) -> int:
    """Take messages of QUEUE again that were delivered long ago and never acknowledged, and print them as `pop` does.

    Give an --elapsed longer than the work on a message takes; 0 takes whatever is delivered.

    Exit code 1 when there was no such message.
    """
    messages.check_form(raw, as_json)
    source = rq.queue(queue)
    return messages.hand_over(source, source.recover(count, elapsed=elapsed), acknowledge, raw, as_json)
