"""RQ.RECOVER: failures, death, leases and consumers."""

import pytest

from tests.support.client import Argument, Client, CommandError, as_dictionary
from tests.support.clock import BASE

pytestmark = pytest.mark.essential


def test_counts_a_failure(client: Client) -> None:
    (id,) = client.push("q", "x")
    client.take("q")
    client.recover("q")
    meta = client.meta("q", id)
    assert (meta["deliveries"], meta["failures"], meta["receipt"]) == (2, 1, id + b"@2")
    assert client.facts("q", "returned", "returned_recover", "received") == (1, 1, 2)


def test_counts_none_for_a_delivery_not_begun(client: Client) -> None:
    client.setup("q", "DELIVERIES", 1)
    (id,) = client.push("q", "x")
    client.pop_with("q", "PREFETCH")
    assert [row[1] for row in client.recover("q")] == [id]
    assert client.meta("q", id)["failures"] == 0


def test_the_last_failure_is_death_and_counts_towards_the_count(client: Client) -> None:
    client.setup("q", "DELIVERIES", 2)
    old, new = client.push("q", "old", "new")
    client.pop_with("q", "CONSUMER", "ann")
    client.nack("q", old)
    client.pop_with("q", "CONSUMER", "ann", "COUNT", 2)
    assert client.recover("q", 1) == [], "the first has died, and that was one"
    assert [(row[0], *row[3:]) for row in client.dead("q")] == [(old, 2, 2, b"recover", b"ann")]
    assert [row[1] for row in client.recover("q", 1)] == [new]


def test_gives_the_queues_lease_or_its_own(still: Client) -> None:
    still.setup("q", "LEASE", 1000)
    (id,) = still.push("q", "a")
    still.pop_with("q", "LEASE", 0)
    deadlines = []
    for words in ((), ("LEASE", 70), ("LEASE", 0)):
        still.call("RQ.RECOVER", "q", 1, 0, *words)
        deadlines.append(still.meta("q", id)["deadline"])
    assert deadlines == [BASE + 1000, BASE + 70, 0]


def test_consumer_is_the_new_owner_and_from_the_old_one(client: Client) -> None:
    a, b, c = client.push("q", "a", "b", "c")
    client.pop_with("q", "CONSUMER", "ann")
    client.pop_with("q", "CONSUMER", "bob")
    client.pop_with("q")
    rows = client.call("RQ.RECOVER", "q", 9, 0, "FROM", "bob", "CONSUMER", "cy", "WITHMETA")
    assert [(row[1], as_dictionary(row[3])["consumer"]) for row in rows] == [(b, b"cy")]
    assert client.call("RQ.RECOVER", "q", 9, 0, "FROM", "bob") == []
    assert [client.meta("q", id)["consumer"] for id in (a, b, c)] == [b"ann", b"cy", None]


def test_a_restarted_consumer_gets_its_own_back(client: Client) -> None:
    ids = client.push("q", *"abcdef")
    for _ in range(2):
        client.pop_with("q", "CONSUMER", "ann"), client.pop_with("q", "CONSUMER", "bob", "COUNT", 2)
    rows = client.call("RQ.RECOVER", "q", 9, 0, "CONSUMER", "ann", "FROM", "ann")
    assert [row[1] for row in rows] == [ids[0], ids[3]]
    assert [client.meta("q", id)["consumer"] for id in (ids[0], ids[3])] == [b"ann", b"ann"]
    assert [client.meta("q", id)["deliveries"] for id in ids] == [2, 1, 1, 2, 1, 1]


def test_without_a_consumer_the_owner_is_nobody(client: Client) -> None:
    (id,) = client.push("q", "a")
    client.pop_with("q", "CONSUMER", "ann")
    client.recover("q")
    assert client.meta("q", id)["consumer"] is None
    assert client.call("RQ.CONSUMER", "LIST", "q") == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("LEASE", -1), "LEASE"),
        (("LEASE", "x"), "LEASE"),
        (("LEASE", 1 << 47), "LEASE"),
        (("CONSUMER", ""), "CONSUMER"),
        (("CONSUMER", "x" * 1025), "CONSUMER"),
        (("FROM", ""), "FROM"),
        (("FROM", "a", "FROM", "b"), "FROM"),
        (("TO", "a"), "TO"),
        (("LEASE",), "LEASE"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(str(word)[:9] for word in value),
)
def test_bad_input_is_named_and_changes_nothing(client: Client, words: tuple[Argument, ...], named: str) -> None:
    client.push("q", "a")
    client.take("q")
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.call("RQ.RECOVER", "q", 1, 0, *words)
    assert error.value.code == "ERR" and named in error.value.line and "expected" in error.value.line
    assert client.digest("q") == before
