"""What was stored is there again, equal to the last bit, after every way of storing it."""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client
from tests.support.clock import BASE, HOUR, Clock
from tests.support.operations import random_operations
from tests.support.scenario import SCENARIOS, every_scenario
from tests.support.server import Server

pytestmark = pytest.mark.essential

NINE_MINUTES = 9 * 60 * 1000
"""Milliseconds; a minute more, and producers are forgotten."""


def everything(client: Client) -> dict[bytes, tuple[object, ...]]:
    """All that can be asked about each queue, and its digest."""
    found: dict[bytes, tuple[object, ...]] = {}
    for key in client.call("KEYS", "*"):
        pending = [(row[0], row[1], row[2], row[4]) for row in client.pending(key, 0, 100_000)]
        info = client.queue_info(key) or {}
        counters = {name: info[name] for name in ("sent", "received", "returned", "dead", "deleted", "last-id")}
        found[key] = (client.digest(key), client.waiting(key, 0, 100_000), pending, counters)
    return found


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_save_and_load(client: Client, scenario: str) -> None:
    SCENARIOS[scenario](client)
    before, digest = everything(client), client.dataset_digest()
    client.call("DEBUG", "RELOAD")
    assert everything(client) == before
    assert client.dataset_digest() == digest


def test_a_digest_is_that_of_the_contents(client: Client) -> None:
    every_scenario(client)
    digests = [client.digest(key) for key in client.call("KEYS", "*")]
    assert b"0" * 40 not in digests
    assert len(set(digests)) == len(digests)


def test_restart_from_a_dump(start_server: StartServer) -> None:
    server = start_server()
    with server.client() as client:
        every_scenario(client)
        before, digest = everything(client), client.dataset_digest()
        client.call("SAVE")
    server.restart(kill=True)
    with server.client() as client:
        assert everything(client) == before
        assert client.dataset_digest() == digest


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_restart_from_an_append_only_file(start_server: StartServer, preamble: str) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble)
    with server.client() as client:
        every_scenario(client)
        before, digest = everything(client), client.dataset_digest()
    server.restart(kill=True)
    with server.client() as client:
        assert everything(client) == before
        assert client.dataset_digest() == digest


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_restart_from_a_rewritten_append_only_file(start_server: StartServer, preamble: str) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble)
    with server.client() as client:
        every_scenario(client)
        server.rewrite_aof()
        client.take("both")
        client.push("many", "after the rewrite")
        client.ack("delivered", client.pending("delivered")[0][0])
        before, digest = everything(client), client.dataset_digest()
        assert b"delivered" not in before
    server.restart(kill=True)
    with server.client() as client:
        assert everything(client) == before
        assert client.dataset_digest() == digest


@pytest.mark.parametrize("preamble", ["yes", "no"])
def test_life_goes_on_during_a_rewrite(start_server: StartServer, preamble: str) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble)
    with server.client() as client:
        random_operations(client, 1, 300)
        client.call("CONFIG", "SET", "rdb-key-save-delay", 50_000)
        client.call("BGREWRITEAOF")
        random_operations(client, 2, 300)
        client.call("CONFIG", "SET", "rdb-key-save-delay", 0)
        server.rewrite_aof()
        random_operations(client, 3, 100)
        before = everything(client)
    server.restart(kill=True)
    with server.client() as client:
        assert everything(client) == before


def test_random_operations_survive_an_append_only_file(start_server: StartServer) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        random_operations(client, 4, 1500)
        before = everything(client)
    server.restart(kill=True)
    with server.client() as client:
        assert everything(client) == before


def test_the_append_only_file_holds_effects_and_not_requests(start_server: StartServer) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        client.push("q", "a", "b")
        client.produce("q", "p", 1, "c")
        client.take("q", 2)
        client.recover("q")
        client.ack("q", client.pending("q")[0][0])
    text = increments(server).upper()
    assert text.count(b"RQ.APPLY") >= 5
    assert not [name for name in (b"RQ.PUSH", b"RQ.POP", b"RQ.RECOVER", b"RQ.ACK") if name in text]


def test_what_changes_nothing_leaves_no_trace(start_server: StartServer) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        client.produce("q", "p", 1, "a")
        client.take("q")
        before = increments(server)
        client.call("RQ.RANGE", "q", "-", "+", "WITHMETA"), client.call("RQ.SPLIT", "q", 2)
        client.pop("q")
        client.pop("missing")
        client.ack("q", "1-1")
        client.recover("q", 1, HOUR)
        client.waiting("q"), client.pending("q"), client.length("q"), client.queue_info("q")
        assert client.call("RQ.POP", "BLOCK", 1, "q") is None
        assert increments(server) == before


def test_a_replay_at_another_time_gives_the_same_state(start_server: StartServer, clock: Clock) -> None:
    clock.stand_at(BASE)
    server = start_server(clock, appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        every_scenario(client)
        random_operations(client, 5, 300)
        before = everything(client)
    clock.stand_at(BASE + NINE_MINUTES)
    server.restart(kill=True)
    with server.client() as client:
        assert everything(client) == before
        server.rewrite_aof()
    clock.stand_at(BASE - HOUR)
    server.restart(kill=True)
    with server.client() as client:
        assert everything(client) == before


def test_turning_the_append_only_file_on_later(start_server: StartServer) -> None:
    server = start_server(appendfsync="always")
    with server.client() as client:
        every_scenario(client)
        client.call("CONFIG", "SET", "appendonly", "yes")
        client.push("one", "more")
        server.rewrite_aof()
        before = everything(client)
    server.reconfigure(appendonly="yes")
    server.restart(kill=True)
    with server.client() as client:
        assert everything(client) == before


def increments(server: Server) -> bytes:
    """The commands in the append-only file since its last rewrite."""
    return b"".join(path.read_bytes() for path in sorted((server.folder / "appendonlydir").glob("*.incr.aof")))
