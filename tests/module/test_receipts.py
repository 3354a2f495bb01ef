"""Receipts `ID@n`, wherever IDs are taken, and what became of each."""

import pytest

from tests.support.client import Argument, Client, CommandError
from tests.support.server import Server
from tests.support.wire import Wire

pytestmark = pytest.mark.essential

SETTLING: list[tuple[Argument, ...]] = [("RQ.ACK", "q"), ("RQ.NACK", "q"), ("RQ.EXTEND", "q", 1000)]
settling = pytest.mark.parametrize("command", SETTLING, ids=lambda command: str(command[0]))


def delivered_twice(client: Client) -> bytes:
    """A message that is held under its second delivery."""
    (id,) = client.push("q", "x")
    client.take("q")
    client.nack("q", id)
    client.take("q")
    return id


@settling
def test_status_of_each(either: Client, command: tuple[Argument, ...]) -> None:
    held = delivered_twice(either)
    (waiting,) = either.push("q", "y")
    words: list[Argument] = [held + b"@1", held + b"@3", waiting, waiting + b"@1", "7-7", "7-7@1", held + b"@2"]
    statuses = either.call(*command, "STATUS", "IDS", len(words), *words)
    assert statuses == [b"STALE", b"STALE", b"STALE", b"STALE", b"UNKNOWN", b"UNKNOWN", b"OK"]


@settling
def test_a_bare_id_acts_whoever_holds_it(client: Client, command: tuple[Argument, ...]) -> None:
    held = delivered_twice(client)
    assert client.call(*command, "STATUS", "IDS", 1, held) == [b"OK"]


@settling
def test_without_status_the_bare_ids_done(either: Client, command: tuple[Argument, ...]) -> None:
    held = delivered_twice(either)
    assert either.call(*command, "IDS", 2, held + b"@1", held + b"@2") == [held]


@settling
def test_without_a_queue_all_are_unknown(client: Client, command: tuple[Argument, ...]) -> None:
    assert client.call(*command, "STATUS", "IDS", 2, "1-1", "1-1@4") == [b"UNKNOWN", b"UNKNOWN"]
    assert not client.exists("q")


@settling
def test_status_of_tokens(client: Client, command: tuple[Argument, ...]) -> None:
    client.push_with("q", "TOKEN", "held")
    client.take("q")
    client.push_with("q", "TOKEN", "waiting")
    statuses = client.call(*command, "STATUS", "TOKENS", 3, "held", "waiting", "unknown")
    assert statuses == [b"OK", b"STALE", b"UNKNOWN"]


@settling
def test_dead_and_scheduled_ones_are_stale(client: Client, command: tuple[Argument, ...]) -> None:
    (scheduled,) = client.push_with("q", "DELAY", 3_600_000)
    (dead,) = client.push("q", "x")
    client.take("q")
    client.nack("q", dead, options=["DEAD"])
    assert client.call(*command, "STATUS", "IDS", 3, dead, dead + b"@1", scheduled) == [b"STALE"] * 3


@pytest.mark.parametrize("protocol", [2, 3])
def test_statuses_are_simple_strings(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        assert wire.call(b"RQ.ACK", b"q", b"STATUS", b"IDS", b"1", b"1-1") == b"*1\r\n+UNKNOWN\r\n"


def test_ack_takes_receipts_in_its_short_form(client: Client) -> None:
    held = delivered_twice(client)
    assert client.ack("q", held + b"@1") == []
    assert client.ack("q", held + b"@2") == [held]


def test_ack_by_tokens(client: Client) -> None:
    ids = [client.push_with("q", "TOKEN", token)[0] for token in ("s", "t")]
    client.take("q", 2)
    assert client.call("RQ.ACK", "q", "TOKENS", 3, "t", "unknown", "s") == [ids[1], ids[0]]


def test_the_same_message_twice_is_done_once(client: Client) -> None:
    held = delivered_twice(client)
    assert client.call("RQ.ACK", "q", "STATUS", "IDS", 3, held, held + b"@2", held) == [b"OK", b"UNKNOWN", b"UNKNOWN"]


def test_get_and_delete_take_receipts(client: Client) -> None:
    held = delivered_twice(client)
    assert client.call("RQ.GET", "q", "IDS", 2, held + b"@1", held + b"@2") == [None, [held, b"x"]]
    assert client.call("RQ.DELETE", "q", "IDS", 1, held + b"@1") == []
    assert client.call("RQ.DELETE", "q", "IDS", 1, held + b"@2") == [held]


def test_the_number_never_restarts(client: Client) -> None:
    """Neither by a redrive nor by a nack that is silent, a claim or a recovery."""
    (id,) = client.push("q", "x")
    client.take("q")
    client.nack("q", id, options=["SILENT"])
    client.take("q")
    client.recover("q")
    client.call("RQ.CLAIM", "q", "c", 0, "IDS", 1, id)
    client.nack("q", id, options=["DEAD"])
    client.call("RQ.REDRIVE", "q")
    assert client.meta("q", id)["deliveries"] == 4
    client.take("q")
    meta = client.meta("q", id)
    assert (meta["receipt"], meta["failures"]) == (id + b"@5", 0)
    client.call("DEBUG", "RELOAD")
    assert client.meta("q", id) == meta
    assert client.ack("q", id + b"@5") == [id]


@pytest.mark.parametrize("receipt", ["1-1@", "1-1@x", "1-1@-1", "1-1@01", "@1", "1@1", "1-1@1@1", "1-1@ 1"])
@pytest.mark.parametrize(
    "command",
    [
        ("RQ.ACK", "q", "IDS", 1),
        ("RQ.ACK", "q"),
        ("RQ.NACK", "q", "IDS", 1),
        ("RQ.EXTEND", "q", 1, "IDS", 1),
        ("RQ.CLAIM", "q", "c", 0, "IDS", 1),
        ("RQ.GET", "q", "IDS", 1),
        ("RQ.DELETE", "q", "IDS", 1),
        ("RQ.REDRIVE", "q", "IDS", 1),
    ],
    ids=lambda command: " ".join(str(word) for word in command),
)
def test_what_is_no_receipt_is_refused(client: Client, command: tuple[Argument, ...], receipt: str) -> None:
    client.push("q", "x")
    client.take("q")
    before = client.digest("q")
    with pytest.raises(CommandError, match="expected"):
        client.call(*command, receipt)
    assert client.digest("q") == before
