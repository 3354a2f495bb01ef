"""RQ.PUSHEX: what a producer sends again is stored once, and a producer is forgotten after a while."""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.clock import Clock
from tests.support.server import Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.essential

WINDOW = 600_000
"""Milliseconds for which a producer is remembered."""


def produce(client: Client, sequence: int, *bodies: str, name: str = "p", key: str = "q") -> list[bytes | None]:
    ids: list[bytes | None] = client.call(
        "RQ.PUSHEX", key, "PRODUCER", name, "SEQ", sequence, "ELEMENTS", len(bodies), *bodies
    )
    return ids


def bodies(client: Client, key: str = "q") -> list[bytes]:
    return [row[1] for row in client.call("RQ.RANGE", key, "-", "+")]


def test_without_options_as_push(client: Client) -> None:
    ids = client.call("RQ.PUSHEX", "q", "ELEMENTS", 3, "a", "", b"\x00\xff")
    assert client.call("RQ.RANGE", "q", "-", "+") == [
        list(row) for row in zip(ids, [b"a", b"", b"\x00\xff"], strict=True)
    ]


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_resend_is_stored_once(server: Server, protocol: int) -> None:
    with server.client(protocol) as client:
        first = produce(client, 1, "a", "b")
        assert None not in first
        assert produce(client, 1, "a", "b") == first
        second = produce(client, 3, "c")
        assert produce(client, 3, "c") == second
        assert produce(client, 1, "a", "b") == [None, None]
        assert bodies(client) == [b"a", b"b", b"c"]
        assert client.queue_info("q")["sent"] == 3  # type: ignore[index]


def test_a_resend_with_more_stores_what_is_new(client: Client) -> None:
    first = produce(client, 5, "a", "b")
    longer = produce(client, 6, "b", "c", "d")
    assert longer[0] == first[1] and bodies(client) == [b"a", b"b", b"c", b"d"]
    assert produce(client, 5, "a", "b", "c", "d") == [None, None, *longer[1:]]


def test_a_gap_is_refused_and_stores_nothing(client: Client) -> None:
    produce(client, 1, "a")
    before = client.digest("q")
    with pytest.raises(CommandError) as refused:
        produce(client, 3, "c")
    assert refused.value.code == "GAP" and "highest number is 1" in refused.value.line
    assert client.digest("q") == before
    produce(client, 2, "b")
    produce(client, 3, "c")
    assert bodies(client) == [b"a", b"b", b"c"]


def test_producers_do_not_know_each_other(client: Client) -> None:
    produce(client, 7, "a", name="one")
    produce(client, 7, "b", name="two")
    produce(client, 7, "c", name="one", key="other")
    assert bodies(client) == [b"a", b"b"] and bodies(client, "other") == [b"c"]


def test_a_resend_after_acknowledgement_is_not_stored_again(client: Client) -> None:
    ids = produce(client, 1, "a")
    client.ack("q", *client.take("q"))
    assert client.length("q") == 0 and client.exists("q"), "a queue that remembers a producer stays"
    assert produce(client, 1, "a") == ids
    assert client.length("q") == 0
    produce(client, 2, "b")
    assert bodies(client) == [b"b"]


@pytest.mark.parametrize("how", ["reload", "restart", "dump", "copy", "rewrite"])
def test_producers_survive(start_server: StartServer, how: str) -> None:
    server = start_server(appendonly="yes" if how == "rewrite" else "no", **{"aof-use-rdb-preamble": "no"})
    client = server.client()
    produce(client, 1, "a", "b")
    latest = produce(client, 3, "c")
    client.ack("q", *client.take("q", 3))
    before = client.digest("q")
    if how == "reload":
        client.call("DEBUG", "RELOAD")
    elif how == "dump":
        dumped = client.call("DUMP", "q")
        client.call("DEL", "q")
        client.call("RESTORE", "q", 0, dumped)
    elif how == "copy":
        client.call("COPY", "q", "copied")
        client.call("RENAME", "copied", "q")
    elif how == "restart":
        client.call("SAVE")
        server.restart(kill=True)
        client = server.client()
    else:
        server.rewrite_aof()
        server.restart(kill=True)
        client = server.client()
    assert client.digest("q") == before
    assert produce(client, 3, "c") == latest and produce(client, 2, "b") == [None]
    assert client.length("q") == 0


