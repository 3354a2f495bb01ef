"""Spark for the pipeline: in this process and one JVM, without a word on the terminal."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from reliableq.demo.output import shown

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

OLDEST, NEWEST = 17, 23
"""The versions of Java that Spark 4 runs on."""

REMEDY = (
    "Remedy: `make java` in a clone of the project, or install one, such as Debian's "
    "openjdk-17-jre-headless, and name its home in JAVA_HOME"
)

NEEDED = ("pyspark", "pyarrow", "pandas")

SETTINGS = {
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.shuffle.partitions": "2",
}


class NoSpark(Exception):
    """Spark can't run here: why, and what to do."""


def check() -> None:
    """Finds out whether Spark can run here, without starting it."""
    home = os.environ.get("JAVA_HOME")
    java = str(Path(home, "bin", "java")) if home else shutil.which("java")
    version = java and _version(java)
    if not version:
        where = f"in JAVA_HOME, {home}" if home else "on the PATH"
        raise NoSpark(f"no Java was found {where}. {REMEDY}")
    if not OLDEST <= version <= NEWEST:
        raise NoSpark(f"{java} is Java {version}, and Spark runs on {OLDEST} to {NEWEST}. {REMEDY}")
    missing = [name for name in NEEDED if find_spec(name) is None]
    if missing:
        raise NoSpark(f"not installed: {', '.join(missing)}. Remedy: pip install 'reliableq[spark]'")


def _version(java: str) -> int | None:
    """The major version of a Java; None if it does not run."""
    try:
        said = subprocess.run([java, "-version"], capture_output=True, text=True)
    except OSError:
        return None
    found = re.search(r'version "(\d+)', said.stderr)
    return int(found[1]) if found and said.returncode == 0 else None


@contextmanager
def session(log: Path) -> Iterator["SparkSession"]:
    """A Spark whose messages go into a file."""
    from pyspark.sql import SparkSession

    # Spark looks for sources, and runs tasks, in this Python; and needs no name of this host.
    os.environ |= {"PYSPARK_PYTHON": sys.executable, "SPARK_LOCAL_IP": "127.0.0.1"}
    builder = SparkSession.builder.master("local[2]").appName("reliableq.demo")
    for name, value in SETTINGS.items():
        builder = builder.config(name, value)
    try:
        with _errors_into(log):
            spark = builder.getOrCreate()
    except Exception as error:
        raise NoSpark(f"it did not start: {error} What it said is in {shown(log)}") from error
    try:
        yield spark
    finally:
        spark.stop()


@contextmanager
def _errors_into(log: Path) -> Iterator[None]:
    """What this process and those that it starts write as errors goes into a file. The JVM keeps it so."""
    sys.stderr.flush()
    kept = os.dup(2)
    try:
        with log.open("wb") as file:
            os.dup2(file.fileno(), 2)
        yield
    finally:
        sys.stderr.flush()
        os.dup2(kept, 2)
        os.close(kept)
