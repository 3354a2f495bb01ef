"""`reliableq dump`: a queue as bytes."""

import base64
import os
from pathlib import Path

import click

from reliableq import Connection
from reliableq.cli import exits, progress, show
from reliableq.cli.place import connected


@click.command(short_help="Write a queue into a file.")
@click.argument("queue")
@click.argument("file", default="-")
@show.as_json
@connected
def dump(rq: Connection, queue: str, file: str, as_json: bool) -> int:
    """Write all of QUEUE, with IDs, counts and states, into FILE, or to standard output; the queue stays as it is.

    `reliableq restore` takes these bytes at any place, and so does RESTORE of Redis and Valkey. A FILE that is there is
    replaced when all has been written.

    --json prints {"queue", "file", "bytes"}, or without a FILE {"queue", "dump_base64"}.

    Exit code 1 when the queue holds nothing; then no file is written, and --json prints null.
    """
    if file == "-" and not as_json and show.at_terminal():
        raise click.UsageError("a dump is bytes, not text for a terminal: name a FILE, or redirect the output")
    with progress.working(f"dumping {queue}"):
        data = rq.queue(queue).dump()
    if data is None:
        show.document(None) if as_json else exits.tell(f"queue {queue} holds nothing")
        return exits.NOTHING
    if file != "-":
        _replace(Path(file), data)
        described = {"queue": queue, "file": file, "bytes": len(data)}
        show.document(described) if as_json else show.line(f"{file}: {len(data):,} bytes")
    elif as_json:
        show.document({"queue": queue, "dump_base64": base64.b64encode(data).decode()})
    else:
        show.write(data)
    return exits.DONE


def _replace(path: Path, data: bytes) -> None:
    """Writes a file so that it is there with all of its bytes, or as it was before; a device is just written."""
    try:
        if path.exists() and not path.is_file():
            path.write_bytes(data)
        else:
            _write_beside(path, data)
    except OSError as error:  # which may name the file beside it, that nobody asked for
        raise exits.Failure(f"could not write {path}: {error.strerror}") from error


def _write_beside(path: Path, data: bytes) -> None:
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    with beside.open("xb") as file:
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            beside.replace(path)
        except BaseException:
            beside.unlink()
            raise
