"""RQ.RANGE and RQ.SPLIT: messages in ID order whatever their state, and equal parts of them; and
WITHMETA, what is known of a message, on every command that shows rows."""

from itertools import pairwise
from typing import Any

import pytest

from tests.support.client import Client, CommandError
from tests.support.server import Server
from tests.support.waiter import Waiter

pytestmark = pytest.mark.essential


def fill(client: Client, count: int = 5, delivered: int = 2) -> list[bytes]:
    ids: list[bytes] = client.call("RQ.PUSH", "q", *(f"m{n}" for n in range(count)))
    if delivered:
        client.call("RQ.POP", "COUNT", delivered, "KEYS", 1, "q")
    return ids


def ids_of(rows: list[list[Any]]) -> list[bytes]:
    return [row[0] for row in rows]


def as_map(meta: Any) -> dict[bytes, Any]:
    return meta if isinstance(meta, dict) else dict(zip(meta[::2], meta[1::2], strict=True))


def test_range_shows_all_states_in_id_order(client: Client) -> None:
    ids = fill(client)
    rows = client.call("RQ.RANGE", "q", "-", "+")
    assert rows == [[id, f"m{n}".encode()] for n, id in enumerate(ids)]
    assert client.call("RQ.RANGE", "q", "-", "+", "REV") == rows[::-1]


def test_bounds_are_included_or_left_out(client: Client) -> None:
    ids = fill(client)
    call = client.call
    assert ids_of(call("RQ.RANGE", "q", ids[1], ids[3])) == ids[1:4]
    assert ids_of(call("RQ.RANGE", "q", b"(" + ids[1], ids[3])) == ids[2:4]
    assert ids_of(call("RQ.RANGE", "q", ids[1], b"(" + ids[3])) == ids[1:3]
    assert ids_of(call("RQ.RANGE", "q", b"(" + ids[1], b"(" + ids[3], "REV")) == [ids[2]]
    assert call("RQ.RANGE", "q", ids[3], ids[1]) == []
    assert call("RQ.RANGE", "q", "(" + "18446744073709551615-18446744073709551615", "+") == []
    assert call("RQ.RANGE", "q", "-", "(0-0") == []


def test_acknowledged_messages_are_missing(client: Client) -> None:
    ids = fill(client)
    client.ack("q", ids[1])
    assert ids_of(client.call("RQ.RANGE", "q", "-", "+")) == [ids[0], *ids[2:]]


def test_count_is_1000_unless_told(client: Client) -> None:
    ids = fill(client, 1200, 1)
    assert ids_of(client.call("RQ.RANGE", "q", "-", "+")) == ids[:1000]
    assert ids_of(client.call("RQ.RANGE", "q", "-", "+", "COUNT", 2)) == ids[:2]
    assert ids_of(client.call("RQ.RANGE", "q", "-", "+", "REV", "COUNT", 2)) == ids[:-3:-1]
    assert ids_of(client.call("RQ.RANGE", "q", "-", "+", "COUNT", 2**63 - 1)) == ids


def test_a_large_reply_ends_early_but_has_a_row(client: Client) -> None:
    client.call("RQ.PUSH", "q", *(b"x" * 3_000_000 for _ in range(5)))
    assert len(client.call("RQ.RANGE", "q", "-", "+")) == 2
    client.call("RQ.PUSH", "large", b"x" * 10_000_000, b"y")
    assert [len(row[1]) for row in client.call("RQ.RANGE", "large", "-", "+")] == [10_000_000]


def test_pages_of_a_range_give_each_message_once(client: Client) -> None:
    ids = fill(client, 1000, 500)
    seen: list[bytes] = []
    while rows := client.call("RQ.RANGE", "q", b"(" + seen[-1] if seen else "-", "+", "COUNT", 7):
        seen += ids_of(rows)
    assert seen == ids


