"""RQ.DELETE key IDS n id ...: cancelled, whatever their state."""

import pytest

from tests.support.client import Client, CommandError
from tests.support.clock import Clock

pytestmark = pytest.mark.essential


def test_every_state(either: Client) -> None:
    (dead,) = either.push("q", "dead")
    either.take("q")
    either.nack("q", dead, options=["DEAD"])
    (held,) = either.push("q", "held")
    either.take("q")
    (returned,) = either.push("q", "returned")
    either.take("q")
    either.nack("q", returned)
    (waiting,) = either.push("q", "waiting")
    (front,) = either.push_with("q", "FRONT", "PRIORITY", 3)
    (scheduled,) = either.push_with("q", "DELAY", 3_600_000)
    kept = either.push("q", "kept")
    ids = [scheduled, dead, held, returned, waiting, front]
    assert either.call("RQ.DELETE", "q", "IDS", 8, *ids, "7-7", dead) == ids
    assert either.facts("q", "cancelled", "deleted", "dead-letters", "scheduled", "delivered") == (6, 0, 0, 0, 0)
    assert either.waiting("q") == [[kept[0], b"kept"]] and either.length("q") == 1


def test_an_ack_that_comes_later_is_harmless(client: Client) -> None:
    a, _ = client.push("q", "a", "b")
    client.take("q")
    client.call("RQ.DELETE", "q", "IDS", 1, a)
    assert client.ack("q", a) == []
    assert client.call("RQ.ACK", "q", "STATUS", "IDS", 1, a) == [b"UNKNOWN"]


def test_what_was_held_does_not_return(still: Client, exact_clock: Clock) -> None:
    still.push("q", "a", "b")
    (row,) = still.pop_with("q", "LEASE", 100)
    still.call("RQ.DELETE", "q", "IDS", 1, row[1])
    exact_clock.pass_by(1000)
    assert still.bodies("q") == [b"b"]


def test_the_last_one_takes_the_queue_along(client: Client) -> None:
    (id,) = client.push("q", "a")
    assert client.call("RQ.DELETE", "q", "IDS", 1, id) == [id]
    assert not client.exists("q")
    assert client.call("RQ.DELETE", "q", "IDS", 1, id) == [] and not client.exists("q")


def test_by_token(client: Client) -> None:
    (id,) = client.push_with("q", "TOKEN", "t")
    assert client.call("RQ.DELETE", "q", "TOKENS", 2, "unknown", "t") == [id]


def test_a_cancelled_delay(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push_with("q", "DELAY", 100)
    still.push_with("q", "DELAY", 100, bodies=["other"])
    still.call("RQ.DELETE", "q", "IDS", 1, id)
    exact_clock.pass_by(200)
    assert still.bodies("q") == [b"other"]


@pytest.mark.parametrize("words", [(), ("1-1",), ("IDS", 1), ("IDS", 2, "1-1"), ("IDS", 1, "x"), ("ALL", 1, "1-1")])
def test_bad_input_changes_nothing(client: Client, words: tuple[str | int, ...]) -> None:
    client.push("q", "a")
    before = client.digest("q")
    with pytest.raises(CommandError, match="expected"):
        client.call("RQ.DELETE", "q", *words)
    assert client.digest("q") == before
