"""`reliableq module-path`."""

import json
from pathlib import Path

import pytest
import reliableq
from reliableq.cli import main, module_path


@pytest.fixture
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    path = tmp_path / "librq_module.so"
    monkeypatch.setattr(module_path, "MODULE", path)
    return path


def test_prints_the_path(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    module.touch()
    assert main(["module-path"]) == 0
    assert capsys.readouterr() == (f"{module}\n", "")
    assert main(["module-path", "--json"]) == 0
    assert json.loads(capsys.readouterr().out) == {"path": str(module)}


def test_a_missing_module_is_one_line_that_says_how_to_get_it(module: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["module-path"]) == 4
    output, error = capsys.readouterr()
    assert output == ""
    (line,) = error.splitlines()
    assert "`make build`" in line and "wheel" in line


def test_the_module_is_a_file_of_the_package() -> None:
    assert module_path.MODULE.parent == Path(reliableq.__file__).resolve().parent
