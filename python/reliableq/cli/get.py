"""`reliableq get`: shows messages by their IDs."""

from collections.abc import Sequence

import click

from reliableq import Connection, Queue
from reliableq.cli import exits, messages, show
from reliableq.cli import ids as of_messages
from reliableq.cli.place import connected


@click.command(short_help="Show messages by their IDs.")
@click.argument("queue")
@of_messages.argument
@messages.shown
@connected
def get(rq: Connection, queue: str, ids: tuple[str, ...], form: messages.Form) -> int:
    """Show messages of QUEUE as they are now, whatever their state, as `pop` prints them.

    IDs and lines are taken as `reliableq ack` does. --json prints an array with one entry for each: null where the
    queue does not hold it.

    Exit code 1 when none was there.
    """
    given = [id for batch in of_messages.batches(ids) for id in batch]
    found = _completed(rq.queue(queue), given, form)
    there = [message for message in found if message is not None]
    if form.as_json:
        show.document([None if message is None else messages.described(message) for message in found])
    else:
        messages.print_all(queue, there, form)
        of_messages.tell_missing("shown", "not there", of_messages.missing(given, [message.id for message in there]))
    return exits.DONE if there else exits.NOTHING


def _completed(queue: Queue, ids: list[str], form: messages.Form) -> Sequence[messages.Shown | None]:
    """Messages with all that is printed in this form."""
    found = queue.get(ids)
    if not form.as_json and (form.raw or not show.at_terminal()):
        return found
    return [message and messages.completed(queue, message) for message in found]
