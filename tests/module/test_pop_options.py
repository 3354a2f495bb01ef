"""The options of RQ.POP, and the order of delivery."""

import pytest

from tests.support.client import Argument, Client, CommandError, as_dictionary
from tests.support.clock import BASE, Clock
from tests.support.server import Server
from tests.support.waiter import Waiter

pytestmark = pytest.mark.essential


def test_a_consumer_is_told(either: Client) -> None:
    either.push("q", "a", "b")
    (row,) = either.pop_with("q", "CONSUMER", "ann", "WITHMETA")
    assert as_dictionary(row[3])["consumer"] == b"ann"
    (row,) = either.pop_with("q", "WITHMETA")
    assert as_dictionary(row[3])["consumer"] is None


def test_a_lease_of_its_own(still: Client) -> None:
    still.setup("q", "LEASE", 10_000)
    ids = still.push("q", "a", "b", "c")
    still.pop_with("q"), still.pop_with("q", "LEASE", 500), still.pop_with("q", "LEASE", 0)
    assert [still.meta("q", id)["deadline"] for id in ids] == [BASE + 10_000, BASE + 500, 0]


def test_without_a_lease_nothing_returns(still: Client, exact_clock: Clock) -> None:
    still.push("q", "a")
    still.pop_with("q")
    exact_clock.pass_by(1 << 40)
    assert still.pop("q") is None and len(still.pending("q")) == 1


def test_noack_is_at_most_once(client: Client) -> None:
    ids = client.push("q", "a", "b", "c")
    assert client.pop_with("q", "NOACK", "COUNT", 2) == [[b"q", ids[0], b"a"], [b"q", ids[1], b"b"]]
    assert client.pending("q") == [] and client.length("q") == 1
    assert client.facts("q", "received", "deleted") == (2, 2)
    client.pop_with("q", "NOACK", "CONSUMER", "ann")
    assert not client.exists("q")


def test_noack_with_meta(either: Client) -> None:
    (id,) = either.push_with("q", "PRIORITY", 3, "HEADERS", 1, "a", "b")
    (row,) = either.pop_with("q", "NOACK", "WITHMETA")
    meta = as_dictionary(row[3])
    assert row[1] == id and (meta["priority"], meta["headers"]) == (3, [b"a", b"b"])


def test_noack_by_a_client_that_waits(server: Server, client: Client) -> None:
    waiter = Waiter(server, "RQ.POP", "BLOCK", 0, "NOACK", "KEYS", 1, "q")
    client.push("q", "a")
    assert waiter.reply()[0][2] == b"a"
    assert not client.exists("q")
    waiter.close()


def test_maxbytes_gives_at_least_one(client: Client) -> None:
    client.push("q", b"x" * 100, b"y" * 10, b"z" * 10, b"w" * 10)
    assert [row[2][:1] for row in client.pop_with("q", "COUNT", 9, "MAXBYTES", 1)] == [b"x"]
    assert [row[2][:1] for row in client.pop_with("q", "COUNT", 9, "MAXBYTES", 20)] == [b"y", b"z"]
    assert [row[2][:1] for row in client.pop_with("q", "COUNT", 9, "MAXBYTES", 1000)] == [b"w"]


def test_maxbytes_is_for_all_queues_together(client: Client) -> None:
    client.push("a", b"x" * 60)
    client.push("b", b"y" * 60)
    rows = client.call("RQ.POP", "COUNT", 9, "MAXBYTES", 100, "KEYS", 2, "a", "b")
    assert [row[0] for row in rows] == [b"a"]


def test_empty_payloads_take_no_bytes(client: Client) -> None:
    client.push("q", "", "", "")
    assert len(client.pop_with("q", "COUNT", 9, "MAXBYTES", 1)) == 3


