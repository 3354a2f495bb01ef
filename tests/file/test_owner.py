"""Who owns a file, and how that changes."""

import os
import signal
from pathlib import Path

import pytest
import reliableq
from reliableq import Connection, Unavailable

from tests.support.process import OPEN, Process, owner, owner_of, process
from tests.support.wait import wait_until


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.rq"


def bodies(rq: Connection) -> list[bytes]:
    return [message.body for message in rq.queue("q").range()]


def test_the_first_owns_and_the_second_is_its_client(path: Path) -> None:
    url = f"file:{path}"
    with owner(url) as keeper, reliableq.connect(url) as rq:
        assert owner_of(path) == keeper.id
        rq.queue("q").push(b"a")
        assert bodies(rq) == [b"a"]
        keeper.end()
        rq.queue("q").push(b"b")
        assert owner_of(path) == os.getpid()
        assert bodies(rq) == [b"a", b"b"]
    assert owner_of(path) is None


def test_whoever_waits_when_the_owner_dies_waits_on(path: Path) -> None:
    """The next owner is one of those who wait."""
    url = f"file:{path}"
    waiter = OPEN + "message = queue.pop(timeout=None)\nsay(message.body.decode())\nassert message.ack()\n"
    with owner(url) as keeper, process(waiter, url) as first, process(waiter, url) as second:
        first.expect("ready")
        second.expect("ready")
        keeper.kill()
        wait_until("one of them owns it", lambda: owner_of(path) in (first.id, second.id))
        with reliableq.connect(url) as rq:
            rq.queue("q").push_many([b"a", b"b"])
            assert sorted([first.hear(), second.hear()]) == ["a", "b"]
            first.end()
            second.end()
            assert bodies(rq) == []


def test_an_owner_that_is_stopped_is_not_replaced(path: Path) -> None:
    url, silent = f"file:{path}?timeout=0.5", "owner of .* does not answer within 0.5 s"
    with owner(f"file:{path}") as keeper, reliableq.connect(url) as rq:
        rq.queue("q").push(b"before")
        keeper.stop()
        for call in (
            lambda: rq.queue("q").push(b"meanwhile"),
            lambda: rq.queue("q").pop(timeout=None),
            lambda: len(rq.queue("q")),
            lambda: reliableq.connect(url),
        ):
            with pytest.raises(Unavailable, match=rf"{silent}; see .*stopped or overloaded; (?!see)"):
                call()
        assert owner_of(path) == keeper.id
        keeper.signal(signal.SIGCONT)
        wait_until("it answers again", lambda: _answers(rq))
        rq.queue("q").push(b"after")
        assert owner_of(path) == keeper.id
        found = bodies(rq)
        # What was under way had reached it, or not.
        assert found in ([b"before", b"after"], [b"before", b"meanwhile", b"after"])


def _answers(rq: Connection) -> bool:
    try:
        return len(rq.queue("q")) > 0
    except Unavailable:
        return False


def test_without_an_owner_some_only_complain(path: Path) -> None:
    with pytest.raises(reliableq.Missing, match=str(path)):
        reliableq.connect(f"file:{path}?owner=never")
    assert not path.exists()
    reliableq.connect(f"file:{path}").close()
    with pytest.raises(Unavailable, match=r"no owner of .*reliableq serve"):
        reliableq.connect(f"file:{path}?owner=never&timeout=0.1")
    uuid = reliableq._native.file_uuid(str(path))
    with reliableq.connect(f"file:{path}?uuid={uuid}"):
        with reliableq.connect(f"file:{path}?owner=never&uuid={uuid}") as rq:
            rq.queue("q").push(b"a")
        with pytest.raises(reliableq.Missing, match=f"{uuid}, not {'0' * 32}"):
            reliableq.connect(f"file:{path}?uuid={'0' * 32}")


@pytest.mark.parametrize("spelling", ["jobs.rq", "./jobs.rq", "other/../jobs.rq", "link.rq", "jobs.rq/"])
def test_a_process_owns_a_file_once(path: Path, spelling: str, monkeypatch: pytest.MonkeyPatch) -> None:
    (path.parent / "other").mkdir()
    (path.parent / "link.rq").symlink_to(path)
    monkeypatch.chdir(path.parent)
    with reliableq.connect(f"file://{path}") as first, reliableq.connect(f"file:{spelling}") as second:
        first.queue("q").push(b"a")
        message = second.queue("q").pop()
        assert message is not None and message.body == b"a"
        first.close()
        assert owner_of(path) == os.getpid(), "it was closed with the first connection"
        assert message.ack()
        second.queue("q").push(b"b")
    assert owner_of(path) is None
    with owner(f"file:{path}") as keeper:
        assert owner_of(path) == keeper.id


def test_a_relative_path_is_of_the_directory_at_that_time(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    with owner(f"file:{path}") as keeper, reliableq.connect("file:jobs.rq") as rq:
        monkeypatch.chdir("/")
        keeper.kill()
        rq.queue("q").push(b"a")
        assert owner_of(path) == os.getpid()


FORKING = (
    OPEN
    + """
import os, signal
queue.push(b"parent")
if os.fork() == 0:
    asked()
    queue.push(b"child")
    say(len(queue))
    os._exit(0)
say("forked")
signal.pause()
"""
)


def test_a_child_that_was_forked_does_not_keep_the_file(path: Path) -> None:
    """It has inherited the lock and the connections, and has not called anything yet."""
    url = f"file:{path}"
    with process(FORKING, url) as forking, reliableq.connect(f"{url}?timeout=30") as rq:
        forking.expect("ready")
        forking.expect("forked")
        _kill(forking)
        assert bodies(rq) == [b"parent"]
        assert owner_of(path) == os.getpid()
        assert forking.ask("go on") == "2"
        assert bodies(rq) == [b"parent", b"child"]
        assert owner_of(path) == os.getpid()


def _kill(parent: Process) -> None:
    """Kills it alone: its child goes on to be heard."""
    parent.signal(signal.SIGKILL)
    wait_until("it ended", lambda: not parent.running)
