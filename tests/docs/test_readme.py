"""The snippets of the README do what it says."""

import re
import shlex
import subprocess
import sys
from pathlib import Path

from tests.support.client import Client
from tests.support.server import ROOT

README = (ROOT / "README.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)


def test_python_prints_what_the_readme_shows(tmp_path: Path) -> None:
    (program,), (printed,) = blocks("python"), blocks("text")
    command = [sys.executable, "-c", program]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True, cwd=tmp_path)
    milliseconds = re.compile(r"\b\d{13}(?=-)")
    assert milliseconds.sub("#", done.stdout) == milliseconds.sub("#", printed)


def as_shown(reply: object, indent: str = "") -> str:
    """A reply as redis-cli shows it."""
    if isinstance(reply, int):
        return f"(integer) {reply}"
    if isinstance(reply, list):
        rows = [f"{n}) " + as_shown(row, indent + " " * len(f"{n}) ")) for n, row in enumerate(reply, 1)]
        return f"\n{indent}".join(rows)
    assert isinstance(reply, bytes)
    return f'"{reply.decode()}"'


def test_transcript_is_what_a_server_answers(client: Client) -> None:
    (transcript,) = blocks("console")
    turns = re.split(r"^127\.0\.0\.1:6379> ", transcript, flags=re.MULTILINE)[1:]
    assert len(turns) == 6
    milliseconds: dict[str, str] = {}
    for turn in turns:
        line, shown = turn.rstrip("\n").split("\n", 1)
        for told, real in milliseconds.items():
            line = line.replace(told, real)
        answer = as_shown(client.call(*shlex.split(line)))
        if not milliseconds:
            in_readme, given = (re.search(r"\d{13}", text) for text in (shown, answer))
            assert in_readme and given
            milliseconds[in_readme[0]] = given[0]
        for told, real in milliseconds.items():
            shown = shown.replace(told, real)
        assert answer == shown


def test_links_lead_somewhere() -> None:
    for page in [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]:
        for link in re.findall(r"\]\(([^)#:]+)\)", page.read_text()):
            assert (page.parent / link).exists(), f"{page.name}: {link}"


def test_tests_that_the_guarantees_name_exist() -> None:
    named = set(re.findall(r"`((?:tests|crates)/[^`]+)`", (ROOT / "docs" / "guarantees.md").read_text()))
    assert len(named) > 5
    missing = [name for name in named if not (ROOT / name).exists()]
    assert not missing
