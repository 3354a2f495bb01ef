"""The loop of a consumer: acknowledged on success, returned on an exception."""

import threading
from typing import Any

import pytest
import reliableq
from reliableq import PLAIN, Connection, InvalidArgument, InvalidType, Queue
from reliableq.consuming import Consumption

from tests.contract.conftest import Start
from tests.support.empty import is_empty
from tests.support.wait import DEADLINE, wait_until

IDLE = 0.01


class WorkFailed(Exception):
    """What a handler raises."""


def counted(queue: Queue) -> dict[str, Any]:
    info: Any = queue.info()
    assert info is not None
    return dict(info)


def test_asking_for_the_next_acknowledges(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    seen = []
    for message in queue.consume(idle_timeout=IDLE):
        seen.append(message.body)
        assert len(queue) == 4 - len(seen)
    assert seen == [b"a", b"b", b"c"]
    assert is_empty(queue)


def test_it_ends_when_nothing_came(queue: Queue) -> None:
    assert list(queue.consume(idle_timeout=0)) == []
    assert list(queue.consume(IDLE)) == []


def test_it_waits_for_what_comes(queue: Queue, start: Start) -> None:
    seen: list[bytes] = []

    def consume() -> None:
        for message in queue.consume():
            seen.append(message.body)
            if message.body == b"end":
                message.ack()
                break

    consuming = start(consume)
    queue.push(b"a")
    wait_until("it was handled", lambda: seen == [b"a"])
    queue.push(b"b")
    wait_until("the next was handled", lambda: seen == [b"a", b"b"])
    queue.push(b"end", delay=0.02)
    consuming.result(DEADLINE)
    assert seen == [b"a", b"b", b"end"] and len(queue) == 0


def test_an_exception_returns_the_message(queue: Queue) -> None:
    queue.push_many([b"a", b"bad", b"c"])

    def work() -> None:
        for message in queue.consume(idle_timeout=IDLE):
            if message.body == b"bad":
                raise WorkFailed

    with pytest.raises(WorkFailed):
        work()
    assert counted(queue)["returned_nack"] == 1 and counted(queue)["deleted"] == 1
    assert [message.body for message in queue.inspect()] == [b"bad", b"c"]
    (again,) = queue.pop_many(1)
    assert (again.deliveries, again.failures) == (2, 1)


def fail_at(messages: Consumption, bad: bytes, error: BaseException) -> None:
    """Handles messages within `with`, and raises at one of them."""
    with messages:
        for message in messages:
            if message.body == bad:
                raise error


def test_within_with_the_exception_is_the_reason(rq: Connection) -> None:
    queue = rq.queue("q", deliveries=1)
    queue.push_many([b"a", b"b"])
    messages = queue.consume(idle_timeout=IDLE, consumer="c")
    with pytest.raises(WorkFailed):
        fail_at(messages, b"a", WorkFailed("\ud800 no paper"))
    (letter,) = queue.dead()
    assert (letter.reason, letter.consumer) == ("WorkFailed: ? no paper", "c")
    assert list(messages) == [], "it has ended"
    assert len(queue) == 1


@pytest.mark.parametrize("error", [KeyboardInterrupt, SystemExit, GeneratorExit])
def test_what_ends_the_program_is_no_failure(queue: Queue, error: type[BaseException]) -> None:
    queue.push(b"a")
    with pytest.raises(error):
        fail_at(queue.consume(idle_timeout=IDLE), b"a", error())
    (again,) = queue.pop_many(1)
    assert (again.deliveries, again.failures) == (2, 0)


def test_leaving_a_loop_within_with_is_no_failure(queue: Queue) -> None:
    queue.push(b"a")
    with queue.consume(idle_timeout=IDLE) as messages:
        for _ in messages:
            break
    (again,) = queue.pop_many(1)
    assert again.failures == 0


def test_leaving_a_loop_returns_the_message(queue: Queue) -> None:
    queue.push(b"a")
    for message in queue.consume(idle_timeout=IDLE):
        assert message.body == b"a"
        break
    assert [each.body for each in queue.inspect()] == [b"a"]


def test_what_the_loop_settled_itself_stays_so(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    for message in queue.consume(idle_timeout=IDLE):
        if message.body == b"a":
            assert message.ack()
        elif message.body == b"b":
            assert message.nack(dead=True)
        else:
            message.ack()
            break
    assert [letter.body for letter in queue.dead()] == [b"b"] and len(queue) == 0


def test_a_message_that_failed_may_wait(queue: Queue) -> None:
    queue.push(b"a")
    with pytest.raises(WorkFailed):
        fail_at(queue.consume(idle_timeout=IDLE, delay=3600), b"a", WorkFailed())
    assert [message.body for message in queue.scheduled()] == [b"a"]


def test_many_are_fetched_and_begun_one_by_one(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c", b"d"])
    messages = queue.consume(idle_timeout=IDLE, count=3, lease=3600)
    with pytest.raises(WorkFailed):
        fail_at(messages, b"b", WorkFailed())
    found = queue.pop_many(9)
    assert [(message.body, message.deliveries, message.failures) for message in found] == [
        (b"b", 2, 1),
        (b"c", 2, 0),
        (b"d", 1, 0),
    ]


def test_a_fetched_message_that_was_lost_is_left_out(rq: Connection) -> None:
    """Its turn comes when its lease is over, and somebody else has it."""
    queue = rq.queue("q", preset=PLAIN)
    queue.push_many([b"a", b"b", b"c"])
    seen = []
    for message in queue.consume(idle_timeout=IDLE, count=3):
        if message.body == b"a":
            queue.claim([each.id for each in queue.inspect(pending=True) if each.body == b"b"], "other")
        seen.append(message.body)
    assert seen == [b"a", b"c"]
    assert [message.body for message in queue.inspect(pending=True)] == [b"b"]


def test_a_fetched_message_whose_lease_ended_is_left_out_and_comes_again(queue: Queue) -> None:
    """Work on the first takes longer than the lease of those behind it. That counts no failure."""
    queue.push_many([b"a", b"b", b"c"])
    seen = []
    for message in queue.consume(idle_timeout=IDLE, count=3, lease=0.5):
        seen.append((message.body, message.deliveries, message.failures))
        assert message.extend(3600)
        if message.body == b"a":
            wait_until("the others returned", lambda: len(queue.inspect()) == 2)
    assert seen[0] == (b"a", 1, 0) and sorted(body for body, _, _ in seen) == [b"a", b"b", b"c"]
    assert all(deliveries > 1 and failures == 0 for _, deliveries, failures in seen[1:])
    assert is_empty(queue)


def test_work_longer_than_a_lease_is_done_again(queue: Queue) -> None:
    queue.push(b"a")
    seen = []
    for message in queue.consume(idle_timeout=IDLE, lease=0.5):
        seen.append((message.deliveries, message.failures))
        if len(seen) == 1:
            wait_until("it returned", lambda: queue.inspect())
    assert seen == [(1, 0), (2, 1)] and is_empty(queue)


def test_what_could_not_be_begun_returns(queue: Queue, monkeypatch: pytest.MonkeyPatch) -> None:
    """As those whose turn did not come: no failure is counted."""
    queue.push_many([b"a", b"b"])
    messages = queue.consume(idle_timeout=IDLE, count=2, lease=3600)
    with monkeypatch.context() as patched:

        def fail(*_: object) -> bool:
            raise WorkFailed

        patched.setattr(Consumption, "_begin", fail)
        with pytest.raises(WorkFailed):
            next(messages)
    messages.close()
    assert [(message.body, message.failures) for message in queue.pop_many(2)] == [(b"a", 0), (b"b", 0)]


def test_each_that_is_fetched_gets_its_whole_lease(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    for message in queue.consume(idle_timeout=IDLE, count=2, lease=3600):
        shown = queue.get(message)
        assert shown is not None and shown.deadline is not None and message.deadline is not None
        assert shown.deadline >= message.deadline


def test_close_returns_what_is_out(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    messages = queue.consume(count=2)
    assert next(messages).body == b"a"
    messages.close()
    messages.close()
    assert [message.body for message in queue.inspect()] == [b"a", b"b"]
    assert [message.failures for message in queue.pop_many(2)] == [0, 0]
    assert list(messages) == []


def test_several_consumers_share_the_work(queue: Queue, start: Start) -> None:
    queue.push_many([b"a"] * 200)
    lock, seen = threading.Lock(), list[str]()

    def work(name: str) -> None:
        for message in queue.consume(idle_timeout=0.2, consumer=name, count=7):
            with lock:
                seen.append(message.id)

    for working in [start(work, f"c{number}") for number in range(4)]:
        working.result(DEADLINE)
    assert len(seen) == len(set(seen)) == 200
    assert is_empty(queue)


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"idle_timeout": -1}, InvalidArgument, "idle_timeout is -1"),
        ({"idle_timeout": "1"}, InvalidType, "idle_timeout is seconds or a timedelta, not str"),
        ({"consumer": ""}, InvalidArgument, "consumer has 0 bytes"),
        ({"consumer": 1}, InvalidType, "consumer is a str, not int"),
        ({"lease": -1}, InvalidArgument, "lease is -1"),
        ({"count": 0}, InvalidArgument, "count is 0"),
        ({"count": "1"}, InvalidType, "count is a whole number, not str"),
        ({"delay": -1}, InvalidArgument, "delay is -1"),
    ],
    ids=str,
)
def test_wrong_arguments_take_nothing(
    queue: Queue, options: dict[str, Any], kind: type[reliableq.Error], told: str
) -> None:
    queue.push(b"a")
    with pytest.raises(kind) as error:
        queue.consume(**options)
    assert told in str(error.value)
    assert len(queue.inspect()) == 1
