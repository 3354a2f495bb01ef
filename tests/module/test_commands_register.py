"""RQ.REGISTER and RQ.NOTIFY, and the consumers that RQ.STATUS counts."""

from collections.abc import Iterator

import pytest

from tests.support.client import Argument, Client, CommandError
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import Waiter, pop_waiting
from tests.support.wire import Wire

pytestmark = pytest.mark.essential


def counted(client: Client, *keys: str) -> list[int]:
    return [row[3] for row in client.call("RQ.STATUS", *keys)]


@pytest.fixture
def consumer(server: Server) -> Iterator[Client]:
    with server.client() as client:
        yield client


def test_counts_in_status(server: Server, client: Client, consumer: Client) -> None:
    assert consumer.call("RQ.REGISTER", "q", "r") == b"OK"
    assert client.call("RQ.STATUS", "q", "r", "s") == [[b"q", 0, 0, 1], [b"r", 0, 0, 1], [b"s", 0, 0, 0]]
    assert client.call("RQ.STATUS") == [[b"q", 0, 0, 1], [b"r", 0, 0, 1]]
    assert client.call("DBSIZE") == 0, "it makes no key"


def test_a_later_call_replaces_the_list(client: Client, consumer: Client) -> None:
    consumer.call("RQ.REGISTER", "q", "r")
    consumer.call("RQ.REGISTER", "r", "s", "s")
    assert counted(client, "q", "r", "s") == [0, 1, 1]
    consumer.call("RQ.REGISTER")
    assert counted(client, "q", "r", "s") == [0, 0, 0]
    assert client.call("RQ.STATUS") == []


def test_disconnecting_ends_it(server: Server, client: Client) -> None:
    with server.client() as consumer:
        consumer.call("RQ.REGISTER", "q")
        assert counted(client, "q") == [1]
    wait_until("the connection is forgotten", lambda: counted(client, "q") == [0])


def test_a_connection_is_counted_once(server: Server, client: Client) -> None:
    waiter = Waiter(server, "RQ.POP", "BLOCK", 0, "KEYS", 2, "q", "q")
    assert counted(client, "q") == [1]
    client.push("q", "a")
    waiter.reply()
    waiter.call("RQ.REGISTER", "q")
    assert counted(client, "q") == [1]
    waiter.close()


def test_registered_blocked_and_named_consumers(server: Server, client: Client, consumer: Client) -> None:
    consumer.call("RQ.REGISTER", "q")
    waiter = pop_waiting(server, "q")
    assert counted(client, "q") == [2]
    client.push_with("other", bodies=["a", "b"])
    client.pop_with("other", "CONSUMER", "ann"), client.pop_with("other", "CONSUMER", "ann")
    assert counted(client, "other") == [1], "a named consumer that holds something"
    waiter.close()


def test_a_named_consumer_with_a_connection_is_counted_once(server: Server, client: Client) -> None:
    client.push("q", "a")
    with server.client() as consumer:
        consumer.call("RQ.REGISTER", "q")
        consumer.pop_with("q", "CONSUMER", "ann")
        assert counted(client, "q") == [1]
        client_id = consumer.call("CLIENT", "ID")
    wait_until("the connection is gone", lambda: client.call("CLIENT", "LIST", "ID", client_id) == b"")
    assert counted(client, "q") == [1], "its name still holds something"


def test_a_blocked_named_consumer_that_holds_something_is_counted_once(server: Server, client: Client) -> None:
    client.push("q", "a")
    client.pop_with("q", "CONSUMER", "ann")
    waiter = Waiter(server, "RQ.POP", "BLOCK", 0, "CONSUMER", "ann", "KEYS", 1, "q")
    assert counted(client, "q") == [1]
    waiter.close()


def test_databases_are_apart(server: Server, client: Client) -> None:
    with server.client(db=3) as consumer, server.client(db=3) as other:
        consumer.call("RQ.REGISTER", "q")
        assert counted(client, "q") == [0] and counted(other, "q") == [1]


