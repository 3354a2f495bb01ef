"""Keyspace notifications: one for each command that changed a key, and none for one that did not."""

from collections.abc import Iterator

import pytest

from tests.support.client import Client
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import pop_waiting

pytestmark = pytest.mark.essential


class Listener:
    """A subscriber that collects (event, key) up to a mark."""

    def __init__(self, server: Server) -> None:
        self._client = server.client()
        for pattern in ("__keyevent@*__:*", "mark"):
            self._client.call("PSUBSCRIBE", pattern)

    def heard(self, client: Client) -> list[tuple[str, str]]:
        """All events so far: the mark is published behind them."""
        client.call("PUBLISH", "mark", "x")
        events: list[tuple[str, str]] = []
        while True:
            _, _, channel, data = self._client.read_message()
            if channel == b"mark":
                return events
            events.append((channel.decode().partition("__:")[2], data.decode()))

    def close(self) -> None:
        self._client.close()


@pytest.fixture
def listener(server: Server) -> Iterator[Listener]:
    with server.configured(notify_keyspace_events="KEA"):
        listener = Listener(server)
        yield listener
        listener.close()


def test_each_command_tells(client: Client, listener: Listener) -> None:
    client.push("q", "a", "b")
    client.take("q", 2)
    client.recover("q")
    client.ack("q", client.pending("q")[0][0])
    assert listener.heard(client) == [("rq.push", "q"), ("rq.pop", "q"), ("rq.recover", "q"), ("rq.ack", "q")]


def test_a_queue_that_ceases_tells_del(client: Client, listener: Listener) -> None:
    client.push("q", "a")
    client.ack("q", *client.take("q"))
    assert listener.heard(client)[2:] == [("rq.ack", "q"), ("del", "q")]


def test_a_producer_tells_of_a_push(client: Client, listener: Listener) -> None:
    client.call("RQ.PUSHEX", "q", "ELEMENTS", 1, "a")
    client.produce("q", "p", 1, "b")
    assert listener.heard(client) == [("rq.push", "q")] * 2


def test_a_queue_that_remembers_a_producer_does_not_cease(client: Client, listener: Listener) -> None:
    client.produce("q", "p", 1, "a")
    client.ack("q", *client.take("q"))
    assert listener.heard(client)[2:] == [("rq.ack", "q")]


def test_each_queue_of_a_pop_tells(client: Client, listener: Listener) -> None:
    client.push("x", "a")
    client.push("y", "b")
    client.push("z", "c")
    listener.heard(client)
    client.call("RQ.POP", "COUNT", 2, "KEYS", 4, "missing", "x", "y", "z")
    assert sorted(listener.heard(client)) == [("rq.pop", "x"), ("rq.pop", "y")]


def test_what_changes_nothing_tells_nothing(client: Client, listener: Listener) -> None:
    client.produce("q", "p", 1, "a")
    client.take("q")
    listener.heard(client)
    client.call_many([("RQ.PUSHEX", "q", "PRODUCER", "p", "SEQ", 3, "ELEMENTS", 1, "c")])
    client.call("RQ.RANGE", "q", "-", "+"), client.call("RQ.SPLIT", "q", 2), client.call("RQ.STATUS")
    client.pop("q")
    client.pop("missing")
    client.ack("q", "1-1")
    client.recover("q", 1, 3_600_000)
    client.waiting("q")
    client.queue_info("q")
    assert listener.heard(client) == []


def heard_since(client: Client, listener: Listener, *commands: tuple[str | bytes | int, ...]) -> list[tuple[str, str]]:
    """What commands tell."""
    listener.heard(client)
    for command in commands:
        client.call(*command)
    return listener.heard(client)


