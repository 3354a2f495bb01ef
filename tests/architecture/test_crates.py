"""Which way the crates point: the core knows nobody, the two glue crates never know each other."""

import json
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]

OURS = {
    "rq-core": set(),
    "rq-command": {"rq-core"},
    "rq-dump": {"rq-core"},
    "rq-store": {"rq-core"},
    "rq-module": {"rq-core", "rq-command"},
    "rq-embedded": {"rq-core", "rq-command", "rq-dump", "rq-store"},
    "rq-py": {"rq-command", "rq-core", "rq-dump", "rq-embedded", "rq-store"},
}
"""The crates of this project that each of them may use."""

GLUE = {"redis-module": "rq-module", "pyo3": "rq-py"}
"""The one crate that may use each foreign interface."""

WORLD = re.compile(r"\b(?:std|core)::(?:time|fs|thread|net|env|process)\b|\b(?:SystemTime|Instant)::now\b")
"""What the core is given by its callers and never takes itself: clock, disk, threads, network."""


@cache
def dependencies() -> dict[str, set[str]]:
    """The names of each crate's dependencies, those of its tests left out."""
    command = ["cargo", "metadata", "--format-version=1", "--no-deps", "--locked", "--offline"]
    metadata = json.loads(subprocess.check_output(command, cwd=ROOT))
    return {
        package["name"]: {each["name"] for each in package["dependencies"] if each["kind"] != "dev"}
        for package in metadata["packages"]
    }


def test_every_crate_has_a_rule() -> None:
    assert set(dependencies()) == set(OURS)


@pytest.mark.parametrize("crate", OURS)
def test_crate_uses_only_the_crates_below_it(crate: str) -> None:
    assert dependencies()[crate] & set(OURS) <= OURS[crate]


@pytest.mark.parametrize("interface", GLUE)
def test_foreign_interface_stays_in_its_crate(interface: str) -> None:
    users = {crate for crate, used in dependencies().items() if interface in used}
    assert users <= {GLUE[interface]}


def test_core_depends_on_nothing_that_is_ours_or_glue() -> None:
    assert not dependencies()["rq-core"] & (set(OURS) | set(GLUE))


@pytest.mark.parametrize("crate", ["rq-core"])
def test_core_takes_clock_and_storage_as_arguments(crate: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}:{number}: {line.strip()}"
        for path in sorted((ROOT / "crates" / crate / "src").rglob("*.rs"))
        for number, line in enumerate(path.read_text().splitlines(), start=1)
        if WORLD.search(line.partition("//")[0])
    ]
    assert not found, "\n".join(found)
