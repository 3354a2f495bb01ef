"""`reliableq module-path`: where the Redis module of this package is."""

from pathlib import Path

import click

from reliableq.cli import show
from reliableq.cli.exits import Failure

MODULE = Path(__file__).resolve().parent.parent / "librq_module.so"


@click.command("module-path", short_help="Print where the Redis module is.")
@show.as_json
def module_path(as_json: bool) -> None:
    """Print the path of the Redis module that this package carries, for `loadmodule`.

    --json prints {"path"}.
    """
    path = str(found())
    show.document({"path": path}) if as_json else show.line(path)


def found() -> Path:
    """The module, or an error that says how to get it."""
    if not MODULE.is_file():
        raise Failure(f"the Redis module is not at {MODULE}; run `make build` in a clone, or install a wheel")
    return MODULE
