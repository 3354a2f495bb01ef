"""What `import reliableq` brings along."""

import subprocess
import sys
from pathlib import Path

HEAVY = {"redis", "click", "rich", "pyspark"}
"""Packages that are imported when they are first needed."""


def loaded_after(program: str) -> set[str]:
    """Names of the modules that a fresh interpreter holds after a program."""
    shown = subprocess.check_output([sys.executable, "-c", f"import sys; {program}; print(*sys.modules)"], text=True)
    return set(shown.split())


def test_the_package_brings_nothing_heavy() -> None:
    loaded = loaded_after("import reliableq")
    assert "reliableq.queue" in loaded
    assert not loaded & HEAVY


def test_memory_brings_nothing_heavy() -> None:
    assert not loaded_after("import reliableq; reliableq.connect('memory:').queue('q').push(b'a')") & HEAVY


def test_the_owner_of_a_file_brings_nothing_heavy(tmp_path: Path) -> None:
    """Only its clients need redis-py."""
    program = f"import reliableq; reliableq.connect('file:{tmp_path}/jobs.rq').queue('q').push(b'a')"
    assert not loaded_after(program) & HEAVY


def test_the_package_brings_little_of_the_standard_library() -> None:
    """Each of these would cost as much as the whole package does."""
    assert not loaded_after("import reliableq") & {
        "asyncio",
        "dataclasses",
        "inspect",
        "json",
        "logging",
        "socket",
        "ssl",
    }
