"""Looking at messages by their IDs, cutting a queue into parts, and which queues there are."""

from itertools import pairwise

import pytest
from reliableq import Connection, InvalidArgument, InvalidId, InvalidType, Message, Queue


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages]


def test_a_range_has_messages_of_every_state_in_the_order_of_their_ids(queue: Queue) -> None:
    ids = queue.push_many([b"a", b"b", b"c", b"d"])
    a, b = queue.pop_many(2)
    (again,) = queue.recover(1, elapsed=0)
    assert again.id == a.id
    for _ in range(2):
        shown = queue.range()
        assert [message.id for message in shown] == ids
        assert [message.state for message in shown] == ["delivered", "delivered", "waiting", "waiting"]
        assert [message.deliveries for message in shown] == [2, 1, 0, 0]
        assert [message.last_delivery for message in shown] == [again.last_delivery, b.last_delivery, None, None]
        assert [message.enqueued for message in shown] == [message.enqueued for message in (a, b, *queue.inspect())]


def test_bounds_are_within_a_range_unless_they_are_left_out(queue: Queue) -> None:
    a, b, c, d = queue.push_many([b"a", b"b", b"c", b"d"])
    assert bodies(queue.range(b, c)) == [b"b", b"c"]
    assert bodies(queue.range(f"({b}", d)) == [b"c", b"d"]
    assert bodies(queue.range(b, f"({d}")) == [b"b", b"c"]
    assert bodies(queue.range(f"({a}", f"({b}")) == []
    assert bodies(queue.range(c)) == [b"c", b"d"]
    assert bodies(queue.range(last=b)) == [b"a", b"b"]
    assert bodies(queue.range(d, a)) == []
    assert bodies(queue.range("0-0", "18446744073709551615-18446744073709551615")) == [b"a", b"b", b"c", b"d"]
    assert bodies(queue.range("(18446744073709551615-18446744073709551615")) == []
    assert bodies(queue.range(last="(0-0")) == []


def test_a_range_may_go_backwards_and_end_early(queue: Queue) -> None:
    a, b, c, d = queue.push_many([b"a", b"b", b"c", b"d"])
    assert bodies(queue.range(count=2)) == [b"a", b"b"]
    assert bodies(queue.range(reverse=True)) == [b"d", b"c", b"b", b"a"]
    assert bodies(queue.range(a, f"({d}", count=2, reverse=True)) == [b"c", b"b"]
    assert bodies(queue.range(f"({b}", c, count=99, reverse=True)) == [b"c"]


def test_a_range_is_whole_however_large_its_messages_are(queue: Queue) -> None:
    large = [bytes([number]) * 3_000_000 for number in range(5)]
    queue.push_many(large)
    assert bodies(queue.range()) == large
    assert bodies(queue.range(reverse=True)) == large[::-1]
    assert bodies(queue.range(count=4)) == large[:4]


