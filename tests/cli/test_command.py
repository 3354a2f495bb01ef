"""The command as a whole: help, versions, wrong usage."""

import subprocess
import sys

import pytest
import reliableq
from reliableq.cli import main
from reliableq.cli.group import COMMANDS

from tests.cli.program import Program

NAMES = [command.name or "" for command in COMMANDS]
ANYWHERE = Program()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"reliableq {reliableq.__version__}\n"


def test_help_lists_the_commands_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    assert [line.split()[0] for line in shown.partition("Commands:")[2].splitlines()[1 : len(NAMES) + 1]] == NAMES
    for code in (0, 1, 2, 3, 4, 70, 130, 141):
        assert f"\n    {code} " in shown


@pytest.mark.parametrize("name", NAMES)
def test_each_command_has_help_and_json(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([name, "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: reliableq {name} ") and "--json" in shown


def test_without_a_command_it_shows_its_help_and_ends_with_2(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 2
    assert "Commands:" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments",
    [
        ["no-such-command"],
        ["module-path", "extra"],
        ["--no-such-option"],
        ["pop"],
        ["--url", "redis://localhost", "pop", "q", "--count", "0"],
        ["--url", "redis://localhost", "pop", "q", "--timeout", "soon"],
        ["--url", "redis://localhost", "pop", "q", "--timeout", "-1"],
        ["--url", "redis://localhost", "pop", "q", "--timeout", "nan"],
        ["--url", "redis://localhost", "recover", "q"],
        ["--url", "redis://localhost", "recover", "q", "--elapsed", "inf"],
        ["--url", "redis://localhost", "recover", "q", "--elapsed", "forever"],
        ["--url", "redis://localhost", "ack", "q", "no-id"],
        ["--url", "redis://localhost", "pop", "q", "--raw", "--json"],
        ["--url", "redis://localhost", "push", "q", "a", "--whole"],
        ["--url", "nowhere://localhost", "pop", "q"],
        ["--url", "redis://localhost:x", "pop", "q"],
        ["push", "q", "a"],
        ["--url", "", "push", "q", "a"],
        ["--url", "memory:", "push", "q", "a"],
        ["--url", "memory:name", "push", "q", "a"],
    ],
)
def test_wrong_usage_is_one_line_and_ends_with_2(arguments: list[str]) -> None:
    ended = ANYWHERE(*arguments)
    assert (ended.code, ended.output) == (2, b"")
    assert ended.complaint


@pytest.mark.parametrize("words", ["pop q --timeout inf", "recover q --elapsed -1", "ack q no-id"])
def test_a_complaint_has_no_words_of_python(words: str) -> None:
    complaint = ANYWHERE("--url", "redis://localhost", *words.split()).complaint
    assert "expected " in complaint
    assert not {"timedelta", "None", "()", "Message"} & {*complaint.split()} and "()" not in complaint


def test_the_complaint_names_the_help_of_its_command() -> None:
    assert "see `reliableq pop --help`" in ANYWHERE("pop").complaint


def test_without_a_url_it_says_how_to_give_one() -> None:
    complaint = ANYWHERE("push", "q", "a").complaint
    assert "--url" in complaint and "RELIABLEQ_URL" in complaint


def test_memory_is_refused_with_the_reason() -> None:
    complaint = ANYWHERE("push", "q", "a", "--url", "memory:").complaint
    assert "memory of one process" in complaint and "file:jobs.rq" in complaint


def test_a_defect_is_one_line_that_says_how_to_see_more(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def fail(place: object) -> None:
        raise RuntimeError("wrong\nall over")

    monkeypatch.delenv("RELIABLEQ_DEBUG", raising=False)
    monkeypatch.setattr(reliableq, "connect", fail)
    arguments = ["--url", "redis://localhost", "pop", "q"]
    assert main(arguments) == 70
    (line,) = capsys.readouterr().err.splitlines()
    assert "RuntimeError: wrong all over" in line and "RELIABLEQ_DEBUG=1" in line
    monkeypatch.setenv("RELIABLEQ_DEBUG", "1")
    assert main(arguments) == 70
    assert "Traceback" in capsys.readouterr().err


def test_a_missing_package_is_one_line() -> None:
    program = """
import sys
import reliableq.cli
sys.modules["click"] = None
sys.exit(reliableq.cli.main(["--version"]))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (4, "")
    (line,) = done.stderr.splitlines()
    assert "click" in line and "pip install" in line
