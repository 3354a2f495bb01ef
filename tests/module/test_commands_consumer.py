"""RQ.CONSUMER LIST|DELETE key ..."""

from typing import Any

import pytest

from tests.conftest import StartServer
from tests.support.client import Argument, Client, CommandError
from tests.support.clock import BASE, Clock
from tests.support.server import Server
from tests.support.waiter import pop_waiting

pytestmark = pytest.mark.essential


def consumers(client: Client) -> list[list[Any]]:
    return list(client.call("RQ.CONSUMER", "LIST", "q"))


def test_pending_idle_and_last_seen(still: Client, exact_clock: Clock) -> None:
    still.push("q", *"abcd")
    still.pop_with("q", "CONSUMER", "bob", "COUNT", 2)
    exact_clock.pass_by(100)
    still.pop_with("q", "CONSUMER", "ann")
    exact_clock.pass_by(50)
    assert sorted(consumers(still)) == [[b"ann", 1, 50, BASE + 100], [b"bob", 2, 150, BASE]]
    assert still.facts("q", "consumers") == (2,)


def test_a_pop_that_finds_nothing_is_a_sign(still: Client, exact_clock: Clock) -> None:
    still.push("q", "a")
    still.pop_with("q", "CONSUMER", "ann")
    exact_clock.pass_by(100)
    assert still.pop_with("q", "CONSUMER", "ann") == []
    assert consumers(still) == [[b"ann", 1, 0, BASE + 100]]


def test_a_pop_that_finds_nothing_propagates_nothing(start_server: StartServer) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        client.push("q", "a")
        client.pop_with("q", "CONSUMER", "ann")
        size = client.info("persistence")["aof_current_size"]
        digest = client.digest("q")
        for _ in range(5):
            client.pop_with("q", "CONSUMER", "ann"), client.pop_with("missing", "CONSUMER", "ann")
        assert client.info("persistence")["aof_current_size"] == size
        assert client.digest("q") == digest


def test_a_consumer_goes_when_it_holds_nothing(client: Client) -> None:
    client.push("q", "a", "b")
    (row,) = client.pop_with("q", "CONSUMER", "ann")
    client.ack("q", row[1])
    assert consumers(client) == []
    (row,) = client.pop_with("q", "CONSUMER", "ann")
    client.nack("q", row[1])
    assert consumers(client) == []


def test_a_consumer_that_only_asks_is_none(client: Client) -> None:
    client.push_with("q", "DELAY", 3_600_000)
    client.pop_with("q", "CONSUMER", "ann")
    assert consumers(client) == [] and client.facts("q", "consumers") == (0,)


def test_delete_returns_what_it_holds(either: Client) -> None:
    either.setup("q", "DELIVERIES", 1, "BACKOFF", 3_600_000, 1, 0)
    ids = either.push("q", *"abc")
    either.pop_with("q", "CONSUMER", "ann", "COUNT", 2)
    either.pop_with("q", "CONSUMER", "bob")
    assert either.call("RQ.CONSUMER", "DELETE", "q", "ann") == 2
    assert [row[0] for row in either.waiting("q")] == ids[:2], "at once, no failure counted"
    assert [either.meta("q", id)["failures"] for id in ids] == [0, 0, 0]
    assert [row[0] for row in either.pending("q")] == ids[2:]
    assert either.facts("q", "returned_nack") == (2,)
    assert either.call("RQ.CONSUMER", "DELETE", "q", "ann") == 0


def test_delete_of_nobody(client: Client) -> None:
    assert client.call("RQ.CONSUMER", "DELETE", "missing", "ann") == 0
    assert client.call("RQ.CONSUMER", "LIST", "missing") == []
    assert not client.exists("missing")


def test_delete_wakes_who_waits(server: Server, client: Client) -> None:
    (id,) = client.push("q", "a")
    client.pop_with("q", "CONSUMER", "ann")
    waiter = pop_waiting(server, "q")
    client.call("RQ.CONSUMER", "DELETE", "q", "ann")
    assert waiter.reply() == [[b"q", id, b"a"]]
    waiter.close()


def test_names_of_any_bytes(client: Client) -> None:
    names = [b"\xff\0", b"x" * 1024, b"LIST", b" "]
    client.push("q", *"abcd")
    for name in names:
        client.pop_with("q", "CONSUMER", name)
    assert sorted(row[0] for row in consumers(client)) == sorted(names)
    client.call("DEBUG", "RELOAD")
    assert sorted((row[0], row[1]) for row in consumers(client)) == sorted((name, 1) for name in names)


def test_a_replica_knows_who_holds_what(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        client.push("q", "a", "b")
        client.pop_with("q", "CONSUMER", "ann", "COUNT", 2)
        replica.catch_up(primary)
        assert [row[0] for row in copy.pending("q")] and copy.facts("q", "consumers") == (1,)
        replica.promote()
        assert [row[:2] for row in consumers(copy)] == [[b"ann", 2]]


@pytest.mark.parametrize(
    "words",
    [
        ("LIST",),
        ("DELETE",),
        ("DELETE", "q"),
        ("DELETE", "q", ""),
        ("DELETE", "q", "x" * 1025),
        ("DELETE", "q", "ann", "bob"),
        ("LIST", "q", "ann"),
        ("RENAME", "q", "ann"),
        (),
    ],
    ids=lambda words: " ".join(str(word)[:9] for word in words),
)
def test_bad_input_changes_nothing(client: Client, words: tuple[Argument, ...]) -> None:
    client.push("q", "a")
    client.pop_with("q", "CONSUMER", "ann")
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.call("RQ.CONSUMER", *words)
    assert error.value.code == "ERR" and "expected" in error.value.line
    assert client.digest("q") == before