def test_withmeta_has_every_field(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push_with("q", "PRIORITY", 3, "TOKEN", "t", "HEADERS", 1, "a", "b")
    exact_clock.pass_by(10)
    (row,) = still.pop_with("q", "WITHMETA", "LEASE", 1000, "CONSUMER", "ann")
    assert as_dictionary(row[3]) == {
        "state": b"delivered",
        "deliveries": 1,
        "failures": 0,
        "enqueued": BASE,
        "last-delivery": BASE + 10,
        "deadline": BASE + 1010,
        "receipt": id + b"@1",
        "priority": 3,
        "token": b"t",
        "consumer": b"ann",
        "headers": [b"a", b"b"],
    }


def test_options_hold_for_a_client_that_waited(server: Server, client: Client) -> None:
    words = ("LEASE", 60_000, "CONSUMER", "ann", "PREFETCH", "WITHMETA")
    waiter = Waiter(server, "RQ.POP", "BLOCK", 0, *words, "KEYS", 1, "q")
    client.push("q", "a")
    meta = as_dictionary(waiter.reply()[0][3])
    assert meta["consumer"] == b"ann" and meta["deadline"] > meta["last-delivery"]
    waiter.close()


def test_the_order_of_delivery(still: Client, exact_clock: Clock) -> None:
    """Higher priority first; in each: returned by ID, front by time, and the others as they came."""
    returned = still.push("q", "r1", "r2")
    still.take("q", 2)
    still.push_with("q", "DELAY", 100, bodies=["due"])
    still.push("q", "plain")
    still.push_with("q", "FRONT", bodies=["f1", "f2"])
    still.push_with("q", "FRONT", bodies=["f3"])
    still.push_with("q", "PRIORITY", 1, bodies=["high"])
    exact_clock.pass_by(100)
    still.nack("q", returned[1], returned[0])
    still.push("q", "tail")
    expected = [b"high", b"r1", b"r2", b"f3", b"f1", b"f2", b"plain", b"due", b"tail"]
    assert [row[1] for row in still.waiting("q")] == expected
    assert still.call("RQ.PEEK", "q")[1] == b"high" and still.call("RQ.PEEK", "q", "BACK")[1] == b"tail"
    assert still.bodies("q") == expected


def test_a_due_retry_is_a_returned_message(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "retry")
    still.take("q")
    still.nack("q", id, options=["DELAY", 100])
    still.push("q", "plain")
    exact_clock.pass_by(100)
    assert still.bodies("q") == [b"retry", b"plain"]


def test_a_redriven_message_joins_the_tail(client: Client) -> None:
    (id,) = client.push("q", "dead")
    client.take("q")
    client.nack("q", id, options=["DEAD"])
    client.push("q", "plain")
    client.call("RQ.REDRIVE", "q")
    client.push("q", "after")
    assert client.bodies("q") == [b"plain", b"dead", b"after"]


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("CONSUMER", ""), "CONSUMER"),
        (("CONSUMER", "x" * 1025), "CONSUMER"),
        (("LEASE", -1), "LEASE"),
        (("LEASE", "x"), "LEASE"),
        (("LEASE", 1 << 47), "LEASE"),
        (("MAXBYTES", 0), "MAXBYTES"),
        (("MAXBYTES", -1), "MAXBYTES"),
        (("MAXBYTES", "x"), "MAXBYTES"),
        (("NOACK", "LEASE", 1), "NOACK"),
        (("NOACK", "PREFETCH"), "NOACK"),
        (("PREFETCH", "NOACK"), "NOACK"),
        (("NOACK", "NOACK"), "NOACK"),
        (("LEASE", 1, "LEASE", 1), "LEASE"),
        (("PREFETCH", "PREFETCH"), "PREFETCH"),
        (("COUNT", 0), "COUNT"),
        (("BLOCK", -1), "BLOCK"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(str(word)[:9] for word in value),
)
def test_bad_input_is_named_and_changes_nothing(client: Client, options: tuple[Argument, ...], named: str) -> None:
    client.push("q", "a")
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.pop_with("q", *options)
    assert error.value.code == "ERR" and named in error.value.line and "expected" in error.value.line
    assert client.digest("q") == before
