"""What `import reliableq` brings along."""

import subprocess
import sys

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
