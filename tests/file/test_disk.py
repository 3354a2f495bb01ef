"""What a file takes on disk, and a directory that goes away."""

import contextlib
import shutil
from pathlib import Path

import pytest
import reliableq
from reliableq import Failed

from tests.support.wait import wait_until


def size(path: Path) -> int:
    """Bytes of all files. Looked at anew when one was renamed or removed meanwhile."""
    while True:
        with contextlib.suppress(FileNotFoundError):
            return sum(file.stat().st_size for file in list(path.iterdir()))


def fill_and_drain(queue: reliableq.Queue) -> None:
    for _ in range(20):
        queue.push_many([b"x" * 1000] * 1000)
    while messages := queue.pop_many(1000):
        queue.ack(messages)


def test_a_drained_file_is_small_when_it_is_closed(tmp_path: Path) -> None:
    with reliableq.connect(f"file:{tmp_path}/jobs.rq?sync=os") as rq:
        fill_and_drain(rq.queue("q"))
    assert size(tmp_path / "jobs.rq") < 1 << 20
    with reliableq.connect(f"file:{tmp_path}/jobs.rq") as rq:
        assert rq.names() == []


def test_a_drained_file_becomes_small_while_it_is_open(tmp_path: Path) -> None:
    with reliableq.connect(f"file:{tmp_path}/jobs.rq") as rq:
        fill_and_drain(rq.queue("q"))
        wait_until("the file is small", lambda: size(tmp_path / "jobs.rq") < 1 << 20)


@pytest.mark.parametrize("sync", ["always", "interval", "os"])
def test_an_owner_whose_directory_is_removed_stops(tmp_path: Path, sync: str) -> None:
    rq = reliableq.connect(f"file:{tmp_path}/jobs.rq?sync={sync}")
    queue = rq.queue("q")
    queue.push(b"a")
    shutil.rmtree(tmp_path / "jobs.rq")

    def is_refused() -> bool:
        try:
            queue.push(b"b")
        except Failed as error:
            return "directory" in str(error)
        return False

    wait_until("a push is refused", is_refused)
    # What was to be durable is not, and who closes is told so.
    with contextlib.nullcontext() if sync == "os" else pytest.raises(Failed):
        rq.close()
