"""`reliableq pop`: takes messages."""

import click

from reliableq import Connection
from reliableq.cli import messages
from reliableq.cli.place import connected
from reliableq.cli.values import COUNT, DURATION, TIMEOUT


@click.command(short_help="Take messages.")
@click.argument("queue")
@click.option("--count", "-n", type=COUNT, default=1, show_default=True, help="Take up to so many messages.")
@click.option(
    "--timeout", "-t", type=TIMEOUT, default=0.0, show_default=True,
    help="Wait so long for the first message, or `forever`.",
)  # fmt: skip
@click.option("--lease", type=DURATION, help="They return after so long; 0: never.  [default: as the queue says]")
@click.option("--consumer", metavar="NAME", help="Who holds them.")
@click.option("--no-ack", is_flag=True, help="At most once: what is delivered is gone, as if acknowledged.")
@click.option("--prefetch", is_flag=True, help="The work begins later, with `extend --start`.")
@click.option("--max-bytes", type=COUNT, help="Stop before bodies of more bytes, but not before the first.")
@messages.taking
@connected
def pop(
    rq: Connection,
    queue: str,
    count: int,
    timeout: float | None,
    lease: float | None,
    consumer: str | None,
    no_ack: bool,
    prefetch: bool,
    max_bytes: int | None,
    acknowledge: bool,
    form: messages.Form,
) -> int:
    """Take the next waiting messages of QUEUE, and print them.

    They stay in the queue until they are acknowledged, with --ack or by `reliableq ack`; they return when their lease
    ends. Into a pipe, each is a line: its ID, a tab, and its body with \\n, \\t, \\\\ and \\xNN for what is no
    printable text.

    --json prints an array of messages. A body that is not UTF-8 is its body_base64; times are ISO 8601, in UTC.

    Exit code 1 when there was no message.
    """
    if no_ack and (acknowledge or prefetch or lease is not None):
        raise click.UsageError("with --no-ack a message is gone at once: leave out --ack, --prefetch and --lease")
    source = rq.queue(queue)
    found = source.pop_many(
        count,
        timeout,
        lease=lease,
        consumer=consumer,
        no_ack=no_ack,
        prefetch=prefetch,
        max_bytes=max_bytes,
    )
    return messages.hand_over(source, found, acknowledge, form)
