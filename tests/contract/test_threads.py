"""Many threads on one connection."""

import gc
import sys
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future

import pytest
from reliableq import PLAIN, Closed, Connection, Message, Queue

from tests.contract.conftest import Start
from tests.support.empty import is_empty

LIMIT = 30
"""Seconds after which a thread that should have ended fails its test."""


@pytest.fixture
def restless() -> Iterator[None]:
    """Threads take turns as often as Python can make them."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def test_a_push_wakes_who_waits(queue: Queue, start: Start) -> None:
    for timeout in (None, LIMIT, 3600 * 24 * 365 * 1000.0):
        popped = start(queue.pop, timeout=timeout)
        id = queue.push(b"a")
        message = popped.result(LIMIT)
        assert isinstance(message, Message) and message.id == id
        assert message.ack()


def test_a_wait_that_is_over_returns_nothing(rq: Connection, queue: Queue, start: Start) -> None:
    rq.queue("other").push(b"a")
    assert queue.pop(timeout=0.01) is None
    assert queue.pop_many(5, timeout=0.01) == []
    assert start(queue.pop, timeout=0.01).result(LIMIT) is None
    assert queue.info() is None


def test_one_push_wakes_as_many_as_it_has_messages(queue: Queue, start: Start) -> None:
    waiting = [start(queue.pop, timeout=None) for _ in range(20)]
    ids = queue.push_many([b"a"] * 20)
    found = [popped.result(LIMIT) for popped in waiting]
    assert sorted(message.id for message in found if isinstance(message, Message)) == sorted(ids)


def test_waiting_for_different_queues(rq: Connection, start: Start) -> None:
    names = [f"q{number}" for number in range(20)]
    waiting = {name: start(rq.queue(name).pop, timeout=None) for name in names}
    for name in reversed(names):
        rq.queue(name).push(name.encode())
    for name, popped in waiting.items():
        message = popped.result(LIMIT)
        assert isinstance(message, Message) and message.body == name.encode()


def test_a_push_on_another_connection_wakes_who_waits(connect: Callable[[], Connection], start: Start) -> None:
    with connect() as first, connect() as second:
        popped = start(first.queue("q").pop, timeout=None)
        id = second.queue("q").push(b"a")
        message = popped.result(LIMIT)
        assert isinstance(message, Message) and message.id == id
        assert message.ack()


def test_closing_ends_the_waits_of_this_connection_only(connect: Callable[[], Connection], start: Start) -> None:
    with connect() as first, connect() as second:
        ended = [start(first.queue("q").pop, timeout=None) for _ in range(5)]
        waiting = start(second.queue("q").pop, timeout=None)
        first.close()
        for popped in ended:
            with pytest.raises(Closed):
                popped.result(LIMIT)
        second.queue("q").push(b"a")
        message = waiting.result(LIMIT)
        assert isinstance(message, Message) and message.ack()


@pytest.mark.usefixtures("restless")
@pytest.mark.parametrize("size", [10, 70_000], ids=["short", "long"])
def test_nothing_is_lost_and_nothing_comes_twice(queue: Queue, start: Start, size: int) -> None:
    """Short bodies keep the GIL, long ones release it, so that the threads meet at the lock."""
    pushes = 500 if size < 1000 else 50
    finished = threading.Event()

    def produce(number: int) -> list[str]:
        ids: list[str] = []
        for push in range(pushes):
            body = f"{number}-{push}-".encode().ljust(size, b".")
            ids += queue.push_many([body, body]) if push % 2 else [queue.push(body)]
        return ids

    def consume() -> list[str]:
        done: list[str] = []
        while not finished.is_set() or len(queue) > 0:
            done += queue.ack(queue.pop_many(3, timeout=0.01))
        return done

    consuming = [start(consume) for _ in range(4)]
    producing = [start(produce, number) for number in range(4)]
    pushed = [id for ids in producing for id in _ids(ids)]
    finished.set()
    done = [id for ids in consuming for id in _ids(ids)]
    assert sorted(done) == sorted(pushed)
    assert is_empty(queue)


def _ids(future: "Future[object]") -> list[str]:
    ids = future.result(LIMIT)
    assert isinstance(ids, list)
    return ids


@pytest.mark.usefixtures("restless")
def test_recovering_consumers_acknowledge_each_message_once(rq: Connection, start: Start) -> None:
    """However often it takes: where deliveries are limited, some would die."""
    queue = rq.queue("q", preset=PLAIN)
    ids = queue.push_many([b"a"] * 500)

    def consume() -> list[str]:
        done: list[str] = []
        while len(queue) > 0:
            messages = queue.pop_many(5) or queue.recover(5, elapsed=0)
            done += queue.ack(messages)
        return done

    done = [id for each in [start(consume) for _ in range(6)] for id in _ids(each)]
    assert sorted(done) == sorted(ids)
    assert is_empty(queue)


def test_objects_that_use_the_queue_when_they_die(queue: Queue) -> None:
    """The collector may run wherever an object is made; it must not find the lock held."""

    class Last:
        def __init__(self) -> None:
            self.me = self

        def __del__(self) -> None:
            queue.push(b"last")
            queue.pop_many(2)

    before = gc.get_threshold()
    gc.set_threshold(1)
    try:
        for _ in range(200):
            Last()
            queue.push_many([bytearray(b"a"), b"b"])
            queue.ack([message.id for message in queue.pop_many(10)])
            queue.info()
            queue.inspect(pending=True)
    finally:
        gc.set_threshold(*before)
