"""Leases: what is not settled returns by itself, on time, and whoever waits is woken."""

from typing import Any

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, as_dictionary
from tests.support.clock import BASE, HOUR, Clock
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import Waiter, pop_waiting

pytestmark = pytest.mark.essential


def test_not_early_and_on_time(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "a")
    still.pop_with("q", "LEASE", 1000)
    exact_clock.pass_by(999)
    assert still.pop("q") is None
    exact_clock.pass_by(1)
    assert still.take("q") == [id]
    assert still.facts("q", "returned_lease", "received") == (1, 2)


def test_returns_by_itself(client: Client) -> None:
    client.push("q", "a")
    client.pop_with("q", "LEASE", 20)
    wait_until("it is back, without anybody asking for it", lambda: client.facts("q", "waiting") == (1,))
    assert client.facts("q", "returned", "returned_lease", "delivered") == (1, 1, 0)


def test_a_blocked_client_is_woken(server: Server, client: Client) -> None:
    (id,) = client.push("q", "a")
    (row,) = client.pop_with("q", "LEASE", 100, "WITHMETA")
    waiter = Waiter(server, "RQ.POP", "BLOCK", 0, "WITHMETA", "KEYS", 1, "q")
    ((_, got, _, meta),) = waiter.reply()
    assert got == id
    again = as_dictionary(meta)
    assert again["last-delivery"] >= as_dictionary(row[3])["deadline"], "not early"
    assert (again["deliveries"], again["failures"]) == (2, 1)
    waiter.close()


def test_each_waiter_gets_one(server: Server, client: Client) -> None:
    client.push("q", *range(5))
    client.pop_with("q", "LEASE", 100, "COUNT", 5)
    waiters = [pop_waiting(server, "q") for _ in range(5)]
    assert sorted(waiter.reply()[0][2] for waiter in waiters) == [b"0", b"1", b"2", b"3", b"4"]
    for waiter in waiters:
        waiter.close()


def test_many_leases_end_at_once(client: Client) -> None:
    ids = client.push("q", *range(10_000))
    client.pop_with("q", "LEASE", 30, "COUNT", 10_000)
    wait_until("all are back", lambda: client.facts("q", "waiting") == (10_000,))
    assert [row[1] for row in client.pop_with("q", "COUNT", 10_000)] == ids, "in the order of their IDs"


def test_settled_ones_do_not_return(still: Client, exact_clock: Clock) -> None:
    still.setup("q", "LEASE", 100)
    acked, nacked, lost = still.push("q", "a", "b", "c")
    still.take("q", 3)
    still.ack("q", acked)
    still.nack("q", nacked, options=["DELAY", HOUR])
    exact_clock.pass_by(100)
    assert still.take("q") == [lost]
    assert still.facts("q", "returned_lease", "returned_nack") == (1, 1)


def test_the_holder_is_too_late(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "a")
    still.pop_with("q", "LEASE", 100)
    exact_clock.pass_by(100)
    assert still.call("RQ.ACK", "q", "STATUS", "IDS", 1, id + b"@1") == [b"STALE"]
    still.take("q")
    assert still.call("RQ.ACK", "q", "STATUS", "IDS", 1, id + b"@1") == [b"STALE"]
    assert still.length("q") == 1


def test_through_scheduled_where_there_is_a_back_off(still: Client, exact_clock: Clock) -> None:
    still.setup("q", "LEASE", 100, "BACKOFF", 50, 2, 0)
    (id,) = still.push("q", "a")
    still.take("q")
    exact_clock.pass_by(100)
    assert still.pop("q") is None
    ((scheduled, _, due),) = still.scheduled("q")
    assert scheduled == id and due >= BASE + 150
    exact_clock.pass_by(due - BASE - 100)
    assert still.take("q") == [id]


def test_deliveries_used_up(still: Client, exact_clock: Clock) -> None:
    still.setup("q", "LEASE", 100, "DELIVERIES", 2)
    (id,) = still.push("q", "a")
    for consumer in ("ann", "bob"):
        still.pop_with("q", "CONSUMER", consumer)
        exact_clock.pass_by(100)
    still.push("q", "b")
    ((dead, body, died, *rest),) = still.dead("q")
    assert (dead, body, rest) == (id, b"a", [2, 2, b"lease", b"bob"]) and died >= BASE + 200


def test_deliveries_used_up_needs_nobody_to_ask(client: Client) -> None:
    client.setup("q", "LEASE", 20, "DELIVERIES", 1)
    client.push("q", "a", "b")
    client.take("q", 2)
    wait_until("both are dead", lambda: client.facts("q", "dead-letters") == (2,))


def test_retries_are_the_messages_own_limit(still: Client, exact_clock: Clock) -> None:
    still.setup("q", "LEASE", 100, "DELIVERIES", 5)
    still.push_with("q", "RETRIES", 0)
    still.take("q")
    exact_clock.pass_by(100)
    assert still.pop("q") is None and len(still.dead("q")) == 1


def test_what_was_prefetched_is_not_charged(still: Client, exact_clock: Clock) -> None:
    """A crash charges only what was being worked on."""
    still.setup("q", "LEASE", 100, "DELIVERIES", 1)
    ids = still.push("q", *"abc")
    still.pop_with("q", "COUNT", 3, "PREFETCH")
    still.extend("q", 100, ids[0], options=["START"])
    exact_clock.pass_by(100)
    assert [row[1] for row in still.pop_with("q", "COUNT", 9)] == ids[1:]
    assert [row[0] for row in still.dead("q")] == ids[:1]
    assert [still.meta("q", id)["failures"] for id in ids[1:]] == [0, 0]