def test_a_message_of_a_range_is_acknowledged_if_it_is_delivered(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    queue.pop()
    assert [message.ack() for message in queue.range()] == [True, False]
    assert bodies(queue.range()) == [b"b"]


@pytest.mark.parametrize("bound", ["", "-", "+", "1", "((1-1", "[1-1", "1-1(", "( 1-1", "é-1"])
def test_a_bound_is_an_id(queue: Queue, bound: str) -> None:
    queue.push(b"a")
    for call in (lambda: queue.range(bound), lambda: queue.range(last=bound)):
        with pytest.raises(InvalidId, match="milliseconds-sequence"):
            call()


@pytest.mark.parametrize("options", [{"count": 0}, {"count": 1 << 63}])
def test_bad_numbers_of_a_range(queue: Queue, options: dict[str, int]) -> None:
    with pytest.raises(InvalidArgument, match="count"):
        queue.range(**options)  # type: ignore[arg-type]


def test_bad_types_of_a_range(queue: Queue) -> None:
    with pytest.raises(InvalidType):
        queue.range(1)  # type: ignore[arg-type]
    with pytest.raises(InvalidType):
        queue.range(b"1-1")  # type: ignore[arg-type]
    with pytest.raises(InvalidType, match="reverse"):
        queue.range(reverse=1)  # type: ignore[arg-type]


@pytest.mark.parametrize("held", [0, 1, 2, 7, 1000])
@pytest.mark.parametrize("parts", [1, 2, 3, 8])
def test_parts_are_nearly_equal(queue: Queue, held: int, parts: int) -> None:
    ids = queue.push_many([b"a"] * (held + held // 2))
    queue.ack(queue.pop_many(held // 2 or 1)[: held // 2])
    queue.pop_many(held // 3 or 1)
    ids = ids[len(ids) - held :]
    cuts = queue.split(parts)
    sizes = [end - start for start, end in pairwise([0, *(ids.index(cut) for cut in cuts), held])]
    if held:
        assert len(sizes) == min(parts, held) and max(sizes) - min(sizes) <= 1
    else:
        assert cuts == []


def test_parts_are_the_whole(queue: Queue) -> None:
    ids = queue.push_many([b"a"] * 100)
    one, two = queue.split(3)
    parts = [queue.range(last=f"({one}"), queue.range(one, f"({two}"), queue.range(two)]
    assert [message.id for part in parts for message in part] == ids


@pytest.mark.parametrize("parts", [0, -1, 1 << 64])
def test_bad_numbers_of_parts(queue: Queue, parts: int) -> None:
    with pytest.raises(InvalidArgument, match="parts"):
        queue.split(parts)


def test_looking_makes_no_queue(queue: Queue) -> None:
    assert queue.range() == queue.inspect() == queue.recover(elapsed=0) == []
    assert queue.split(5) == []
    assert queue.ack("1-1") is False
    assert len(queue) == 0 and queue.info() is None and queue.dump() is None and queue.pop() is None


def test_names_are_those_of_queues_that_hold_messages(rq: Connection) -> None:
    assert rq.names() == []
    for name in ("b", "é", "a b", ""):
        rq.queue(name).push(b"a")
    rq.queue("looked at").inspect()
    used = rq.queue("used up")
    used.push(b"a")
    used.ack(used.pop_many(1))
    assert rq.names() == ["", "a b", "b", "é"]
    rq.queue("b").pop()
    assert rq.names() == ["", "a b", "b", "é"]


def test_peek_shows_what_is_popped_next(queue: Queue) -> None:
    assert queue.peek() is None and queue.peek(back=True) is None
    ids = queue.push_many([b"a", b"b", b"c"])
    queue.pop()
    for _ in range(2):
        first, last = queue.peek(), queue.peek(back=True)
        assert first is not None and last is not None
        assert (first.id, first.body, first.state, first.deliveries) == (ids[1], b"b", "waiting", 0)
        assert (last.id, last.body) == (ids[2], b"c")
        assert first.ack() is False
    assert bodies(queue.pop_many(3)) == [b"b", b"c"]
    assert queue.peek() is None
    with pytest.raises(InvalidType):
        queue.peek(back=1)  # type: ignore[arg-type]


def test_get_shows_messages_by_id_whatever_their_state(queue: Queue) -> None:
    ids = queue.push_many([b"a", b"b", b"c"])
    taken, gone = queue.pop_many(2)
    assert gone.ack()
    shown = queue.get([ids[2], gone, "1-1", taken, ids[2]])
    assert [message and message.body for message in shown] == [b"c", None, None, b"a", b"c"]
    assert [message and message.state for message in shown] == ["waiting", None, None, "delivered", "waiting"]
    one = queue.get(taken)
    assert one is not None and (one.id, one.deliveries, one.last_delivery) == (taken.id, 1, taken.last_delivery)
    assert queue.get(gone.id) is None
    assert queue.get([]) == []
    many = queue.push_many(str(number).encode() for number in range(2500))
    assert [message and message.id for message in queue.get(many)] == many
    assert one.ack() is True


def test_get_refuses_what_is_no_id(rq: Connection, queue: Queue) -> None:
    message = rq.queue("other").push(b"a") and rq.queue("other").pop()
    assert message is not None
    with pytest.raises(InvalidArgument, match="is of queue 'other'"):
        queue.get(message)
    with pytest.raises(InvalidId):
        queue.get("x")
    with pytest.raises(InvalidType, match="get"):
        queue.get([1])  # type: ignore[list-item]
    with pytest.raises(InvalidType, match="get"):
        queue.get(b"1-1")  # type: ignore[arg-type]


def test_a_dead_letter_tells_when_and_why_it_died(queue: Queue) -> None:
    queue.push(b"a")
    message = queue.pop()
    assert message is not None and message.nack(dead=True, reason="no paper")
    (letter,) = queue.dead()
    (found,) = queue.get([message.id])
    assert found is not None
    for each in (letter, found, *queue.range()):
        assert (each.state, each.reason, each.died) == ("dead", "no paper", letter.died)
    assert queue.redrive() == [message.id]
    (found,) = queue.get([message.id])
    assert found is not None and found.reason is None and found.died is None
