"""What is refused: it says what was expected, and changes nothing."""

import math
import pickle
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import reliableq
from reliableq import Error, InvalidArgument, InvalidBody, InvalidId, Queue
from reliableq.arguments import milliseconds

BAD_COUNTS = [0, -1, 1 << 63, -(1 << 63), 1 << 64, 10**400, -(10**5000)]
BAD_TIMES = [-1, -0.001, math.nan, math.inf, -math.inf, 1e300, 10**400, timedelta(microseconds=-1)]
BAD_IDS = ["", "-", "1", "1-", "-1", "1-1-1", "a-b", "01-1", "1-01", "+1-1", " 1-1", "1-1\0", "9" * 400 + "-1", "é-1"]


@pytest.fixture
def full(queue: Queue) -> Queue:
    """A queue with messages of both kinds."""
    queue.push_many([b"a", b"b", b"c", b"d"])
    queue.pop_many(2)
    return queue


def state(queue: Queue) -> Any:
    info: dict[str, Any] = dict(queue.info() or {})
    info.pop("age", None)
    rows = [
        (m.id, m.body, m.deliveries, m.last_delivery) for m in queue.inspect(0, 99) + queue.inspect(0, 99, pending=True)
    ]
    return info, rows


def refused(queue: Queue, kind: type[Exception], call: Callable[[], object]) -> str:
    before = state(queue)
    with pytest.raises(kind) as error:
        call()
    assert state(queue) == before
    return str(error.value)


@pytest.mark.parametrize("count", BAD_COUNTS, ids=lambda count: hex(count)[:20])
@pytest.mark.parametrize(
    "call",
    [
        lambda queue, count: queue.pop_many(count),
        lambda queue, count: queue.pop_many(count, timeout=None),
        lambda queue, count: queue.recover(count, elapsed=0),
        lambda queue, count: queue.inspect(0, count),
        lambda queue, count: queue.inspect(0, count, pending=True),
    ],
    ids=["pop", "pop-waiting", "recover", "inspect", "inspect-pending"],
)
def test_bad_count(full: Queue, call: Callable[[Queue, int], object], count: int) -> None:
    text = refused(full, InvalidArgument, lambda: call(full, count))
    assert "count" in text and "from 1" in text


@pytest.mark.parametrize("start", [1 << 63, -(1 << 63) - 1])
def test_bad_start(full: Queue, start: int) -> None:
    assert "start" in refused(full, InvalidArgument, lambda: full.inspect(start, 1))


@pytest.mark.parametrize("time", BAD_TIMES, ids=lambda time: str(time)[:20])
def test_bad_time(full: Queue, time: float) -> None:
    assert "timeout" in refused(full, InvalidArgument, lambda: full.pop(timeout=time))
    assert "timeout" in refused(full, InvalidArgument, lambda: full.pop_many(1, timeout=time))
    assert "elapsed" in refused(full, InvalidArgument, lambda: full.recover(elapsed=time))


@pytest.mark.parametrize("id", BAD_IDS, ids=lambda id: repr(id)[:20])
def test_bad_id(full: Queue, id: str) -> None:
    good = full.inspect(pending=True)[0].id
    for call in (lambda: full.ack(id), lambda: full.ack([id]), lambda: full.ack([good, id])):
        text = refused(full, InvalidId, call)
        assert "milliseconds-sequence" in text
        assert len(text) < 300


def test_text_is_no_body(full: Queue) -> None:
    assert "encode()" in refused(full, InvalidBody, lambda: full.push("text"))  # type: ignore[arg-type]
    assert "encode()" in refused(full, InvalidBody, lambda: full.push_many([b"a", "text"]))  # type: ignore[list-item]
    assert "encode()" in refused(full, InvalidBody, lambda: full.push_many("text"))  # type: ignore[arg-type]
    assert issubclass(InvalidBody, TypeError)


@pytest.mark.parametrize("body", [None, 1, 1.5, [1, 2], {"a": 1}, object()], ids=lambda body: type(body).__name__)
def test_other_values_are_no_body(full: Queue, body: Any) -> None:
    text = refused(full, InvalidBody, lambda: full.push(body))
    assert f"not {type(body).__name__}" in text


@pytest.mark.parametrize(
    "call",
    [
        lambda queue: queue.pop_many("1"),
        lambda queue: queue.pop_many(1.0),
        lambda queue: queue.inspect("0", 1),
        lambda queue: queue.pop(timeout="1"),
        lambda queue: queue.recover(1, elapsed=None),
        lambda queue: queue.ack(1),
        lambda queue: queue.ack(b"1-1"),
        lambda queue: queue.ack([1]),
        lambda queue: queue.push_many(1),
    ],
)
def test_wrong_types(full: Queue, call: Callable[[Any], object]) -> None:
    refused(full, TypeError, lambda: call(full))


def test_a_name_is_text(rq: reliableq.Connection) -> None:
    with pytest.raises(TypeError, match="not bytes"):
        rq.queue(b"q")  # type: ignore[arg-type]


def test_a_message_of_another_queue_is_not_acknowledged(rq: reliableq.Connection, full: Queue) -> None:
    """Its ID may be that of a message here."""
    (message,) = full.inspect(0, 1, pending=True)
    other = rq.queue("other")
    with pytest.raises(InvalidArgument, match=r"'q', not 'other'"):
        other.ack(message)
    with pytest.raises(InvalidArgument, match=r"own ack\(\)"):
        other.ack([message])


def test_what_the_iterable_of_a_push_raises_comes_out(full: Queue) -> None:
    def feed() -> Any:
        yield b"a"
        raise RuntimeError("the source ended")

    assert refused(full, RuntimeError, lambda: full.push_many(feed())) == "the source ended"


@pytest.mark.parametrize(
    ("duration", "expected"),
    [
        (0, 0),
        (0.0, 0),
        (1e-9, 1),
        (0.0004, 1),
        (0.001, 1),
        (0.0011, 2),
        (0.07, 70),
        (1.001, 1001),
        (5, 5000),
        (timedelta(), 0),
        (timedelta(microseconds=1), 1),
        (timedelta(days=1), 86_400_000),
    ],
)
def test_durations_are_rounded_up_to_milliseconds(duration: float | timedelta, expected: int) -> None:
    assert milliseconds("elapsed", duration) == expected


def test_an_error_has_a_cause_and_a_remedy(queue: Queue) -> None:
    with pytest.raises(Error) as caught:
        queue.pop_many(0)
    error = caught.value
    assert isinstance(error, ValueError)
    assert str(error) == f"{error.cause}; {error.remedy}"
    copy = pickle.loads(pickle.dumps(error))
    assert (type(copy), copy.cause, copy.remedy) == (type(error), error.cause, error.remedy)
