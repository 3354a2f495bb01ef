"""Delete, redrive, flush, pause, caps, forward."""

from typing import Any

import pytest
import reliableq
from reliableq import Capped, Connection, InvalidArgument, Message, NotHeld, Paused, Queue

from tests.support.empty import is_empty
from tests.support.wait import wait_until

HOUR = 3600


def bodies(messages: list[Message]) -> list[bytes]:
    return [message.body for message in messages]


def popped(queue: Queue, **options: Any) -> Message:
    message = queue.pop(**options)
    assert message is not None
    return message


def numbers(queue: Queue, *names: str) -> list[Any]:
    info: Any = queue.info()
    assert info is not None
    return [info[name] for name in names]


def every_state(queue: Queue) -> tuple[str, str, str, str]:
    """IDs of a dead message, a delivered, a waiting and a scheduled one."""
    ids = queue.push_many([b"dead", b"delivered", b"waiting"])
    popped(queue).nack(dead=True)
    popped(queue)
    return ids[0], ids[1], ids[2], queue.push(b"scheduled", delay=HOUR)


# Delete.


def test_delete_takes_messages_of_every_state(queue: Queue) -> None:
    ids = every_state(queue)
    queue.push(b"kept")
    assert queue.delete([ids[3], "1-1", *ids[:2], ids[2], ids[2]]) == [ids[3], *ids[:2], ids[2]]
    assert queue.delete(ids) == [] and bodies(queue.range()) == [b"kept"]
    assert numbers(queue, "waiting", "delivered", "scheduled", "dead_letters") == [1, 0, 0, 0]
    assert numbers(queue, "cancelled", "deleted") == [4, 0]


