"""RQ.POP [COUNT n] [BLOCK ms] key [key ...], without blocking."""

import pytest

from tests.support.client import Argument, Client, CommandError
from tests.support.server import Server
from tests.support.wire import Wire

pytestmark = pytest.mark.essential


def keys_and_bodies(rows: list[list[bytes]] | None) -> list[tuple[bytes, bytes]]:
    return [(key, body) for key, _, body in rows or []]


def test_takes_the_oldest_first(either: Client) -> None:
    first, second = either.push("q", "one", "two")
    assert either.call("RQ.POP", "q") == [[b"q", first, b"one"]]
    assert either.call("RQ.POP", "q") == [[b"q", second, b"two"]]
    assert either.call("RQ.POP", "q") is None


def test_moves_what_it_takes_to_delivered(client: Client) -> None:
    first, second = client.push("q", "one", "two")
    client.pop("q")
    assert client.waiting("q") == [[second, b"two"]]
    assert [(row[0], row[1], row[4]) for row in client.pending("q")] == [(first, b"one", 1)]
    assert client.length("q") == 2


def test_count_is_a_limit(either: Client) -> None:
    ids = either.push("q", "a", "b", "c")
    assert either.call("RQ.POP", "COUNT", 2, "q") == [[b"q", ids[0], b"a"], [b"q", ids[1], b"b"]]
    assert either.call("RQ.POP", "COUNT", 2, "q") == [[b"q", ids[2], b"c"]]


def test_takes_all_it_can_from_the_first_queue_and_then_from_the_next(either: Client) -> None:
    either.push("high", "h1", "h2")
    either.push("low", "l1", "l2")
    either.push("last", "x")
    rows = either.call("RQ.POP", "COUNT", 3, "high", "low", "last")
    assert keys_and_bodies(rows) == [(b"high", b"h1"), (b"high", b"h2"), (b"low", b"l1")]
    assert either.length("last") == 1 and either.waiting("last") != []


def test_passes_over_missing_and_drained_queues(client: Client) -> None:
    client.push("drained", "x")
    client.pop("drained")
    client.push("full", "y")
    rows = client.call("RQ.POP", "COUNT", 5, "missing", "drained", "full")
    assert keys_and_bodies(rows) == [(b"full", b"y")]
    assert not client.exists("missing")


def test_a_key_named_twice_is_asked_twice(client: Client) -> None:
    client.push("q", "a", "b", "c")
    rows = client.call("RQ.POP", "COUNT", 2, "KEYS", 2, "q", "q")
    assert keys_and_bodies(rows) == [(b"q", b"a"), (b"q", b"b")]
    assert client.waiting("q")[0][1] == b"c"


@pytest.mark.parametrize("protocol", [2, 3])
def test_nothing_is_null(server: Server, protocol: int) -> None:
    null = {2: b"*-1\r\n", 3: b"_\r\n"}[protocol]
    with Wire(server.port, protocol) as wire:
        assert wire.call(b"RQ.POP", b"missing") == null
        wire.call(b"RQ.PUSH", b"q", b"x")
        wire.call(b"RQ.POP", b"q")
        assert wire.call(b"RQ.POP", b"COUNT", b"9", b"q", b"missing") == null
        assert wire.call(b"RQ.POP", b"BLOCK", b"1", b"q") == null


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_row_is_an_array_of_three_bulk_strings(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        id = wire.call(b"RQ.PUSH", b"q", b"body").split(b"\r\n")[2]
        reply = wire.call(b"RQ.POP", b"q")
    assert reply == b"*1\r\n*3\r\n$1\r\nq\r\n$%d\r\n%s\r\n$4\r\nbody\r\n" % (len(id), id)


@pytest.mark.parametrize(
    "words",
    [
        ("q",),
        ("COUNT", 1, "q"),
        ("count", 1, "q"),
        ("BLOCK", 0, "q"),
        ("COUNT", 1, "BLOCK", 0, "q"),
        ("BLOCK", 0, "COUNT", 1, "q"),
        ("Count", 1, "Block", 100, "q"),
        ("KEYS", 1, "q"),
        ("keys", 1, "q"),
        ("COUNT", 1, "KEYS", 1, "q"),
        ("COUNT", 1, "BLOCK", 0, "KEYS", 1, "q"),
        ("BLOCK", 0, "COUNT", 1, "KEYS", 1, "q"),
        ("BLOCK", 0, "KEYS", 1, "q"),
        (1, "q"),
    ],
)
def test_every_form(client: Client, words: tuple[Argument, ...]) -> None:
    client.push("q", "a", "b")
    assert keys_and_bodies(client.call("rq.pop", *words)) == [(b"q", b"a")]


def test_the_older_positional_form_counts(client: Client) -> None:
    client.push("high", "a", "b")
    client.push("low", "c", "d")
    rows = client.call("RQ.POP", 3, "high", "low")
    assert keys_and_bodies(rows) == [(b"high", b"a"), (b"high", b"b"), (b"low", b"c")]


def test_a_lone_number_is_a_key(client: Client) -> None:
    client.push("10", "a", "b")
    assert keys_and_bodies(client.call("RQ.POP", 10)) == [(b"10", b"a")]


@pytest.mark.parametrize("name", ["10", "COUNT", "BLOCK", "KEYS", "count", "-1", ""])
def test_keys_settles_every_doubt(client: Client, name: str) -> None:
    client.push(name, "a")
    client.push("5", "b")
    rows = client.call("RQ.POP", "COUNT", 9, "KEYS", 2, name, "5")
    assert keys_and_bodies(rows) == [(name.encode(), b"a"), (b"5", b"b")]


def test_more_than_there_is(client: Client) -> None:
    ids = client.push("q", *range(1000))
    rows = client.call("RQ.POP", "COUNT", (1 << 63) - 1, "q")
    assert [row[1] for row in rows] == ids


def test_wrong_type(either: Client) -> None:
    either.call("RPUSH", "list", "x")
    for words in (("list",), ("BLOCK", 0, "list"), ("missing", "list")):
        with pytest.raises(CommandError) as error:
            either.call("RQ.POP", *words)
        assert error.value.code == "WRONGTYPE"


def test_wrong_type_of_a_later_key_takes_nothing_from_the_first(client: Client) -> None:
    client.push("q", "a", "b")
    client.call("SET", "text", "x")
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.call("RQ.POP", "COUNT", 3, "q", "text")
    assert error.value.code == "WRONGTYPE"
    assert client.digest("q") == before
