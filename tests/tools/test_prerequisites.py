"""What `make` says when it can't begin."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.server import ROOT


def check(python: str | Path) -> "subprocess.CompletedProcess[str]":
    return subprocess.run([ROOT / "tools" / "prerequisites", python], capture_output=True, text=True)


def program(path: Path, text: str) -> Path:
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("text", ["exit 1", "exit 0", "echo 'Python 3.13'", "echo hello; exit 3"])
def test_what_is_no_python_is_named_with_what_is_needed(tmp_path: Path, text: str) -> None:
    python = program(tmp_path / "python3", text)
    done = check(python)
    assert done.returncode == 1
    (line,) = done.stderr.splitlines()
    assert f"{python} can't be used" in line and "3.11 or newer" in line and "make PYTHON=" in line


def test_a_broken_python_says_itself_what_is_wrong(tmp_path: Path) -> None:
    done = check(program(tmp_path / "python3", "echo 'no module named encodings' >&2; exit 1"))
    assert done.returncode == 1
    assert "no module named encodings" in done.stderr and "can't be used" in done.stderr


@pytest.mark.parametrize("python", ["", "no-such-python", "/", "python3 -I"])
def test_a_missing_python_is_named(python: str) -> None:
    done = check(python)
    assert done.returncode == 1
    assert f"missing: '{python}'" in done.stderr and "make PYTHON=" in done.stderr


def test_an_old_python_is_named_with_its_version(tmp_path: Path) -> None:
    done = check(program(tmp_path / "python3", "echo 3.9.2"))
    assert done.returncode == 1
    assert "is Python 3.9.2; 3.11 or newer is needed" in done.stderr


def test_a_good_python_goes_without_a_word() -> None:
    done = check(sys.executable)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
