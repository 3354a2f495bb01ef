"""Options of a pop: for how long, for whom, and how much."""

from datetime import timedelta
from typing import Any

import pytest
from reliableq import PLAIN, Connection, Message, Queue

from tests.support.empty import is_empty
from tests.support.wait import DEADLINE, wait_until

HOUR = 3600
SHORT = 0.02
"""Seconds of a lease that ends soon."""


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages]


def popped(queue: Queue, **options: Any) -> Message:
    message = queue.pop(**options)
    assert message is not None
    return message


def lease_of(message: Message) -> timedelta | None:
    if message.deadline is None:
        return None
    assert message.last_delivery is not None
    return message.deadline - message.last_delivery


# Leases.


def test_a_pop_has_the_queue_s_lease_or_its_own(rq: Connection, queue: Queue) -> None:
    queue.push_many([b"a"] * 5)
    given: list[dict[str, Any]] = [{}, {"lease": 7}, {"lease": timedelta(minutes=1)}, {"lease": 0.0015}, {"lease": 0}]
    found = [lease_of(popped(queue, **options)) for options in given]
    seconds = [None if lease is None else lease.total_seconds() for lease in found]
    assert seconds == [30, 7, 60, 0.002, None]
    plain = rq.queue("plain", preset=PLAIN)
    plain.push(b"a")
    assert popped(plain).deadline is None


def test_a_message_comes_back_when_its_lease_ends(queue: Queue) -> None:
    id = queue.push(b"a")
    late = popped(queue, lease=SHORT)
    again = popped(queue, timeout=DEADLINE)
    assert (again.id, again.deliveries, again.failures) == (id, 2, 1)
    assert again.receipt != late.receipt
    assert (late.ack(), late.nack(), late.extend(5)) == (False, False, False)
    info = queue.info()
    assert info is not None and (info["returned"], info["returned_lease"], info["delivered"]) == (1, 1, 1)
    assert again.ack() is True and is_empty(queue)


def test_what_comes_back_is_before_the_others(queue: Queue) -> None:
    first, second, _ = queue.push_many([b"a", b"b", b"c"])
    queue.pop_many(2, lease=SHORT)
    wait_until("both are back", lambda: len(queue.inspect()) == 3)
    assert [message.id for message in queue.pop_many(2)] == [first, second]


def test_the_last_lease_that_ends_makes_a_dead_letter(rq: Connection) -> None:
    queue = rq.queue("q", deliveries=2, lease=SHORT)
    id = queue.push(b"a")
    popped(queue)
    popped(queue, timeout=DEADLINE, consumer="c")
    (letter,) = wait_until("it is dead", queue.dead)
    assert (letter.id, letter.deliveries, letter.failures) == (id, 2, 2)
    assert (letter.reason, letter.consumer) == ("lease", "c")
    assert letter.died is not None and letter.died >= letter.enqueued
    assert len(queue) == 0 and queue.pop() is None


def test_a_lease_that_ended_waits_for_the_back_off(rq: Connection) -> None:
    queue = rq.queue("q", lease=SHORT, backoff=HOUR)
    id = queue.push(b"a")
    popped(queue)
    (shown,) = wait_until("it is scheduled", queue.scheduled)
    assert shown.id == id and shown.due is not None
    assert queue.pop() is None


# Consumers.