@pytest.mark.parametrize("protocol", [2, 3])
def test_meta_of_every_command(server: Server, protocol: int) -> None:
    with server.client(protocol) as client:
        (id,) = client.call("RQ.PUSH", "q", "m")
        enqueued = int(id.split(b"-")[0])
        waiting = as_map(client.call("RQ.RANGE", "q", "-", "+", "WITHMETA")[0][2])
        assert waiting == {
            b"state": b"waiting",
            b"deliveries": 0,
            b"failures": 0,
            b"enqueued": enqueued,
            b"last-delivery": 0,
            b"deadline": 0,
            b"receipt": None,
            b"priority": 0,
            b"token": None,
            b"consumer": None,
            b"headers": [],
        }
        row = client.call("RQ.POP", "WITHMETA", "KEYS", 1, "q")[0]
        assert row[:3] == [b"q", id, b"m"]
        popped = as_map(row[3])
        assert popped[b"state"] == b"delivered" and popped[b"deliveries"] == 1
        assert popped[b"enqueued"] == enqueued and popped[b"last-delivery"] >= enqueued
        assert popped[b"receipt"] == id + b"@1" and popped[b"failures"] == 0
        assert as_map(client.call("RQ.RANGE", "q", "-", "+", "WITHMETA")[0][2]) == popped
        row = client.call("RQ.RECOVER", "q", 1, 0, "WITHMETA")[0]
        again = as_map(row[3])
        assert again[b"deliveries"] == 2 and again[b"last-delivery"] >= popped[b"last-delivery"]
        assert again[b"receipt"] == id + b"@2" and again[b"failures"] == 1
        assert isinstance(row[3], dict if protocol == 3 else list)


def test_a_client_that_waited_gets_meta_too(server: Server, client: Client) -> None:
    waiter = Waiter(server, "RQ.POP", "BLOCK", 0, "WITHMETA", "KEYS", 1, "q")
    client.call("RQ.PUSH", "q", "m")
    assert as_map(waiter.reply()[0][3])[b"deliveries"] == 1
    waiter.close()


@pytest.mark.parametrize("count", [1, 2, 3, 10, 1000])
@pytest.mark.parametrize("parts", [1, 2, 3, 7])
def test_split_cuts_into_equal_parts(client: Client, count: int, parts: int) -> None:
    ids = fill(client, count, count // 2)
    cuts = client.call("RQ.SPLIT", "q", parts)
    bounds = [0, *(ids.index(cut) for cut in cuts), count]
    sizes = [end - start for start, end in pairwise(bounds)]
    assert len(sizes) == min(parts, count)
    assert max(sizes) - min(sizes) <= 1


def test_parts_make_the_whole(client: Client) -> None:
    ids = fill(client, 3000, 1500)
    client.ack("q", *ids[100:900])
    cuts = client.call("RQ.SPLIT", "q", 4)
    lows, highs = [b"-", *cuts], [*(b"(" + cut for cut in cuts), b"+"]
    rows = [client.call("RQ.RANGE", "q", low, high) for low, high in zip(lows, highs, strict=True)]
    assert [len(part) for part in rows] == [550] * 4
    assert [id for part in rows for id in ids_of(part)] == ids[:100] + ids[900:]


def test_without_a_queue(client: Client) -> None:
    assert client.call("RQ.RANGE", "none", "-", "+") == []
    assert client.call("RQ.SPLIT", "none", 4) == []
    assert not client.exists("none")


@pytest.mark.parametrize(
    ("command", "part"),
    [
        (("RQ.RANGE", "q", "-"), "expected: RQ.RANGE"),
        (("RQ.RANGE", "q", "x", "+"), "min is 'x', expected -, +, an ID"),
        (("RQ.RANGE", "q", "-", "+", "COUNT", "0"), "positive"),
        (("RQ.RANGE", "q", "-", "+", "DOWN"), "expected: RQ.RANGE"),
        (("RQ.SPLIT", "q", "0"), "from 1 to 65536"),
        (("RQ.SPLIT", "q", "65537"), "65536"),
        (("RQ.SPLIT", "q"), "expected: RQ.SPLIT"),
        (("RQ.RECOVER", "q", "1", "0", "META"), "expected: RQ.RECOVER"),
    ],
)
def test_bad_arguments_say_what_was_expected(client: Client, command: tuple[str, ...], part: str) -> None:
    fill(client)
    with pytest.raises(CommandError) as refused:
        client.call(*command)
    assert refused.value.code == "ERR" and part in refused.value.line


def test_other_types_are_refused(client: Client) -> None:
    client.call("SET", "s", "x")
    for command in (("RQ.RANGE", "s", "-", "+"), ("RQ.SPLIT", "s", "2")):
        with pytest.raises(CommandError) as refused:
            client.call(*command)
        assert refused.value.code == "WRONGTYPE"
