"""Random changes by every command: a replica, a reload, a rewritten file and a replayed one hold the same, bit for
bit."""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client
from tests.support.effort import effort
from tests.support.life import digests, random_life, rest
from tests.support.server import Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.essential


def check_followed(primary: Server, replica: Server) -> None:
    with primary.client() as source, replica.client() as copy:
        expected = rest(source)
        replica.catch_up(primary)
        assert digests(copy) == expected


def check_consistent(client: Client) -> None:
    """What is told of each queue agrees with itself."""
    for key in client.call("KEYS", "*"):
        # In one go, since leases end and messages fall due.
        waiting, pending, dead, scheduled, info, length, rows = client.transaction(
            ("RQ.INSPECT", key, 0, 100_000),
            ("RQ.INSPECT", key, "PENDING", 0, 100_000),
            ("RQ.INSPECT", key, "DEAD", 0, 100_000),
            ("RQ.INSPECT", key, "SCHEDULED", 0, 100_000),
            ("RQ.INFO", key),
            ("RQ.LEN", key),
            ("RQ.RANGE", key, "-", "+", "COUNT", 100_000),
        )
        told = dict(zip(info[::2], info[1::2], strict=True))
        names = (b"waiting", b"delivered", b"dead-letters", b"scheduled")
        assert [told[name] for name in names] == [len(part) for part in (waiting, pending, dead, scheduled)]
        assert length == len(waiting) + len(pending) + len(scheduled)
        assert sorted(row[0] for part in (waiting, pending, dead, scheduled) for row in part) == sorted(
            row[0] for row in rows
        )
        parts = (b"returned_lease", b"returned_nack", b"returned_recover")
        assert told[b"returned"] == sum(told[name] for name in parts)


@pytest.mark.parametrize("seed", range(effort(4)))
def test_a_replica_follows(start_server: StartServer, seed: int) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client:
        for part in range(4):
            random_life(client, seed * 100 + part, 400)
            check_consistent(client)
            check_followed(primary, replica)


def test_a_replica_that_comes_late_follows(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    with primary.client() as client:
        random_life(client, 900, 500)
        replica.follow(primary)
        random_life(client, 901, 500)
        check_followed(primary, replica)
        client.call("CLIENT", "KILL", "TYPE", "replica")
        random_life(client, 902, 200)
        check_followed(primary, replica)


@pytest.mark.parametrize("seed", range(effort(3)))
def test_a_reload_changes_nothing(client: Client, seed: int) -> None:
    for part in range(3):
        random_life(client, 1000 + seed * 100 + part, 300)
        expected = rest(client)
        client.call("DEBUG", "RELOAD")
        assert digests(client) == expected
        check_consistent(client)


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_an_append_only_file_is_replayed_and_rewritten(start_server: StartServer, preamble: str) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble)
    with server.client() as client:
        random_life(client, 2000, 800)
        expected = rest(client)
    server.restart(kill=True)
    with server.client() as client:
        assert digests(client) == expected
        random_life(client, 2001, 300)
        server.rewrite_aof()
        random_life(client, 2002, 300)
        expected = rest(client)
    server.restart(kill=True)
    with server.client() as client:
        assert digests(client) == expected
        check_consistent(client)


def test_a_promoted_replica_goes_on(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client:
        random_life(client, 3000, 500)
    replica.catch_up(primary)
    primary.kill()
    replica.promote()
    with replica.client() as client:
        random_life(client, 3001, 500)
        check_consistent(client)
        expected = rest(client)
        client.call("DEBUG", "RELOAD")
        assert digests(client) == expected


def test_what_is_left_can_be_used_up(client: Client) -> None:
    random_life(client, 4000, 1500)
    rest(client)
    for key in client.call("KEYS", "*"):
        client.call("RQ.RESUME", key, "ALL")
        client.call("RQ.SETUP", key, "LEASE", 0, "INFLIGHT", 0, "DEDUP", 0, "DELIVERIES", 0)
        client.call("RQ.REDRIVE", key)
        client.call("RQ.CONSUMER", "DELETE", key, "ann")
        client.call("RQ.RECOVER", key, 100_000, 0, "LEASE", 0)
        client.call("RQ.POP", "COUNT", 100_000, "LEASE", 0, "KEYS", 1, key)
        held = [row[0] for row in client.pending(key, 0, 100_000)]
        if held:
            assert client.ack(key, *held) == held
        client.call("RQ.FLUSH", key)
        client.call("RQ.SETUP", key, "BACKOFF", 0, 1, 0, "JITTER", 0, "MAXLEN", 0, "MAXBYTES", 0, "REJECT")
        client.call("RQ.SETUP", key, "DEDUP", 600_000, "EXPIRED", "DROP", "DEADMAX", 0, "DEADTTL", 0)
    wait_until("every queue ceases to exist", lambda: client.call("DBSIZE") == 0)
