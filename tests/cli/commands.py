"""The subcommands by the words that name them."""

from collections.abc import Iterable, Iterator

import click
from reliableq.cli.group import COMMANDS


def walked(commands: Iterable[click.Command] = COMMANDS, before: str = "") -> Iterator[tuple[str, click.Command]]:
    for command in commands:
        words = f"{before}{command.name}"
        if isinstance(command, click.Group):
            yield from walked(command.commands.values(), f"{words} ")
        else:
            yield words, command


BY_WORDS = dict(walked())
