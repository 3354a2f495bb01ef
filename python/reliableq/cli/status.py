"""`reliableq status`: the queues in numbers."""

import click

from reliableq import Connection, Info
from reliableq.cli import exits, show
from reliableq.cli.place import connected

COLUMNS = ("queue", "waiting", "delivered", "oldest", "memory", "sent", "received", "returned", "deleted")


@click.command(short_help="Show queues in numbers.")
@click.argument("queues", metavar="[QUEUE]...", nargs=-1)
@show.as_json
@connected
def status(rq: Connection, queues: tuple[str, ...], as_json: bool) -> int:
    """Show queues in numbers: those named, or all that hold messages. It changes nothing.

    --json prints an array with an object for each queue: `queue`, and the fields of Queue.info(); only `waiting` and
    `delivered`, both 0, for one that holds nothing.

    Exit code 1 when none of them holds a message.
    """
    found = {name: rq.queue(name).info() for name in queues or rq.names()}
    if as_json:
        show.document([{"queue": name, **(info or {"waiting": 0, "delivered": 0})} for name, info in found.items()])
    elif show.at_terminal() and found:
        rows = [(show.text(name.encode()), *_cells(info)) for name, info in found.items()]
        show.table("", COLUMNS, rows, numbers=COLUMNS[1:])
    else:
        for name, info in found.items():
            show.line(f"{show.text(name.encode())}: {_sentence(info)}")
    if not found:
        exits.tell("no queue holds a message")
    return exits.DONE if any(found.values()) else exits.NOTHING


def _cells(info: Info | None) -> list[str]:
    if info is None:
        return ["0", "0", *["-"] * (len(COLUMNS) - 3)]
    counters = (info["sent"], info["received"], info["returned"], info["deleted"])
    shown = [f"{info['waiting']:,}", f"{info['delivered']:,}", _age(info["age"]), _size(info["memory"])]
    return [*shown, *(f"{number:,}" for number in counters)]


def _sentence(info: Info | None) -> str:
    if info is None:
        return "empty"
    held = f"{info['waiting']:,} waiting, {info['delivered']:,} delivered"
    return f"{held}, oldest {_age(info['age'])}, {_size(info['memory'])}"


def _age(milliseconds: int) -> str:
    """A duration to two digits or so, in the unit that fits."""
    seconds = milliseconds / 1000
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def _size(count: int) -> str:
    for unit, size in (("GiB", 1 << 30), ("MiB", 1 << 20), ("KiB", 1 << 10)):
        if count >= size:
            return f"{count / size:.1f} {unit}"
    return f"{count} B"
