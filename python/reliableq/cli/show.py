"""What the subcommands print: JSON for programs, tables for people at a terminal, lines for pipes."""

import base64
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import datetime
from typing import Literal

import click

from reliableq import Message

as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON document.")

ESCAPES = {"\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}


def at_terminal() -> bool:
    """Whether a person reads the output."""
    return sys.stdout.isatty()


def write(data: bytes) -> None:
    """Writes bytes to standard output as they are, and sees that they have left this process."""
    sys.stdout.flush()
    rest = memoryview(data)
    while rest:  # with PYTHONUNBUFFERED, a write may be of a part only
        rest = rest[sys.stdout.buffer.write(rest) or 0 :]
    sys.stdout.buffer.flush()


def line(text: str) -> None:
    """Prints a line, as UTF-8 when it goes into a pipe."""
    if at_terminal():
        click.echo(text)
    else:
        write(f"{text}\n".encode(errors="surrogateescape"))


def document(value: object) -> None:
    """Prints a JSON document."""
    line(json.dumps(value, ensure_ascii=False))


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = ()) -> None:
    """Prints a table for people; columns named in `numbers` are ranged right, and the last is cut if it is too long."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    drawn = Table(title=Text(title), title_justify="left", box=box.SIMPLE_HEAD, pad_edge=False)
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in numbers else "left"
        drawn.add_column(column, justify=justify, no_wrap=column != columns[-1])  # only one that may wrap is narrowed
    for row in rows:
        # As Text, since [brackets] in a body are no markup.
        drawn.add_row(*(Text(cell, no_wrap=True, overflow="ellipsis") for cell in row))
    Console().print(drawn)


def counted(count: int, noun: str) -> str:
    """So many of something: 1 message, 1,200 messages."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def text(body: bytes) -> str:
    """A body as one line: what is no printable text is escaped, bytes as \\xNN, so that none is lost or obeyed."""
    decoded = body.decode(errors="surrogateescape")
    if decoded.isprintable() and "\\" not in decoded:
        return decoded
    return "".join(map(_escaped, decoded))


def body(message: Message) -> dict[str, str]:
    """A body in JSON: as text where it is UTF-8, else in base 64."""
    try:
        return {"body": message.body.decode()}
    except UnicodeDecodeError:
        return {"body_base64": base64.b64encode(message.body).decode()}


def time(moment: datetime | None) -> str | None:
    """A time as ISO 8601, in UTC, to the millisecond."""
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))
