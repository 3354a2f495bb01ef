"""`reliableq consumers`: those who hold messages under a name."""

import click

from reliableq import Connection, Consumer, Queue
from reliableq.cli import exits, show
from reliableq.cli.place import connected


@click.command(short_help="Show who holds messages, or end one.")
@click.argument("queue")
@click.option(
    "--delete", "gone", metavar="NAME", help="End this one: what it holds returns, and no failure is counted."
)
@show.as_json
@connected
def consumers(rq: Connection, queue: str, gone: str | None, as_json: bool) -> int:
    """Show those who hold messages of QUEUE under a name (`pop --consumer`): how many, and when they were last seen.

    Into a pipe, each is a line with tabs between name, messages held and the time when it was last seen.

    --json prints an array of objects: name, pending, idle (seconds), last_seen; or {"consumer", "returned"}.

    Exit code 1 when there is none, or when the one to delete held nothing.
    """
    source = rq.queue(queue)
    return _list(source, as_json) if gone is None else _delete(source, gone, as_json)


def _list(queue: Queue, as_json: bool) -> int:
    found = queue.consumers()
    if as_json:
        show.document([_described(consumer) for consumer in found])
    elif not show.at_terminal():
        for consumer in found:
            show.line(f"{show.word(consumer.name)}\t{consumer.pending}\t{show.time(consumer.last_seen) or '-'}")
    elif found:
        rows = [(show.word(name), f"{pending:,}", show.ago(seen)) for name, pending, _, seen in found]
        show.table(queue.name, ("consumer", "holds", "last seen"), rows, numbers=("holds",))
    else:
        exits.tell(f"nobody holds messages of {queue.name} under a name")
    return exits.DONE if found else exits.NOTHING


def _delete(queue: Queue, name: str, as_json: bool) -> int:
    returned = queue.delete_consumer(name)
    if as_json:
        show.document({"consumer": show.plain(name), "returned": returned})
    else:
        show.line(f"{show.word(name)}: returned {show.counted(returned, 'message')}")
    return exits.DONE if returned else exits.NOTHING


def _described(consumer: Consumer) -> dict[str, object]:
    return {
        "name": show.plain(consumer.name),
        "pending": consumer.pending,
        "idle": consumer.idle,
        "last_seen": show.time(consumer.last_seen),
    }