def test_replicas_remember_and_agree(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    client = primary.client()
    produce(client, 1, "a", "b")
    latest = produce(client, 2, "b", "c")
    replica.catch_up(primary)
    with replica.client() as there:
        assert there.digest("q") == client.digest("q")
        replica.promote()
        assert produce(there, 2, "b", "c")[1:] == latest[1:]
        assert there.length("q") == 3


def gone(client: Client, key: str = "q") -> bool:
    return not client.exists(key)


def test_a_producer_is_forgotten_after_a_while(start_server: StartServer, exact_clock: Clock) -> None:
    server = start_server(exact_clock)
    client = server.client()
    produce(client, 1, "a")
    client.ack("q", *client.take("q"))
    exact_clock.pass_by(WINDOW - 60_000)
    produce(client, 2, "b")  # its last push was now
    client.ack("q", *client.take("q"))
    exact_clock.pass_by(120_000)
    produce(client, 1, "x", key="other", name="p")
    assert client.exists("q") and produce(client, 2, "b") != [None]
    exact_clock.pass_by(WINDOW - 60_000)
    wait_until("the queue ceases to exist", lambda: gone(client))
    assert client.exists("other")


@pytest.mark.parametrize("way", ["RENAME", "COPY", "MOVE", "SWAPDB", "RELOAD", "RESTORE"])
def test_forgotten_wherever_the_queue_went(start_server: StartServer, exact_clock: Clock, way: str) -> None:
    server = start_server(exact_clock)
    client, other = server.client(), server.client(db=1)
    produce(client, 1, "a")
    client.ack("q", *client.take("q"))
    there: tuple[Client, str] = (client, "q")
    if way in ("RENAME", "COPY"):
        client.call(way, "q", "there")
        there = (client, "there")
    elif way == "MOVE":
        client.call("MOVE", "q", 1)
        there = (other, "q")
    elif way == "SWAPDB":
        client.call("SWAPDB", 0, 1)
        there = (other, "q")
    elif way == "RELOAD":
        client.call("DEBUG", "RELOAD")
    else:
        dumped = client.call("DUMP", "q")
        client.call("RESTORE", "there", 0, dumped)
        client.call("DEL", "q")
        there = (client, "there")
    assert there[0].exists(there[1])
    if client.info("server").get("valkey_version", "").startswith("8.1."):
        # Its keyspace events harm clients, so they are done without: the first look notices.
        assert there[0].length(there[1]) == 0
    exact_clock.pass_by(WINDOW + 60_000)
    wait_until("the queue ceases to exist", lambda: gone(*there))


def test_a_replica_forgets_with_its_primary(start_server: StartServer, exact_clock: Clock) -> None:
    primary, replica = start_server(exact_clock), start_server()
    replica.follow(primary)
    client = primary.client()
    produce(client, 1, "a")
    client.ack("q", *client.take("q"))
    replica.catch_up(primary)
    with replica.client() as there:
        assert there.exists("q")
        exact_clock.pass_by(WINDOW + 60_000)
        wait_until("the primary forgets", lambda: gone(client))
        wait_until("the replica forgets", lambda: gone(there))


@pytest.mark.parametrize(
    "arguments",
    [
        ("ELEMENTS", "2", "a"),
        ("ELEMENTS", "0", "a"),
        ("ELEMENTS", "-1", "a"),
        ("ELEMENTS", "x", "a"),
        ("PRODUCER", "p", "ELEMENTS", "1", "a"),
        ("PRODUCER", "p", "SEQ", "0", "ELEMENTS", "1", "a"),
        ("PRODUCER", "p", "SEQ", "1.5", "ELEMENTS", "1", "a"),
        ("PRODUCER", "p", "SEQ", "9223372036854775808", "ELEMENTS", "1", "a"),
        ("BACK", "ELEMENTS", "1", "a"),
        ("a",),
        (),
    ],
)
def test_bad_arguments_change_nothing(client: Client, arguments: tuple[str, ...]) -> None:
    with pytest.raises(CommandError) as refused:
        client.call("RQ.PUSHEX", "q", *arguments)
    assert refused.value.code == "ERR" and "expected" in refused.value.line
    assert not client.exists("q")


def test_the_end_of_numbers(client: Client) -> None:
    last = 2**63 - 1
    ids = produce(client, last, "a")
    assert produce(client, last, "a") == ids
    with pytest.raises(CommandError) as refused:
        produce(client, last, "a", "b")
    assert refused.value.code == "ERR" and "SEQ is out of range" in refused.value.line
    assert bodies(client) == [b"a"]
