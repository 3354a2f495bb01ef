"""tools/java: which Java it takes. Those here only say their version."""

import os
import subprocess
import sys
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path

import pytest

from tests.support.java import make_home
from tests.support.server import ROOT


def ask(path: Path, **environment: str) -> tuple[str, str]:
    """What the tool prints, and says besides, when a Java is first on the PATH."""
    kept = {name: value for name, value in os.environ.items() if name != "JAVA_HOME"}
    kept["PATH"] = f"{path / 'bin'}:{kept['PATH']}"
    command = [ROOT / "tools" / "java"]
    done = subprocess.run(command, env=kept | environment, check=True, capture_output=True, text=True)
    return done.stdout.strip(), done.stderr


@pytest.mark.parametrize("version", ["17.0.15", "21", "23.0.1"])
def test_java_on_the_path_is_taken(tmp_path: Path, version: str) -> None:
    home = make_home(tmp_path / "home", version)
    assert ask(home) == (str(home), "")


def test_java_home_comes_first(tmp_path: Path) -> None:
    chosen, other = make_home(tmp_path / "chosen", "21.0.2"), make_home(tmp_path / "other", "17.0.1")
    assert ask(other, JAVA_HOME=str(chosen)) == (str(chosen), "")


@pytest.mark.parametrize("version", ["1.8.0_292", "11.0.1", "25"])
def test_java_that_spark_does_not_run_on_is_passed_over(tmp_path: Path, version: str) -> None:
    chosen, other = make_home(tmp_path / "chosen", version), make_home(tmp_path / "other", "17.0.1")
    printed, said = ask(other, JAVA_HOME=str(chosen))
    assert printed == str(other)
    assert f"JAVA_HOME is {chosen}, which has no Java from 17 to 23" in said


def test_find_gets_none(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a machine without Java."""
    monkeypatch.syspath_prepend(ROOT / "tools")
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    spec = spec_from_loader("java", SourceFileLoader("java", str(ROOT / "tools" / "java")))
    assert spec is not None and spec.loader is not None
    tool = module_from_spec(spec)
    spec.loader.exec_module(tool)
    monkeypatch.setattr(tool, "HOMES", tmp_path)
    monkeypatch.setattr(tool, "OURS", tmp_path)
    monkeypatch.setattr(tool, "obtain", lambda: pytest.fail("it went to get one"))
    monkeypatch.setattr(sys, "argv", ["java", "--find"])
    with pytest.raises(SystemExit, match=r"missing: Java\. 'make java' gets it"):
        tool.main()
