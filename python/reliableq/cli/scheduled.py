"""`reliableq scheduled`: shows messages that are not due yet."""

import click

from reliableq import Connection
from reliableq.cli import exits, messages, show
from reliableq.cli.inspect import count as shown_count
from reliableq.cli.inspect import start as shown_start
from reliableq.cli.place import connected


@click.command(short_help="Show messages that are not due yet.")
@click.argument("queue")
@shown_start
@shown_count
@messages.shown
@connected
def scheduled(rq: Connection, queue: str, start: int, count: int, form: messages.Form) -> int:
    """Show messages of QUEUE that are not due yet, the first due first: pushed with a delay, or to be tried again.

    Into a pipe, each is a line with tabs between ID, due time and body.

    Exit code 1 when there is none.
    """
    source = rq.queue(queue)
    found = messages.whole(source, source.scheduled(start, count))
    if form.raw or form.as_json:
        messages.print_all(queue, found, form)
    elif not show.at_terminal():
        rows = (f"{message.id}\t{show.time(message.due)}\t{show.text(message.body)}\n" for message in found)
        show.write("".join(rows).encode())
    elif found:
        shown = [(m.id, show.until(m.due), messages.clock(m.due), show.text(m.body)) for m in found]
        show.table(queue, ("id", "due", "at", "body"), shown)
    else:
        exits.tell(f"no scheduled message of {queue}")
    return exits.DONE if found else exits.NOTHING
