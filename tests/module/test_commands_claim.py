"""RQ.CLAIM key consumer min-idle [LEASE ms] [WITHMETA] IDS n id ..."""

import pytest

from tests.support.client import Argument, Client, CommandError, as_dictionary
from tests.support.clock import BASE, Clock

pytestmark = pytest.mark.essential


def test_takes_a_message_over(either: Client) -> None:
    (id,) = either.push("q", "x")
    either.pop_with("q", "CONSUMER", "ann")
    assert either.call("RQ.CLAIM", "q", "bob", 0, "IDS", 1, id) == [[b"q", id, b"x"]]
    meta = either.meta("q", id)
    assert (meta["consumer"], meta["deliveries"], meta["failures"]) == (b"bob", 2, 0)
    assert either.facts("q", "received", "returned") == (2, 0)


def test_older_receipts_are_stale(client: Client) -> None:
    (id,) = client.push("q", "x")
    client.take("q")
    (row,) = client.call("RQ.CLAIM", "q", "bob", 0, "WITHMETA", "IDS", 1, id + b"@1")
    assert as_dictionary(row[3])["receipt"] == id + b"@2"
    assert client.call("RQ.ACK", "q", "STATUS", "IDS", 2, id + b"@1", id + b"@2") == [b"STALE", b"OK"]


def test_only_delivered_ones_and_under_their_receipt(client: Client) -> None:
    a, b, c = client.push("q", "a", "b", "c")
    client.take("q", 2)
    before = client.digest("q")
    assert client.call("RQ.CLAIM", "q", "bob", 0, "IDS", 3, c, "7-7", a + b"@2") == []
    assert client.digest("q") == before
    rows = client.call("RQ.CLAIM", "q", "bob", 0, "IDS", 3, b, c, a + b"@1")
    assert [row[1] for row in rows] == [b, a]
    assert client.call("RQ.CLAIM", "missing", "bob", 0, "IDS", 1, a) == [] and not client.exists("missing")


def test_only_those_idle_long_enough(still: Client, exact_clock: Clock) -> None:
    a, b = still.push("q", "a", "b")
    still.take("q")
    exact_clock.pass_by(500)
    still.take("q")
    exact_clock.pass_by(500)
    rows = still.call("RQ.CLAIM", "q", "bob", 1000, "IDS", 2, a, b)
    assert [row[1] for row in rows] == [a]


def test_gives_the_queues_lease_or_its_own(still: Client) -> None:
    still.setup("q", "LEASE", 1000)
    ids = still.push("q", "a", "b", "c")
    still.take("q", 3)
    still.call("RQ.CLAIM", "q", "bob", 0, "IDS", 1, ids[0])
    still.call("RQ.CLAIM", "q", "bob", 0, "LEASE", 70, "IDS", 1, ids[1])
    still.call("RQ.CLAIM", "q", "bob", 0, "LEASE", 0, "IDS", 1, ids[2])
    assert [still.meta("q", id)["deadline"] for id in ids] == [BASE + 1000, BASE + 70, 0]


def test_by_token(client: Client) -> None:
    (id,) = client.push_with("q", "TOKEN", "t")
    client.take("q")
    assert [row[1] for row in client.call("RQ.CLAIM", "q", "bob", 0, "TOKENS", 1, "t")] == [id]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("", 0, "IDS", 1, "{}"), "consumer"),
        (("x" * 1025, 0, "IDS", 1, "{}"), "consumer"),
        (("bob", -1, "IDS", 1, "{}"), "min-idle"),
        (("bob", "x", "IDS", 1, "{}"), "min-idle"),
        (("bob", 0, "LEASE", -1, "IDS", 1, "{}"), "LEASE"),
        (("bob", 0, "LEASE", 1 << 47, "IDS", 1, "{}"), "LEASE"),
        (("bob", 0, "SILENT", "IDS", 1, "{}"), "SILENT"),
        (("bob", 0, "IDS", 2, "{}"), "IDS"),
        (("bob", 0), "RQ.CLAIM"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(str(word)[:9] for word in value),
)
def test_bad_input_is_named_and_changes_nothing(client: Client, words: tuple[Argument, ...], named: str) -> None:
    client.push("q", "a")
    (id,) = client.take("q")
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.call("RQ.CLAIM", "q", *(id if word == "{}" else word for word in words))
    assert error.value.code == "ERR" and named in error.value.line and "expected" in error.value.line
    assert client.digest("q") == before
