"""Options of a push: when and in which order a message is delivered, and what travels with it."""

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import reliableq
from reliableq import Capped, Connection, Duplicate, Headers, Message, Paused, Queue

from tests.support.wait import DEADLINE, wait_until

HOUR = 3600
NEAR = timedelta(minutes=10)
"""Times of places may differ a little, and tests be slow."""


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages]


def popped(queue: Queue, **options: Any) -> Message:
    message = queue.pop(**options)
    assert message is not None
    return message


# When.


def test_a_delayed_message_is_scheduled_until_it_is_due(queue: Queue) -> None:
    id = queue.push(b"later", delay=HOUR)
    now = queue.push(b"now")
    assert len(queue) == 2 and bodies(queue.inspect()) == [b"now"]
    (shown,) = queue.scheduled()
    assert (shown.id, shown.body, shown.state, shown.deliveries) == (id, b"later", "scheduled", 0)
    assert shown.due is not None and abs(shown.due - shown.enqueued - timedelta(hours=1)) < NEAR
    info = queue.info()
    assert info is not None and (info["scheduled"], info["waiting"]) == (1, 1)
    assert popped(queue).id == now and queue.pop() is None
    assert queue.ack(id) is False and queue.nack(id) is False


def test_a_delayed_message_comes_when_it_is_due(queue: Queue) -> None:
    id = queue.push(b"a", delay=0.05)
    message = popped(queue, timeout=DEADLINE)
    assert (message.id, message.deliveries, message.failures) == (id, 1, 0)
    assert queue.scheduled() == []


def test_messages_fall_due_in_the_order_of_their_times(queue: Queue) -> None:
    queue.push_many([b"c", b"d"], delay=0.09)
    queue.push(b"b", delay=timedelta(seconds=0.06))
    queue.push(b"a", delay=0.03)
    assert bodies([popped(queue, timeout=DEADLINE) for _ in range(4)]) == [b"a", b"b", b"c", b"d"]


@pytest.mark.parametrize("as_number", [False, True])
def test_a_message_may_have_a_moment_to_come_at(queue: Queue, as_number: bool) -> None:
    moment = datetime.now(UTC) + timedelta(days=2)
    queue.push(b"a", at=moment.timestamp() if as_number else moment)
    (shown,) = queue.scheduled()
    assert shown.due is not None and abs(shown.due - moment) < NEAR
    assert queue.pop() is None


def test_a_moment_that_is_over_is_now(queue: Queue) -> None:
    queue.push(b"a", at=datetime.now(UTC) - timedelta(days=2))
    queue.push(b"b", at=1)
    queue.push(b"c", delay=0)
    assert bodies(queue.pop_many(3)) == [b"a", b"b", b"c"]


def test_a_message_that_waited_too_long_is_dropped(queue: Queue) -> None:
    queue.push(b"kept", ttl=HOUR)
    queue.push(b"dropped", ttl=0.01)
    wait_until("it is dropped", lambda: len(queue) == 1)
    assert bodies(queue.pop_many(2)) == [b"kept"]
    info = queue.info()
    assert info is not None and (info["expired"], info["dead"]) == (1, 0)


def test_a_message_that_waited_too_long_is_dead_where_the_queue_says_so(rq: Connection) -> None:
    queue = rq.queue("q", expired="dead")
    id = queue.push(b"a", ttl=0.01)
    (letter,) = wait_until("it is dead", queue.dead)
    assert (letter.id, letter.reason, letter.deliveries, letter.consumer) == (id, "expired", 0, None)
    assert queue.pop() is None and len(queue) == 0
    assert queue.redrive() == [id]
    assert popped(queue).id == id


# How often.


def test_a_message_may_have_its_own_number_of_retries(queue: Queue) -> None:
    """In place of the queue's 3 deliveries."""
    queue.push(b"none", retries=0)
    queue.push(b"four", retries=4)
    for _ in range(5):
        assert queue.nack(queue.pop_many(2))
    assert [(letter.body, letter.failures, letter.reason) for letter in queue.dead()] == [
        (b"none", 1, "nack"),
        (b"four", 5, "nack"),
    ]


