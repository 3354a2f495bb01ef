"""Keyspace notifications: one for each command that changed a key, and none for one that did not."""

from collections.abc import Iterator

import pytest

from tests.support.client import Client
from tests.support.server import Server
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
    client.produce("q", "p", 1, "a")
    client.call_many([("RQ.PUSHEX", "q", "PRODUCER", "p", "SEQ", 3, "ELEMENTS", 1, "c")])
    client.call("RQ.RANGE", "q", "-", "+"), client.call("RQ.SPLIT", "q", 2), client.call("RQ.STATUS")
    client.pop("q")
    client.pop("missing")
    client.ack("q", "1-1")
    client.recover("q", 1, 3_600_000)
    client.waiting("q")
    client.queue_info("q")
    assert listener.heard(client) == []


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
