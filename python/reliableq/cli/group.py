"""The command with all its subcommands."""

import os
import sys
from collections.abc import Sequence

import click

from reliableq import __version__
from reliableq.cli import (
    ack,
    dump,
    exits,
    inspect,
    module_path,
    peek,
    place,
    pop,
    push,
    recover,
    repair,
    restore,
    serve,
    spark_archive,
    status,
)

COMMANDS = (
    push.push,
    pop.pop,
    ack.ack,
    recover.recover,
    peek.peek,
    inspect.inspect,
    status.status,
    serve.serve,
    dump.dump,
    restore.restore,
    repair.repair,
    module_path.module_path,
    spark_archive.spark_archive,
)


class Commands(click.Group):
    """Lists the subcommands in the order of their use, not of the alphabet."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)


@click.group(
    cls=Commands,
    commands={command.name or "": command for command in COMMANDS},
    epilog=exits.HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="reliableq", message="%(prog)s %(version)s")
@click.option("--url", envvar=place.VARIABLE, show_envvar=True, help=place.HELP)
def group(url: str | None) -> None:
    """A reliable queue: a message is kept until whoever took it acknowledges it."""


def run(arguments: Sequence[str] | None) -> int:
    """Runs a command line, and returns the exit code. Whatever goes wrong is one line on standard error."""
    try:
        code = _run(arguments)
        sys.stdout.flush()
    except (Exception, KeyboardInterrupt) as error:
        code = exits.report(error)
    return code


def _run(arguments: Sequence[str] | None) -> int:
    _prepare_streams()
    parts = list(sys.argv[1:] if arguments is None else arguments)
    if os.environ.get("_RELIABLEQ_COMPLETE"):
        group.main(parts, "reliableq")  # what a shell asks for when Tab is pressed
    try:
        with group.make_context("reliableq", parts) as context:
            return int(group.invoke(context) or exits.DONE)
    except click.exceptions.Exit as end:  # after --help and --version
        return end.exit_code


def _prepare_streams() -> None:
    """Opens those that the caller has closed, and lets characters pass that the terminal's encoding lacks."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode))  # noqa: SIM115
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")
