"""MAXLEN and MAXBYTES: a push is refused, or makes room."""

import pytest

from tests.support.client import Client, CommandError
from tests.support.clock import HOUR, Clock

pytestmark = pytest.mark.essential


def capped(client: Client, *bodies: str) -> None:
    """Pushes what must be refused whole."""
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.push("q", *bodies)
    assert error.value.code == "CAPPED"
    assert client.digest("q") == before


def test_maxlen_rejects_whole_pushes(either: Client) -> None:
    either.setup("q", "MAXLEN", 3)
    either.push("q", "a", "b")
    capped(either, "c", "d")
    either.push("q", "c")
    capped(either, "d")
    either.ack("q", *either.take("q"))
    either.push("q", "d")
    assert either.bodies("q") == [b"b", b"c", b"d"]


def test_maxlen_counts_what_len_counts(client: Client) -> None:
    client.setup("q", "MAXLEN", 3)
    client.push_with("q", "DELAY", HOUR)
    client.push("q", "held")
    client.nack("q", *client.take("q"), options=["DEAD"])
    client.push("q", "held")
    client.take("q")
    client.push("q", "waiting")
    assert client.length("q") == 3
    capped(client, "x")


def test_maxbytes_counts_payloads_and_headers(client: Client) -> None:
    client.setup("q", "MAXBYTES", 100)
    client.push_with("q", "HEADERS", 1, "ab", "cd", bodies=["x" * 46])
    (used,) = client.facts("q", "bytes")
    assert used >= 50
    capped(client, "y" * (100 - used + 1))
    client.push("q", "y" * (100 - used))
    assert client.facts("q", "bytes") == (100,)
    capped(client, "z")
    client.push("q", "")


def test_bytes_are_given_back(client: Client) -> None:
    client.setup("q", "MAXBYTES", 10)
    for _ in range(3):
        client.push_with("q", "HEADERS", 1, "a", "", bodies=["12345"])
        client.ack("q", *client.take("q"))
        client.push_with("q", "DELAY", HOUR, bodies=["12345"])
        client.call("RQ.FLUSH", "q")
        client.push("q", "12345")
        client.nack("q", *client.take("q"), options=["DEAD"])
        assert client.facts("q", "bytes") == (0,), "dead ones are apart"


def test_drop_makes_room_from_the_head(client: Client) -> None:
    client.setup("q", "MAXLEN", 3, "DROP")
    client.push("q", "a", "b", "c")
    client.push("q", "d", "e")
    assert client.bodies("q") == [b"c", b"d", b"e"]
    assert client.facts("q", "expired") == (2,)


def test_the_order_of_dropping(client: Client) -> None:
    """From the lowest priority: the head of FIFO, the oldest FRONT, then returned ones."""
    client.setup("q", "MAXLEN", 7, "DROP")
    client.push("q", "returned")
    client.nack("q", *client.take("q"))
    client.push("q", "fifo1", "fifo2")
    client.push_with("q", "FRONT", bodies=["front1"])
    client.push_with("q", "FRONT", bodies=["front2"])
    client.push_with("q", "PRIORITY", 1, bodies=["high1", "high2"])
    gone: list[bytes] = []
    for number in range(7):
        before = {row[1] for row in client.waiting("q")}
        client.push_with("q", "PRIORITY", 9, bodies=[f"new{number}"])
        gone += before - {row[1] for row in client.waiting("q")}
    assert gone == [b"fifo1", b"fifo2", b"front1", b"front2", b"returned", b"high1", b"high2"]


def test_what_is_held_or_scheduled_is_never_dropped(client: Client) -> None:
    client.setup("q", "MAXLEN", 3, "DROP")
    client.push("q", "held")
    client.take("q")
    client.push_with("q", "DELAY", HOUR)
    client.push("q", "waiting")
    capped(client, "a", "b")
    client.push("q", "a")
    assert [row[1] for row in client.waiting("q")] == [b"a"]
    assert client.facts("q", "delivered", "scheduled") == (1, 1)


def test_a_push_larger_than_the_cap_is_refused(client: Client) -> None:
    client.setup("q", "MAXLEN", 2, "DROP", "MAXBYTES", 10)
    client.push("q", "a")
    capped(client, "b", "c", "d")
    capped(client, "x" * 11)


def test_drop_for_bytes(client: Client) -> None:
    client.setup("q", "MAXBYTES", 10, "DROP")
    client.push("q", "aaaa", "bbbb")
    client.push("q", "cccc")
    assert client.bodies("q") == [b"bbbb", b"cccc"]


def test_returns_and_due_messages_are_never_refused(still: Client, exact_clock: Clock) -> None:
    a, b = still.push("q", "a", "b")
    still.pop_with("q", "LEASE", 100)
    still.pop_with("q")
    still.push_with("q", "DELAY", 100, bodies=["c"])
    still.setup("q", "MAXLEN", 1)
    exact_clock.pass_by(100)
    still.nack("q", b)
    assert [row[1] for row in still.pop_with("q", "COUNT", 9)][:2] == [a, b]
    assert still.length("q") == 3


def test_a_resend_is_no_push(client: Client) -> None:
    client.setup("q", "MAXLEN", 1)
    first = client.produce("q", "p", 1, "a")
    assert client.produce("q", "p", 1, "a") == first
    client.call("DEL", "q")
    client.setup("q", "MAXLEN", 1)
    (id,) = client.push_with("q", "TOKEN", "t")
    assert client.push_with("q", "TOKEN", "t") == [id]


def test_a_refused_push_is_not_remembered(client: Client) -> None:
    client.setup("q", "MAXLEN", 1)
    client.push("q", "a")
    for words in (("PRODUCER", "p", "SEQ", 1), ("TOKEN", "t")):
        with pytest.raises(CommandError) as error:
            client.push_with("q", *words)
        assert error.value.code == "CAPPED"
    client.ack("q", *client.take("q"))
    (stored,) = client.push_with("q", "PRODUCER", "p", "SEQ", 1, "TOKEN", "t")
    assert [row[0] for row in client.waiting("q")] == [stored]


def test_caps_that_were_lowered(client: Client) -> None:
    client.push("q", *range(10))
    client.setup("q", "MAXLEN", 3)
    capped(client, "x")
    assert client.length("q") == 10, "what is there stays"
    client.setup("q", "DROP")
    client.push("q", "x")
    assert client.bodies("q") == [b"8", b"9", b"x"]
