"""The command on a file: each call opens it, or is a client of whoever has it open."""

import fcntl
import json
import signal
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import reliableq

from tests.cli.program import Program
from tests.support.wait import DEADLINE, wait_until

Serve = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture
def url() -> str:
    return "file:jobs.rq"


@pytest.fixture
def serve(program: Program) -> Iterator[Serve]:
    """Serves the file, and returns when it is served."""
    with ExitStack() as started:

        def start(*arguments: str) -> "subprocess.Popen[bytes]":
            process = started.enter_context(program.start("serve", *arguments))
            started.callback(process.kill)
            return process

        yield start


def test_push_pop_ack_each_in_its_own_process(program: Program) -> None:
    ids = program("push", "q", "a", "b").lines
    assert program("status").lines == ["q  total: 2  processing: 0  consumers: 0"]
    assert program("pop", "q").lines == [f"{ids[0]}\ta"]
    assert program("inspect", "q", "--pending", "--json").json[0]["id"] == ids[0]
    assert program("ack", "q", ids[0]).lines == [ids[0]]
    assert program("recover", "q", "--elapsed", "0").code == 1
    assert program("status", "--json").json[0]["waiting"] == 1


@pytest.mark.parametrize(
    "arguments",
    [
        ["pop", "q"],
        ["ack", "q", "1-1"],
        ["nack", "q", "1-1"],
        ["recover", "q", "-e", "0"],
        ["inspect", "q"],
        ["status"],
        ["top", "--once"],
        ["setup", "q"],
        ["pause", "q"],
        ["dead", "list", "q"],
        ["dump", "q", "f"],
    ],
)
def test_whoever_only_looks_or_takes_makes_no_file(program: Program, tmp_path: Path, arguments: list[str]) -> None:
    ended = program(*arguments)
    assert (ended.code, ended.output) == (3, b"") and "jobs.rq" in ended.complaint
    assert not list(tmp_path.iterdir())


def test_leases_schedules_and_settings_go_on_from_process_to_process(program: Program) -> None:
    assert program("setup", "q", "--deliveries", "2", "--lease", "1h").code == 0
    (id,) = program("push", "q", "a", "--delay", "20ms", "--header", "trace=1").lines
    (popped,) = program("pop", "q", "--timeout", "10s", "--consumer", "c", "--json").json
    assert (popped["id"], popped["headers"]) == (id, [{"name": "trace", "value": "1"}])
    assert program("consumers", "q").lines[0].startswith("c\t1\t")
    assert program("nack", "q", f"{id}@1", "--delay", "1h").lines == [id]
    assert program("scheduled", "q").lines[0].startswith(f"{id}\t")
    assert program("delete", "q", id).lines == [id]
    (other,) = program("push", "q", "b").lines
    program("pop", "q")
    assert program("nack", "q", other, "--dead", "--reason", "no ink").lines == [other]
    assert program("dead", "list", "q").lines[0].split("\t")[2:] == ["1", "1", "no ink", "-", "b"]
    assert program("status", "--json", "q").json[0]["dead_letters"] == 1
    assert program("dead", "redrive", "q", "--all").lines == [other]
    assert program("top", "--once").lines[1].split()[:6] == ["q", "1", "0", "0", "0", "0"]


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_serve_owns_the_file_until_it_is_asked_to_end(program: Program, serve: Serve, how: signal.Signals) -> None:
    process = serve("--json")
    assert process.stdout
    assert json.loads(process.stdout.readline()) == {"url": "file:jobs.rq", "pid": process.pid}
    assert program("push", "q", "a").code == 0
    (row,) = program("pop", "q", "--url", "file:jobs.rq?owner=never", "--json").json
    assert row["body"] == "a"
    assert program("status").lines == ["q  total: 1  processing: 1  consumers: 0"]
    process.send_signal(how)
    output, error = process.communicate(timeout=DEADLINE)
    assert (process.returncode, output, error) == (0, b"", b"")
    assert program("ack", "q", row["id"]).code == 0


