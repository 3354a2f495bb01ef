"""What becomes of a delivery: nack, extend, claim, recover, and who may say so."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from reliableq import Connection, Message, Queue

from tests.support.empty import is_empty
from tests.support.wait import DEADLINE

HOUR = 3600


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages]


def popped(queue: Queue, **options: Any) -> Message:
    message = queue.pop(**options)
    assert message is not None
    return message


# Receipts.


def test_a_receipt_is_of_one_delivery(queue: Queue) -> None:
    id = queue.push(b"a")
    (shown,) = queue.inspect()
    assert shown.receipt == id
    message = popped(queue)
    assert message.receipt == f"{id}@1"
    assert queue.nack(message.receipt) is True
    again = popped(queue)
    assert again.receipt == f"{id}@2"
    assert (queue.ack(message.receipt), queue.ack(message), message.ack()) == (False, False, False)
    assert queue.ack([message, f"{id}@9", again.receipt]) == [id]


Settle = Callable[[Queue, Any], object]

SETTLE: dict[str, Settle] = {
    "ack": lambda queue, messages: queue.ack(messages),
    "nack": lambda queue, messages: queue.nack(messages),
    "extend": lambda queue, messages: queue.extend(messages, HOUR),
}


@pytest.mark.parametrize("settle", SETTLE.values(), ids=SETTLE)
def test_one_settled_is_a_bool_and_many_are_ids(queue: Queue, settle: Settle) -> None:
    ids = queue.push_many([b"a", b"b", b"c", b"d"])
    a, b, c = queue.pop_many(3)
    assert settle(queue, a) is True
    assert settle(queue, ids[3]) is settle(queue, "1-1") is settle(queue, "1-1@1") is False
    assert settle(queue, [b.id, ids[3], "1-1", c.receipt]) == [b.id, c.id]
    assert settle(queue, iter(())) == settle(queue, []) == []


@pytest.mark.parametrize("settle", SETTLE.values(), ids=SETTLE)
def test_a_late_holder_settles_nothing(queue: Queue, settle: Settle) -> None:
    queue.push(b"a")
    late = popped(queue)
    (now,) = queue.claim(late, "c")
    assert settle(queue, late) is False
    assert settle(queue, [late.receipt]) == []
    assert queue.inspect(pending=True)[0].deliveries == 2
    assert settle(queue, late.id) is True, "a bare ID means whoever holds it"
    assert now.receipt == f"{late.id}@2"


# Nack.


def test_a_nack_lets_a_message_wait_again(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    message = popped(queue)
    assert message.nack() is True
    assert message.nack() is False
    assert bodies(queue.inspect()) == [b"a", b"b"]
    again = popped(queue)
    assert (again.id, again.deliveries, again.failures) == (message.id, 2, 1)
    info = queue.info()
    assert info is not None and (info["returned"], info["returned_nack"], info["dead"]) == (1, 1, 0)


def test_a_nack_with_a_delay(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    first, second, third = queue.pop_many(3)
    assert first.nack(HOUR) and queue.nack([second], delay=timedelta(minutes=1)) == [second.id]
    assert bodies(queue.scheduled()) == [b"b", b"a"]
    assert queue.pop() is None and len(queue) == 3
    assert third.nack(delay=0.02)
    assert popped(queue, timeout=DEADLINE).failures == 1


def test_a_nack_that_counts_nothing(queue: Queue) -> None:
    queue.push(b"a")
    for number in range(1, 6):
        message = popped(queue)
        assert (message.deliveries, message.failures) == (number, 0)
        assert message.nack(silent=True)
    assert queue.dead() == []


def test_a_message_dies_at_the_limit(queue: Queue) -> None:
    """The package's 3 deliveries."""
    id = queue.push(b"a", headers={"a": "b"}, priority=7, token="t")
    for number in range(3):
        assert popped(queue, consumer="c").nack(reason=f"reason {number}")
    (letter,) = queue.dead()
    assert (letter.id, letter.body, letter.state, letter.deliveries, letter.failures) == (id, b"a", "dead", 3, 3)
    assert (letter.reason, letter.consumer) == ("reason 2", "c") and letter.died is not None
    shown = queue.get(id)
    assert shown is not None
    assert (shown.state, dict(shown.headers), shown.priority, shown.token) == ("dead", {"a": "b"}, 7, b"t")
    assert len(queue) == 0 and queue.pop() is None
    info = queue.info()
    assert info is not None and (info["dead_letters"], info["dead"], info["returned_nack"]) == (1, 1, 3)
    assert letter.ack() is False


