"""Connecting, sharing and closing."""

import gc
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest
import reliableq
from reliableq import Closed, Connection, InvalidType, Queue, UnsupportedURL


def test_memory_is_private() -> None:
    with reliableq.connect("memory:") as first, reliableq.connect("memory:") as second:
        first.queue("q").push(b"a")
        assert second.queue("q").pop() is None


def test_named_memory_is_shared_in_the_process() -> None:
    with reliableq.connect("memory:test-shared") as first, reliableq.connect("memory:test-shared") as second:
        id = first.queue("q").push(b"a")
        assert reliableq.connect("memory:test-other").queue("q").pop() is None
        message = second.queue("q").pop()
        assert message is not None and message.id == id
        assert first.queue("q").ack(id) is True


def test_named_memory_outlives_its_connections() -> None:
    with reliableq.connect("memory:test-lasting") as first:
        first.queue("q").push(b"a")
    del first
    gc.collect()
    with reliableq.connect("memory:test-lasting") as second:
        message = second.queue("q").pop()
        assert message is not None and message.ack()


@pytest.mark.parametrize(
    "url",
    [
        "",
        "memory",
        "memory://",
        "memory:///q",
        "file:jobs.rq",
        "redis://localhost",
        "unix:///run/redis.sock",
        "jobs.rq",
    ],
)
def test_other_urls_are_refused_with_what_is_supported(url: str) -> None:
    with pytest.raises(UnsupportedURL) as error:
        reliableq.connect(url)
    text = str(error.value)
    assert repr(url) in text
    assert '"memory:"' in text and '"memory:name"' in text
    assert "any Redis client" in text
    assert isinstance(error.value, ValueError)


def test_a_refused_url_does_not_show_its_password() -> None:
    with pytest.raises(UnsupportedURL) as error:
        reliableq.connect("redis://user:secret@localhost:6379/0")
    assert "secret" not in str(error.value)
    assert "localhost:6379/0" in str(error.value)


@pytest.mark.parametrize("url", [None, 1, b"memory:", object()], ids=lambda url: type(url).__name__)
def test_what_is_no_text_is_no_url(url: Any) -> None:
    given = "None" if url is None else type(url).__name__
    with pytest.raises(InvalidType, match=f"a URL is a str, not {given};.*memory:"):
        reliableq.connect(url)


def test_a_url_with_half_a_character_is_refused() -> None:
    with pytest.raises(UnsupportedURL, match=r"'memory:\\ud800'.*UTF-8"):
        reliableq.connect("memory:\ud800")


@pytest.mark.parametrize("url", ["memory:", "memory:test-shown"])
def test_a_connection_says_where_it_leads(url: str) -> None:
    with reliableq.connect(url) as rq:
        assert repr(rq) == f"<Connection to '{url}'>"
        assert repr(rq.queue("q")) == f"<Queue 'q' of '{url}'>"
    assert repr(rq) == f"<Connection to '{url}'>"


@pytest.mark.parametrize(
    "call",
    [
        lambda queue: queue.push(b"a"),
        lambda queue: queue.push_many([b"a"]),
        lambda queue: queue.pop(),
        lambda queue: queue.pop(timeout=None),
        lambda queue: queue.pop_many(1),
        lambda queue: queue.ack("1-1"),
        lambda queue: queue.recover(elapsed=0),
        lambda queue: queue.inspect(),
        lambda queue: queue.info(),
        len,
    ],
)
def test_a_closed_connection_says_so(call: Callable[[Queue], object]) -> None:
    rq = reliableq.connect("memory:")
    queue = rq.queue("q")
    rq.close()
    rq.close()
    with pytest.raises(Closed, match="connect again"):
        call(queue)


def test_with_closes(rq: Connection) -> None:
    with rq as same:
        assert same is rq
        queue = rq.queue("q")
        queue.push(b"a")
        message = queue.pop()
    assert message is not None
    with pytest.raises(Closed):
        message.ack()


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = {"asyncio", "importlib.metadata", "inspect", "redis", "click", "rich", "pyspark", "argparse", "socket"}
    code = "import sys; before = set(sys.modules); import reliableq; print(*set(sys.modules) - before)"
    loaded = subprocess.check_output([sys.executable, "-I", "-c", code], text=True).split()
    assert "reliableq" in loaded
    assert not heavy & set(loaded)
