"""RQ.ACK key id [id ...]"""

import pytest

from tests.support.client import Client, CommandError
from tests.support.server import Server
from tests.support.wire import Wire

pytestmark = pytest.mark.essential


def test_removes_what_was_delivered(either: Client) -> None:
    ids = either.push("q", "a", "b", "c")
    either.take("q", 2)
    assert either.ack("q", ids[1]) == [ids[1]]
    assert [row[0] for row in either.pending("q")] == [ids[0]]
    assert either.length("q") == 2


def test_answers_with_the_ids_really_acknowledged_in_the_order_given(either: Client) -> None:
    ids = either.push("q", "a", "b", "c", "d")
    either.take("q", 3)
    assert either.ack("q", ids[2], ids[3], "1-1", ids[0]) == [ids[2], ids[0]]
    assert [row[0] for row in either.pending("q")] == [ids[1]]


def test_a_message_that_still_waits_is_not_acknowledged(client: Client) -> None:
    (id,) = client.push("q", "a")
    assert client.ack("q", id) == []
    assert client.waiting("q") == [[id, b"a"]]


def test_an_acknowledged_message_is_gone(client: Client) -> None:
    first, _ = client.push("q", "a", "b")
    client.take("q", 2)
    assert client.ack("q", first) == [first]
    assert client.ack("q", first) == []
    assert client.recover("q") != []
    assert client.length("q") == 1


def test_an_id_named_twice_is_acknowledged_once(either: Client) -> None:
    first, second = either.push("q", "a", "b")
    either.take("q", 2)
    assert either.ack("q", first, first) == [first]
    assert either.ack("q", second, second) == [second]
    assert not either.exists("q")


def test_unknown_ids_of_every_kind(client: Client) -> None:
    client.push("q", "a", "b", "c")
    ids = client.take("q", 3)
    milliseconds, sequence = (int(part) for part in ids[1].split(b"-"))
    strangers = [
        f"{milliseconds}-{sequence + 1000}",
        f"{milliseconds + 100_000}-1",
        f"{milliseconds - 100_000}-1",
        "1-1",
    ]
    assert client.ack("q", *strangers) == []
    assert client.length("q") == 3


def test_an_id_of_another_queue_hits_nothing(client: Client) -> None:
    client.push("other", "x")
    client.push("q", "a")
    (foreign,) = client.take("other")
    client.take("q")
    assert client.ack("q", foreign) == []
    assert client.length("q") == 1


@pytest.mark.parametrize("protocol", [2, 3])
def test_nothing_is_an_empty_array(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        assert wire.call(b"RQ.ACK", b"missing", b"1-1") == b"*0\r\n"
        wire.call(b"RQ.PUSH", b"q", b"x")
        assert wire.call(b"RQ.ACK", b"q", b"1-1", b"2-2") == b"*0\r\n"


def test_a_missing_key_is_not_made(client: Client) -> None:
    assert client.ack("missing", "1-1") == []
    assert not client.exists("missing")


@pytest.mark.parametrize("order", ["forwards", "backwards", "inside-out"])
def test_every_order_of_acknowledging(client: Client, order: str) -> None:
    ids = client.push("q", *range(300))
    client.take("q", 300)
    chosen = {
        "forwards": ids,
        "backwards": ids[::-1],
        "inside-out": [*ids[100:200], *ids[200:], *ids[:100]],
    }[order]
    for left, id in enumerate(chosen[:-1], start=1):
        assert client.ack("q", id) == [id]
        assert client.length("q") == 300 - left
    remaining = [row[0] for row in client.pending("q")]
    assert remaining == [chosen[-1]]


def test_wrong_type(either: Client) -> None:
    either.call("SET", "q", "text")
    with pytest.raises(CommandError) as error:
        either.ack("q", "1-1")
    assert error.value.code == "WRONGTYPE"
