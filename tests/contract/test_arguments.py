"""What is refused: it says what was expected, and changes nothing."""

import math
import pickle
import re
from collections.abc import Callable
from datetime import datetime, timedelta
from decimal import Decimal
from fractions import Fraction
from typing import Any

import pytest
import reliableq
from reliableq import Error, InvalidArgument, InvalidBody, InvalidId, InvalidType, Queue
from reliableq.arguments import milliseconds

BAD_COUNTS = [0, -1, 1 << 63, -(1 << 63), 1 << 64, 10**400, -(10**5000)]
BAD_TIMES: list[Any] = [-1, -0.001, math.nan, math.inf, -math.inf, 1e300, 10**400, timedelta(microseconds=-1)]
BAD_TIMES += [Decimal("NaN"), Decimal("sNaN"), Decimal("1e999"), Decimal(-1), Fraction(10**400)]
BAD_IDS = [
    "",
    "-",
    "1",
    "1-",
    "-1",
    "1-1-1",
    "a-b",
    "01-1",
    "1-01",
    "+1-1",
    " 1-1",
    "1-1\0",
    "9" * 400 + "-1",
    "é-1",
    "\u0667-1",  # a digit, but not of ASCII
    "it's",
    'a"b',
    "é" * 61,
    "\ud800-1",
]


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
    text = refused(full, InvalidArgument, lambda: full.pop(timeout=time))
    assert "timeout" in text and "from 0 to 9223372036854775, " in text and "None to wait for ever" in text
    assert "timeout" in refused(full, InvalidArgument, lambda: full.pop_many(1, timeout=time))
    assert "elapsed" in refused(full, InvalidArgument, lambda: full.recover(elapsed=time))


@pytest.mark.parametrize("id", BAD_IDS, ids=lambda id: repr(id)[:20])
def test_bad_id(full: Queue, id: str) -> None:
    good = full.inspect(pending=True)[0].id
    for call in (lambda: full.ack(id), lambda: full.ack([id]), lambda: full.ack([good, id])):
        text = refused(full, InvalidId, call)
        more = "..." if len(id) > 60 else ""
        assert text == f"{id[:60]!a}{more} is no message ID; expected milliseconds-sequence, such as 1601155608777-1"


def test_text_is_no_body(full: Queue) -> None:
    assert "encode()" in refused(full, InvalidBody, lambda: full.push("text"))  # type: ignore[arg-type]
    assert "encode()" in refused(full, InvalidBody, lambda: full.push_many([b"a", "text"]))  # type: ignore[list-item]
    assert "encode()" in refused(full, InvalidBody, lambda: full.push_many("text"))  # type: ignore[arg-type]
    assert issubclass(InvalidBody, TypeError)


@pytest.mark.parametrize("body", [None, 1, 1.5, [1, 2], {"a": 1}, object()], ids=lambda body: type(body).__name__)
def test_other_values_are_no_body(full: Queue, body: Any) -> None:
    text = refused(full, InvalidBody, lambda: full.push(body))
    assert text.endswith(f", not {type(body).__name__}; turn it into bytes")


class Other:
    """A type that nothing takes."""

    def __repr__(self) -> str:
        return "Other()"


TEXTS: list[Any] = ["", "1", b"", b"1"]
OTHERS: list[Any] = [(), [], [1], {}, {"a": 1}, 1j, Other(), Other, len]
NO_COUNTS = [None, True, False, 1.0, 0.5, math.nan, Decimal(1), timedelta(1), *TEXTS, *OTHERS]
NO_TIMES = [True, False, datetime(2026, 1, 1), *TEXTS, *OTHERS]


def told_type(value: object) -> str:
    return "None" if value is None else type(value).__name__


def refused_type(queue: Queue, expected: str, given: object, call: Callable[[], object]) -> None:
    text = refused(queue, InvalidType, call)
    assert re.search(f"{expected}.*, not {told_type(given)}; ", text), text


@pytest.mark.parametrize("count", NO_COUNTS, ids=repr)
def test_a_count_and_a_position_are_whole_numbers(full: Queue, count: Any) -> None:
    for call in (
        lambda: full.pop_many(count),
        lambda: full.pop_many(count, timeout=None),
        lambda: full.recover(count, elapsed=0),
        lambda: full.inspect(0, count),
        lambda: full.inspect(0, count, pending=True),
    ):
        refused_type(full, "count is a whole number", count, call)
    refused_type(full, "start is a whole number", count, lambda: full.inspect(count))


@pytest.mark.parametrize("time", NO_TIMES, ids=repr)
def test_a_time_is_a_number_or_a_timedelta(full: Queue, time: Any) -> None:
    for call in (lambda: full.pop(time), lambda: full.pop(timeout=time), lambda: full.pop_many(1, timeout=time)):
        refused_type(full, "timeout is seconds or a timedelta", time, call)
    refused_type(full, "elapsed is seconds or a timedelta", time, lambda: full.recover(elapsed=time))


