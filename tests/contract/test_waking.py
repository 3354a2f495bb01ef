"""Who waits is woken by whatever lets a message wait."""

from collections.abc import Callable
from typing import Any

import pytest
from reliableq import Connection, Message, Queue

from tests.contract.conftest import Start
from tests.support.wait import DEADLINE, wait_until

SOON = 0.3
"""Seconds until something happens, long enough for another thread to wait by then."""

Connect = Callable[[], Connection]


def held(queue: Queue, **options: Any) -> Message:
    """A message that somebody holds for ever."""
    queue.push(b"held", **options)
    message = queue.pop(lease=0)
    assert message is not None
    return message


def woken(connect: Connect, start: Start, queue: Queue, step: Callable[[], object], **options: Any) -> Message:
    """What a pop of another connection gets, that waited when this step was made."""
    before = queue.status().consumers
    popping = start(connect().queue(queue.name).pop, timeout=None, **options)
    wait_until("it waits", lambda: queue.status().consumers > before)
    assert not popping.done()
    step()
    message = popping.result(DEADLINE)
    assert isinstance(message, Message)
    return message


def test_the_end_of_a_lease_wakes(connect: Connect, queue: Queue, start: Start) -> None:
    message = held(queue)
    again = woken(connect, start, queue, lambda: message.extend(0.02))
    assert (again.id, again.deliveries) == (message.id, 2)


def test_a_lease_that_was_set_before_wakes(connect: Connect, queue: Queue, start: Start) -> None:
    message = held(queue)
    message.extend(SOON)
    assert woken(connect, start, queue, lambda: None).id == message.id


def test_a_message_that_falls_due_wakes(connect: Connect, queue: Queue, start: Start) -> None:
    queue.push(b"hours", delay=3600)
    assert woken(connect, start, queue, lambda: queue.push(b"soon", delay=0.02)).body == b"soon"


def test_a_message_that_was_scheduled_before_wakes(connect: Connect, queue: Queue, start: Start) -> None:
    queue.push(b"soon", delay=SOON)
    assert woken(connect, start, queue, lambda: None).body == b"soon"


def test_a_nack_wakes(connect: Connect, queue: Queue, start: Start) -> None:
    message = held(queue)
    assert woken(connect, start, queue, message.nack).id == message.id


def test_a_nack_with_a_delay_wakes_later(connect: Connect, queue: Queue, start: Start) -> None:
    message = held(queue)
    assert woken(connect, start, queue, lambda: message.nack(0.02)).id == message.id


def test_a_redrive_wakes(connect: Connect, queue: Queue, start: Start) -> None:
    message = held(queue)
    message.nack(dead=True)
    again = woken(connect, start, queue, queue.redrive)
    assert (again.id, again.deliveries, again.failures) == (message.id, 2, 0)


def test_a_consumer_that_is_deleted_wakes(connect: Connect, queue: Queue, start: Start) -> None:
    queue.push(b"a")
    queue.pop(consumer="c")
    assert woken(connect, start, queue, lambda: queue.delete_consumer("c")).body == b"a"


def test_a_forward_wakes(connect: Connect, queue: Queue, start: Start) -> None:
    message, other = held(queue), connect().queue("other")
    assert woken(connect, start, other, lambda: queue.forward(message, "other", b"b")).body == b"b"


def test_a_pause_keeps_waiting_until_it_ends(connect: Connect, queue: Queue, start: Start) -> None:
    queue.pause()
    queue.push(b"a")
    assert woken(connect, start, queue, queue.resume).body == b"a"


def test_who_waits_while_a_pause_begins_goes_on_waiting(connect: Connect, queue: Queue, start: Start) -> None:
    def pause_push_resume() -> None:
        queue.pause()
        queue.push(b"a")
        assert queue.peek() is not None
        queue.resume("all")

    assert woken(connect, start, queue, pause_push_resume).body == b"a"


@pytest.mark.parametrize("settle", ["ack", "nack", "delete", "lease"])
def test_room_in_flight_wakes(rq: Connection, connect: Connect, start: Start, settle: str) -> None:
    queue = rq.queue("q", inflight=1)
    message = held(queue)
    queue.push(b"next")
    steps: dict[str, Callable[[], object]] = {
        "ack": message.ack,
        "nack": lambda: message.nack(3600),
        "delete": lambda: queue.delete(message),
        "lease": lambda: message.extend(0.02),
    }
    found = woken(connect, start, queue, steps[settle])
    assert found.body == (b"held" if settle == "lease" else b"next")


def test_more_room_in_flight_wakes(rq: Connection, connect: Connect, start: Start) -> None:
    queue = rq.queue("q", inflight=1)
    held(queue)
    queue.push(b"next")
    assert woken(connect, start, queue, lambda: queue.setup(inflight=2)).body == b"next"


def test_room_of_one_consumer_is_not_another_s(rq: Connection, connect: Connect, start: Start) -> None:
    """A consumer counts once, whether it holds something, waits, or both: that it waits is not seen."""
    queue = rq.queue("q", inflight=1)
    queue.push_many([b"a", b"b", b"c"])
    mine, other = queue.pop(consumer="x"), queue.pop(consumer="y")
    assert mine is not None and other is not None
    popping = start(connect().queue("q").pop, timeout=None, consumer="x")
    assert other.ack()
    assert bodies_left(queue) == [b"c"] and not popping.done()
    assert mine.ack()
    message = popping.result(DEADLINE)
    assert isinstance(message, Message) and message.body == b"c"


def bodies_left(queue: Queue) -> list[bytes]:
    return [message.body for message in queue.inspect()]


def test_options_of_a_pop_that_waited(connect: Connect, queue: Queue, start: Start) -> None:
    message = woken(connect, start, queue, lambda: queue.push(b"a", priority=3), consumer="c", lease=3600)
    assert (message.consumer, message.priority) == ("c", 3)
    assert message.deadline is not None and message.last_delivery is not None
    assert (message.deadline - message.last_delivery).total_seconds() == 3600
    assert message.ack()


def test_each_that_falls_due_wakes_one(connect: Connect, queue: Queue, start: Start) -> None:
    popping = [start(connect().queue("q").pop, timeout=None) for _ in range(5)]
    wait_until("they wait", lambda: queue.status().consumers == 5)
    ids = [queue.push(b"a", delay=0.02 * number) for number in range(5)]
    found = [pop.result(DEADLINE) for pop in popping]
    assert sorted(message.id for message in found if isinstance(message, Message)) == sorted(ids)
