"""The command with all its subcommands."""

import os
import sys
from collections.abc import Sequence

import click

from reliableq import __version__
from reliableq.cli import (
    ack,
    claim,
    consumers,
    dead,
    delete,
    dump,
    exits,
    extend,
    flush,
    forward,
    get,
    inspect,
    module_path,
    nack,
    pause,
    peek,
    place,
    pop,
    push,
    recover,
    repair,
    restore,
    resume,
    scheduled,
    serve,
    setup,
    spark_archive,
    status,
    top,
)

GROUPS: dict[str, tuple[click.Command, ...]] = {
    "Producing": (push.push, forward.forward),
    "Consuming": (pop.pop, ack.ack, nack.nack, extend.extend, claim.claim, recover.recover),
    "Looking": (status.status, top.top, peek.peek, get.get, inspect.inspect, scheduled.scheduled, consumers.consumers),
    "Managing": (setup.setup, dead.dead, delete.delete, flush.flush, pause.pause, resume.resume),
    "Places": (
        serve.serve,
        dump.dump,
        restore.restore,
        repair.repair,
        module_path.module_path,
        spark_archive.spark_archive,
    ),
}
"""The subcommands, in the order of their use."""

COMMANDS = tuple(command for commands in GROUPS.values() for command in commands)


class Commands(click.Group):
    """Lists the subcommands by what they are for."""

    def list_commands(self, context: click.Context) -> list[str]:
        return list(self.commands)

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        width = max(map(len, self.commands))
        for title, commands in GROUPS.items():
            rows = [(f"{command.name:{width}}", command.get_short_help_str(100)) for command in commands]
            with formatter.section(title):
                formatter.write_dl(rows)


@click.group(
    cls=Commands,
    commands={command.name or "": command for command in COMMANDS},
    epilog=exits.HELP,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="reliableq", message="%(prog)s %(version)s")
@click.option("--url", envvar=place.VARIABLE, show_envvar=True, help=place.HELP)
def group(url: str | None) -> None:
    """A reliable queue: a message is kept until whoever took it acknowledges it.

    Times are seconds, or numbers with their unit: 500ms, 10s, 5m, 2h, 1d.
    """


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