def test_elapsed_has_no_for_ever(full: Queue) -> None:
    for_ever: Any = None
    refused_type(full, "elapsed is seconds or a timedelta", None, lambda: full.recover(elapsed=for_ever))


@pytest.mark.parametrize("pending", [None, 0, 1, 1.0, *TEXTS, *OTHERS], ids=repr)
def test_pending_is_a_bool(full: Queue, pending: Any) -> None:
    refused_type(full, "pending is a bool", pending, lambda: full.inspect(pending=pending))


@pytest.mark.parametrize("id", [None, 1, 1.5, True, *OTHERS, [None], [["1-1"]]], ids=repr)
def test_other_values_are_no_message(full: Queue, id: Any) -> None:
    good = full.inspect(pending=True)[0]
    refused_type(full, r"ack\(\) takes a Message, or an ID as a str", id, lambda: full.ack([good, id]))
    if not hasattr(id, "__iter__"):
        refused_type(full, r"ack\(\) takes a Message, an ID as a str, or an iterable", id, lambda: full.ack(id))


@pytest.mark.parametrize("id", [b"", b"1-1", bytearray(b"1-1"), memoryview(b"1-1")], ids=told_type)
def test_bytes_are_no_id(full: Queue, id: Any) -> None:
    for call in (lambda: full.ack(id), lambda: full.ack([id])):
        refused_type(full, r"ack\(\) takes a Message, .* ID as a str", id, call)
        assert "id.decode()" in refused(full, InvalidType, call)


def test_the_ack_of_a_pop_that_got_nothing_says_so(full: Queue) -> None:
    full.pop_many(9)
    nothing: Any = full.pop()
    assert "no message came" in refused(full, InvalidType, lambda: full.ack(nothing))


@pytest.mark.parametrize("bodies", [None, 1, 1.5, True, Other(), Other, len], ids=repr)
def test_many_bodies_are_an_iterable(full: Queue, bodies: Any) -> None:
    refused_type(full, r"push_many\(\) takes an iterable of bodies", bodies, lambda: full.push_many(bodies))


@pytest.mark.parametrize("body", ["", "text", b"", b"body", bytearray(b"body"), memoryview(b"body")], ids=told_type)
def test_one_body_is_not_many(full: Queue, body: Any) -> None:
    refused_type(full, r"push_many\(\) takes an iterable of bodies", body, lambda: full.push_many(body))
    text = refused(full, InvalidBody, lambda: full.push_many(body))
    assert "use push()" in text and ("encode()" in text) == isinstance(body, str)


@pytest.mark.parametrize("bound", ["-", "+", "", "1", "((1-1"])
def test_a_bound_is_an_id_and_none_the_end(full: Queue, bound: str) -> None:
    for call in (lambda: full.range(bound), lambda: full.range(None, bound)):
        assert "None for the end of the queue" in refused(full, InvalidId, call)


@pytest.mark.parametrize("name", [None, 1, True, b"q", bytearray(b"q"), ("q",), Other()], ids=repr)
def test_a_name_is_text(rq: reliableq.Connection, name: Any) -> None:
    with pytest.raises(InvalidType, match=f"a queue's name is a str, not {told_type(name)}; give it as text"):
        rq.queue(name)


@pytest.mark.parametrize("name", ["\ud800", "a\udfffb", "\udc80" * 1000])
def test_a_name_has_no_half_characters(rq: reliableq.Connection, name: str) -> None:
    with pytest.raises(InvalidArgument, match=r"queue's name '.*\\ud.*UTF-8; .*surrogates") as error:
        rq.queue(name)
    assert str(error.value).isascii() and len(str(error.value)) < 600


@pytest.mark.parametrize(
    ("number", "expected"),
    [(Decimal("0.07"), 70), (Fraction(1, 3), 334), (Decimal(0), 0), (-0.0, 0), (1 << 40, 1000 << 40)],
)
def test_a_time_is_any_number(number: Any, expected: int) -> None:
    assert milliseconds("elapsed", number) == expected


def test_a_count_is_any_whole_number(full: Queue) -> None:
    class Two:
        def __index__(self) -> int:
            return 2

    two: Any = Two()
    assert len(full.inspect(0, two)) == 2
    assert full.inspect(two) == []
    assert len(full.pop_many((1 << 63) - 1)) == 2
    assert full.inspect(-(1 << 63), (1 << 63) - 1) == []


def test_an_error_of_a_type_is_of_both_families() -> None:
    assert issubclass(InvalidType, Error) and issubclass(InvalidType, TypeError)
    assert issubclass(InvalidBody, InvalidType)


def test_a_message_of_another_queue_is_not_acknowledged(rq: reliableq.Connection, full: Queue) -> None:
    """Its ID may be that of a message here."""
    (message,) = full.inspect(0, 1, pending=True)
    other = rq.queue("other")
    with pytest.raises(InvalidArgument, match=r"'q', not 'other'"):
        other.ack(message)
    with pytest.raises(InvalidArgument, match="use its own queue"):
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
