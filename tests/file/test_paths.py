"""What a URL names, and what is in the file: names of files, of queues, and the rights of the socket."""

import os
import stat
from pathlib import Path
from urllib.parse import quote_from_bytes

import pytest
import reliableq
from reliableq import UnsupportedURL

from tests.support.process import owner

NAMES = ["with space", "100%", "what?", "a&b=c", "#1", "é😀", "%41", "x" * 200, b"\xff\xfe"]


@pytest.mark.parametrize("name", NAMES, ids=lambda name: ascii(name)[:12])
def test_a_file_has_any_name(tmp_path: Path, name: str | bytes) -> None:
    """Also one whose socket has too long a path for the system, as owner and as client."""
    path = os.path.join(os.fsencode(tmp_path), os.fsencode(name))
    url = f"file://{quote_from_bytes(path)}"
    with owner(url), reliableq.connect(url) as rq:
        assert os.path.isdir(path)
        rq.queue("q").push(b"a")
    with reliableq.connect(f"{url}?sync=os") as rq:
        assert [message.body for message in rq.queue("q").range()] == [b"a"]


def test_a_deep_file(tmp_path: Path) -> None:
    folder = tmp_path / "/".join(["d" * 100] * 4)
    folder.mkdir(parents=True)
    with owner(f"file:{folder}/jobs.rq") as keeper, reliableq.connect(f"file:{folder}/jobs.rq") as rq:
        rq.queue("q").push(b"a")
        keeper.kill()
        assert rq.queue("q").push(b"b") and len(rq.queue("q")) == 2


BAD_OPTIONS = ["sync=often", "owner=me", "uuid=1", "a=b", "timeout=0", "timeout=-1", "timeout=nan"]


@pytest.mark.parametrize(
    "rest", ["", "//", "//host/jobs.rq", "?sync=os", "jobs.rq%00", *(f"jobs.rq?{option}" for option in BAD_OPTIONS)]
)
def test_bad_urls(rest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UnsupportedURL, match="file:path"):
        reliableq.connect(f"file:{rest}")
    assert list(tmp_path.iterdir()) == []


def test_the_socket_is_the_owners_alone(tmp_path: Path) -> None:
    before = os.umask(0)
    try:
        with reliableq.connect(f"file:{tmp_path}/jobs.rq"):
            mode = (tmp_path / "jobs.rq" / "socket").stat().st_mode
            assert stat.S_ISSOCK(mode) and stat.S_IMODE(mode) == 0o600
    finally:
        os.umask(before)


def test_several_queues_with_free_names(tmp_path: Path) -> None:
    names = ["", "a", "a b", "a\nb\0", "é😀", "../x", "y" * 5000]
    with reliableq.connect(f"file:{tmp_path}/jobs.rq") as rq:
        for name in names:
            rq.queue(name).push(name.encode())
    with reliableq.connect(f"file:{tmp_path}/jobs.rq") as rq:
        assert rq.names() == sorted(names)
        for name in names:
            (message,) = rq.queue(name).pop_many(2)
            assert (message.queue, message.body, message.ack()) == (name, name.encode(), True)
        assert rq.names() == []


def test_looking_stores_nothing(tmp_path: Path) -> None:
    path = tmp_path / "jobs.rq"
    with reliableq.connect(f"file:{path}") as rq:
        (log,) = path.glob("log-*")
        before = log.stat().st_size
        queue = rq.queue("q")
        assert queue.info() is None and queue.inspect() == [] and queue.ack("1-1") is False and queue.range() == []
        assert queue.pop() is None and queue.recover(elapsed=0) == [] and queue.split(3) == [] and queue.dump() is None
        assert rq.names() == [] and log.stat().st_size == before
