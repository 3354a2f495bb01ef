"""Connecting, sharing and closing."""

import gc
import pickle
import subprocess
import sys
import traceback
from pathlib import Path
from typing import Any

import pytest
import reliableq
from reliableq import InvalidType, UnsupportedURL


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
        "redis:localhost",
        "redis",
        "http://localhost",
        "jobs.rq",
    ],
)
def test_other_urls_are_refused_with_what_is_supported(url: str) -> None:
    with pytest.raises(UnsupportedURL) as error:
        reliableq.connect(url)
    text = str(error.value)
    assert repr(url) in text
    assert '"memory:"' in text and '"memory:name"' in text
    assert '"redis://host"' in text and '"unix:///path"' in text
    assert isinstance(error.value, ValueError)


@pytest.mark.parametrize(
    "url",
    [
        "http://user:secret@localhost:6379/0",
        "redis://user:secret@localhost:6379/zero",
        "redis://user:sec/secret@localhost:6379/0",
        "redis://user:secret@localhost:6379/0?option=1",
        "redis://localhost:6379/0?password=secret&db=secret",
        "redis://:secret@localhost:port/0",
        "unix://user:secret@",
    ],
)
def test_a_refused_url_does_not_show_its_password(url: str) -> None:
    with pytest.raises(UnsupportedURL) as error:
        reliableq.connect(url)
    shown = "".join(traceback.format_exception(error.value))
    assert "secret" not in str(error.value) and "sec/" not in str(error.value)
    assert "ValueError" not in shown.partition("UnsupportedURL")[0]
    assert "localhost" in str(error.value) or url.startswith("unix")


@pytest.mark.parametrize("url", [None, 1, b"memory:", object()], ids=lambda url: type(url).__name__)
def test_what_is_no_text_is_no_url(url: Any) -> None:
    given = "None" if url is None else type(url).__name__
    with pytest.raises(InvalidType, match=f"a URL is a str, not {given};.*memory:"):
        reliableq.connect(url)


def test_a_path_is_no_url_and_the_remedy_makes_it_one(tmp_path: Path) -> None:
    path: Any = tmp_path
    with pytest.raises(InvalidType, match=r'"file:" \+ str\(path\)'):
        reliableq.connect(path)


@pytest.mark.parametrize(
    ("url", "option"),
    [
        ("redis://user:secret@localhost/0?foo=secret", "foo"),
        ("redis://localhost?protocol=2&socket_timeout=secret", "socket_timeout"),
        ("unix:///socket?password=secret&db=x", "db"),
    ],
)
def test_the_wrong_option_of_a_url_is_named(url: str, option: str) -> None:
    with pytest.raises(UnsupportedURL, match=f"the option {option} is unknown, or its value is wrong") as error:
        reliableq.connect(url)
    assert "secret" not in str(error.value)


@pytest.mark.parametrize("url", ["redis://:1?secret=2@localhost", "redis://user:1?secret@localhost?foo=bar"])
def test_what_may_be_of_a_password_is_not_named(url: str) -> None:
    with pytest.raises(UnsupportedURL) as error:
        reliableq.connect(url)
    assert "secret" not in str(error.value)


def test_queues_in_memory_have_no_options() -> None:
    with pytest.raises(UnsupportedURL, match="have no options"):
        reliableq.connect("memory:jobs?sync=always")


def test_an_option_of_a_file_is_given_once(tmp_path: Path) -> None:
    with pytest.raises(UnsupportedURL, match="the option sync is given twice"):
        reliableq.connect(f"file:{tmp_path}/jobs.rq?sync=os&sync=always")
    assert not list(tmp_path.iterdir())


def test_neither_connections_nor_queues_are_pickled() -> None:
    with reliableq.connect("memory:") as rq:
        for value in (rq, rq.queue("q")):
            with pytest.raises(InvalidType, match="can't be pickled; connect in the child process"):
                pickle.dumps(value)


def test_a_url_with_half_a_character_is_refused() -> None:
    with pytest.raises(UnsupportedURL, match=r"'memory:\\ud800'.*UTF-8"):
        reliableq.connect("memory:\ud800")


@pytest.mark.parametrize("url", ["memory:", "memory:test-shown"])
def test_a_connection_says_where_it_leads(url: str) -> None:
    with reliableq.connect(url) as rq:
        assert repr(rq) == f"<Connection to '{url}'>"
        assert repr(rq.queue("q")) == f"<Queue 'q' of '{url}'>"
    assert repr(rq) == f"<Connection to '{url}'>"


def test_a_queue_in_memory_that_begins_again_counts_anew() -> None:
    with reliableq.connect("memory:") as rq:
        queue = rq.queue("q")
        for _ in range(2):
            queue.push(b"a")
            info = queue.info()
            assert info is not None and info["sent"] == 1
            queue.ack(queue.pop_many(1))


def test_importing_the_package_imports_nothing_heavy() -> None:
    heavy = {"asyncio", "importlib.metadata", "inspect", "redis", "click", "rich", "pyspark", "argparse", "socket"}
    code = "import sys; before = set(sys.modules); import reliableq; print(*set(sys.modules) - before)"
    loaded = subprocess.check_output([sys.executable, "-I", "-c", code], text=True).split()
    assert "reliableq" in loaded
    assert not heavy & set(loaded)
