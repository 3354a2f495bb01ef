"""The archive that brings this package to Spark's executors, where nobody has installed it.

Spark unpacks it in the working directory of each executor, and Python imports from that folder: an extension can't be
imported from a zip file, nor from a wheel.
"""

import os
import re
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path, PurePosixPath

import reliableq
from reliableq.errors import InvalidArgument, MissingPackage

FOLDER = "reliableq-archive"
"""Where an executor finds the unpacked archive, in its working directory."""

COMPANIONS = ("pyspark_reliableq",)
"""Packages that are installed beside this one, in the same folder."""

LEFT_OUT = {"librq_module.so"}
"""What only a Redis server needs."""

EPOCH = (1980, 1, 1, 0, 0, 0)
"""The time of each entry, so that the same files always give the same archive."""


@dataclass(frozen=True)
class Archive:
    """An archive that was made."""

    path: Path
    settings: dict[str, str]
    """What Spark needs to use it: settings by name, and PYSPARK_PYTHON, a variable of the driver's environment."""


def build(destination: Path) -> Archive:
    """Writes the archive, in the place of one that was there."""
    path = destination.absolute()
    _check(path)
    entries = dict(_entries())
    with tempfile.NamedTemporaryFile(dir=path.parent, prefix=f".{path.name}.", delete=False) as file:
        try:
            _write(Path(file.name), entries)
            os.chmod(file.name, 0o644)
            os.replace(file.name, path)
        except BaseException:
            os.unlink(file.name)
            raise
    return Archive(path, _settings(path))


def _check(path: Path) -> None:
    if path.suffix != ".zip":
        raise InvalidArgument(f"the archive can't be named {path.name!r}", "give it a name that ends in .zip")
    if found := re.search(r"[#,%\s]", str(path)):
        cause = f"the archive's path has the character {found[0]!r}, which means something else in Spark's settings"
        raise InvalidArgument(cause, f"put it elsewhere than {str(path)!r}")
    if not path.parent.is_dir():
        raise InvalidArgument(f"there is no directory {str(path.parent)!r}", "make it first")


def _settings(path: Path) -> dict[str, str]:
    return {
        "spark.archives": f"{path}#{FOLDER}",
        "spark.executorEnv.PYTHONPATH": FOLDER,
        # Spark finds and plans the source in this Python, and runs it on the executors by the same path.
        "PYSPARK_PYTHON": sys.executable,
    }


def _write(path: Path, entries: dict[str, Path]) -> None:
    with zipfile.ZipFile(path, "w") as archive:
        for name, file in sorted(entries.items()):
            archive.writestr(zipfile.ZipInfo(name, EPOCH), file.read_bytes(), zipfile.ZIP_DEFLATED)


def _entries() -> Iterator[tuple[str, Path]]:
    """What goes in: the name of each entry, and the file that it is made of."""
    home = Path(reliableq.__file__).resolve().parent
    for package in (home, *(home.parent / name for name in COMPANIONS)):
        for file in package.rglob("*"):
            if file.is_file() and "__pycache__" not in file.parts and file.name not in LEFT_OUT:
                yield file.relative_to(home.parent).as_posix(), file
    for found in _needed("redis", set()):
        yield from _installed(found)


def _needed(name: str, seen: set[str]) -> Iterator[Distribution]:
    """A distribution and all that it requires. What is not installed is not required by this Python."""
    seen.add(name)
    try:
        found = distribution(name)
    except PackageNotFoundError:
        if name != "redis":
            return
        raise MissingPackage("the package redis is not installed", "pip install 'redis>=8'") from None
    yield found
    for requirement in found.requires or ():
        named = re.match(r"[\w.-]+", requirement)
        if named and named[0] not in seen and "extra ==" not in requirement:
            yield from _needed(named[0], seen)


def _installed(found: Distribution) -> Iterator[tuple[str, Path]]:
    """The files of a distribution, but scripts and compiled code, which lie beside or belong to this Python."""
    for name in found.files or ():
        entry = PurePosixPath(name)
        if ".." not in entry.parts and "__pycache__" not in entry.parts and not entry.is_absolute():
            yield str(entry), Path(str(found.locate_file(name)))
