"""`reliableq module-path`: where the Redis module of this package is."""

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    Subcommands = argparse._SubParsersAction[argparse.ArgumentParser]

MODULE = Path(__file__).resolve().parent.parent / "librq_module.so"


def add(subcommands: "Subcommands") -> None:
    text = "print the path of the Redis module that this package carries"
    parser = subcommands.add_parser("module-path", help=text, description=f"{text.capitalize()}.")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    if not MODULE.is_file():
        remedy = "run `make build` in a clone, or install a wheel"
        print(f"reliableq: the Redis module is not at {MODULE}; {remedy}", file=sys.stderr)
        return 1
    print(MODULE)
    return 0
