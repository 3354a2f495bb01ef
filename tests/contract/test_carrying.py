"""A queue as bytes, and back, at every place."""

import threading
from collections.abc import Callable
from typing import Any

import pytest
import reliableq
from reliableq import Connection, Exists, InvalidDump, InvalidType, Queue

from tests.support.empty import is_empty


def fill(queue: Queue) -> None:
    """Messages of every kind, and counters that are not 0."""
    queue.push_many([b"a", b"", b"\0\xff" * 50, b"z" * 5000, b"1234", b"e"])
    queue.ack(queue.pop_many(1))
    queue.pop_many(2)
    queue.recover(1, elapsed=0)


def contents(queue: Queue) -> Any:
    info: dict[str, Any] = dict(queue.info() or {})
    info.pop("age", None), info.pop("memory", None)
    rows = [(m.id, m.body, m.state, m.deliveries, m.last_delivery) for m in queue.range()]
    orders = [[m.id for m in queue.inspect(0, 99, pending=pending)] for pending in (False, True)]
    return info, rows, orders


def test_a_restored_queue_is_the_same(rq: Connection, queue: Queue) -> None:
    fill(queue)
    data = queue.dump()
    assert type(data) is bytes
    before = contents(queue)
    copy = rq.restore("copy", data)
    assert copy.name == "copy"
    assert contents(copy) == contents(rq.queue("copy")) == contents(queue) == before
    assert copy.dump() == data


def test_a_restored_queue_lives_on(rq: Connection, queue: Queue) -> None:
    fill(queue)
    data = queue.dump()
    assert data is not None
    copy = rq.restore("copy", data)
    last = copy.range(reverse=True)[0].id
    new = copy.push(b"new")
    assert copy.range(f"({last}")[0].id == new
    assert len(copy.ack(copy.recover(elapsed=0) + copy.pop_many(99))) == 6
    assert is_empty(copy) and len(queue) == 5


def test_a_queue_goes_to_memory_and_back(rq: Connection, queue: Queue) -> None:
    fill(queue)
    before = contents(queue)
    data = queue.dump()
    assert data is not None
    with reliableq.connect("memory:") as elsewhere:
        there = elsewhere.restore("q", data)
        assert contents(there) == before
        data = there.dump()
        assert data is not None
    assert contents(rq.restore("q", data, replace=True)) == before


def test_only_replace_replaces(rq: Connection, queue: Queue) -> None:
    fill(queue)
    data = queue.dump()
    assert data is not None
    other = rq.queue("other")
    other.push(b"kept")
    before = contents(other)
    with pytest.raises(Exists, match=r"^this name is taken already; restore under another name, or with replace=True$"):
        rq.restore("other", data)
    assert contents(other) == before
    rq.restore("other", data, replace=True)
    assert contents(other) == contents(queue)


@pytest.mark.parametrize(
    "damage", [lambda data: b"", lambda data: b"x", lambda data: data[:-1], lambda data: data[:20] + b"\1" + data[21:]]
)
def test_what_is_no_dump_is_refused(rq: Connection, queue: Queue, damage: Callable[[bytes], bytes]) -> None:
    fill(queue)
    data = queue.dump()
    assert data is not None
    before = contents(queue)
    for name, replace in (("new", False), ("q", True)):
        with pytest.raises(InvalidDump):
            rq.restore(name, damage(data), replace)
    assert contents(queue) == before
    assert rq.queue("new").info() is None


def test_bad_types_of_restore(rq: Connection) -> None:
    with pytest.raises(InvalidType):
        rq.restore("q", "text")  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="replace"):
        rq.restore("q", b"", replace=1)  # type: ignore[arg-type]


def test_a_restore_wakes_who_waits(connect: Callable[[], Connection], queue: Queue) -> None:
    queue.push(b"a")
    data = queue.dump()
    assert data is not None
    found: list[object] = []
    waiting = threading.Thread(target=lambda: found.append(connect().queue("other").pop(timeout=30)), daemon=True)
    waiting.start()
    connect().restore("other", data)
    waiting.join(30)
    (message,) = found
    assert isinstance(message, reliableq.Message) and message.body == b"a"
