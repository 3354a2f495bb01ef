"""What the subcommands print: JSON for programs, tables for people at a terminal, lines for pipes."""

import base64
import json
import sys
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Literal

import click

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.table import Table

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
    from rich.console import Console

    Console().print(drawn(title, columns, rows, numbers))


def drawn(
    title: str, columns: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[str] = (), caption: str = ""
) -> "Table":
    """The same table, not printed yet."""
    from rich import box
    from rich.table import Table
    from rich.text import Text

    below = Text(caption) if caption else None
    drawn = Table(
        title=Text(title),
        title_justify="left",
        caption=below,
        caption_justify="left",
        box=box.SIMPLE_HEAD,
        pad_edge=False,
    )
    for column in columns:
        justify: Literal["left", "right"] = "right" if column in numbers else "left"
        drawn.add_column(column, justify=justify, no_wrap=column != columns[-1])  # only one that may wrap is narrowed
    for row in rows:
        drawn.add_row(*map(_cell, row))
    return drawn


def _cell(text: str) -> "RenderableType":
    """As Text, since [brackets] in a body are no markup. What stands below the first line may take more of them."""
    from rich.console import Group
    from rich.text import Text

    first, *rest = text.split("\n")
    return Group(Text(first, no_wrap=True, overflow="ellipsis"), *(Text(line, style="dim") for line in rest))


def aligned(rows: Sequence[Sequence[str]], numbers: bool = False) -> None:
    """Prints rows as lines, with their columns below each other; all but the first ranged right if they are numbers."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for first, *rest in rows:
        justify = str.rjust if numbers else str.ljust
        cells = [first.ljust(widths[0]), *map(justify, rest, widths[1:])]
        line("  ".join(cells).rstrip())


def span(seconds: float) -> str:
    """A duration to two digits or so, in the unit that fits."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.0f} s"


def until(moment: datetime | None) -> str:
    """How long it is until a moment."""
    if moment is None:
        return "-"
    seconds = (moment - datetime.now(UTC)).total_seconds()
    return f"in {span(seconds)}" if seconds > 0 else "now"


def ago(moment: datetime | None) -> str:
    """How long ago a moment was."""
    return "-" if moment is None else f"{span(max((datetime.now(UTC) - moment).total_seconds(), 0))} ago"


def counted(count: int, noun: str) -> str:
    """So many of something: 1 message, 1,200 messages."""
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def text(body: bytes) -> str:
    """A body as one line: what is no printable text is escaped, bytes as \\xNN, so that none is lost or obeyed."""
    decoded = body.decode(errors="surrogateescape")
    if decoded.isprintable() and "\\" not in decoded:
        return decoded
    return "".join(map(_escaped, decoded))


def data(name: str, value: bytes) -> dict[str, str]:
    """Bytes in JSON: as text where they are UTF-8, else in base 64, under a name that says so."""
    try:
        return {name: value.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(value).decode()}


def plain(name: str) -> str:
    """A name, in which lone surrogates may stand for bytes, for JSON, which has no bytes."""
    return name.encode(errors="surrogateescape").decode(errors="replace")


def word(name: str) -> str:
    """A name, in which lone surrogates may stand for bytes, as part of a line."""
    return text(name.encode(errors="surrogateescape"))


def time(moment: datetime | None) -> str | None:
    """A time as ISO 8601, in UTC, to the millisecond."""
    return None if moment is None else moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _escaped(character: str) -> str:
    if character in ESCAPES:
        return ESCAPES[character]
    if character.isprintable():
        return character
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))
