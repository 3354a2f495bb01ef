"""`reliableq spark-archive`: this package as Spark's executors need it."""

from pathlib import Path

import click

from reliableq.cli import progress, show


@click.command("spark-archive", short_help="Make the archive for Spark's executors.")
@click.argument("destination", type=click.Path(dir_okay=False, path_type=Path), default="reliableq-archive.zip")
@show.as_json
def spark_archive(destination: Path, as_json: bool) -> None:
    """Make the archive that brings this package to Spark's executors, and print the settings for it, one a line.

    PYSPARK_PYTHON is a variable of the driver's environment. --json prints {"path", "settings": {name: value}}.
    """
    from reliableq.spark.archive import build

    with progress.working(f"making {destination}"):
        archive = build(destination)
    if as_json:
        show.document({"path": str(archive.path), "settings": archive.settings})
    else:
        for name, value in archive.settings.items():
            show.line(f"{name}={value}")
