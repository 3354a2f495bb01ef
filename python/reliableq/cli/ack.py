"""`reliableq ack`: lets go of messages that are done."""

from collections.abc import Iterable, Iterator

import click

from reliableq import Connection
from reliableq.cli import exits, lines, show
from reliableq.cli.place import connected


@click.command(short_help="Acknowledge messages that are done.")
@click.argument("queue")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@show.as_json
@connected
def ack(rq: Connection, queue: str, ids: tuple[str, ...], as_json: bool) -> int:
    """Acknowledge delivered messages of QUEUE: the queue lets go of them. Prints the IDs of those that it let go.

    Without an ID, each line of standard input begins with one, so that `reliableq pop QUEUE | reliableq ack QUEUE`
    works.

    --json prints {"acknowledged": [ID...], "missing": [ID...]}. Missing are those that this call could not let go:
    they still wait, were acknowledged before, or were never there.

    Exit code 1 when none was acknowledged.
    """
    target = rq.queue(queue)
    done: list[str] = []
    missing: list[str] = []
    try:
        for batch in [list(ids)] if ids else _from_stdin():
            acknowledged = target.ack(batch)
            done += acknowledged
            missing += _without(batch, set(acknowledged))
            if not as_json:
                show.write("".join(f"{id}\n" for id in acknowledged).encode())
    finally:
        if as_json:  # also when an error ends it: those before it are let go
            show.document({"acknowledged": done, "missing": missing})
    if missing and not as_json:
        exits.tell(f"not acknowledged, since not delivered: {_listed(missing)}")
    return exits.DONE if done else exits.NOTHING


def _from_stdin() -> Iterator[list[str]]:
    for batch in lines.batches():
        found = [line.split(None, 1)[0].decode(errors="surrogateescape") for line in batch if line.strip()]
        if found:
            yield found


def _without(ids: Iterable[str], others: set[str]) -> list[str]:
    return [id for id in dict.fromkeys(ids) if id not in others]


def _listed(ids: Iterable[str], most: int = 5) -> str:
    ids = list(ids)
    return ", ".join(ids[:most]) + (f" and {len(ids) - most:,} more" if len(ids) > most else "")
