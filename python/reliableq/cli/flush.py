"""`reliableq flush`: removes all messages."""

import click

from reliableq import Connection
from reliableq.cli import exits, show
from reliableq.cli.confirm import confirmed, yes
from reliableq.cli.place import connected
from reliableq.types import holds_messages


@click.command(short_help="Remove all messages.")
@click.argument("queue")
@yes
@show.as_json
@connected
def flush(rq: Connection, queue: str, yes: bool, as_json: bool) -> int:
    """Remove all messages of QUEUE, those that somebody holds and dead letters too, once you have confirmed it.

    --json prints {"queue", "removed"}.

    Exit code 1 when there was none, or when it was not confirmed.
    """
    target = rq.queue(queue)
    info = target.info()
    removed = 0
    if info is not None and holds_messages(info):
        there = info["waiting"] + info["scheduled"] + info["delivered"] + info["dead_letters"]
        held = f", {info['delivered']:,} of them delivered" if info["delivered"] else ""
        if confirmed(f"Remove {show.counted(there, 'message')} of {queue}{held}?", yes):
            removed = target.flush()
    if as_json:
        show.document({"queue": queue, "removed": removed})
    else:
        show.line(f"{show.word(queue)}: removed {show.counted(removed, 'message')}")
    return exits.DONE if removed else exits.NOTHING