def test_delete_of_one_tells_whether_it_was_there(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    message = popped(queue)
    queue.claim(message, "c")
    assert queue.delete(message) is True, "whatever became of it since"
    assert queue.delete(message) is queue.delete(message.id) is False
    assert message.ack() is False
    assert queue.delete(queue.inspect()[0]) is True
    assert is_empty(queue)


# Redrive.


def test_redrive_lets_dead_letters_wait_again(queue: Queue) -> None:
    ids = queue.push_many([b"a", b"b", b"c", b"d"])
    for id in (ids[2], ids[0], ids[1]):
        queue.pop_many(4)
        assert queue.nack(id, dead=True)
        queue.nack([message.id for message in queue.inspect(pending=True)], silent=True)
    assert queue.redrive(count=1) == [ids[2]]
    assert queue.redrive([ids[1], ids[3], "1-1"]) == [ids[1]]
    assert queue.redrive() == [ids[0]] and queue.redrive() == []
    assert bodies(queue.inspect()) == [b"d", b"c", b"b", b"a"]
    found = queue.pop_many(4)
    assert [message.failures for message in found] == [0] * 4
    assert all(message.deliveries >= 2 for message in found)
    assert numbers(queue, "dead", "dead_letters") == [3, 0]


def test_a_redriven_message_has_all_its_tries_again(queue: Queue) -> None:
    queue.push(b"a", headers={"a": "b"}, priority=3)
    for round in range(2):
        for _ in range(3):
            assert popped(queue).nack()
        (letter,) = queue.dead()
        assert (letter.deliveries, letter.failures) == (3 * (round + 1), 3)
        assert queue.redrive(letter) == [letter.id]
    message = popped(queue)
    assert (message.deliveries, dict(message.headers), message.priority) == (7, {"a": "b"}, 3)


def test_dead_letters_are_bounded(rq: Connection) -> None:
    queue = rq.queue("q", deadmax=2)
    ids = queue.push_many([b"a", b"b", b"c"])
    assert len(queue.nack(queue.pop_many(3), dead=True)) == 3
    assert [letter.id for letter in queue.dead()] == ids[1:]
    assert numbers(queue, "dead", "dead_letters", "expired") == [3, 2, 1]
    queue.setup(deadttl=0.02)
    wait_until("they are gone", lambda: is_empty(queue))


# Flush.


def test_flush_removes_all(queue: Queue) -> None:
    every_state(queue)
    (held,) = queue.inspect(pending=True)
    assert queue.flush() == 4
    assert queue.flush() == len(queue) == 0
    assert held.ack() is False and queue.recover(elapsed=0) == [] and queue.redrive() == []
    assert is_empty(queue)


def test_flush_of_the_dead_leaves_the_others(queue: Queue) -> None:
    ids = every_state(queue)
    assert queue.flush(dead=True) == 1 and queue.flush(dead=True) == 0
    assert [message.id for message in queue.range()] == list(ids[1:])
    assert numbers(queue, "cancelled", "dead_letters") == [1, 0]


# Pause.


def test_a_paused_pop_finds_nothing(queue: Queue) -> None:
    queue.push_many([b"a", b"b"])
    message = popped(queue)
    queue.pause()
    queue.pause("pop")
    assert queue.pop() is None and queue.pop(timeout=0.01) is None and queue.pop_many(2) == []
    assert numbers(queue, "paused") == ["pop"]
    assert message.nack() and queue.push(b"c")
    assert bodies(queue.inspect()) == [b"a", b"b", b"c"]
    queue.resume("push")
    assert queue.pop() is None
    queue.resume()
    queue.resume()
    assert bodies(queue.pop_many(3)) == [b"a", b"b", b"c"]


def test_a_paused_push_is_refused(rq: Connection, queue: Queue) -> None:
    queue.push(b"a")
    queue.pause("push")
    for push in (
        lambda: queue.push(b"b"),
        lambda: queue.push_many([b"b"]),
        lambda: queue.push(b"b", priority=1),
        lambda: queue.push_many([b"b"], delay=HOUR),
    ):
        with pytest.raises(Paused, match=r'^pushes to the queue are paused; resume\("push"\) lets them go on$'):
            push()
    assert numbers(queue, "paused", "sent") == ["push", 1]
    message = popped(queue)
    other = rq.queue("other")
    other.push(b"x")
    handed = popped(other)
    with pytest.raises(Paused):
        other.forward(handed, queue, b"b")
    assert handed.ack()
    assert message.nack()
    queue.resume("push")
    queue.push(b"b")
    assert bodies(queue.inspect()) == [b"a", b"b"]


def test_all_is_paused_and_goes_on_in_parts(queue: Queue) -> None:
    queue.pause("all")
    with pytest.raises(Paused):
        queue.push(b"a")
    queue.resume("push")
    queue.push(b"a")
    assert numbers(queue, "paused") == ["pop"] and queue.pop() is None
    queue.pause("push")
    assert numbers(queue, "paused") == ["all"]
    queue.resume("all")
    assert popped(queue).body == b"a"
    assert numbers(queue, "paused") == ["none"]


# Caps.


def test_a_push_beyond_the_cap_is_refused_whole(rq: Connection) -> None:
    queue = rq.queue("q", maxlen=3)
    queue.push(b"a", delay=HOUR)
    queue.push(b"b")
    with pytest.raises(Capped, match="; push again when messages were acknowledged, or raise the cap"):
        queue.push_many([b"c", b"d"])
    message = popped(queue)
    queue.push(b"c")
    with pytest.raises(Capped):
        queue.push(b"d", priority=9)
    assert numbers(queue, "sent", "expired") == [3, 0]
    assert message.ack()
    queue.push(b"d")
    queue.setup(maxlen=0)
    queue.push_many([b"e"] * 10)
    assert len(queue) == 13


def test_bytes_are_those_of_bodies_and_headers(rq: Connection) -> None:
    queue = rq.queue("q", maxbytes=20)
    queue.push(b"12345", headers={"ab": "cde"})
    assert numbers(queue, "bytes") == [10]
    with pytest.raises(Capped):
        queue.push(b"12345678901")
    queue.push(b"1234567890")
    with pytest.raises(Capped):
        queue.push(b"1")
    queue.push(b"")
    assert numbers(queue, "bytes") == [20]


def test_a_full_queue_may_make_room(rq: Connection) -> None:
    queue = rq.queue("q", maxlen=4, overflow="drop")
    queue.push_many([b"held", b"old", b"new"])
    popped(queue)
    queue.push(b"urgent", priority=1)
    queue.push_many([b"x", b"y"])
    assert bodies(queue.inspect()) == [b"urgent", b"x", b"y"]
    assert numbers(queue, "expired", "delivered") == [2, 1]
    with pytest.raises(Capped):
        queue.push_many([b"z"] * 4)
    assert bodies(queue.inspect()) == [b"urgent", b"x", b"y"]


def test_what_returns_is_never_refused(rq: Connection) -> None:
    queue = rq.queue("q", maxlen=1)
    queue.push(b"a")
    assert popped(queue).nack(dead=True)
    queue.push(b"b")
    assert queue.redrive() and len(queue) == 2
    assert queue.nack(queue.pop_many(2)) and len(queue) == 2


# Forward.


def test_forward_acknowledges_and_pushes(rq: Connection, queue: Queue) -> None:
    to = rq.queue("other")
    queue.push_many([b"a", b"b", b"c"])
    a, b, c = queue.pop_many(3)
    ids = queue.forward(a, to, b"x")
    ids += queue.forward([b.receipt, c.id], "other", [b"y", bytearray(b"z"), memoryview(b"")])
    assert [(message.id, message.body) for message in to.inspect()] == list(
        zip(ids, [b"x", b"y", b"z", b""], strict=True)
    )
    assert is_empty(queue)
    assert numbers(to, "sent") == [4]


def test_forward_within_a_queue(queue: Queue) -> None:
    queue.push(b"a")
    message = popped(queue)
    (id,) = queue.forward(message, queue, b"b")
    assert [(each.id, each.body) for each in queue.range()] == [(id, b"b")]


def test_a_full_queue_forwards_to_itself(queue: Queue) -> None:
    queue.setup(maxlen=1)
    queue.push(b"a")
    message = popped(queue)
    with pytest.raises(Capped):
        queue.forward(message, queue, [b"x", b"y"])
    (id,) = queue.forward(message, queue, b"x")
    assert [each.id for each in queue.range()] == [id]


def test_only_what_is_held_is_forwarded(rq: Connection, queue: Queue) -> None:
    to = rq.queue("other")
    queue.push_many([b"a", b"b", b"c"])
    a, b = queue.pop_many(2)
    (again,) = queue.claim(b, "c")
    waiting = queue.inspect()[0].id
    for messages in ([a, b], [a, waiting], [a, "1-1"], b):
        with pytest.raises(NotHeld, match="nothing was changed"):
            queue.forward(messages, to, b"x")  # type: ignore[arg-type]
    assert len(queue) == 3 and to.info() is None
    assert queue.forward([a, again], to, b"x")
    assert len(queue) == 1


def test_a_forward_into_a_full_queue_changes_nothing(rq: Connection, queue: Queue) -> None:
    to = rq.queue("other", maxlen=1)
    queue.push(b"a")
    message = popped(queue)
    with pytest.raises(Capped):
        queue.forward(message, to, [b"x", b"y"])
    assert len(to) == 0 and len(queue) == 1
    assert queue.forward(message, to, [b"x"]) and len(queue) == 0


def test_a_queue_that_a_forward_makes_is_as_others(rq: Connection, queue: Queue) -> None:
    queue.push(b"a")
    queue.forward(popped(queue), "other", b"x")
    settings = rq.queue("other").setup()
    assert settings is not None and (settings["lease"], settings["deliveries"]) == (30.0, 3)


def test_forward_to_another_place(queue: Queue) -> None:
    queue.push(b"a")
    message = popped(queue)
    with reliableq.connect("memory:") as elsewhere, reliableq.connect("memory:") as third:
        for other in (elsewhere, third):
            with pytest.raises(InvalidArgument, match="can't be forwarded"):
                queue.forward(message, other.queue("other"), b"x")
        third.queue("q").push(b"c")
        taken = popped(third.queue("q"))
        with pytest.raises(InvalidArgument, match="can't be forwarded"):
            third.queue("q").forward(taken, elsewhere.queue("other"), b"x")
        assert taken.ack() and len(third.queue("other")) == len(elsewhere.queue("other")) == 0
    assert message.ack()