def test_ctrl_c_ends_a_wait_with_130_and_takes_nothing(program: Program, tmp_path: Path) -> None:
    assert program("push", "other", "a").code == 0
    with program.start("pop", "q", "--timeout", "forever") as process:
        wait_until("it has opened the file", lambda: owned(tmp_path / "jobs.rq"))
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=DEADLINE)
    assert (process.returncode, output, error) == (130, b"", b"")
    assert program("status", "other").lines == ["other  total: 1  processing: 0  consumers: 0"]


def owned(file: Path) -> bool:
    """Whether somebody has the file open, without opening it."""
    with (file / "lock").open() as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except BlockingIOError:
            return True
    return False


def test_two_do_not_serve_the_same_file(program: Program, serve: Serve) -> None:
    process = serve()
    assert process.stdout and process.stdout.readline() == b"serving file:jobs.rq; Ctrl-C ends it\n"
    ended = program("serve", "--url", "file:jobs.rq?timeout=0.1")
    assert (ended.code, ended.output) == (4, b"")
    waiting, refusal = ended.error.splitlines()
    assert waiting == "reliableq: another process owns jobs.rq; waiting up to 0.1 s for it to end"
    assert "another process still owns jobs.rq" in refusal


def test_the_next_one_serves_when_the_owner_ends(serve: Serve) -> None:
    first = serve("--json")
    assert first.stdout and first.stdout.readline()
    second = serve("--json", "--url", "file:jobs.rq?timeout=60")
    assert second.stderr and b"another process owns jobs.rq" in second.stderr.readline()
    first.send_signal(signal.SIGTERM)
    assert second.stdout and json.loads(second.stdout.readline())["pid"] == second.pid


def test_serve_takes_no_settings_of_a_server_for_a_file(program: Program, tmp_path: Path) -> None:
    for arguments in (["--data", "x"], ["--", "--port"], ["--url", "file:jobs.rq?owner=never"]):
        assert program("serve", *arguments).code == 2
    assert not list(tmp_path.iterdir())


def test_repair_saves_what_is_whole(program: Program, tmp_path: Path) -> None:
    program("push", "q", *map(str, range(100)))
    ended = program("repair", "jobs.rq", "file:whole.rq")
    assert (ended.code, ended.lines) == (0, ["saved 100 messages of 1 queue in file:whole.rq"])
    with reliableq.connect(f"file:{tmp_path}/whole.rq") as rq:
        assert len(rq.queue("q")) == 100


def test_repair_lists_what_is_lost(program: Program, tmp_path: Path) -> None:
    for number in range(20):
        program("push", "q", "x" * 100 + str(number))
    log = max(
        (path for path in (tmp_path / "jobs.rq").iterdir() if path.is_file()), key=lambda path: path.stat().st_size
    )
    data = bytearray(log.read_bytes())
    data[len(data) // 2] ^= 1
    log.write_bytes(data)
    refused = program("status")
    assert refused.code == 4 and "is damaged at byte" in refused.complaint and "reliableq repair" in refused.complaint
    ended = program("repair", "jobs.rq", "whole.rq", "--json")
    assert ended.code == 1
    (loss, *_) = ended.json["losses"]
    assert loss["file"] and loss["what"]
    assert 0 < ended.json["messages"] <= 20
    ended = program("repair", "jobs.rq", "other.rq")
    assert ended.code == 1 and ended.lines[1].startswith("lost: ")
    ended = program("repair", "jobs.rq", "other.rq")
    assert ended.code == 4 and "jobs.rq into other.rq: the destination is there already" in ended.complaint
    ended = program("repair", "jobs.rq", "no-such-folder/whole.rq")
    assert ended.code == 4 and "jobs.rq into no-such-folder/whole.rq: " in ended.complaint


def test_an_error_names_its_file(program: Program, tmp_path: Path) -> None:
    ended = program("repair", "no-such.rq", "whole.rq")
    assert ended.code == 3 and "there is no file no-such.rq" in ended.complaint
    (tmp_path / "jobs.rq").write_text("no directory")
    for arguments in (["status"], ["serve"], ["push", "q", "a"], ["repair", "jobs.rq", "whole.rq"]):
        ended = program(*arguments)
        assert ended.code in {3, 4} and "jobs.rq" in ended.complaint
