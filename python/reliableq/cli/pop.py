"""`reliableq pop`: takes messages."""

import click

from reliableq import Connection
from reliableq.cli import messages
from reliableq.cli.numbers import COUNT, Seconds
from reliableq.cli.place import connected


@click.command(short_help="Take messages.")
@click.argument("queue")
@click.option("--count", "-n", type=COUNT, default=1, show_default=True, help="Take up to so many messages.")
@click.option(
    "--timeout", "-t", type=Seconds(forever=True), default=0.0, show_default=True,
    help="Wait so many seconds for the first message, or `forever`.",
)  # fmt: skip
@messages.taking
@connected
def pop(
    rq: Connection, queue: str, count: int, timeout: float | None, acknowledge: bool, raw: bool, as_json: bool
) -> int:
    """Take the oldest waiting messages of QUEUE, and print them.

    They stay in the queue until they are acknowledged, with --ack or by `reliableq ack`; `reliableq recover` takes
    them again. Into a pipe, each is a line: its ID, a tab, and its body with \\n, \\t, \\\\ and \\xNN for what is no
    printable text.

    --json prints an array of messages. A body that is not UTF-8 is its body_base64; times are ISO 8601, in UTC.

    Exit code 1 when there was no message.
    """
    messages.check_form(raw, as_json)
    source = rq.queue(queue)
    return messages.hand_over(source, source.pop_many(count, timeout), acknowledge, raw, as_json)