def test_a_nack_may_bury_at_once(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    first, second = queue.pop_many(2)
    assert first.nack(dead=True) and queue.nack(second, dead=True, reason="é")
    assert [(letter.body, letter.failures, letter.reason) for letter in queue.dead()] == [
        (b"a", 1, "nack"),
        (b"b", 1, "é"),
    ]


def test_a_silent_burial_counts_no_failure(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    assert popped(queue).nack(dead=True, silent=True, reason="given up")
    assert popped(queue, prefetch=True).nack(dead=True)
    told = [(letter.body, letter.deliveries, letter.failures, letter.reason) for letter in queue.dead()]
    assert told == [(b"a", 1, 0, "given up"), (b"b", 1, 0, "nack")]
    info = queue.info()
    assert info is not None and (info["dead"], info["returned_nack"], len(queue)) == (2, 2, 0)


@pytest.mark.parametrize(("failures", "hours"), [(1, 1), (2, 2), (3, 3), (4, 3)])
def test_the_back_off_grows(rq: Connection, failures: int, hours: int) -> None:
    queue = rq.queue("q", backoff=(HOUR, 2, timedelta(hours=3)), deliveries=0)
    queue.push(b"a")
    for _ in range(failures - 1):
        assert popped(queue).nack(delay=0), "a delay is in place of the back-off"
    assert popped(queue).nack(silent=True), "what does not count has none"
    message = popped(queue)
    assert message.nack()
    (shown,) = queue.scheduled()
    assert shown.due is not None and message.last_delivery is not None
    wait = shown.due - message.last_delivery
    assert timedelta(hours=hours) <= wait < timedelta(hours=hours, minutes=10)


def test_jitter_takes_a_part_of_the_back_off(rq: Connection) -> None:
    queue = rq.queue("q", backoff=HOUR, jitter=50)
    queue.push_many([b"a"] * 20)
    messages = queue.pop_many(20)
    assert len(queue.nack(messages)) == 20
    began = messages[0].last_delivery
    assert began is not None
    waits = [shown.due - began for shown in queue.scheduled(count=20) if shown.due is not None]
    assert all(timedelta(minutes=30) <= wait < timedelta(minutes=70) for wait in waits)
    assert len(set(waits)) > 1


# Extend.


def test_extend_sets_the_end_of_a_lease(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    first, second = queue.pop_many(2)
    assert first.extend(HOUR) is True and queue.extend([second], 0) == [second.id]
    shown = queue.get(first)
    assert shown is not None and shown.deadline is not None and first.last_delivery is not None
    assert shown.deadline - first.last_delivery >= timedelta(hours=1)
    assert (shown.deliveries, shown.failures, shown.last_delivery) == (1, 0, first.last_delivery)
    endless = queue.get(second.id)
    assert endless is not None and endless.deadline is None
    assert first.ack() and first.extend(HOUR) is False


def test_an_extended_lease_ends_when_it_says(queue: Queue) -> None:
    queue.push(b"a")
    assert popped(queue, lease=0).extend(timedelta(milliseconds=20))
    assert popped(queue, timeout=DEADLINE).deliveries == 2


# Claim.


def test_claim_takes_over_certain_messages(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c", b"d"])
    a, b, c = queue.pop_many(3, consumer="x")
    waiting = queue.inspect()[0]
    found = queue.claim([c, waiting.id, "1-1", a.id], "y", lease=HOUR)
    assert [(m.id, m.deliveries, m.failures, m.consumer) for m in found] == [(c.id, 2, 0, "y"), (a.id, 2, 0, "y")]
    assert found[0].deadline is not None and found[0].last_delivery is not None
    assert found[0].deadline - found[0].last_delivery == timedelta(hours=1)
    assert [(row.name, row.pending) for row in queue.consumers()] == [("x", 1), ("y", 2)]
    assert queue.claim(b, "y", idle=HOUR) == [] == queue.claim(a, "y")
    assert queue.ack([a, b, c]) == [b.id]
    assert queue.ack(found) == [c.id, a.id]


# Recover.


def test_recover_counts_a_failure_until_the_message_dies(queue: Queue) -> None:
    id = queue.push(b"a")
    popped(queue, consumer="c")
    for number in (1, 2):
        (message,) = queue.recover(elapsed=0, consumer="c")
        assert (message.deliveries, message.failures) == (number + 1, number)
    assert queue.recover(elapsed=0) == []
    (letter,) = queue.dead()
    assert (letter.id, letter.reason, letter.consumer, letter.failures) == (id, "recover", "c", 3)
    info = queue.info()
    assert info is not None and (info["returned_recover"], info["dead"]) == (3, 1)


def test_a_message_that_dies_counts_as_recovered(queue: Queue) -> None:
    queue.push(b"dies", retries=0)
    queue.push_many([b"a", b"b"])
    queue.pop_many(3)
    assert bodies(queue.recover(2, elapsed=0)) == [b"a"]


def test_a_restarted_consumer_gets_its_own_back(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    for name in ("x", "y"):
        popped(queue, consumer=name)
    popped(queue)
    (own,) = queue.recover(elapsed=0, consumer="x", from_consumer="x", lease=HOUR)
    assert (own.body, own.consumer, own.deliveries) == (b"a", "x", 2)
    assert own.deadline is not None and own.last_delivery is not None
    assert own.deadline - own.last_delivery == timedelta(hours=1)
    assert queue.recover(elapsed=0, from_consumer="nobody") == []
    assert queue.recover(elapsed=HOUR, from_consumer="y") == []
    (taken,) = queue.recover(elapsed=0, from_consumer="y", lease=0)
    assert (taken.body, taken.consumer, taken.deadline) == (b"b", None, None)


def test_what_was_not_begun_is_recovered_without_a_failure(queue: Queue) -> None:
    queue.push(b"a")
    popped(queue, prefetch=True)
    (message,) = queue.recover(elapsed=0)
    assert (message.deliveries, message.failures) == (2, 0)


def test_many_are_settled_at_a_time(queue: Queue) -> None:
    queue.push_many([b"a"] * 2500)
    messages = queue.pop_many(2500)
    assert len(queue.extend(messages, HOUR)) == 2500
    claimed = queue.claim(messages, "c")
    assert len(claimed) == 2500 and queue.ack(messages) == []
    assert len(queue.nack(claimed, dead=True)) == 2500
    assert len(queue.redrive([message.id for message in claimed])) == 2500
    assert len(queue.delete(claimed)) == 2500
    assert is_empty(queue)
