"""Clients that wait for a key while others delete, replace, move and bring it: as with Redis's own
blocking commands. And clients that go away while they wait."""

import random
from collections.abc import Callable

import pytest

from tests.conftest import StartServer
from tests.support.client import Argument, Client, CommandError
from tests.support.effort import effort
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import Waiter, blocked_clients, pop_waiting

pytestmark = pytest.mark.essential


def bodies(rows: list[list[bytes]] | None) -> list[bytes]:
    return [row[2] for row in rows or []]


@pytest.mark.parametrize(
    "removal",
    [
        ("DEL", "q"),
        ("UNLINK", "q"),
        ("FLUSHALL",),
        ("FLUSHALL", "ASYNC"),
        ("FLUSHDB",),
        ("RENAME", "q", "elsewhere"),
        ("MOVE", "q", 9),
        ("SWAPDB", 0, 9),
        ("PEXPIREAT", "q", 1),
        ("SET", "q", "text"),
    ],
    ids=lambda words: "-".join(str(word) for word in words).lower(),
)
def test_a_key_that_goes_away_leaves_its_waiters_waiting(
    server: Server, client: Client, removal: tuple[Argument, ...]
) -> None:
    client.push("q", "old")
    client.take("q")
    waiter = pop_waiting(server, "q")
    client.call(*removal)
    assert waiter.is_blocked
    client.call("DEL", "q")
    client.push("q", "new")
    assert bodies(waiter.reply()) == [b"new"]


def bring_by_rename(client: Client) -> None:
    client.push("source", "a")
    client.call("RENAME", "source", "q")


def bring_by_restore(client: Client) -> None:
    client.push("source", "a")
    dump = client.call("DUMP", "source")
    client.call("RESTORE", "q", 0, dump)


def bring_by_copy(client: Client) -> None:
    client.push("source", "a")
    client.call("COPY", "source", "q")


def bring_by_move(client: Client) -> None:
    client.call("SELECT", 9)
    client.push("q", "a")
    client.call("MOVE", "q", 0)
    client.call("SELECT", 0)


def bring_by_swap(client: Client) -> None:
    client.call("SELECT", 9)
    client.push("q", "a")
    client.call("SELECT", 0)
    client.call("SWAPDB", 0, 9)


@pytest.mark.parametrize("bring", [bring_by_rename, bring_by_restore, bring_by_copy, bring_by_move, bring_by_swap])
def test_a_key_that_comes_otherwise_than_by_push(
    server: Server, client: Client, bring: Callable[[Client], None]
) -> None:
    waiter = pop_waiting(server, "q")
    bring(client)
    assert bodies(waiter.reply()) == [b"a"]
    assert len(client.pending("q")) == 1


def test_a_drained_queue_that_comes_serves_nobody(server: Server, client: Client) -> None:
    client.push("source", "a")
    client.take("source")
    waiter = pop_waiting(server, "q")
    client.call("RENAME", "source", "q")
    assert waiter.is_blocked
    client.push("q", "b")
    assert bodies(waiter.reply()) == [b"b"]


def test_rename_onto_a_queue_that_is_there(server: Server, client: Client) -> None:
    client.push("q", "old")
    client.take("q")
    client.push("source", "a", "b")
    waiters = [pop_waiting(server, "q") for _ in range(2)]
    client.call("RENAME", "source", "q")
    assert [bodies(waiter.reply()) for waiter in waiters] == [[b"a"], [b"b"]]


def test_databases_are_apart(server: Server, client: Client) -> None:
    zero, three = pop_waiting(server, "q"), pop_waiting(server, "q", db=3)
    with server.client(db=3) as other:
        other.push("q", "for three")
        assert bodies(three.reply()) == [b"for three"]
        assert zero.is_blocked
        assert len(other.pending("q")) == 1
    client.push("q", "for zero")
    assert bodies(zero.reply()) == [b"for zero"]


def test_unblock_as_by_a_time_out(server: Server, client: Client) -> None:
    for words in ((), ("TIMEOUT",)):
        waiter = pop_waiting(server, "q")
        assert client.call("CLIENT", "UNBLOCK", waiter.id, *words) == 1
        assert waiter.reply() is None
        assert waiter.call("PING") == b"PONG"


