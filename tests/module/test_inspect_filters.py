"""RQ.INSPECT key [PENDING|DEAD|SCHEDULED] [IDLE ms] [CONSUMER c] [RANGE min max] start count"""

import pytest

from tests.support.client import Argument, Client, CommandError
from tests.support.clock import BASE, Clock

pytestmark = pytest.mark.essential


def inspect(client: Client, *words: Argument) -> list[bytes]:
    return [row[0] for row in client.call("RQ.INSPECT", "q", *words)]


def test_by_idle_time(still: Client, exact_clock: Clock) -> None:
    ids = still.push("q", *"abc")
    for _ in ids:
        still.take("q")
        exact_clock.pass_by(100)
    for idle, expected in ((0, ids), (100, ids), (101, ids[:2]), (300, ids[:1]), (301, [])):
        assert inspect(still, "PENDING", "IDLE", idle, 0, 10) == expected


def test_by_consumer(client: Client) -> None:
    ids = client.push("q", *"abcdef")
    for name in ("ann", "bob", "ann", "bob"):
        client.pop_with("q", "CONSUMER", name)
    client.take("q")
    assert inspect(client, "PENDING", "CONSUMER", "ann", 0, 10) == [ids[0], ids[2]]
    assert inspect(client, "PENDING", "CONSUMER", "bob", 1, 10) == [ids[3]], "start counts what the filter leaves"
    assert inspect(client, "PENDING", "CONSUMER", "bob", -1, 10) == [ids[3]]
    assert inspect(client, "PENDING", "CONSUMER", "nobody", 0, 10) == []


def test_by_last_consumer_of_the_dead(client: Client) -> None:
    ids = client.push("q", *"abc")
    for name in ("ann", "bob", "ann"):
        (row,) = client.pop_with("q", "CONSUMER", name)
        client.nack("q", row[1], options=["DEAD"])
    assert inspect(client, "DEAD", "CONSUMER", "ann", 0, 10) == [ids[0], ids[2]]


@pytest.mark.parametrize("state", ["", "PENDING", "DEAD", "SCHEDULED"])
def test_by_a_range_of_ids(client: Client, state: str) -> None:
    ids = client.push_with("q", "DELAY", 3_600_000 if state == "SCHEDULED" else 0, bodies=list("abcde"))
    if state in ("PENDING", "DEAD"):
        client.take("q", 5)
    if state == "DEAD":
        client.nack("q", *ids, options=["DEAD"])
    words = [state] if state else []
    for low, high, expected in [
        (b"-", b"+", ids),
        (ids[1], ids[3], ids[1:4]),
        (b"(" + ids[1], b"+", ids[2:]),
        (b"-", b"(" + ids[1], ids[:1]),
        (ids[3], ids[1], []),
    ]:
        assert inspect(client, *words, "RANGE", low, high, 0, 10) == expected
    assert inspect(client, *words, "RANGE", ids[1], "+", 1, 2) == ids[2:4]


def test_filters_together(still: Client, exact_clock: Clock) -> None:
    ids = still.push("q", *"abcd")
    for name in ("ann", "ann", "bob", "ann"):
        still.pop_with("q", "CONSUMER", name)
        exact_clock.pass_by(10)
    words: list[Argument] = ["PENDING", "RANGE", ids[1], "+", "CONSUMER", "ann", "IDLE", 20]
    assert inspect(still, *words, 0, 10) == [ids[1]]


def test_rows_of_scheduled_ones(still: Client) -> None:
    (id,) = still.push_with("q", "DELAY", 50, bodies=["a"])
    assert still.scheduled("q") == [[id, b"a", BASE + 50]]


def test_waiting_ones_in_the_order_of_delivery(client: Client) -> None:
    (low,) = client.push("q", "low")
    (high,) = client.push_with("q", "PRIORITY", 5)
    (front,) = client.push_with("q", "FRONT")
    assert inspect(client, 0, 10) == [high, front, low]
    assert inspect(client, -1, 1) == [low] and inspect(client, 1, 1) == [front]


def test_many_with_a_filter(client: Client) -> None:
    """Bounded work for each call; what matches is found by going on."""
    ids = client.push("q", *range(5000))
    client.pop_with("q", "COUNT", 2500, "CONSUMER", "ann")
    client.pop_with("q", "COUNT", 2500, "CONSUMER", "bob")
    assert inspect(client, "PENDING", "CONSUMER", "bob", 2499, 10) == [ids[-1]]
    assert inspect(client, "PENDING", "CONSUMER", "ann", 0, 5000) == ids[:2500]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("IDLE", 1, 0, 1), "IDLE"),
        (("DEAD", "IDLE", 1, 0, 1), "IDLE"),
        (("PENDING", "IDLE", -1, 0, 1), "IDLE"),
        (("PENDING", "IDLE", "x", 0, 1), "IDLE"),
        (("CONSUMER", "a", 0, 1), "CONSUMER"),
        (("SCHEDULED", "CONSUMER", "a", 0, 1), "CONSUMER"),
        (("PENDING", "CONSUMER", "", 0, 1), "CONSUMER"),
        (("RANGE", "x", "+", 0, 1), "x"),
        (("RANGE", "-", 0, 1), ""),
        (("PENDING", "IDLE", 1, "IDLE", 1, 0, 1), "IDLE"),
        (("PENDING", "DEAD", 0, 1), "DEAD"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(str(word) for word in value),
)
def test_bad_input_is_named(client: Client, words: tuple[Argument, ...], named: str) -> None:
    client.push("q", "a")
    with pytest.raises(CommandError) as error:
        client.call("RQ.INSPECT", "q", *words)
    assert error.value.code == "ERR" and named in error.value.line and "expected" in error.value.line
