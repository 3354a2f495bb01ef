"""reliableq.testing: days that pass in a moment."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import reliableq
from reliableq import Closed, InvalidArgument, InvalidType, Message, Queue
from reliableq.testing import Clock

from tests.support.process import owner
from tests.support.wait import DEADLINE, wait_until

DAY = 24 * 3600
HOUR = 3600


@pytest.fixture
def clock() -> Iterator[Clock]:
    with Clock() as clock:
        yield clock


@pytest.fixture(params=["memory", "file"])
def rq(request: pytest.FixtureRequest, clock: Clock, tmp_path: Path) -> reliableq.Connection:
    return clock.connect("memory:" if request.param == "memory" else f"file:{tmp_path}/clock.rq")


def popped(queue: Queue) -> Message:
    message = queue.pop()
    assert message is not None
    return message


def test_a_policy_of_days(rq: reliableq.Connection, clock: Clock) -> None:
    """Tried again after an hour, then twice as long each time, at most a day, and given up after the fifth failure."""
    queue = rq.queue("q", lease=10 * 60, deliveries=5, backoff=(HOUR, 4, DAY))
    queue.push(b"report")
    for failures, wait in enumerate((HOUR, 4 * HOUR, 16 * HOUR, DAY)):
        assert popped(queue).failures == failures
        clock.advance(10 * 60 - 0.001)
        assert queue.inspect(pending=True) != []
        clock.advance(0.001)
        assert queue.inspect(pending=True) == queue.inspect() == []
        clock.advance(wait - 0.001)
        assert queue.pop() is None
        clock.advance(timedelta(milliseconds=1))
    popped(queue)
    clock.advance(10 * 60)
    (letter,) = queue.dead()
    assert (letter.failures, letter.reason) == (5, "lease")
    assert letter.died is not None and letter.died.timestamp() == clock.now()


def test_its_time_is_the_queue_s(rq: reliableq.Connection, clock: Clock) -> None:
    before = clock.now()
    assert clock.now() == before, "it stands still"
    assert abs(before - datetime.now(UTC).timestamp()) < 600
    clock.advance(10 * DAY)
    assert clock.now() == before + 10 * DAY
    queue = rq.queue("q")
    queue.push(b"a")
    message = popped(queue)
    assert message.last_delivery is not None and message.deadline is not None
    assert message.last_delivery.timestamp() == message.enqueued.timestamp() == clock.now()
    assert message.deadline - message.last_delivery == timedelta(seconds=30)
    clock.advance(29.999)
    assert message.extend(60)
    clock.advance(59.999)
    assert message.ack()


def test_times_to_live(rq: reliableq.Connection, clock: Clock) -> None:
    queue = rq.queue("q")
    queue.push(b"in time", ttl=HOUR)
    queue.push(b"too late", ttl=HOUR, delay=HOUR)
    clock.advance(HOUR - 0.001)
    message = popped(queue)
    assert message.body == b"in time"
    clock.advance(0.001)
    assert [each.body for each in queue.inspect()] == [b"too late"]
    clock.advance(HOUR)
    assert queue.pop_many(2, timeout=0)[0].id == message.id, "its time ended with its first delivery"
    info = queue.info()
    assert info is not None and (info["expired"], info["returned_lease"]) == (1, 1)


def test_the_window_of_a_token(rq: reliableq.Connection, clock: Clock) -> None:
    queue = rq.queue("q", dedup=DAY)
    first = queue.push(b"a", token="t")
    assert popped(queue).ack()
    clock.advance(DAY - 0.001)
    assert queue.push(b"b", token="t") == first
    clock.advance(0.001)
    assert queue.push(b"c", token="t") != first


def test_dead_letters_go(rq: reliableq.Connection, clock: Clock) -> None:
    queue = rq.queue("q", deadttl=7 * DAY)
    queue.push(b"a")
    assert popped(queue).nack(dead=True)
    clock.advance(7 * DAY - 0.001)
    assert len(queue.dead()) == 1
    clock.advance(0.001)
    assert queue.dead() == []


def test_a_moment_and_recover(rq: reliableq.Connection, clock: Clock) -> None:
    queue = rq.queue("q", preset=reliableq.PLAIN)
    queue.push(b"a", at=clock.now() + DAY)
    clock.advance(DAY - 0.001)
    assert queue.pop() is None
    clock.advance(0.001)
    popped(queue)
    clock.advance(HOUR)
    assert queue.recover(elapsed=HOUR + 0.001) == []
    assert len(queue.recover(elapsed=HOUR)) == 1


@pytest.mark.parametrize("hold", [lambda queue: queue.push(b"a", delay=DAY), lambda queue: queue.pop(lease=DAY)])
def test_who_waits_is_woken(rq: reliableq.Connection, clock: Clock, hold: Callable[[Queue], object]) -> None:
    queue = rq.queue("q")
    queue.push(b"held")
    hold(queue)
    if len(queue) == 2:
        queue.pop(lease=0)
    found: Future[Message | None] = Future()
    waiting = threading.Thread(target=lambda: found.set_result(queue.pop(timeout=DEADLINE)), daemon=True)
    waiting.start()
    wait_until("it waits", lambda: queue.status().consumers == 1)
    clock.advance(DAY)
    assert found.result(DEADLINE) is not None


def test_a_file_goes_on_from_its_time(clock: Clock, tmp_path: Path) -> None:
    url = f"file:{tmp_path}/clock.rq"
    with clock.connect(url) as rq:
        rq.queue("q").push(b"a", delay=2 * DAY)
        clock.advance(DAY)
    clock.advance(DAY)
    with clock.connect(url) as rq:
        assert popped(rq.queue("q")).body == b"a"


def test_its_connections_end_with_it() -> None:
    with Clock() as clock:
        queue = clock.connect("memory:").queue("q")
    with pytest.raises(Closed):
        queue.push(b"a")


@pytest.mark.parametrize("place", ["memory:name", "redis://localhost", "unix:///path"])
def test_places_with_a_time_of_their_own(clock: Clock, place: str) -> None:
    with pytest.raises(InvalidArgument, match="only one connection has; use"):
        clock.connect(place)


def test_a_file_of_another_process(clock: Clock, tmp_path: Path) -> None:
    url = f"file:{tmp_path}/kept.rq"
    with (
        owner(url),
        pytest.raises(InvalidArgument, match=r"owned by another process.*; give the test a file of its own"),
    ):
        clock.connect(url)


def test_wrong_durations(clock: Clock) -> None:
    before = clock.now()
    with pytest.raises(InvalidArgument, match="duration is -1"):
        clock.advance(-1)
    with pytest.raises(InvalidType, match="duration is seconds or a timedelta, not str"):
        clock.advance("1")  # type: ignore[arg-type]
    assert clock.now() == before
