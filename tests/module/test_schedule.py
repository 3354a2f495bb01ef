"""Delayed messages: not early, on time, and through restarts."""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, as_dictionary
from tests.support.clock import HOUR, Clock
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import Waiter, pop_waiting

pytestmark = pytest.mark.essential


def test_falls_due_by_itself(client: Client) -> None:
    client.push_with("q", "DELAY", 20)
    assert client.facts("q", "scheduled", "waiting") == (1, 0)
    wait_until("it waits", lambda: client.facts("q", "waiting") == (1,))
    assert client.facts("q", "scheduled") == (0,)


def test_a_blocked_client_is_woken_and_not_early(server: Server, client: Client) -> None:
    waiter = Waiter(server, "RQ.POP", "BLOCK", 0, "WITHMETA", "KEYS", 2, "other", "q")
    (id,) = client.push_with("q", "DELAY", 50)
    ((_, _, due),) = client.scheduled("q")
    assert waiter.is_blocked
    ((key, got, _, meta),) = waiter.reply()
    assert (key, got) == (b"q", id) and as_dictionary(meta)["last-delivery"] >= due
    waiter.close()


def test_clients_are_served_in_their_order(server: Server, client: Client) -> None:
    first, second = pop_waiting(server, "q"), pop_waiting(server, "q")
    client.push_with("q", "DELAY", 60, bodies=["late"])
    client.push_with("q", "DELAY", 20, bodies=["early"])
    assert first.reply()[0][2] == b"early" and second.reply()[0][2] == b"late"
    first.close()
    second.close()


def test_many_fall_due(client: Client) -> None:
    ids = [id for start in range(10) for id in client.push_with("q", "DELAY", 30, bodies=range(start, start + 1000))]
    wait_until("all of them wait", lambda: client.facts("q", "waiting") == (10_000,))
    assert [row[1] for row in client.pop_with("q", "COUNT", 10_000)] == ids


def test_many_queues_fall_due(client: Client) -> None:
    for number in range(500):
        client.push_with(f"q{number}", "DELAY", 20)
    wait_until("all of them wait", lambda: all(client.facts(f"q{n}", "waiting") == (1,) for n in range(500)))


def test_earliest_first_when_shown(client: Client) -> None:
    delays = [30 * HOUR, 10 * HOUR, 20 * HOUR]
    ids = [client.push_with("q", "DELAY", delay)[0] for delay in delays]
    assert [row[0] for row in client.scheduled("q")] == [ids[1], ids[2], ids[0]]
    assert [row[0] for row in client.scheduled("q", 1, 1)] == [ids[2]]
    assert [row[0] for row in client.scheduled("q", -1, 1)] == [ids[0]]


def test_len_counts_them_and_a_queue_of_them_exists(client: Client) -> None:
    client.push_with("q", "DELAY", HOUR, bodies=["a", "b"])
    assert client.length("q") == 2 and client.exists("q")
    assert client.call("RQ.STATUS", "q") == [[b"q", 2, 0, 0]]
    assert client.pop("q") is None and client.call("RQ.PEEK", "q") is None


@pytest.mark.parametrize("how", ["dump", "append-only", "rewritten", "preamble"])
def test_survive_a_restart(start_server: StartServer, exact_clock: Clock, how: str) -> None:
    options = {"appendonly": "no" if how == "dump" else "yes", "appendfsync": "always"}
    server = start_server(exact_clock, aof_use_rdb_preamble="yes" if how == "preamble" else "no", **options)
    with server.client() as client:
        (id,) = client.push_with("q", "DELAY", 10_000, "PRIORITY", 7)
        expected = client.scheduled("q"), client.meta("q", id)
        if how == "dump":
            client.call("SAVE")
        elif how != "append-only":
            server.rewrite_aof()
    server.restart(kill=True)
    with server.client() as client:
        assert (client.scheduled("q"), client.meta("q", id)) == expected
        waiter = pop_waiting(server, "q")
        assert waiter.is_blocked
        exact_clock.pass_by(10_000)
        assert waiter.reply()[0][1] == id
        waiter.close()


def test_time_that_passed_meanwhile_has_passed(start_server: StartServer, exact_clock: Clock) -> None:
    server = start_server(exact_clock)
    with server.client() as client:
        client.push_with("q", "DELAY", HOUR)
        client.call("SAVE")
    server.kill()
    exact_clock.pass_by(HOUR)
    server.start()
    with server.client() as client:
        wait_until("it waits", lambda: client.facts("q", "waiting") == (1,))


def test_a_replica_moves_nothing_by_itself(start_server: StartServer, exact_clock: Clock) -> None:
    primary, replica = start_server(), start_server(exact_clock)
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        client.push_with("q", "DELAY", 10_000)
        replica.catch_up(primary)
        exact_clock.pass_by(20_000)
        client.push("other", "x")
        replica.catch_up(primary)
        assert copy.facts("q", "scheduled") == (1,)


def test_a_replica_follows_when_it_is_due(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        client.push_with("q", "DELAY", 30)
        replica.catch_up(primary)
        wait_until("the replica is told", lambda: copy.facts("q", "waiting") == (1,))
        replica.catch_up(primary)
        assert copy.digest("q") == client.digest("q")


def test_a_promoted_replica_goes_on(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        client.push_with("q", "DELAY", 300)
        replica.catch_up(primary)
        primary.kill()
        replica.promote()
        wait_until("it waits", lambda: copy.facts("q", "waiting") == (1,))


def test_dump_and_restore(client: Client) -> None:
    client.push_with("q", "DELAY", 200)
    dump = client.call("DUMP", "q")
    client.call("DEL", "q")
    client.call("RESTORE", "there", 0, dump)
    assert len(client.scheduled("there")) == 1
    wait_until("it waits", lambda: client.facts("there", "waiting") == (1,))
    assert not client.exists("q")


def test_a_deleted_queue_leaves_nothing_due(server: Server, client: Client) -> None:
    client.push_with("q", "DELAY", 10)
    client.call("DEL", "q")
    client.push("q", "new")
    client.push_with("other", "DELAY", 30)
    wait_until("the other one waits", lambda: client.facts("other", "waiting") == (1,))
    assert client.facts("q", "waiting", "scheduled") == (1, 0)


def test_in_a_transaction_and_a_script(client: Client) -> None:
    client.transaction(("RQ.PUSHEX", "q", "DELAY", 10, "ELEMENTS", 1, "a"))
    client.call("EVAL", "return redis.call('RQ.PUSHEX', KEYS[1], 'DELAY', 10, 'ELEMENTS', 1, 'b')", 1, "q")
    wait_until("both wait", lambda: client.facts("q", "waiting") == (2,))