def test_a_consumer_holds_what_it_popped(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    message = popped(queue, consumer="é")
    assert message.consumer == "é"
    assert [each.consumer for each in queue.pop_many(2)] == [None, None]
    assert bodies(queue.inspect(state="delivered", consumer="é")) == [b"a"]
    (row,) = queue.consumers()
    assert (row.name, row.pending) == ("é", 1)
    assert row.idle >= 0 and row.last_seen is not None and row.last_seen >= message.enqueued
    info = queue.info()
    assert info is not None and info["consumers"] == 1
    message.ack()
    assert queue.consumers() == []


def test_a_consumer_that_is_deleted_lets_go(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    queue.pop_many(2, consumer="x")
    queue.pop_many(1, consumer="y")
    assert queue.delete_consumer("x") == 2
    assert queue.delete_consumer("x") == queue.delete_consumer("nobody") == 0
    again = queue.pop_many(3)
    assert [(message.body, message.deliveries, message.failures) for message in again] == [(b"a", 2, 0), (b"b", 2, 0)]
    assert [row.name for row in queue.consumers()] == ["y"]
    assert queue.delete_consumer("y") == 1


def test_at_most_so_many_are_in_flight(rq: Connection) -> None:
    queue = rq.queue("q", inflight=2)
    queue.push_many([b"a"] * 9)
    unnamed = queue.pop_many(9)
    assert len(unnamed) == 2 and queue.pop() is None
    assert len(queue.pop_many(9, consumer="x")) == 2 and queue.pop(consumer="x") is None
    assert len(queue.pop_many(1, consumer="y")) == 1
    assert unnamed[0].ack()
    assert len(queue.pop_many(9)) == 1
    assert queue.setup(inflight=0) is not None
    assert len(queue.pop_many(9)) == 3


# How much, and how surely.


def test_without_acks_a_message_comes_at_most_once(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    message = popped(queue, no_ack=True)
    assert message.body == b"a" and message.ack() is False
    assert bodies(queue.pop_many(1, no_ack=True, consumer="c")) == [b"b"]
    assert queue.inspect(pending=True) == [] and len(queue) == 1
    info = queue.info()
    assert info is not None and (info["received"], info["deleted"]) == (2, 2)
    popped(queue, no_ack=True)
    assert is_empty(queue)


def test_what_needs_no_ack_is_never_in_flight(rq: Connection) -> None:
    queue = rq.queue("q", inflight=2)
    queue.push_many([b"a", b"b", b"c", b"d", b"e"])
    assert len(queue.pop_many(9, prefetch=True)) == 2 and queue.pop() is None
    assert bodies(queue.pop_many(2, no_ack=True)) == [b"c", b"d"]
    assert bodies(queue.claim(queue.inspect(pending=True), "c")) == [b"a", b"b"]
    assert queue.pop(consumer="c") is None and popped(queue, consumer="c", no_ack=True).body == b"e"


def test_a_pop_may_stop_at_so_many_bytes(queue: Queue) -> None:
    queue.push_many([b"a" * 10, b"b" * 10, b"c", b"d" * 100, b"e"])
    assert len(queue.pop_many(9, max_bytes=20)) == 2
    assert len(queue.pop_many(9, max_bytes=1)) == 1
    assert len(queue.pop_many(9, max_bytes=99)) == 1, "one comes in any case"
    assert bodies(queue.pop_many(9, max_bytes=99)) == [b"e"]


def test_work_that_did_not_begin_has_not_failed(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    first, second = queue.pop_many(2, prefetch=True, lease=SHORT)
    again = queue.pop_many(1, timeout=DEADLINE)
    wait_until("both are back", lambda: len(queue.inspect()) + len(again) == 2)
    again += queue.pop_many(1)
    assert [(message.id, message.deliveries, message.failures) for message in again] == [
        (first.id, 2, 0),
        (second.id, 2, 0),
    ]


def test_work_that_began_has_failed(queue: Queue) -> None:
    queue.push(b"a")
    assert popped(queue, prefetch=True).extend(SHORT, start=True)
    again = popped(queue, timeout=DEADLINE, prefetch=True)
    assert (again.deliveries, again.failures) == (2, 1)
    assert again.nack()
    assert popped(queue).failures == 1, "a nack of what did not begin counts nothing"


def test_all_options_together(queue: Queue) -> None:
    queue.push_many([b"aa", b"b", b"c"])
    for _ in range(2):
        found = queue.pop_many(5, DEADLINE, lease=HOUR, consumer="c", prefetch=True, max_bytes=3)
        assert bodies(found) == [b"aa", b"b"]
        assert {message.consumer for message in found} == {"c"}
        assert queue.delete_consumer("c") == 2


@pytest.mark.parametrize("options", [{"lease": 9}, {"consumer": "c"}, {"no_ack": True}, {"prefetch": True}])
def test_a_pop_with_options_of_nothing(queue: Queue, options: dict[str, Any]) -> None:
    assert queue.pop(**options) is None
    assert queue.pop(timeout=0.01, **options) is None
    assert queue.pop_many(5, **options) == []
    assert queue.info() is None and queue.consumers() == []
