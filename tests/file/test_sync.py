"""When changes are durable. A sync that no record follows leaves an empty record in the log, which tells of it."""

from pathlib import Path

import pytest
import reliableq

from tests.support.process import owner
from tests.support.wait import wait_until


class File:
    """A file with one sync level, and how long its log is."""

    def __init__(self, path: Path, sync: str) -> None:
        self.path = path
        self.url = f"file:{path}?sync={sync}"

    def size(self) -> int:
        (log,) = self.path.glob("log-*")
        return log.stat().st_size


@pytest.fixture
def pushed(tmp_path: Path) -> int:
    """How long the log is with a push that was not synced."""
    file = File(tmp_path / "plain.rq", "os")
    with reliableq.connect(file.url) as rq:
        rq.queue("q").push(b"a")
        size = file.size()
    assert file.size() == size, "it was synced, though nobody asked for that"
    return size


def test_always_syncs_before_the_answer(tmp_path: Path, pushed: int) -> None:
    file = File(tmp_path / "jobs.rq", "always")
    with reliableq.connect(file.url) as rq:
        rq.queue("q").push(b"a")
        assert (before := file.size()) > pushed
        assert (message := rq.queue("q").pop()) is not None
        taken = file.size()
        assert message.ack() and file.size() - taken > taken - before > 0, "a pop is not synced by itself, an ack is"


def test_interval_syncs_within_a_second_or_so(tmp_path: Path, pushed: int) -> None:
    file = File(tmp_path / "jobs.rq", "interval")
    with reliableq.connect(file.url) as rq:
        rq.queue("q").push(b"a")
        wait_until("it was synced", lambda: file.size() > pushed)


def test_closing_syncs_what_an_interval_has_not(tmp_path: Path, pushed: int) -> None:
    file = File(tmp_path / "jobs.rq", "interval")
    with reliableq.connect(file.url) as rq:
        rq.queue("q").push(b"a")
    assert file.size() > pushed


def test_a_client_may_ask_for_more_than_the_owner(tmp_path: Path) -> None:
    file = File(tmp_path / "jobs.rq", "always")
    with owner(f"file:{file.path}?sync=os"):
        with reliableq.connect(f"file:{file.path}?sync=os") as careless:
            empty = file.size()
            careless.queue("q").push(b"a")
            plain = file.size() - empty
        with reliableq.connect(file.url) as careful:
            careful.queue("p").push(b"a")
            assert file.size() - empty - plain > plain
