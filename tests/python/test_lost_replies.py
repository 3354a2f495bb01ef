"""Connections that are cut or stall: what was taken comes back by its lease, what is sent again is done once."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
import reliableq
from reliableq import Connection, Message, Queue, Unavailable

from tests.support.proxy import Proxy
from tests.support.server import Server
from tests.support.wait import DEADLINE

HOUR = 3600
PATIENCE = 0.3
"""Seconds that a client waits for a reply."""


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    proxy = Proxy(server.port)
    yield proxy
    proxy.close()


@pytest.fixture(params=["cut", "stall", "drop"])
def how(request: pytest.FixtureRequest) -> str:
    """What happens to a connection: cut behind the answer of the server, without an answer, or before the command."""
    name: str = request.param
    return name


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def through(request: pytest.FixtureRequest, proxy: Proxy) -> Iterator[Connection]:
    """A connection through the proxy."""
    url = f"redis://127.0.0.1:{proxy.port}?protocol={request.param}&socket_timeout={PATIENCE}"
    with reliableq.connect(url) as connection:
        yield connection


@pytest.fixture
def queue(through: Connection) -> Queue:
    return through.queue("q")


def held(queue: Queue, **options: Any) -> Message:
    queue.push(b"held", **options)
    message = queue.pop()
    assert message is not None
    return message


def numbers(queue: Queue, *names: str) -> list[int]:
    info: Any = queue.info()
    assert info is not None
    return [info[name] for name in names]


# What is taken.


@pytest.mark.parametrize(
    "pop",
    [lambda queue: queue.pop(), lambda queue: queue.pop(timeout=DEADLINE), lambda queue: queue.pop(consumer="c")],
    ids=["pop", "waiting", "with options"],
)
def test_a_pop_whose_reply_was_lost_comes_back_by_its_lease(
    through: Connection, proxy: Proxy, how: str, pop: Callable[[Queue], object]
) -> None:
    queue = through.queue("q", lease=0.1)
    id = queue.push(b"a")
    proxy.swallow(b"RQ.POP", how=how)
    with pytest.raises(Unavailable, match="comes back by its lease"):
        pop(queue)
    message = queue.pop(timeout=DEADLINE)
    assert message is not None and message.id == id
    assert message.deliveries == (1 if how == "drop" else 2)
    assert proxy.seen == [b"RQ.POP"]


@pytest.mark.parametrize("command", ["RQ.RECOVER", "RQ.CLAIM"])
def test_what_was_taken_over_comes_back_by_its_lease(through: Connection, proxy: Proxy, how: str, command: str) -> None:
    queue = through.queue("q", lease=0.1)
    queue.push(b"a")
    (late,) = queue.pop_many(1, lease=HOUR if how != "drop" else 0.1)
    proxy.swallow(command.encode(), how=how)
    with pytest.raises(Unavailable, match="comes back by its lease"):
        queue.claim(late, "c") if command == "RQ.CLAIM" else queue.recover(elapsed=0)
    again = queue.pop(timeout=DEADLINE)
    assert again is not None and again.id == late.id
    assert late.ack() is False and again.ack() is True


# What is sent again.


@pytest.mark.parametrize(
    "options",
    [
        {"delay": HOUR},
        {"ttl": HOUR, "retries": 1, "headers": {"a": "b"}},
        {"priority": 7, "front": True},
        {"token": "t"},
        {"token": "t", "unique": True},
    ],
    ids=str,
)
def test_a_push_with_options_is_stored_once(queue: Queue, proxy: Proxy, how: str, options: dict[str, Any]) -> None:
    queue.push(b"before")
    proxy.swallow(b"RQ.PUSHEX", times=2, how=how)
    id = queue.push(b"a", **options)
    queue.push(b"after")
    assert proxy.seen == [b"RQ.PUSHEX"] * 2
    assert sorted(message.body for message in queue.range()) == [b"a", b"after", b"before"]
    assert numbers(queue, "sent") == [3]
    shown = queue.get(id)
    assert shown is not None and shown.body == b"a"


def test_many_with_options_are_stored_once(queue: Queue, proxy: Proxy, how: str) -> None:
    proxy.swallow(b"RQ.PUSHEX", how=how)
    ids = queue.push_many([b"a", b"b", b"c"], delay=HOUR)
    assert [message.id for message in queue.scheduled()] == ids


@pytest.mark.parametrize(
    ("options", "state"), [({}, "waiting"), ({"delay": HOUR}, "scheduled"), ({"dead": True, "reason": "r"}, "dead")]
)
def test_a_nack_counts_once(queue: Queue, proxy: Proxy, how: str, options: dict[str, Any], state: str) -> None:
    message = held(queue)
    proxy.swallow(b"RQ.NACK", times=2, how=how)
    assert message.nack(**options) is True
    assert proxy.seen == [b"RQ.NACK"] * 2
    shown = queue.get(message)
    assert shown is not None and (shown.state, shown.failures, shown.deliveries) == (state, 1, 1)


def test_a_nack_that_is_sent_again_leaves_the_next_consumer_alone(queue: Queue, proxy: Proxy, server: Server) -> None:
    """Another consumer has the message when the second one comes."""
    message = held(queue)
    taken: list[Message] = []
    with reliableq.connect(f"redis://127.0.0.1:{server.port}") as other:
        proxy.swallow(b"RQ.NACK")
        proxy.afterwards = lambda: taken.extend(other.queue("q").pop_many(1))
        assert message.nack() is True
        assert taken[0].ack() is True


def test_a_nack_by_a_bare_id_is_not_sent_again(queue: Queue, proxy: Proxy, how: str) -> None:
    message = held(queue)
    proxy.swallow(b"RQ.NACK", how=how)
    with pytest.raises(Unavailable, match="whether it was done is not known"):
        queue.nack(message.id)
    assert len(queue.inspect()) == (0 if how == "drop" else 1)


def test_an_extension_is_done(queue: Queue, proxy: Proxy, how: str) -> None:
    message = held(queue)
    proxy.swallow(b"RQ.EXTEND", how=how)
    assert message.extend(HOUR) is True
    shown = queue.get(message)
    assert shown is not None and shown.deadline is not None and message.deadline is not None
    assert shown.deadline > message.deadline


def test_acks_and_deletions_are_done(queue: Queue, proxy: Proxy, how: str) -> None:
    first, second, third = held(queue), held(queue, token="t"), held(queue)
    proxy.swallow(b"RQ.ACK", times=2, how=how)
    proxy.swallow(b"RQ.DELETE", how=how)
    assert first.ack() is True
    assert queue.ack(tokens=["t"]) == ["t"]
    assert queue.delete([third.id, second]) == [third.id, second.id]
    assert len(queue) == 0 and len(proxy.seen) == 3


def test_turns_of_a_loop_are_sent_again(queue: Queue, proxy: Proxy, how: str) -> None:
    """What lets go of a message and begins with the next one is one exchange."""
    queue.push_many([b"a", b"b", b"c"])
    seen = []
    for message in queue.consume(idle_timeout=0, count=3, lease=HOUR):
        seen.append((message.body, message.deliveries))
        if message.body == b"a":
            proxy.swallow(b"RQ.ACK", how=how)
    assert seen == [(b"a", 1), (b"b", 1), (b"c", 1)] and len(queue) == 0
    assert proxy.seen == [b"RQ.ACK"] and numbers(queue, "deleted", "returned") == [3, 0]


def test_settings_and_pauses_are_sent_again(queue: Queue, proxy: Proxy, how: str) -> None:
    proxy.swallow(b"RQ.SETUP", how=how)
    proxy.swallow(b"RQ.PAUSE", how=how)
    settings = queue.setup(lease=7)
    assert settings is not None and settings["lease"] == 7.0
    queue.pause()
    queue.push(b"a")
    assert queue.pop() is None


# What is not sent again.


@pytest.mark.parametrize("verb", ["FORWARD", "REDRIVE", "FLUSH", "CONSUMER"])
def test_calls_of_unknown_outcome_say_so(queue: Queue, proxy: Proxy, how: str, verb: str) -> None:
    message = held(queue)
    calls: dict[str, Callable[[], object]] = {
        "FORWARD": lambda: queue.forward(message, "other", b"x"),
        "REDRIVE": queue.redrive,
        "FLUSH": queue.flush,
        "CONSUMER": lambda: queue.delete_consumer("c"),
    }
    proxy.swallow(f"RQ.{verb}".encode(), how=how)
    with pytest.raises(Unavailable, match="whether it was done is not known"):
        calls[verb]()
    assert proxy.seen == [f"RQ.{verb}".encode()]
    if verb in {"FORWARD", "FLUSH"}:
        assert len(queue) == (1 if how == "drop" else 0)


def test_a_loop_of_a_consumer_goes_on_with_what_came_back(through: Connection, proxy: Proxy, how: str) -> None:
    queue = through.queue("q", lease=0.1, deliveries=0)
    queue.push_many([b"a", b"b", b"c"])
    proxy.swallow(b"RQ.POP", how=how)
    proxy.swallow(b"RQ.ACK", times=2, how=how)
    seen: set[bytes] = set()
    with pytest.raises(Unavailable):
        seen.update(message.body for message in queue.consume(DEADLINE))
    for message in queue.consume(idle_timeout=1):
        seen.add(message.body)
    assert seen == {b"a", b"b", b"c"} and len(queue) == 0
