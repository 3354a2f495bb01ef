"""A replica holds the same, bit for bit, whatever happened and however it learned of it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest

from tests.conftest import StartServer
from tests.support.client import Argument, Client, CommandError
from tests.support.clock import BASE, HOUR, Clock
from tests.support.effort import effort
from tests.support.operations import random_operations
from tests.support.scenario import every_scenario
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import pop_waiting

pytestmark = pytest.mark.essential


@dataclass
class Pair:
    """A primary and its replica."""

    primary: Server
    replica: Server
    source: Client
    copy: Client

    def check_equal(self) -> None:
        """Waits for the replica, and compares each key and the whole."""
        self.replica.catch_up(self.primary)
        assert digests(self.source) == digests(self.copy)
        assert self.source.dataset_digest() == self.copy.dataset_digest()


def digests(client: Client) -> dict[bytes, bytes]:
    return {key: client.digest(key) for key in client.call("KEYS", "*")}


@pytest.fixture(scope="module")
def servers(start_shared: StartServer) -> tuple[Server, Server]:
    primary, replica = start_shared(), start_shared()
    replica.follow(primary)
    return primary, replica


@pytest.fixture
def pair(servers: tuple[Server, Server]) -> Iterator[Pair]:
    primary, replica = servers
    with primary.client() as source, replica.client() as copy:
        source.call("FLUSHALL")
        replica.catch_up(primary)
        yield Pair(primary, replica, source, copy)
    primary.check_health()
    replica.check_health()


def test_each_command_is_followed(pair: Pair) -> None:
    first, second = pair.source.push("q", "a", "b")
    pair.check_equal()
    assert pair.copy.waiting("q") == [[first, b"a"], [second, b"b"]]
    pair.source.take("q", 2)
    pair.check_equal()
    pair.source.recover("q", 1)
    pair.check_equal()
    assert [(row[0], row[4]) for row in pair.copy.pending("q")] == [(second, 1), (first, 2)]
    pair.source.ack("q", first)
    pair.check_equal()
    assert pair.copy.length("q") == 1


def test_times_and_counters_are_the_primarys(pair: Pair) -> None:
    pair.source.push("q", *"abc")
    pair.source.take("q", 2)
    pair.source.recover("q", 1)
    pair.check_equal()
    times = [[row[2] for row in client.pending("q")] for client in (pair.source, pair.copy)]
    assert times[0] == times[1]
    infos = [client.queue_info("q") or {} for client in (pair.source, pair.copy)]
    names = ("waiting", "delivered", "sent", "received", "returned", "dead", "deleted", "first-id", "last-id")
    assert [infos[0][name] for name in names] == [infos[1][name] for name in names]


def test_an_emptied_queue_ceases_on_both(pair: Pair) -> None:
    pair.source.push("q", "a", "b")
    ids = pair.source.take("q", 2)
    pair.source.ack("q", *ids)
    pair.check_equal()
    assert not pair.source.exists("q") and not pair.copy.exists("q")


def test_a_queue_made_again_is_equal(pair: Pair) -> None:
    for _ in range(5):
        pair.source.push("q", "a")
        pair.source.ack("q", *pair.source.take("q"))
        pair.source.push("q", "b", "c")
        pair.check_equal()
        pair.source.call("DEL", "q")


def test_pop_over_several_queues(pair: Pair) -> None:
    pair.source.push("x", "1", "2")
    pair.source.push("y", "3", "4")
    pair.source.call("RQ.POP", "COUNT", 3, "KEYS", 2, "x", "y")
    pair.check_equal()
    assert len(pair.copy.pending("x")) == 2 and len(pair.copy.pending("y")) == 1


def test_what_serves_a_waiting_client_is_followed(pair: Pair) -> None:
    waiters = [pop_waiting(pair.primary, "q", "r", count=2) for _ in range(3)]
    pair.source.push("q", *"abcde")
    replies = [waiter.reply() for waiter in waiters]
    assert sum(len(rows) for rows in replies) == 5
    pair.check_equal()
    assert len(pair.copy.pending("q")) == 5
    for waiter in waiters:
        waiter.close()


def test_transactions_and_scripts(pair: Pair) -> None:
    pair.source.transaction(("RQ.PUSH", "q", "a", "b"), ("RQ.POP", "q"), ("SET", "other", "1"))
    pair.source.call("EVAL", "return redis.call('RQ.POP', 'KEYS', 1, KEYS[1])", 1, "q")
    pair.check_equal()
    assert len(pair.copy.pending("q")) == 2 and pair.copy.call("GET", "other") == b"1"


def test_databases_other_than_zero(pair: Pair) -> None:
    with pair.primary.client(db=5) as client:
        client.push("five", "a", "b")
        client.take("five")
    pair.check_equal()
    with pair.replica.client(db=5) as client:
        assert client.length("five") == 2


def test_what_the_server_does_to_keys(pair: Pair) -> None:
    every_scenario(pair.source)
    pair.source.call("RENAME", "both", "renamed")
    pair.source.call("COPY", "renamed", "copied")
    pair.source.call("MOVE", "stuck", 3)
    dump = pair.source.call("DUMP", "renamed")
    pair.source.call("RESTORE", "restored", 0, dump)
    pair.source.call("UNLINK", "many")
    pair.source.call("PEXPIREAT", "one", 1)
    pair.check_equal()
    pair.source.push("renamed", "x")
    pair.source.push("restored", "y")
    pair.source.take("copied")
    pair.check_equal()


@pytest.mark.parametrize("seed", range(effort(3)))
def test_random_operations(pair: Pair, seed: int) -> None:
    for part in range(4):
        random_operations(pair.source, seed * 100 + part, 300)
        pair.check_equal()


def test_a_replica_refuses_to_change(pair: Pair) -> None:
    pair.source.push("q", "a")
    pair.replica.catch_up(pair.primary)
    changes: list[tuple[Argument, ...]] = [
        ("RQ.PUSH", "q", "b"),
        ("RQ.PUSHEX", "q", "ELEMENTS", 1, "b"),
        ("RQ.POP", "q"),
        ("RQ.ACK", "q", "1-1"),
        ("RQ.RECOVER", "q", 1, 0),
        ("RQ.NACK", "q", "IDS", 1, "1-1"),
        ("RQ.EXTEND", "q", 1, "IDS", 1, "1-1"),
        ("RQ.CLAIM", "q", "c", 0, "IDS", 1, "1-1"),
        ("RQ.FORWARD", "q", "r", "IDS", 1, "1-1", "ELEMENTS", 1, "x"),
        ("RQ.DELETE", "q", "IDS", 1, "1-1"),
        ("RQ.REDRIVE", "q"),
        ("RQ.FLUSH", "q"),
        ("RQ.PAUSE", "q"),
        ("RQ.RESUME", "q"),
        ("RQ.SETUP", "q", "LEASE", 1),
        ("RQ.CONSUMER", "DELETE", "q", "c"),
    ]
    for command in changes:
        with pytest.raises(CommandError) as error:
            pair.copy.call(*command)
        assert error.value.code == "READONLY"
    pair.check_equal()


def test_a_replica_shows_settings_and_consumers(pair: Pair) -> None:
    pair.source.setup("q", "LEASE", 60_000, "DELIVERIES", 7)
    pair.source.push("q", "a", "b")
    pair.source.pop_with("q", "CONSUMER", "ann")
    pair.check_equal()
    assert pair.copy.call("RQ.SETUP", "q") == pair.source.call("RQ.SETUP", "q")
    assert [row[:2] for row in pair.copy.call("RQ.CONSUMER", "LIST", "q")] == [[b"ann", 1]]
    assert pair.copy.call("RQ.SETUP", "none") is None and pair.copy.call("RQ.CONSUMER", "LIST", "none") == []
    script = "return {redis.call('RQ.SETUP', KEYS[1])[2], #redis.call('RQ.CONSUMER', 'LIST', KEYS[1])}"
    assert pair.copy.call("EVAL", script, 1, "q") == [60_000, 1]
    assert pair.copy.transaction(("RQ.SETUP", "none"), ("RQ.CONSUMER", "LIST", "q"))[0] is None
    assert not pair.copy.exists("none")
    with pytest.raises(CommandError) as error:
        pair.copy.call("RQ.SETUP", "q", "LEASE", -1)
    assert error.value.line.startswith("ERR LEASE is out of range"), "arguments are judged first"
    with pytest.raises(CommandError) as error:
        pair.copy.call("EVAL", "return redis.call('RQ.SETUP', KEYS[1], 'LEASE', 1)", 1, "q")
    assert error.value.code == "READONLY"
    (refused,) = pair.copy.transaction(("RQ.CONSUMER", "DELETE", "q", "ann"))
    assert refused.code == "READONLY"
    pair.check_equal()


def test_what_a_replica_shows_does_no_due_work(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as source, replica.client() as copy:
        (id,) = source.push_with("q", "DELAY", 3000)
        source.pop_with("q", "CONSUMER", "ann")
        replica.catch_up(primary)
        primary.kill()
        before = copy.digest("q")
        due = copy.scheduled("q")[0][2]
        wait_until("it is due", lambda: int(copy.call("TIME")[0]) * 1000 > due)
        assert copy.call("RQ.SETUP", "q") and copy.call("RQ.CONSUMER", "LIST", "q") == []
        assert [row[0] for row in copy.scheduled("q")] == [id]
        assert copy.digest("q") == before


def test_wait_counts_the_replica(pair: Pair) -> None:
    pair.source.push("q", "a")
    assert pair.source.call("WAIT", 1, 30_000) == 1
    assert pair.copy.length("q") == 1


def test_a_broken_link_is_mended(pair: Pair) -> None:
    random_operations(pair.source, 50, 100)
    pair.source.call("CLIENT", "KILL", "TYPE", "replica")
    random_operations(pair.source, 51, 100)
    pair.check_equal()


# Servers of their own: these end or change roles.


@pytest.mark.parametrize("diskless", ["yes", "no"])
def test_a_replica_that_comes_late(start_server: StartServer, diskless: str) -> None:
    primary = start_server(repl_diskless_sync=diskless)
    replica = start_server(repl_diskless_load="swapdb" if diskless == "yes" else "disabled")
    with primary.client() as source, replica.client() as copy:
        every_scenario(source)
        copy.push("stale", "x")
        replica.follow(primary)
        source.push("many", "later")
        source.take("both")
        check_same(primary, replica)
        assert not copy.exists("stale")


def test_promotion(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as source, replica.client() as copy:
        source.push("q", "a", "b", "c")
        first, second = source.take("q", 2)
        replica.catch_up(primary)
        primary.kill()
        replica.promote()
        assert copy.ack("q", first) == [first]
        assert [row[1] for row in copy.recover("q")] == [second]
        assert [row[2] for row in copy.pop("q") or []] == [b"c"]
        assert copy.push("q", "d")[0] > b"0"


def test_a_chain_of_replicas(start_server: StartServer) -> None:
    primary, middle, last = start_server(), start_server(), start_server()
    middle.follow(primary)
    last.follow(middle)
    with primary.client() as source:
        every_scenario(source)
        random_operations(source, 7, 300)
    check_same(primary, middle)
    check_same(middle, last)


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_a_replicas_own_append_only_file(start_server: StartServer, preamble: str) -> None:
    primary = start_server()
    replica = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble)
    replica.follow(primary)
    with primary.client() as source:
        every_scenario(source)
        random_operations(source, 8, 300)
        replica.catch_up(primary)
        expected = digests(source), source.dataset_digest()
    primary.kill()
    replica.restart(kill=True)
    with replica.client() as copy:
        assert (digests(copy), copy.dataset_digest()) == expected


@pytest.mark.parametrize("shift", [-HOUR, HOUR, 24 * HOUR])
def test_a_replica_never_asks_its_own_clock(
    start_server: StartServer, new_clock: Callable[[], Clock], shift: int
) -> None:
    ours, theirs = new_clock(), new_clock()
    ours.stand_at(BASE)
    theirs.stand_at(BASE + shift)
    primary, replica = start_server(ours), start_server(theirs)
    replica.follow(primary)
    with primary.client() as source:
        every_scenario(source)
        random_operations(source, 9, 200)
    check_same(primary, replica)


def check_same(primary: Server, replica: Server) -> None:
    with primary.client() as source, replica.client() as copy:
        Pair(primary, replica, source, copy).check_equal()
