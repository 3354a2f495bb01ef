"""`reliableq peek`: shows the next message, and takes nothing."""

import click

from reliableq import Connection
from reliableq.cli import exits, messages
from reliableq.cli.place import connected


@click.command(short_help="Show the next message, and take nothing.")
@click.argument("queue")
@click.option("--back", is_flag=True, help="The last of those that wait.")
@messages.shown
@connected
def peek(rq: Connection, queue: str, back: bool, form: messages.Form) -> int:
    """Show the message of QUEUE that `pop` would take next, and take nothing. It is printed as `pop` does.

    Exit code 1 when no message waits.
    """
    found = rq.queue(queue).peek(back=back)
    messages.print_all(queue, [found] if found else [], form)
    return exits.DONE if found else exits.NOTHING
