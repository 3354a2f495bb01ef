"""A queue that holds nothing ceases to exist, as an empty list does; its counters live on in the
server's totals."""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client
from tests.support.server import Server
from tests.support.waiter import Waiter, pop_waiting

pytestmark = pytest.mark.essential


def ceased(client: Client, key: str = "q") -> bool:
    return (
        not client.exists(key)
        and client.call("TYPE", key) == b"none"
        and client.length(key) == 0
        and client.queue_info(key) is None
    )


def test_the_last_ack_ends_it(either: Client) -> None:
    either.push("q", "a", "b")
    first, second = either.take("q", 2)
    either.ack("q", first)
    assert either.exists("q")
    either.ack("q", second)
    assert ceased(either)
    assert either.call("DBSIZE") == 0


def test_one_ack_of_all_ends_it(client: Client) -> None:
    client.push("q", *range(500))
    client.ack("q", *client.take("q", 500))
    assert ceased(client)


def test_a_delivered_message_keeps_it(client: Client) -> None:
    client.push("q", "a")
    client.take("q")
    assert client.exists("q")
    client.pop("q")
    client.recover("q")
    assert client.exists("q") and client.length("q") == 1


def test_its_successor_starts_anew(client: Client) -> None:
    client.push("q", "a", "b")
    client.ack("q", *client.take("q", 2))
    client.push("q", "c")
    info = client.queue_info("q")
    assert info is not None
    assert (info["sent"], info["received"], info["deleted"]) == (1, 0, 0)


def test_it_takes_its_time_to_live_along(client: Client) -> None:
    client.push("q", "a")
    client.call("EXPIRE", "q", 1000)
    client.ack("q", *client.take("q"))
    client.push("q", "b")
    assert client.call("TTL", "q") == -1


def test_within_a_transaction_and_a_script(client: Client) -> None:
    client.push("q", "a")
    (id,) = client.take("q")
    replies = client.transaction(("RQ.ACK", "q", id), ("EXISTS", "q"), ("RQ.PUSH", "q", "b"), ("RQ.LEN", "q"))
    assert replies[1] == 0 and replies[3] == 1
    script = """
    local row = redis.call('RQ.POP', KEYS[1])[1]
    redis.call('RQ.ACK', KEYS[1], row[2])
    return redis.call('EXISTS', KEYS[1])"""
    assert client.call("EVAL", script, 1, "q") == 0


def test_clients_that_wait_make_and_keep_no_key(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    assert ceased(client)
    client.push("q", "a")
    ((_, id, _),) = waiter.reply()
    again = pop_waiting(server, "q")
    client.ack("q", id)
    assert ceased(client) and again.is_blocked
    client.push("q", "b")
    assert again.reply()[0][2] == b"b"


def test_a_time_out_makes_no_key(server: Server, client: Client) -> None:
    Waiter(server, "RQ.POP", "BLOCK", 50, "q").reply()
    assert ceased(client)


def test_commands_that_find_nothing_make_no_key(client: Client) -> None:
    client.pop("q")
    client.ack("q", "1-1")
    client.recover("q")
    client.waiting("q"), client.pending("q"), client.length("q"), client.queue_info("q")
    assert client.call("DBSIZE") == 0


def test_it_stays_gone_after_a_reload(client: Client) -> None:
    client.push("q", "a")
    client.push("other", "b")
    client.ack("q", *client.take("q"))
    client.call("DEBUG", "RELOAD")
    assert client.call("KEYS", "*") == [b"other"]


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_it_stays_gone_after_a_restart(start_server: StartServer, preamble: str) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble)
    with server.client() as client:
        client.push("q", "a")
        client.ack("q", *client.take("q"))
    server.restart(kill=True)
    with server.client() as client:
        assert ceased(client)
        server.rewrite_aof()
    server.restart(kill=True)
    with server.client() as client:
        assert ceased(client)


def test_it_ceases_on_a_replica_too(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as source, replica.client() as copy:
        source.push("q", "a", "b")
        ids = source.take("q", 2)
        source.ack("q", ids[0])
        replica.catch_up(primary)
        assert copy.length("q") == 1
        source.ack("q", ids[1])
        replica.catch_up(primary)
        assert ceased(source) and ceased(copy)
        source.push("q", "c")
        replica.catch_up(primary)
        assert copy.digest("q") == source.digest("q")


def test_its_counters_live_on_in_the_totals(client: Client) -> None:
    before = client.totals()
    client.push("q", *"abc")
    ids = client.take("q", 3)
    client.ack("q", *ids)
    assert ceased(client)
    after = client.totals()
    grown = {name: after[name] - before[name] for name in after}
    assert (grown["sent"], grown["received"], grown["deleted"], grown["dead"]) == (3, 3, 3, 0)


def test_totals_are_of_all_queues_and_outlive_deletion(client: Client) -> None:
    before = client.totals()
    client.push("q", "a")
    client.push("r", "b", "c")
    client.call("DEL", "q")
    client.call("FLUSHALL")
    assert client.totals()["sent"] - before["sent"] == 3
    assert client.totals()["deleted"] == before["deleted"]


def test_totals_count_since_the_start(start_server: StartServer) -> None:
    server = start_server()
    with server.client() as client:
        assert set(client.totals().values()) == {0}
        client.push("q", "a")
        client.take("q")
        client.call("SAVE")
    server.restart(kill=True)
    with server.client() as client:
        assert client.length("q") == 1
        assert set(client.totals().values()) == {0}
