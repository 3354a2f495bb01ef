"""The command `reliableq`."""

from pathlib import Path

import pytest
import reliableq
from reliableq.cli import main, module_path


def test_module_path_prints_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    module = tmp_path / "librq_module.so"
    module.touch()
    monkeypatch.setattr(module_path, "MODULE", module)
    assert main(["module-path"]) == 0
    assert capsys.readouterr() == (f"{module}\n", "")


def test_a_missing_module_is_one_line_that_says_how_to_get_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(module_path, "MODULE", tmp_path / "librq_module.so")
    assert main(["module-path"]) == 1
    output, error = capsys.readouterr()
    assert output == ""
    assert len(error.splitlines()) == 1
    assert "`make build`" in error and "wheel" in error


def test_the_module_is_a_file_of_the_package() -> None:
    assert module_path.MODULE.parent == Path(reliableq.__file__).resolve().parent


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--version"])
    assert end.value.code == 0
    assert capsys.readouterr().out == f"reliableq {reliableq.__version__}\n"


def test_help_lists_the_commands(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(["--help"])
    assert end.value.code == 0
    assert "module-path" in capsys.readouterr().out


@pytest.mark.parametrize("arguments", [[], ["no-such-command"], ["module-path", "extra"]])
def test_wrong_usage_ends_with_2(arguments: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        main(arguments)
    assert end.value.code == 2
    assert "usage: reliableq" in capsys.readouterr().err