def test_what_was_prefetched_has_no_back_off(still: Client, exact_clock: Clock) -> None:
    still.setup("q", "LEASE", 100, "BACKOFF", HOUR, 1, 0)
    (id,) = still.push("q", "a")
    still.pop_with("q", "PREFETCH")
    exact_clock.pass_by(100)
    assert still.take("q") == [id]


def test_a_setting_holds_for_later_deliveries(still: Client) -> None:
    ids = still.push("q", "a", "b")
    still.take("q")
    still.setup("q", "LEASE", 500)
    still.take("q")
    assert [still.meta("q", id)["deadline"] for id in ids] == [0, BASE + 500]


def test_reading_shows_the_old_place(still: Client, exact_clock: Clock) -> None:
    """Read-only commands change nothing, also when something is due."""
    (held,) = still.push("q", "a")
    still.pop_with("q", "LEASE", 100)
    (later,) = still.push_with("q", "DELAY", 100)
    digest = still.digest("q")
    still.call("CLIENT", "PAUSE", 3_600_000, "WRITE")  # the server itself changes nothing, either
    exact_clock.pass_by(1000)
    assert [row[0] for row in still.pending("q")] == [held]
    assert [row[0] for row in still.scheduled("q")] == [later]
    assert still.waiting("q") == [] and still.call("RQ.PEEK", "q") is None
    assert still.facts("q", "waiting", "delivered", "scheduled") == (0, 1, 1)
    assert still.meta("q", held)["state"] == b"delivered"
    still.call("RQ.STATUS"), still.call("RQ.RANGE", "q", "-", "+"), still.length("q")
    assert still.digest("q") == digest
    still.call("CLIENT", "UNPAUSE")
    assert len(still.pop("q", 9) or []) == 2


# Restarts, replicas and copies. Leases are kept as absolute times.


def hold(client: Client) -> tuple[bytes, dict[str, Any]]:
    (id,) = client.push("q", "a")
    client.pop_with("q", "LEASE", 10_000, "CONSUMER", "ann")
    return id, client.meta("q", id)


@pytest.mark.parametrize("how", ["dump", "append-only"])
def test_survive_a_restart(start_server: StartServer, exact_clock: Clock, how: str) -> None:
    appendonly = "yes" if how == "append-only" else "no"
    server = start_server(exact_clock, appendonly=appendonly, appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        id, meta = hold(client)
        if how == "dump":
            client.call("SAVE")
    server.restart(kill=True)
    with server.client() as client:
        assert client.meta("q", id) == meta
        waiter = pop_waiting(server, "q")
        assert waiter.is_blocked
        exact_clock.pass_by(10_000)
        assert waiter.reply() == [[b"q", id, b"a"]]
        waiter.close()


def test_time_that_passed_meanwhile_has_passed(start_server: StartServer, exact_clock: Clock) -> None:
    server = start_server(exact_clock)
    with server.client() as client:
        id, _ = hold(client)
        client.call("SAVE")
    server.kill()
    exact_clock.pass_by(10_000)
    server.start()
    with server.client() as client:
        wait_until("it is back", lambda: client.facts("q", "waiting") == (1,))
        assert client.take("q") == [id]


def test_a_replica_ends_no_lease_by_itself(start_server: StartServer, exact_clock: Clock) -> None:
    primary, replica = start_server(), start_server(exact_clock)
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        hold(client)
        replica.catch_up(primary)
        exact_clock.pass_by(20_000)
        copy.call("RQ.INFO", "q")
        client.push("other", "x")
        replica.catch_up(primary)
        assert copy.facts("q", "delivered") == (1,) and copy.digest("q") == client.digest("q")


def test_a_promoted_replica_ends_them(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        (id,) = client.push("q", "a")
        client.pop_with("q", "LEASE", 300)
        replica.catch_up(primary)
        primary.kill()
        replica.promote()
        wait_until("it is back", lambda: copy.facts("q", "waiting") == (1,))
        assert copy.take("q") == [id]


@pytest.mark.parametrize("way", ["RENAME", "COPY", "MOVE", "SWAPDB", "RELOAD", "RESTORE"])
def test_end_wherever_the_queue_went(server: Server, client: Client, way: str) -> None:
    client.push("q", "a")
    client.pop_with("q", "LEASE", 200)
    other = server.client(db=1)
    there, key = client, "q"
    if way in ("RENAME", "COPY"):
        client.call(way, "q", "there")
        key = "there"
    elif way == "MOVE":
        client.call("MOVE", "q", 1)
        there = other
    elif way == "SWAPDB":
        client.call("SWAPDB", 0, 1)
        there = other
    elif way == "RELOAD":
        client.call("DEBUG", "RELOAD")
    else:
        client.call("RESTORE", "there", 0, client.call("DUMP", "q"))
        key = "there"
    wait_until("it is back there", lambda: there.facts(key, "waiting") == (1,))
    assert len(there.take(key)) == 1
    other.close()


def test_others_are_served_while_many_end_at_once(client: Client) -> None:
    count = 60_000
    for _ in range(count // 1000):
        client.push("q", *["x"] * 1000)
    client.call("RQ.POP", "COUNT", count, "LEASE", 1500, "KEYS", 1, "q")
    seen = set()

    def all_are_back() -> bool:
        seen.add(client.facts("q", "waiting")[0])
        return count in seen

    wait_until("all are back", all_are_back, pause=0)
    assert len(seen) > 5, "it is done a little at a time, and who asks meanwhile is answered"
