"""The life of a message: push, pop, ack, recover."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from reliableq import Connection, Message, Queue

from tests.support.empty import is_empty


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages]


def order(id: str) -> tuple[int, int]:
    milliseconds, _, sequence = id.partition("-")
    return int(milliseconds), int(sequence)


def test_messages_come_in_the_order_of_their_pushes(queue: Queue) -> None:
    ids = [queue.push(b"a"), *queue.push_many([b"b", b"c"])]
    first = queue.pop()
    assert first is not None
    assert (first.id, first.body, first.deliveries, first.queue) == (ids[0], b"a", 1, "q")
    rest = queue.pop_many(10)
    assert [message.id for message in rest] == ids[1:]
    assert bodies(rest) == [b"b", b"c"]
    assert queue.pop() is None
    assert queue.pop_many(10) == []


def test_pop_many_takes_no_more_than_asked(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    assert bodies(queue.pop_many(2)) == [b"a", b"b"]


@pytest.mark.parametrize("body", [b"", b"\0\xff", bytearray(b"ab"), memoryview(b"abcd")[::2], b"x" * 200_000])
def test_a_body_is_any_bytes(queue: Queue, body: bytes) -> None:
    queue.push(body)
    message = queue.pop()
    assert message is not None
    assert type(message.body) is bytes
    assert message.body == bytes(body)


def test_a_body_that_changes_later_stays_as_it_was_pushed(queue: Queue) -> None:
    body = bytearray(b"before")
    queue.push(body)
    body[:] = b"after!"
    assert bodies(queue.pop_many(1)) == [b"before"]


def test_push_many_takes_any_iterable_in_chunks(queue: Queue) -> None:
    ids = queue.push_many(str(number).encode() for number in range(2500))
    assert len(ids) == len(set(ids)) == len(queue) == 2500
    assert bodies(queue.pop_many(3000)) == [str(number).encode() for number in range(2500)]
    assert queue.push_many([]) == []


def test_push_many_of_large_bodies(queue: Queue) -> None:
    large = [bytes([number]) * size for number, size in enumerate((10, 600_000, 500_000, 3_000_000, 0, 1 << 20, 7))]
    ids = queue.push_many(large)
    assert ids == sorted(set(ids), key=order)
    assert [message.id for message in queue.inspect()] == ids
    assert bodies(queue.pop_many(10)) == large


def test_push_many_from_what_pushes_and_pops_on_the_same_queue(queue: Queue) -> None:
    def feed() -> Iterator[bytes]:
        for number in range(1500):
            queue.push(b"inner")
            assert queue.pop() is not None
            yield str(number).encode()

    assert len(queue.push_many(feed())) == 1500


def test_ack_tells_whether_it_did_it(queue: Queue) -> None:
    waiting = queue.push(b"a")
    assert queue.ack(waiting) is False
    message = queue.pop()
    assert message is not None
    assert message.ack() is True
    assert message.ack() is False
    assert queue.ack(message) is False


def test_ack_of_many_returns_those_that_it_let_go(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c", b"d"])
    a, b, c = queue.pop_many(3)
    (d,) = queue.inspect()
    b.ack()
    assert queue.ack([a, b, a.id, c.id, "1-1", d]) == [a.id, c.id]
    assert queue.ack([]) == []
    assert queue.ack(message for message in (a, b)) == []
    assert len(queue) == 1


def test_recover_delivers_again_what_nobody_acknowledged(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    a, _ = queue.pop_many(2)
    assert queue.recover(count=10, elapsed=3600) == []
    assert queue.recover(count=10, elapsed=timedelta(hours=1)) == []
    again = queue.recover(count=1, elapsed=0)
    assert [(message.id, message.body, message.deliveries) for message in again] == [(a.id, b"a", 2)]
    assert bodies(queue.inspect(pending=True)) == [b"b", b"a"]
    second, third = queue.recover(elapsed=0)
    assert (second.deliveries, third.deliveries) == (2, 3)
    assert again[0].ack() is False
    assert third.ack() is True
    assert bodies(queue.recover(elapsed=0)) == [b"b"]


def test_inspect_changes_nothing(queue: Queue) -> None:
    queue.push_many([b"a", b"b", b"c", b"d", b"e"])
    taken = queue.pop_many(2)
    for _ in range(2):
        assert bodies(queue.inspect(0, 10)) == [b"c", b"d", b"e"]
        assert bodies(queue.inspect(1, 1)) == [b"d"]
        assert bodies(queue.inspect(-2, 10)) == [b"d", b"e"]
        assert queue.inspect(3, 1) == []
        assert bodies(queue.inspect(-9, 1, pending=True)) == [b"a"]
        pending = queue.inspect(-1, 1, pending=True)
        assert [(m.id, m.deliveries, m.last_delivery) for m in pending] == [(taken[1].id, 1, taken[1].last_delivery)]


def test_times_of_a_message(queue: Queue) -> None:
    queue.push(b"a")
    assert [message.last_delivery for message in queue.inspect()] == [None]
    (message,) = queue.pop_many(1)
    pushed = datetime.fromtimestamp(order(message.id)[0] / 1000, UTC)
    assert message.last_delivery is not None
    assert message.last_delivery >= pushed


def test_len_and_info_count(queue: Queue) -> None:
    ids = queue.push_many([b"a", b"b", b"c"])
    queue.pop_many(2)
    queue.recover(count=1, elapsed=0)
    queue.ack(ids[0])
    assert len(queue) == 2
    info = queue.info()
    assert info is not None
    assert (info["first_id"], info["last_id"]) == (ids[1], ids[2])
    assert info["memory"] > 0 and info["age"] >= 0
    counts = {name: value for name, value in info.items() if name not in {"first_id", "last_id", "memory", "age"}}
    assert counts == {
        "waiting": 1,
        "delivered": 1,
        "scheduled": 0,
        "dead_letters": 0,
        "consumers": 0,
        "bytes": 2,
        "paused": "none",
        "sent": 3,
        "received": 3,
        "returned": 1,
        "returned_lease": 0,
        "returned_nack": 0,
        "returned_recover": 1,
        "dead": 0,
        "deleted": 1,
        "cancelled": 0,
        "expired": 0,
        "duplicates": 0,
    }


def test_a_queue_that_holds_nothing_is_none(queue: Queue, remembers: bool) -> None:
    """Where pushes are numbered, one that was drained is remembered for a while."""
    assert len(queue) == 0 and queue.info() is None
    queue.push(b"a")
    queue.ack(queue.pop_many(1))
    assert len(queue) == 0 and (queue.info() is not None) == remembers
    queue.push(b"b")
    assert len(queue) == 1 and queue.info() is not None


def drain(queue: Queue) -> None:
    queue.push(b"a", token="t")
    queue.ack(queue.pop_many(1))


KEPT: dict[str, Callable[[Queue], object]] = {
    "settings": lambda queue: queue.setup(maxlen=5),
    "pause": lambda queue: queue.pause("push"),
    "token": drain,
}
"""What keeps a queue without messages."""


@pytest.mark.parametrize("reason", KEPT)
def test_a_queue_without_messages_that_is_kept_has_numbers(rq: Connection, queue: Queue, reason: str) -> None:
    KEPT[reason](queue)
    info = queue.info()
    assert info is not None and queue.setup() is not None
    assert (info["first_id"], info["age"], info["bytes"], len(queue)) == ("0-0", 0, 0, 0)
    assert {info[name] for name in ("waiting", "delivered", "scheduled", "dead_letters", "consumers")} == {0}
    assert info["paused"] == ("push" if reason == "pause" else "none")
    assert info["sent"] == info["deleted"] == (1 if reason == "token" else 0)
    assert rq.names() == [] and queue.dump() is None and queue.status().total == 0


def test_the_oldest_message_may_be_a_dead_one(queue: Queue) -> None:
    ids = queue.push_many([b"a", b"b"])
    queue.nack(queue.pop_many(1), dead=True)
    info = queue.info()
    assert info is not None and (info["first_id"], info["last_id"], info["bytes"]) == (ids[0], ids[1], 1)


def test_a_queue_is_true_whatever_it_holds(queue: Queue) -> None:
    assert queue


def test_an_id_is_never_given_twice(rq: Connection) -> None:
    """Queues that end and begin again within a millisecond: an old ack must not hit a new message."""
    ids = []
    for number in range(500):
        queue = rq.queue(f"q{number % 2}")
        ids.append(queue.push(b"a"))
        queue.ack(queue.pop_many(1))
        assert is_empty(queue)
    for own in (ids[::2], ids[1::2]):
        assert all(order(first) < order(second) for first, second in pairwise(own))


def test_queues_of_a_connection_are_apart(rq: Connection) -> None:
    a, b = rq.queue("a"), rq.queue("b")
    a.push(b"1")
    assert b.pop() is None
    assert bodies(a.pop_many(1)) == [b"1"]
    assert rq.queue("a").inspect(pending=True)[0].body == b"1"


@pytest.mark.parametrize("name", ["", "a b", "é\0ü", "x" * 10_000], ids=["empty", "space", "unicode", "long"])
def test_a_queue_has_any_text_for_a_name(rq: Connection, name: str) -> None:
    rq.queue(name).push(b"a")
    message = rq.queue(name).pop()
    assert message is not None and message.queue == name


def test_texts_for_people(queue: Queue) -> None:
    queue.push(b"z" * 1000)
    (message,) = queue.pop_many(1)
    assert message.id in repr(message) and "'q'" in repr(message)
    assert len(repr(message)) < 200
    assert repr(queue).startswith("<Queue 'q' of '")
