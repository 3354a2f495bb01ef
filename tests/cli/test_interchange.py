"""`reliableq dump` and `restore`."""

import base64
from pathlib import Path

import pytest
import reliableq

from tests.cli.program import Program


@pytest.fixture
def filled(queue: reliableq.Queue) -> reliableq.Queue:
    queue.push_many([b"a", b"\xff\n", b"c"])
    queue.pop()
    return queue


def ids(queue: reliableq.Queue) -> list[list[str]]:
    return [[message.id for message in queue.inspect(pending=pending)] for pending in (False, True)]


def test_a_queue_through_a_file(
    program: Program, rq: reliableq.Connection, filled: reliableq.Queue, tmp_path: Path
) -> None:
    ended = program("dump", "q", "q.dump")
    size = (tmp_path / "q.dump").stat().st_size
    assert (ended.code, ended.lines) == (0, [f"q.dump: {size:,} bytes"])
    ended = program("restore", "copy", "q.dump")
    assert (ended.code, ended.lines) == (0, ["copy: restored 3 messages"])
    assert ids(rq.queue("copy")) == ids(filled)
    assert sorted(path.name for path in tmp_path.glob("*q.dump*")) == ["q.dump"]


def test_a_queue_through_a_pipe(program: Program, rq: reliableq.Connection, filled: reliableq.Queue) -> None:
    ended = program.shell("reliableq dump q | reliableq restore copy -")
    assert (ended.code, ended.error) == (0, "")
    assert ids(rq.queue("copy")) == ids(filled)


def test_json(program: Program, filled: reliableq.Queue, tmp_path: Path) -> None:
    described = program("dump", "q", "q.dump", "--json").json
    data = (tmp_path / "q.dump").read_bytes()
    assert described == {"queue": "q", "file": "q.dump", "bytes": len(data)}
    whole = program("dump", "q", "--json").json
    assert whole == {"queue": "q", "dump_base64": base64.b64encode(data).decode()}
    assert program("restore", "copy", "q.dump", "--json").json == {"queue": "copy", "messages": 3}


def test_nothing_to_dump_ends_with_1_and_makes_no_file(program: Program, tmp_path: Path) -> None:
    ended = program("dump", "other", "other.dump")
    assert (ended.code, ended.output) == (1, b"") and "holds nothing" in ended.complaint
    ended = program("dump", "q", "--json")
    assert (ended.code, ended.json, ended.error) == (1, None, "")
    assert not (tmp_path / "other.dump").exists()


def test_a_queue_that_is_there_is_only_replaced_when_told(
    program: Program, rq: reliableq.Connection, filled: reliableq.Queue
) -> None:
    program("dump", "q", "q.dump")
    rq.queue("copy").push(b"x")
    ended = program("restore", "copy", "q.dump")
    assert (ended.code, ended.output) == (4, b"")
    assert "or with --replace" in ended.complaint and "replace=True" not in ended.complaint
    assert len(rq.queue("copy")) == 1
    assert program("restore", "copy", "q.dump", "--replace").code == 0
    assert ids(rq.queue("copy")) == ids(filled)


def test_what_is_no_dump_is_refused(program: Program, rq: reliableq.Connection) -> None:
    for data in (b"", b"no dump of a queue"):
        ended = program("restore", "copy", "-", stdin=data)
        assert (ended.code, ended.output) == (4, b"")
        assert "reliableq dump" in ended.complaint and "dump()" not in ended.complaint
    assert len(rq.queue("copy")) == 0


def test_a_dump_is_not_for_a_terminal(program: Program, filled: reliableq.Queue) -> None:
    ended = program.at_terminal("dump", "q")
    assert ended.code == 2 and b"redirect the output" in ended.output
    assert program.at_terminal("dump", "q", "q.dump").code == 0


def test_files_that_can_not_be_used_are_one_line(program: Program, filled: reliableq.Queue, tmp_path: Path) -> None:
    ended = program("restore", "copy", "no-such-file")
    assert ended.code == 2 and "no-such-file" in ended.complaint
    ended = program("dump", "q", "no-such-folder/q.dump")
    assert ended.code == 4 and "could not write no-such-folder/q.dump: " in ended.complaint
    for line in ("dump q", "status", "inspect q --json", "--help"):
        ended = program.shell(f"reliableq {line} > /dev/full")
        assert ended.code == 4 and "could not write to standard output: No space left" in ended.complaint
    assert program("dump", "q", "/dev/full").code == 4
    assert not [path for path in tmp_path.iterdir() if path.name.startswith(".")]
