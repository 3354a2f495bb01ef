"""The command `reliableq`. Each subcommand is a file with add(), which describes it, and run(), which does it."""

import argparse
from collections.abc import Sequence

from reliableq import __version__
from reliableq.cli import module_path


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line, and returns the exit code."""
    parser = argparse.ArgumentParser(prog="reliableq", description="A reliable queue, embedded or in Redis and Valkey.")
    parser.add_argument("--version", action="version", version=f"reliableq {__version__}")
    subcommands = parser.add_subparsers(title="commands", metavar="command", required=True)
    for subcommand in (module_path,):
        subcommand.add(subcommands)
    options = parser.parse_args(arguments)
    return int(options.run(options))
