"""`reliableq repair`: what is whole of a damaged file, as a new one."""

import os
from typing import Any

import click

from reliableq._native import repair as repaired
from reliableq.backends.file import naming, read_url
from reliableq.cli import exits, progress, show
from reliableq.errors import Missing


@click.command(short_help="Save what is whole of a damaged file.")
@click.argument("source")
@click.argument("destination")
@show.as_json
def repair(source: str, destination: str, as_json: bool) -> int:
    """Write what is whole of the file SOURCE into a new one, DESTINATION, and list what is not. SOURCE stays as it is.

    Both are paths, or file: URLs. --json prints {"queues", "messages", "losses": [{"file", "offset", "what"}]}.

    Exit code 1 when something was lost.
    """
    with progress.working(f"repairing {source}"):
        result = _repair(_path(source), _path(destination))
    if as_json:
        show.document(result)
    else:
        saved = f"{show.counted(result['messages'], 'message')} of {show.counted(result['queues'], 'queue')}"
        show.line(f"saved {saved} in {destination}")
        for loss in result["losses"]:
            show.line(f"lost: {loss['file']} at {loss['offset']}: {loss['what']}")
    return exits.NOTHING if result["losses"] else exits.DONE


def _repair(source: str, destination: str) -> Any:
    try:
        with naming(f"{source} into {destination}"):
            return repaired(source, destination, os.urandom(16))
    except Missing as error:
        raise Missing(f"there is no file {source}", "see whether the path is right") from error


def _path(place: str) -> str:
    return read_url(place.removeprefix("file:"))[0] if place.startswith("file:") else place