def test_a_script_is_no_connection(client: Client) -> None:
    with pytest.raises(CommandError, match="script"):
        client.call("EVAL", "return redis.call('RQ.REGISTER', KEYS[1])", 1, "q")
    assert client.call("RQ.STATUS") == []
    assert client.transaction(("RQ.REGISTER", "q")) == [b"OK"]
    assert client.call("RQ.STATUS") == [[b"q", 0, 0, 1]]


def test_another_type_is_refused(client: Client, consumer: Client) -> None:
    client.call("SET", "text", "x")
    consumer.call("RQ.REGISTER", "q")
    with pytest.raises(CommandError) as error:
        consumer.call("RQ.REGISTER", "r", "text")
    assert error.value.code == "WRONGTYPE"
    assert counted(client, "q", "r") == [1, 0], "nothing changed"


# NOTIFY.


class Told:
    """A connection that registered for queues, and waits to be told of one."""

    def __init__(self, server: Server, *keys: str) -> None:
        self._client = server.client()
        self._watch = server.client()
        self._id = int(self._client.call("CLIENT", "ID"))
        self._client.call("RQ.REGISTER", *keys)
        self._client.send("RQ.NOTIFY", 0)
        wait_until("NOTIFY blocks", self.blocked)

    def blocked(self) -> bool:
        line = bytes(self._watch.call("CLIENT", "LIST", "ID", self._id)).decode()
        fields = dict(field.partition("=")[::2] for field in line.split())
        return "b" in fields.get("flags", "")

    def reply(self) -> object:
        told = self._client.read()
        self._client.close()
        self._watch.close()
        return told


def test_tells_the_first_that_has_something(client: Client, consumer: Client) -> None:
    consumer.call("RQ.REGISTER", "q", "r", "s")
    client.push("s", "a")
    client.push("r", "a")
    assert consumer.call("RQ.NOTIFY", 0) == b"r"
    assert consumer.call("RQ.NOTIFY", 0) == b"r", "nothing is taken"
    assert client.length("r") == 1 and client.pending("r") == []


@pytest.mark.parametrize("protocol", [2, 3])
def test_nothing_is_null(server: Server, protocol: int) -> None:
    null = {2: b"$-1\r\n", 3: b"_\r\n"}[protocol]
    with Wire(server.port, protocol) as wire:
        assert wire.call(b"RQ.NOTIFY", b"1") == null, "registered for none"
        wire.call(b"RQ.REGISTER", b"q")
        assert wire.call(b"RQ.NOTIFY", b"1") == null


def test_a_push_wakes(server: Server, client: Client) -> None:
    told = Told(server, "q", "r")
    client.push("r", "a")
    assert told.reply() == b"r"


def test_all_that_wait_are_woken(server: Server, client: Client) -> None:
    several = [Told(server, "q") for _ in range(3)]
    client.push("q", "a")
    assert [told.reply() for told in several] == [b"q"] * 3


def test_a_return_wakes(server: Server, client: Client) -> None:
    (id,) = client.push("q", "a")
    client.take("q")
    told = Told(server, "q")
    client.nack("q", id)
    assert told.reply() == b"q"


def test_a_due_message_wakes(server: Server, client: Client) -> None:
    told = Told(server, "q")
    client.push_with("q", "DELAY", 50)
    assert told.reply() == b"q"
    assert client.facts("q", "waiting", "scheduled") == (1, 0)


def test_a_lease_that_ends_wakes(server: Server, client: Client) -> None:
    client.push("q", "a")
    client.pop_with("q", "LEASE", 60)
    told = Told(server, "q")
    assert told.reply() == b"q"


def test_does_not_wait_in_a_transaction(client: Client) -> None:
    assert client.transaction(("RQ.REGISTER", "q"), ("RQ.NOTIFY", 0)) == [b"OK", None]


@pytest.mark.parametrize("words", [(), (-1,), ("x",), (1, 2), ("",)])
def test_bad_input(consumer: Client, words: tuple[Argument, ...]) -> None:
    with pytest.raises(CommandError) as error:
        consumer.call("RQ.NOTIFY", *words)
    assert error.value.code == "ERR" and "expected" in error.value.line
