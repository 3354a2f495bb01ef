"""RQ.INSPECT key [PENDING] start count"""

import re

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.clock import BASE, Clock
from tests.support.server import Server
from tests.support.wire import Wire

pytestmark = pytest.mark.essential

RANGES = [
    (0, 3, "abc"),
    (0, 100, "abcde"),
    (0, (1 << 63) - 1, "abcde"),
    (2, 2, "cd"),
    (4, 1, "e"),
    (4, 9, "e"),
    (5, 1, ""),
    (100, 1, ""),
    ((1 << 63) - 1, 1, ""),
    (-1, 1, "e"),
    (-2, 2, "de"),
    (-2, 1, "d"),
    (-2, 9, "de"),
    (-5, 2, "ab"),
]
"""Start, count, and what they show of five messages."""


@pytest.mark.parametrize(("start", "count", "shown"), RANGES)
def test_a_range_of_what_waits(either: Client, start: int, count: int, shown: str) -> None:
    ids = dict(zip("abcde", either.push("q", *"abcde"), strict=True))
    rows = either.call("RQ.INSPECT", "q", start, count)
    assert rows == [[ids[letter], letter.encode()] for letter in shown]


@pytest.mark.parametrize(("start", "count", "shown"), RANGES)
def test_a_range_of_what_is_pending(either: Client, start: int, count: int, shown: str) -> None:
    ids = dict(zip("abcde", either.push("q", *"abcde"), strict=True))
    either.take("q", 5)
    rows = either.call("RQ.INSPECT", "q", "PENDING", start, count)
    assert [row[:2] for row in rows] == [[ids[letter], letter.encode()] for letter in shown]


@pytest.mark.parametrize("pending", [False, True])
def test_a_start_before_the_first_message_is_the_first(client: Client, pending: bool) -> None:
    client.push("q", *"abc")
    word = ("PENDING",) if pending else ()
    if pending:
        client.take("q", 3)
    rows = client.call("RQ.INSPECT", "q", *word, -100, 2)
    assert [row[1] for row in rows] == [b"a", b"b"]


def test_waiting_and_pending_are_apart(client: Client) -> None:
    a, b = client.push("q", "a", "b")
    client.take("q")
    assert client.waiting("q") == [[b, b"b"]]
    assert [row[0] for row in client.pending("q")] == [a]


def test_pending_rows_tell_times_and_deliveries(start_server: StartServer, exact_clock: Clock) -> None:
    exact_clock.stop(BASE)
    with start_server(exact_clock).client(protocol=3) as client:
        a, b = client.push("q", "a", "b")
        client.take("q")
        exact_clock.pass_by(5)
        client.take("q")
        exact_clock.pass_by(25)
        assert client.pending("q") == [[a, b"a", BASE, 30, 1], [b, b"b", BASE + 5, 25, 1]]
        client.recover("q", 1)
        exact_clock.pass_by(1)
        assert client.pending("q") == [[b, b"b", BASE + 5, 26, 1], [a, b"a", BASE + 30, 1, 2]]


@pytest.mark.parametrize("protocol", [2, 3])
def test_pending_rows_are_two_strings_and_three_integers(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        wire.call(b"RQ.PUSH", b"q", b"body")
        wire.call(b"RQ.POP", b"q")
        reply = wire.call(b"RQ.INSPECT", b"q", b"PENDING", b"0", b"1")
    row = rb"\*1\r\n\*5\r\n\$\d+\r\n\d+-\d+\r\n\$4\r\nbody\r\n:\d{13}\r\n:\d+\r\n:1\r\n"
    assert re.fullmatch(row, reply)


def test_the_word_in_any_letter_case(client: Client) -> None:
    client.push("q", "a")
    client.take("q")
    assert len(client.call("rq.inspect", "q", "pending", 0, 1)) == 1


@pytest.mark.parametrize("protocol", [2, 3])
def test_nothing_is_an_empty_array(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        assert wire.call(b"RQ.INSPECT", b"missing", b"0", b"1") == b"*0\r\n"
        assert wire.call(b"RQ.INSPECT", b"missing", b"PENDING", b"-1", b"1") == b"*0\r\n"
        wire.call(b"RQ.PUSH", b"q", b"x")
        assert wire.call(b"RQ.INSPECT", b"q", b"PENDING", b"0", b"1") == b"*0\r\n"


def test_looking_changes_nothing(client: Client) -> None:
    client.push("q", *"abcd")
    client.take("q", 2)
    before = client.digest("q")
    client.waiting("q")
    client.pending("q")
    assert client.digest("q") == before


def test_every_page_of_a_long_queue(client: Client) -> None:
    ids = client.push("q", *range(3000))
    paged = [row[0] for start in range(0, 3000, 7) for row in client.waiting("q", start, 7)]
    assert paged == ids
    client.take("q", 3000)
    paged = [row[0] for start in range(0, 3000, 7) for row in client.pending("q", start, 7)]
    assert paged == ids
    backwards = [row[0] for start in range(-1, -3001, -13) for row in client.pending("q", start, 1)]
    assert backwards == ids[::-13]


def test_what_was_acknowledged_leaves_no_hole(client: Client) -> None:
    ids = client.push("q", *range(600))
    client.take("q", 400)
    client.ack("q", *ids[1:399])
    assert [row[0] for row in client.pending("q")] == [ids[0], ids[399]]
    assert [row[0] for row in client.pending("q", -1, 1)] == [ids[399]]
    assert [row[0] for row in client.waiting("q", -200, 200)] == ids[400:]


def test_wrong_type(either: Client) -> None:
    either.call("SET", "q", "text")
    for words in ((0, 1), ("PENDING", 0, 1)):
        with pytest.raises(CommandError) as error:
            either.call("RQ.INSPECT", "q", *words)
        assert error.value.code == "WRONGTYPE"
