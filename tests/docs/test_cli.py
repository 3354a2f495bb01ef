"""docs/cli.md: its examples print what it shows, and it leaves nothing out."""

import re
from pathlib import Path

import click
import pytest
from reliableq.cli import exits

from tests.cli.commands import BY_WORDS
from tests.cli.program import Program
from tests.support.server import ROOT

PAGE = (ROOT / "docs" / "cli.md").read_text()
TURN = re.compile(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
ID = re.compile(r"\b\d{13}-\d+\b")
SHARED = {"url", "as_json", "raw", "receipts"}
"""Options that are told once for all."""
VARYING = [
    (re.compile(r"\d{4}-\d\d-\d\dT[\d:.]{12}Z"), "TIME"),
    (re.compile(r" +\d+ s$", re.MULTILINE), " AGE"),
    (re.compile(r'"bytes": \d+'), "BYTES"),
]


def turns() -> list[tuple[str, str]]:
    blocks = re.findall(r"^```console\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert all("".join(f"$ {line}\n{shown}" for line, shown in TURN.findall(block)) == block for block in blocks)
    return [turn for block in blocks for turn in TURN.findall(block)]


def steady(text: str) -> str:
    """A text without what differs from run to run."""
    for pattern, name in VARYING:
        text = pattern.sub(name, text)
    return text


def test_examples_print_what_the_page_shows(tmp_path: Path) -> None:
    """One after the other in one folder, as a reader would type them. IDs of the page stand for those really given."""
    program = Program(folder=tmp_path)
    real: dict[str, str] = {}
    for line, shown in turns():
        if line.startswith("export "):
            name, _, value = line.removeprefix("export ").partition("=")
            program.environment[name] = value
            continue
        ended = program.shell(ID.sub(lambda found: real[found[0]], line))
        printed = ended.output.decode() + ended.error
        given, told = ID.findall(printed), ID.findall(shown)
        assert len(given) == len(told), f"{line}\n{printed}"
        for id, there in zip(told, given, strict=True):
            assert real.setdefault(id, there) == there, line
        assert steady(ID.sub("ID", printed)) == steady(ID.sub("ID", shown)), line
    assert len(real) > 4


def section(name: str) -> str:
    """The part of the page that tells of a command."""
    found = re.search(rf"^## [^\n]*(?<![\w-]){name}(?![\w-]).*?(?=^## |\Z)", PAGE, re.MULTILINE | re.DOTALL)
    assert found, name
    return found[0]


@pytest.mark.parametrize("words", BY_WORDS)
def test_every_command_is_told_with_its_options(words: str) -> None:
    told = section(words.split()[0])
    assert f"`reliableq {words}" in told
    for parameter in BY_WORDS[words].params:
        if isinstance(parameter, click.Option):
            where = PAGE if parameter.name in SHARED else told
            assert re.search(rf"[`[ ]{parameter.opts[0]}[`\] =]", where), parameter.opts


def test_every_exit_code_is_told() -> None:
    for code in re.findall(r"^  (\d+) ", exits.HELP, re.MULTILINE):
        assert f"| {code} |" in PAGE
