"""The command `reliableq`. Each subcommand is a file; `exits` says how they end, `show` what they print."""

import sys
from collections.abc import Sequence


def main(arguments: Sequence[str] | None = None) -> int:
    """Runs the command line, and returns the exit code."""
    try:
        from reliableq.cli.group import run  # here, so that Ctrl-C while it is imported shows no traceback either
    except KeyboardInterrupt:
        return 130
    except ModuleNotFoundError as error:
        print(f"reliableq: the package {error.name} is not installed; pip install click redis rich", file=sys.stderr)
        return 4
    return run(arguments)