def test_every_command_that_changes_something_tells(client: Client, listener: Listener) -> None:
    ids = client.push("q", *"abcdef")
    client.pop_with("q", "COUNT", 5, "CONSUMER", "ann")
    for name, words in {
        "extend": (1000, "IDS", 1, ids[0]),
        "claim": ("bob", 0, "IDS", 1, ids[0]),
        "nack": ("IDS", 1, ids[0]),
        "delete": ("IDS", 1, ids[1]),
        "setup": ("LEASE", 5),
        "pause": (),
        "flush": (),
    }.items():
        assert heard_since(client, listener, (f"RQ.{name}", "q", *words)) == [(f"rq.{name}", "q")]
    assert heard_since(client, listener, ("RQ.RESUME", "q")) == [("rq.pause", "q")]


def test_a_forward_tells_of_both(client: Client, listener: Listener) -> None:
    client.push("src", "a", "b")
    (id,) = client.take("src")
    told = heard_since(client, listener, ("RQ.FORWARD", "src", "dst", "IDS", 1, id, "ELEMENTS", 1, "x"))
    assert told == [("rq.push", "dst"), ("rq.ack", "src")]


def test_death_tells(client: Client, listener: Listener) -> None:
    (id,) = client.push("q", "a")
    client.take("q")
    told = heard_since(client, listener, ("RQ.NACK", "q", "DEAD", "IDS", 1, id))
    assert told == [("rq.nack", "q"), ("rq.dead", "q")]
    assert heard_since(client, listener, ("RQ.REDRIVE", "q")) == [("rq.redrive", "q")]


def told_by_itself(client: Client, listener: Listener, event: str) -> list[tuple[str, str]]:
    """What is heard until an event comes that nobody asks for."""
    heard: list[tuple[str, str]] = []

    def came() -> bool:
        heard.extend(listener.heard(client))
        return (event, "q") in heard

    wait_until(f"{event} is told", came)
    return heard


def test_a_lease_that_ends_tells(client: Client, listener: Listener) -> None:
    client.setup("q", "DELIVERIES", 2)
    client.push("q", "a")
    client.pop_with("q", "LEASE", 20)
    assert ("rq.dead", "q") not in told_by_itself(client, listener, "rq.due")
    client.pop_with("q", "LEASE", 20)
    told_by_itself(client, listener, "rq.dead")


def test_a_message_that_falls_due_tells(client: Client, listener: Listener) -> None:
    client.push_with("q", "DELAY", 20)
    told_by_itself(client, listener, "rq.due")


def test_a_time_to_live_tells(client: Client, listener: Listener) -> None:
    client.push_with("q", "TTL", 20)
    assert ("rq.capped", "q") not in told_by_itself(client, listener, "rq.expired")
    client.setup("q", "EXPIRED", "DEAD")
    client.push_with("q", "TTL", 20)
    told_by_itself(client, listener, "rq.dead")


def test_a_cap_tells(client: Client, listener: Listener) -> None:
    client.setup("q", "MAXLEN", 1, "DROP")
    client.push("q", "a")
    told = heard_since(client, listener, ("RQ.PUSH", "q", "b"))
    assert told == [("rq.push", "q"), ("rq.capped", "q")]


def test_serving_a_waiting_client_tells(server: Server, client: Client, listener: Listener) -> None:
    waiter = pop_waiting(server, "q")
    client.push("q", "a")
    waiter.reply()
    assert listener.heard(client) == [("rq.push", "q"), ("rq.pop", "q")]


def test_the_servers_own_events(client: Client, listener: Listener) -> None:
    client.push("q", "a")
    client.call("RENAME", "q", "r")
    client.call("DEL", "r")
    assert listener.heard(client)[1:] == [("rename_from", "q"), ("rename_to", "r"), ("del", "r")]


def test_they_are_of_the_modules_class(server: Server, client: Client) -> None:
    with server.configured(notify_keyspace_events="Ed"):
        listener = Listener(server)
        client.push("q", "a")
        client.ack("q", *client.take("q"))
        assert listener.heard(client) == [("rq.push", "q"), ("rq.pop", "q"), ("rq.ack", "q")]
        listener.close()
