"""Tokens and producers: stored once, remembered for a while, then forgotten with the key."""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.clock import Clock
from tests.support.wait import wait_until

pytestmark = pytest.mark.essential

WINDOW = 600_000
"""Milliseconds, unless the queue says otherwise."""


def token(client: Client, body: str = "x", token: str = "t", *more: str) -> bytes:
    (id,) = client.push_with("q", "TOKEN", token, *more, bodies=[body])
    return id


def test_a_known_token_stores_nothing(either: Client) -> None:
    first = token(either, "a")
    assert token(either, "b") == first
    assert either.length("q") == 1 and either.facts("q", "sent", "duplicates") == (1, 1)
    assert token(either, "c", "other") != first


def test_unique_is_an_error(either: Client) -> None:
    first = token(either)
    before = either.digest("q")
    with pytest.raises(CommandError) as error:
        token(either, "b", "t", "UNIQUE")
    assert error.value.code == "DUPLICATE" and first.decode() in error.value.line
    assert either.digest("q") == before
    token(either, "b", "u", "UNIQUE")


@pytest.mark.parametrize("state", ["scheduled", "delivered", "dead", "returned"])
def test_in_every_state(client: Client, state: str) -> None:
    words = ("DELAY", 3_600_000) if state == "scheduled" else ()
    (first,) = client.push_with("q", "TOKEN", "t", *words)
    if state != "scheduled":
        client.take("q")
    if state in ("dead", "returned"):
        client.nack("q", first, options=["DEAD"] if state == "dead" else [])
    assert token(client) == first
    assert client.meta("q", first)["token"] == b"t"


@pytest.mark.parametrize("how", ["ack", "delete", "noack", "expired", "flush"])
def test_remembered_after_it_left(still: Client, exact_clock: Clock, how: str) -> None:
    still.push("q", "keeps the queue")
    still.take("q")
    (first,) = still.push_with("q", "TOKEN", "t", "TTL", 5)
    if how == "ack":
        still.ack("q", *still.take("q"))
    elif how == "delete":
        still.call("RQ.DELETE", "q", "IDS", 1, first)
    elif how == "noack":
        still.pop_with("q", "NOACK")
    elif how == "flush":
        still.call("RQ.FLUSH", "q")
    else:
        exact_clock.pass_by(6)
        still.push("q", "y")
    exact_clock.pass_by(WINDOW - 1000)
    assert token(still) == first
    exact_clock.pass_by(1001)
    assert token(still) != first


def test_the_window_begins_when_the_message_left(still: Client, exact_clock: Clock) -> None:
    first = token(still)
    exact_clock.pass_by(3 * WINDOW)
    assert token(still) == first
    still.ack("q", *still.take("q"))
    exact_clock.pass_by(WINDOW - 1)
    assert token(still) == first
    exact_clock.pass_by(1)
    assert token(still) != first


def test_the_key_goes_when_all_is_forgotten(start_server: StartServer, exact_clock: Clock) -> None:
    with start_server(exact_clock).client() as client:
        token(client)
        client.produce("q", "p", 1, "a")
        client.ack("q", *client.take("q", 2))
        assert client.exists("q")
        exact_clock.pass_by(WINDOW - 60_000)
        client.call("RQ.LEN", "q")
        assert client.exists("q")
        exact_clock.pass_by(120_000)
        wait_until("the key is gone by itself", lambda: not client.exists("q"))


def test_dedup_zero_is_unique_only_while_it_is_there(client: Client) -> None:
    client.setup("q", "DEDUP", 0)
    first = token(client)
    assert token(client) == first
    client.ack("q", *client.take("q"))
    assert token(client) != first


def test_dedup_zero_forgets_producers_at_once(client: Client) -> None:
    client.setup("q", "DEDUP", 0)
    (first,) = client.produce("q", "p", 1, "a")
    (second,) = client.produce("q", "p", 1, "a")
    assert first != second and client.length("q") == 2


def test_a_window_that_is_made_shorter(client: Client) -> None:
    first = token(client)
    client.ack("q", *client.take("q"))
    client.setup("q", "DEDUP", 1)
    wait_until("it is forgotten", lambda: token(client) != first)


def test_the_producer_is_judged_first(client: Client) -> None:
    words = ("PRODUCER", "p", "SEQ", 1, "TOKEN", "t")
    (first,) = client.push_with("q", *words)
    assert client.push_with("q", *words, "UNIQUE") == [first], "a resend, whatever its token"
    with pytest.raises(CommandError) as error:
        client.push_with("q", "PRODUCER", "p", "SEQ", 3, "TOKEN", "t", "UNIQUE")
    assert error.value.code == "GAP"
    with pytest.raises(CommandError) as error:
        client.push_with("q", "PRODUCER", "p", "SEQ", 2, "TOKEN", "t", "UNIQUE")
    assert error.value.code == "DUPLICATE"
    assert client.length("q") == 1


def test_tokens_of_any_bytes(client: Client) -> None:
    for name in (b"\xff\0", b"x" * 5000, b"IDS"):
        first = client.push_with("q", "TOKEN", name)
        assert client.push_with("q", "TOKEN", name) == first
    assert client.length("q") == 3


@pytest.mark.parametrize("how", ["RELOAD", "RESTORE", "COPY", "replay", "rewrite"])
def test_tokens_survive(start_server: StartServer, how: str) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    client = server.client()
    there, gone = token(client, "a", "there"), token(client, "b", "gone")
    client.call("RQ.DELETE", "q", "IDS", 1, gone)
    if how == "RELOAD":
        client.call("DEBUG", "RELOAD")
    elif how == "RESTORE":
        dump = client.call("DUMP", "q")
        client.call("RESTORE", "q", 0, dump, "REPLACE")
    elif how == "COPY":
        client.call("COPY", "q", "r")
        client.call("RENAME", "r", "q")
    else:
        if how == "rewrite":
            server.rewrite_aof()
        server.restart(kill=True)
        client = server.client()
    assert token(client, "c", "there") == there and token(client, "c", "gone") == gone
    assert client.length("q") == 1


def test_a_promoted_replica_remembers(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        there, gone = token(client, "a", "there"), token(client, "b", "gone")
        client.call("RQ.DELETE", "q", "IDS", 1, gone)
        replica.catch_up(primary)
        replica.promote()
        assert token(copy, "c", "there") == there and token(copy, "c", "gone") == gone
