"""Looking at messages of one state, at consumers and at numbers."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from reliableq import Connection, InvalidArgument, InvalidId, InvalidType, Message, Queue, Status

from tests.contract.conftest import Start
from tests.support.wait import DEADLINE, wait_until

HOUR = 3600
STATES = ("waiting", "delivered", "scheduled", "dead")


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages]


@pytest.fixture
def full(queue: Queue) -> Queue:
    """Three messages of each state, in the order of the states backwards."""
    for number in range(3):
        queue.push(b"dead %d" % number, priority=9)
        (message,) = queue.pop_many(1, consumer=f"c{number % 2}")
        assert message.nack(dead=True, reason=f"reason {number}")
    queue.push_many([b"delivered 0", b"delivered 1", b"delivered 2"])
    for number in range(3):
        queue.pop_many(1, consumer=f"c{number % 2}")
    for number in (2, 0, 1):
        queue.push(b"scheduled %d" % number, delay=HOUR + 600 * number)
    queue.push_many([b"waiting 0", b"waiting 1", b"waiting 2"])
    return queue


@pytest.mark.parametrize("state", STATES)
def test_each_state_is_shown_in_its_order(full: Queue, state: str) -> None:
    expected = [f"{state} {number}".encode() for number in range(3)]
    for _ in range(2):
        shown = full.inspect(state=state)
        assert bodies(shown) == expected
        assert {message.state for message in shown} == {state}
        assert bodies(full.inspect(1, 1, state=state)) == expected[1:2]
        assert bodies(full.inspect(-2, 9, state=state)) == expected[1:]
        assert full.inspect(3, 9, state=state) == []


def test_short_forms(full: Queue) -> None:
    assert bodies(full.inspect()) == bodies(full.inspect(state="waiting"))
    assert bodies(full.inspect(pending=True)) == bodies(full.inspect(state="delivered", pending=True))
    assert bodies(full.dead()) == bodies(full.inspect(state="dead"))
    assert bodies(full.dead(1, 1)) == [b"dead 1"]
    assert bodies(full.scheduled()) == bodies(full.inspect(state="scheduled"))
    assert bodies(full.scheduled(-1)) == [b"scheduled 2"]


def test_what_each_state_tells(full: Queue) -> None:
    dead = full.dead()
    assert [(letter.reason, letter.consumer, letter.deliveries, letter.failures) for letter in dead] == [
        ("reason 0", "c0", 1, 1),
        ("reason 1", "c1", 1, 1),
        ("reason 2", "c0", 1, 1),
    ]
    assert all(letter.died is not None and letter.died >= letter.enqueued for letter in dead)
    for number, shown in enumerate(full.scheduled()):
        wait = timedelta(seconds=HOUR + 600 * number)
        assert shown.due is not None and wait <= shown.due - shown.enqueued < wait + timedelta(minutes=5)
    assert [message.deliveries for message in full.inspect(state="delivered")] == [1, 1, 1]


def test_messages_of_a_consumer(full: Queue) -> None:
    assert bodies(full.inspect(state="delivered", consumer="c0")) == [b"delivered 0", b"delivered 2"]
    assert bodies(full.inspect(1, 5, pending=True, consumer="c0")) == [b"delivered 2"]
    assert bodies(full.inspect(-1, 5, pending=True, consumer="c1")) == [b"delivered 1"]
    assert bodies(full.inspect(state="dead", consumer="c0")) == [b"dead 0", b"dead 2"]
    assert full.inspect(pending=True, consumer="nobody") == full.inspect(state="dead", consumer="nobody") == []


def test_messages_that_were_delivered_long_ago(full: Queue) -> None:
    assert full.inspect(state="delivered", idle=HOUR) == []
    assert full.inspect(state="delivered", idle=timedelta(hours=1), consumer="c0") == []
    assert len(full.inspect(state="delivered", idle=0)) == 3
    wait_until("a moment is over", lambda: len(full.inspect(pending=True, idle=0.002)) == 3)


def in_order(messages: list[Message]) -> list[str]:
    return sorted((message.id for message in messages), key=lambda id: [int(part) for part in id.split("-")])


@pytest.mark.parametrize("state", STATES)
def test_messages_between_ids_are_in_their_order(full: Queue, state: str) -> None:
    ids = in_order(full.inspect(state=state))

    def between(start: int = 0, **bounds: str) -> list[str]:
        return [message.id for message in full.inspect(start, 9, state=state, **bounds)]  # type: ignore[arg-type]

    assert between(first=ids[1]) == ids[1:]
    assert between(last=ids[1]) == ids[:2]
    assert between(first=f"({ids[0]}", last=f"({ids[2]}") == ids[1:2]
    assert between(first=ids[2], last=ids[0]) == []
    assert between(1, first=ids[0], last=ids[2]) == ids[1:]
    assert between(-1, last=ids[2]) == ids[2:]


@pytest.mark.parametrize("state", ["delivered", "dead"])
def test_all_filters_together(full: Queue, state: str) -> None:
    ids = in_order(full.inspect(state=state))
    shown = full.inspect(0, 9, state=state, consumer="c0", first=ids[0], last=ids[1])
    assert [message.id for message in shown] == ids[:1]


@pytest.mark.parametrize("state", ["delivered", "dead"])
def test_positions_count_what_the_filters_leave(full: Queue, state: str) -> None:
    ids = in_order(full.inspect(state=state))
    shown = full.inspect(0, 1, state=state, consumer="c1", first=ids[0])
    assert [message.id for message in shown] == ids[1:2]


def test_get_shows_every_state(full: Queue) -> None:
    ids = [full.inspect(0, 1, state=state)[0].id for state in STATES]
    shown = full.get([*ids, "1-1"])
    assert [message and message.state for message in shown] == [*STATES, None]
    waiting, delivered, scheduled, dead = (message for message in shown[:4] if message is not None)
    assert (waiting.receipt, waiting.deliveries, waiting.consumer) == (ids[0], 0, None)
    assert (delivered.receipt, delivered.consumer) == (f"{ids[1]}@1", "c0")
    assert delivered.deadline is not None
    assert (dead.priority, dead.failures) == (9, 1)
    assert scheduled.deliveries == 0
    assert delivered.ack() is True and waiting.ack() is scheduled.ack() is dead.ack() is False


def test_get_tells_who_held_a_dead_letter(full: Queue) -> None:
    shown = full.get(full.dead()[0])
    assert shown is not None and shown.consumer == "c0"


def test_a_range_has_the_dead_and_the_scheduled_too(full: Queue) -> None:
    shown = full.range()
    assert [message.state for message in shown] == ["dead"] * 3 + ["delivered"] * 3 + ["scheduled"] * 3 + [
        "waiting"
    ] * 3
    assert bodies(full.range(reverse=True)) == bodies(shown)[::-1]


def test_looking_at_a_queue_that_is_not_there(rq: Connection, queue: Queue) -> None:
    for state in STATES:
        assert queue.inspect(state=state) == []
    assert queue.dead() == queue.scheduled() == [] and queue.consumers() == []
    assert queue.get(["1-1"]) == [None] and queue.status() == Status("q", 0, 0, 0)
    assert queue.redrive() == queue.delete(["1-1"]) == [] and queue.claim("1-1", "c") == []
    assert queue.flush() == queue.delete_consumer("c") == 0
    queue.resume()
    assert rq.names() == [] and rq.status() == [] and queue.setup() is None


def test_status_counts(rq: Connection, full: Queue, start: Start, connect: Callable[[], Connection]) -> None:
    assert full.status() == Status("q", 9, 3, 2)
    rq.queue("a").push(b"x")
    assert rq.status() == [Status("a", 1, 0, 0), Status("q", 9, 3, 2)]
    waiting = start(connect().queue("b").pop, timeout=None)
    wait_until("it waits", lambda: rq.queue("b").status() == Status("b", 0, 0, 1))
    assert [row.name for row in rq.status()] == ["a", "b", "q"]
    rq.queue("b").push(b"x")
    waiting.result(DEADLINE)


def test_the_next_message_whatever_its_priority(full: Queue) -> None:
    full.push(b"urgent", priority=1, headers={"a": "b"})
    first, last = full.peek(), full.peek(back=True)
    assert first is not None and last is not None
    assert (first.body, first.priority, first.headers["a"]) == (b"urgent", 1, "b")
    assert last.body == b"waiting 2"


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"state": "gone"}, InvalidArgument, "state is 'gone'; expected 'waiting', 'delivered', 'scheduled' or 'dead'"),
        ({"state": 1}, InvalidType, "state is a str, not int"),
        ({"state": "dead", "pending": True}, InvalidArgument, "pending means delivered messages, and state is 'dead'"),
        ({"idle": 1}, InvalidArgument, "idle is for delivered messages, not waiting ones"),
        ({"idle": -1, "pending": True}, InvalidArgument, "idle is -1"),
        ({"idle": "1", "pending": True}, InvalidType, "idle is seconds or a timedelta, not str"),
        ({"consumer": "c"}, InvalidArgument, "consumer is for delivered and dead messages, not waiting ones"),
        ({"consumer": "", "pending": True}, InvalidArgument, "consumer has 0 bytes"),
        ({"consumer": b"c", "pending": True}, InvalidType, "consumer is a str, not bytes"),
        ({"first": "x"}, InvalidId, "'x' is no bound of a range"),
        ({"last": 1}, InvalidType, "last is an ID as a str, not int"),
        ({"first": "99999999999999999999-1"}, InvalidId, "is no message ID"),
    ],
    ids=str,
)
def test_wrong_filters(full: Queue, options: dict[str, Any], kind: type[Exception], told: str) -> None:
    with pytest.raises(kind) as error:
        full.inspect(**options)
    assert told in str(error.value)


def test_any_time_that_a_caller_may_wait_is_an_idle_time(queue: Queue) -> None:
    """As for claim() and recover(): longer than a lease may be."""
    queue.push(b"a")
    (held,) = queue.pop_many(1)
    ages = 9e15
    assert queue.inspect(state="delivered", idle=ages) == queue.claim(held, "c", idle=ages) == []
    assert queue.recover(elapsed=ages) == []