def test_unblock_with_an_error(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    assert client.call("CLIENT", "UNBLOCK", waiter.id, "ERROR") == 1
    with pytest.raises(CommandError) as error:
        waiter.reply()
    assert error.value.code == "UNBLOCKED"
    client.push("q", "a")
    assert client.waiting("q") != []


def test_a_killed_client_takes_nothing(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    assert client.call("CLIENT", "KILL", "ID", waiter.id) == 1
    assert blocked_clients(client) == 0
    client.push("q", "a")
    assert [row[1] for row in client.waiting("q")] == [b"a"]


def test_a_client_that_hangs_up_takes_nothing(server: Server, client: Client) -> None:
    first, second = pop_waiting(server, "q"), pop_waiting(server, "q")
    first.close()
    wait_until("the server has noticed", lambda: blocked_clients(client) == 1)
    client.push("q", "a")
    assert bodies(second.reply()) == [b"a"]


def test_hanging_up_loses_no_message(server: Server, client: Client) -> None:
    """Whether the server notices before or after the push, the message is there: it waits, or it was
    delivered to nobody and can be recovered."""
    choose = random.Random(1)
    keys = [f"q{number}" for number in range(effort(200))]
    for key in keys:
        waiter = pop_waiting(server, key)
        if choose.random() < 0.5:
            waiter.close()
            client.push(key, "x")
        else:
            client.push(key, "x")
            waiter.close()
    wait_until("nobody waits any more", lambda: blocked_clients(client) == 0)
    assert {client.length(key) for key in keys} == {1}
    assert {len(client.waiting(key)) + len(client.pending(key)) for key in keys} == {1}


def test_hanging_up_leaks_nothing(start_server: StartServer) -> None:
    server = start_server()
    with server.client() as client:

        def cycle(count: int) -> int:
            for _ in range(count):
                pop_waiting(server, "q", "r", "s").close()
            wait_until("nobody waits any more", lambda: blocked_clients(client) == 0)
            wait_until("the clients are gone", lambda: client.info("clients")["connected_clients"] == "1")
            return int(client.info("memory")["used_memory"])

        first = cycle(100)
        assert cycle(effort(1000)) - first < 1 << 20
        assert client.call("DBSIZE") == 0


def test_time_outs_leak_nothing(start_server: StartServer) -> None:
    with start_server(hz="500").client() as client:

        def cycle(count: int) -> int:
            for _ in range(count):
                assert client.call("RQ.POP", "BLOCK", 1, "KEYS", 2, "q", "r") is None
            return int(client.info("memory")["used_memory"])

        first = cycle(20)
        assert cycle(effort(300)) - first < 1 << 20
        assert blocked_clients(client) == 0


def test_a_client_killed_together_with_the_push_that_would_serve_it(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    client.transaction(("RQ.PUSH", "q", "a"), ("CLIENT", "KILL", "ID", waiter.id))
    assert client.length("q") == 1
    wait_until("nobody waits any more", lambda: blocked_clients(client) == 0)
    assert len(client.waiting("q")) + len(client.pending("q")) == 1


def test_eviction_of_the_key(start_server: StartServer) -> None:
    server = start_server(maxmemory_policy="allkeys-random")
    with server.client() as client:
        client.push("q", "old")
        client.take("q")
        waiter = pop_waiting(server, "q")
        client.call("CONFIG", "SET", "maxmemory", 1)
        wait_until("the key is evicted", lambda: client.call("DBSIZE") == 0)
        assert waiter.is_blocked
        client.call("CONFIG", "SET", "maxmemory", 0)
        client.push("q", "new")
        assert bodies(waiter.reply()) == [b"new"]


def test_a_server_that_becomes_a_replica_sends_its_waiters_away(start_server: StartServer) -> None:
    primary, other = start_server(), start_server()
    waiter = Waiter(other, "RQ.POP", "BLOCK", 0, "q")
    other.follow(primary)
    with pytest.raises(CommandError) as error:
        waiter.reply()
    assert error.value.code == "UNBLOCKED"
    with primary.client() as client:
        client.push("q", "a")
        other.catch_up(primary)
        assert client.waiting("q") != []


def test_a_push_while_clients_are_paused(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    with server.client() as pusher, server.client() as controller:
        controller.call("CLIENT", "PAUSE", 60_000, "WRITE")
        pusher.send("RQ.PUSH", "q", "a")
        assert controller.call("RQ.LEN", "q") == 0
        controller.call("CLIENT", "UNPAUSE")
        assert len(pusher.read()) == 1
    assert bodies(waiter.reply()) == [b"a"]


def test_a_failover_while_clients_wait(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    waiters = [pop_waiting(primary, "q", "r") for _ in range(3)]
    with primary.client() as source, replica.client() as copy:
        source.push("q", "a")
        assert bodies(waiters[0].reply()) == [b"a"]
        source.call("FAILOVER")
        wait_until("the replica is a primary", lambda: copy.info("replication")["role"] == "master")
        for waiter in waiters[1:]:
            with pytest.raises(CommandError) as error:
                waiter.reply()
            assert error.value.code == "UNBLOCKED"
        copy.push("q", "b")
        primary.catch_up(replica)
        assert source.digest("q") == copy.digest("q")


def test_a_reload_while_clients_wait(server: Server, client: Client) -> None:
    client.push("q", "old")
    client.take("q")
    waiters = [pop_waiting(server, "q", "r") for _ in range(2)]
    client.call("DEBUG", "RELOAD")
    assert all(waiter.is_blocked for waiter in waiters)
    client.push("q", "a", "b")
    assert [bodies(waiter.reply()) for waiter in waiters] == [[b"a"], [b"b"]]


def test_a_drained_queue_that_gets_messages_in_every_way(server: Server, client: Client) -> None:
    """A server may remember that a queue had nothing for its waiters, but not for too long."""
    for bring in (bring_by_rename, bring_by_restore, bring_by_copy, bring_by_move, bring_by_swap):
        client.call("FLUSHALL")
        waiter = pop_waiting(server, "q")
        client.push("q", "first")
        assert bodies(waiter.reply()) == [b"first"]
        again = pop_waiting(server, "q")
        client.push("q", "second")
        assert bodies(again.reply()) == [b"second"]
        last = pop_waiting(server, "q")
        client.transaction(("RQ.PUSH", "q", "third"), ("RQ.POP", "q"))
        assert last.is_blocked
        client.call("DEL", "q")
        bring(client)
        assert bodies(last.reply()) == [b"a"]
