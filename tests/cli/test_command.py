"""The command as a whole: help, versions, wrong usage."""

import subprocess
import sys

import pytest
import reliableq
from reliableq.cli import main
from reliableq.cli.group import COMMANDS, GROUPS

from tests.cli.commands import BY_WORDS
from tests.cli.program import Program

NAMES = [command.name or "" for command in COMMANDS]
ANYWHERE = Program()


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version"]) == 0
    assert capsys.readouterr().out == f"reliableq {reliableq.__version__}\n"


def test_help_lists_the_commands_by_what_they_are_for_and_the_exit_codes(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    shown = capsys.readouterr().out
    for title, commands in GROUPS.items():
        section = shown.partition(f"\n{title}:\n")[2].partition("\n\n")[0]
        assert [line.split()[0] for line in section.splitlines()] == [command.name for command in commands]
    assert len(set(NAMES)) == len(NAMES)
    for code in (0, 1, 2, 3, 4, 70, 130, 141):
        assert f"\n    {code} " in shown


def test_short_helps_fit_a_line_each() -> None:
    for command in [*COMMANDS, *BY_WORDS.values()]:
        assert command.short_help and command.short_help.endswith(".")
        assert len(command.short_help) <= 60 and command.help


@pytest.mark.parametrize("words", BY_WORDS)
def test_each_command_has_help_and_json(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*words.split(), "--help"]) == 0
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: reliableq {words} ") and "--json" in shown


@pytest.mark.parametrize("words", ["", "dead"])
def test_without_a_command_it_shows_its_help_and_ends_with_2(words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words.split()) == 2
    assert f"Usage: reliableq {words}" in capsys.readouterr().err


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
        ["--url", "redis://localhost", "pop", "q", "--raw", "--receipt"],
        ["--url", "redis://localhost", "pop", "q", "--count", "9223372036854775808"],
        ["--url", "redis://localhost", "push", "q", "a", "--retries", "65536"],
        ["--url", "redis://localhost", "inspect", "q", "--start", "x"],
        ["--url", "redis://localhost", "push", "q", "a", "--whole"],
        ["--url", "redis://localhost", "push", "q", "a", "--delay", "5 weeks"],
        ["--url", "redis://localhost", "push", "q", "a", "--delay", "1", "--at", "2030-01-01"],
        ["--url", "redis://localhost", "push", "q", "a", "--at", "tomorrow"],
        ["--url", "redis://localhost", "push", "q", "a", "--ttl", "0"],
        ["--url", "redis://localhost", "push", "q", "a", "--priority", "256"],
        ["--url", "redis://localhost", "push", "q", "a", "--retries", "-1"],
        ["--url", "redis://localhost", "push", "q", "a", "--header", "trace"],
        ["--url", "redis://localhost", "push", "q", "a", "--unique"],
        ["--url", "redis://localhost", "push", "q", "a", "--token", ""],
        ["--url", "redis://localhost", "push", "q", "a", "b", "--token", "t"],
        ["--url", "redis://localhost", "pop", "q", "--no-ack", "--ack"],
        ["--url", "redis://localhost", "pop", "q", "--no-ack", "--lease", "1"],
        ["--url", "redis://localhost", "pop", "q", "--max-bytes", "0"],
        ["--url", "redis://localhost", "pop", "q", "--consumer", ""],
        ["--url", "redis://localhost", "ack", "q", "1-1", "--token", "t"],
        ["--url", "redis://localhost", "ack", "q", "1-1@0"],
        ["--url", "redis://localhost", "nack", "q", "1-1", "--dead", "--delay", "1"],
        ["--url", "redis://localhost", "extend", "q", "1-1"],
        ["--url", "redis://localhost", "forward", "q", "r", "body"],
        ["--url", "redis://localhost", "forward", "q", "r", "--id", "1-1"],
        ["--url", "redis://localhost", "inspect", "q", "--idle", "1"],
        ["--url", "redis://localhost", "inspect", "q", "--consumer", "c"],
        ["--url", "redis://localhost", "inspect", "q", "--pending", "--state", "dead"],
        ["--url", "redis://localhost", "inspect", "q", "--state", "lost"],
        ["--url", "redis://localhost", "dead", "redrive", "q", "--all", "--count", "1"],
        ["--url", "redis://localhost", "pause", "q", "ack"],
        ["--url", "redis://localhost", "setup", "q", "--backoff", "1,2"],
        ["--url", "redis://localhost", "setup", "q", "--backoff", "1,0,3"],
        ["--url", "redis://localhost", "setup", "q", "--jitter", "101"],
        ["--url", "redis://localhost", "top", "--interval", "0"],
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


@pytest.mark.parametrize(
    "words",
    [
        "pop q --timeout inf",
        "recover q --elapsed -1",
        "ack q no-id",
        "push q a --ttl 0",
        "pop q --consumer=",
        "setup q --backoff 1,0,3",
        "setup q --deliveries 1.5",
        "inspect q --first x",
        "inspect q --start x",
    ],
)
def test_a_complaint_has_no_words_of_python(words: str) -> None:
    complaint = ANYWHERE("--url", "redis://localhost", *words.split()).complaint
    assert "expected " in complaint
    assert not {"timedelta", "None", "()", "Message"} & {*complaint.split()} and "()" not in complaint


def test_a_url_that_names_nothing_is_told_what_this_program_takes() -> None:
    complaint = ANYWHERE("--url", "jobs.rq", "status").complaint
    assert '"file:path"' in complaint and '"redis://host"' in complaint and "memory:" not in complaint


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