# The order.


def test_the_front_is_before_what_was_never_delivered(queue: Queue) -> None:
    queue.push_many([b"returned", b"a"])
    assert popped(queue).nack()
    queue.push(b"b")
    queue.push_many([b"third", b"fourth"], front=True)
    queue.push_many([b"first", b"second"], front=True)
    expected = [b"returned", b"first", b"second", b"third", b"fourth", b"a", b"b"]
    assert bodies(queue.inspect()) == expected
    assert bodies(queue.pop_many(9)) == expected


def test_higher_priorities_come_first(queue: Queue) -> None:
    for priority in (0, 7, 255, 7, 1):
        queue.push(b"%d" % priority, priority=priority)
    queue.push(b"7 in front", priority=7, front=True)
    messages = queue.pop_many(9)
    assert bodies(messages) == [b"255", b"7 in front", b"7", b"7", b"1", b"0"]
    assert [message.priority for message in messages] == [255, 7, 7, 7, 1, 0]
    assert messages[3].nack() and messages[5].nack()
    assert bodies(queue.inspect()) == [b"7", b"0"]


# What travels with it.


@pytest.mark.parametrize(
    ("given", "pairs"),
    [
        ({"trace": "1", "type": "é"}, [("trace", "1"), ("type", "é")]),
        ({b"trace": b"1"}, [("trace", "1")]),
        ([("a", "1"), ("b", ""), ("a", "2"), ("", "3")], [("a", "1"), ("b", ""), ("a", "2"), ("", "3")]),
        ([(b"\xff", b"\0\xfe"), ("x", bytearray(b"y"))], [("\udcff", "\0\udcfe"), ("x", "y")]),
        ({"a": "b"}.items(), [("a", "b")]),
        ({}, []),
    ],
    ids=["text", "bytes", "duplicates", "no UTF-8", "an iterable", "none"],
)
def test_headers_travel_with_a_message(queue: Queue, given: Any, pairs: list[tuple[str, str]]) -> None:
    id = queue.push(b"a", headers=given)
    shown, message = queue.get(id), popped(queue)
    assert shown is not None
    for seen in (shown, message):
        assert seen.headers.pairs == pairs
        assert dict(seen.headers) == dict(reversed(pairs))
    assert message.nack()
    again = popped(queue)
    assert again.headers == message.headers
    queue.push(b"b", headers=again.headers)
    assert popped(queue).headers.raw == message.headers.raw


def test_headers_are_a_mapping(queue: Queue) -> None:
    queue.push_many([b"a", b"b"], headers=[("a", "1"), ("a", "2"), ("b", "3")])
    queue.push(b"c")
    first, second, third = queue.pop_many(3)
    assert first.headers == second.headers != third.headers
    assert (first.headers["a"], first.headers.get("c"), len(first.headers)) == ("1", None, 2)
    assert third.headers == {} == Headers() and not third.headers
    with pytest.raises(KeyError):
        first.headers["c"]


def test_all_options_hold_for_all_of_many(queue: Queue) -> None:
    queue.push_many(
        [b"%d" % number for number in range(1500)], delay=HOUR, ttl=60, retries=1, priority=3, headers={"a": "b"}
    )
    (shown,) = queue.get([queue.scheduled(-1)[0].id])
    assert shown is not None
    assert (shown.body, shown.priority, dict(shown.headers), shown.state) == (b"1499", 3, {"a": "b"}, "scheduled")
    info = queue.info()
    assert info is not None and info["scheduled"] == 1500


# Tokens.


