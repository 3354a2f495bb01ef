"""TTL: dropped, or dead, when not delivered in time."""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client
from tests.support.clock import BASE, HOUR, Clock
from tests.support.wait import wait_until

pytestmark = pytest.mark.essential


def test_dropped_when_not_delivered_in_time(still: Client, exact_clock: Clock) -> None:
    still.push_with("q", "TTL", 1000, bodies=["mortal"])
    still.push("q", "immortal")
    exact_clock.pass_by(999)
    assert still.call("RQ.PEEK", "q")[1] == b"mortal"
    exact_clock.pass_by(2)
    assert still.bodies("q") == [b"immortal"]
    assert still.facts("q", "expired", "dead") == (1, 0)


def test_goes_by_itself_and_takes_the_queue_along(client: Client) -> None:
    client.push_with("q", "TTL", 20, bodies=["a", "b"])
    wait_until("the queue is gone", lambda: not client.exists("q"))


def test_dead_where_the_queue_says_so(still: Client, exact_clock: Clock) -> None:
    still.setup("q", "EXPIRED", "DEAD")
    (id,) = still.push_with("q", "TTL", 1000)
    exact_clock.pass_by(1001)
    assert still.pop("q") is None
    assert still.dead("q") == [[id, b"x", BASE + 1001, 0, 0, b"expired", None]]
    assert still.facts("q", "dead") == (1,)


def test_runs_from_the_due_time(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push_with("q", "DELAY", 5000, "TTL", 1000)
    exact_clock.pass_by(5999)
    assert still.take("q") == [id]
    still.push_with("q", "DELAY", 5000, "TTL", 1000)
    exact_clock.pass_by(6001)
    assert still.pop("q") is None and still.facts("q", "expired") == (1,)


def test_ends_at_the_first_delivery(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push_with("q", "TTL", 1000)
    still.take("q")
    exact_clock.pass_by(HOUR)
    still.nack("q", id, options=["DELAY", 5])
    exact_clock.pass_by(HOUR)
    assert still.take("q") == [id]
    assert still.facts("q", "expired") == (0,)


def test_a_redriven_message_has_none(still: Client, exact_clock: Clock) -> None:
    still.setup("q", "EXPIRED", "DEAD")
    (id,) = still.push_with("q", "TTL", 1000)
    exact_clock.pass_by(1001)
    assert still.call("RQ.REDRIVE", "q") == [id]
    exact_clock.pass_by(HOUR)
    assert still.take("q") == [id]


def test_none_is_delivered_late_also_in_many(still: Client, exact_clock: Clock) -> None:
    """More than the queue drops in one step."""
    for _ in range(20):
        still.push_with("q", "TTL", 1000, bodies=["x"] * 1000)
    still.push_with("q", "PRIORITY", 0, bodies=["good"])
    exact_clock.pass_by(2000)
    delivered = [row[2] for _ in range(30) for row in still.pop_with("q", "COUNT", 1)]
    assert delivered == [b"good"]


def test_priorities_and_front(still: Client, exact_clock: Clock) -> None:
    still.push_with("q", "TTL", 100, "PRIORITY", 9, bodies=["high"])
    still.push_with("q", "TTL", 100, "FRONT", bodies=["front"])
    still.push_with("q", "TTL", 200, bodies=["longer"])
    exact_clock.pass_by(101)
    assert still.bodies("q") == [b"longer"]


def test_survives_a_restart(start_server: StartServer, exact_clock: Clock) -> None:
    server = start_server(exact_clock, appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        client.push_with("q", "TTL", 10_000)
        client.push_with("later", "DELAY", 5000, "TTL", 10_000)
    server.restart(kill=True)
    with server.client() as client:
        assert client.length("q") == 1
        exact_clock.pass_by(10_001)
        wait_until("it is dropped", lambda: not client.exists("q"))
        wait_until("the other one waits", lambda: client.facts("later", "waiting") == (1,))
        exact_clock.pass_by(5000)
        wait_until("it is dropped, too", lambda: not client.exists("later"))


def test_a_replica_drops_with_its_primary(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        client.push_with("q", "TTL", 30)
        wait_until("the primary drops it", lambda: not client.exists("q"))
        replica.catch_up(primary)
        assert not copy.exists("q")