def test_a_push_with_a_known_token_gives_the_first_id(queue: Queue) -> None:
    id = queue.push(b"a", token="order 7")
    assert queue.push(b"b", token=b"order 7") == id
    assert queue.push(b"c", token="order 8") != id
    info = queue.info()
    assert info is not None and (info["sent"], info["duplicates"]) == (2, 1)
    message = popped(queue)
    assert (message.body, message.token) == (b"a", b"order 7")
    assert queue.push(b"d", token="order 7") == id
    assert message.ack()
    assert queue.push(b"e", token="order 7") == id, "it left less than the window ago"
    assert popped(queue).body == b"c" and queue.pop() is None


def test_pushes_go_on_after_a_known_token(queue: Queue) -> None:
    """Also where pushes are numbered."""
    queue.push(b"a", token="t")
    for body in (b"b", b"c"):
        queue.push(b"again", token="t")
        queue.push(body)
    assert bodies(queue.inspect()) == [b"a", b"b", b"c"]


def test_a_token_may_have_to_be_new(queue: Queue) -> None:
    id = queue.push(b"a", token="t", unique=True)
    with pytest.raises(Duplicate, match=r"; give another token") as error:
        queue.push(b"b", token="t", unique=True)
    assert error.value.cause and bodies(queue.inspect()) == [b"a"]
    assert queue.push(b"c", token="t") == id
    queue.push(b"d", token="u", unique=True)
    assert bodies(queue.inspect()) == [b"a", b"d"]


def test_only_what_is_answered_counts_as_a_duplicate(rq: Connection) -> None:
    queue = rq.queue("q", maxlen=1)
    id = queue.push(b"a", token="t")
    assert queue.push(b"b", token="t") == id, "it needs no room"
    with pytest.raises(Duplicate):
        queue.push(b"b", token="t", unique=True)
    with pytest.raises(Capped):
        queue.push(b"b", token="u")
    queue.pause("push")
    with pytest.raises(Paused):
        queue.push(b"b", token="t")
    info = queue.info()
    assert info is not None and (info["sent"], info["duplicates"]) == (1, 1)


def test_a_token_is_forgotten_with_its_message_where_there_is_no_window(rq: Connection) -> None:
    queue = rq.queue("q", dedup=0)
    first = queue.push(b"a", token="t")
    assert queue.push(b"b", token="t") == first
    assert popped(queue).ack()
    assert queue.push(b"c", token="t", unique=True) != first
    assert bodies(queue.inspect()) == [b"c"]


@pytest.mark.parametrize(
    "settle", [lambda queue, id: queue.delete(id), lambda queue, id: queue.flush()], ids=["delete", "flush"]
)
def test_a_token_is_remembered_however_its_message_left(queue: Queue, settle: Callable[[Queue, str], object]) -> None:
    id = queue.push(b"a", token="t")
    queue.push(b"kept")
    settle(queue, id)
    assert queue.push(b"b", token="t") == id


def test_the_token_of_a_dead_letter_is_taken(queue: Queue) -> None:
    id = queue.push(b"a", token="t")
    assert popped(queue).nack(dead=True)
    assert queue.push(b"b", token="t") == id
    with pytest.raises(Duplicate):
        queue.push(b"b", token="t", unique=True)


def test_messages_are_acknowledged_by_their_tokens(queue: Queue) -> None:
    for token in ("a", "b", "c"):
        queue.push(b"x", token=token)
    queue.pop_many(2)
    assert queue.ack(tokens=["b", "c", b"a", "unknown"]) == ["b", b"a"]
    assert queue.ack(tokens=["b"]) == queue.ack(tokens=[]) == []
    assert [message.token for message in [popped(queue)]] == [b"c"]


def test_a_queue_that_pushes_with_options_make_is_as_others(rq: Connection) -> None:
    rq.queue("a").push(b"a", priority=1)
    rq.queue("b", preset=reliableq.OKQ).push_many([b"a"], headers={"a": "b"})
    a, b = rq.queue("a").setup(), rq.queue("b").setup()
    assert a is not None and (a["lease"], a["deliveries"]) == (30.0, 3)
    assert b is not None and (b["lease"], b["deliveries"]) == (30.0, 0)
