"""RQ.NACK key [DELAY ms] [DEAD] [REASON text] [SILENT] [STATUS] IDS n id ..."""

import pytest

from tests.support.client import Argument, Client, CommandError
from tests.support.clock import BASE, Clock
from tests.support.server import Server
from tests.support.waiter import pop_waiting

pytestmark = pytest.mark.essential


def held(client: Client, *options: Argument, key: str = "q") -> bytes:
    """A message that was delivered."""
    (id,) = client.push_with(key, *options)
    client.take(key)
    return id


def test_gives_messages_back_to_the_front(either: Client) -> None:
    a, b = either.push("q", "a", "b")
    either.push("q", "c")
    either.take("q", 2)
    assert either.call("RQ.NACK", "q", "IDS", 2, b, a) == [b, a]
    assert [row[0] for row in either.waiting("q")[:2]] == [a, b]
    assert either.facts("q", "returned", "returned_nack", "delivered") == (2, 2, 0)


def test_counts_a_failure_and_keeps_deliveries(client: Client) -> None:
    id = held(client)
    client.nack("q", id)
    meta = client.meta("q", id)
    assert (meta["state"], meta["deliveries"], meta["failures"]) == (b"waiting", 1, 1)
    assert client.take("q") == [id]
    assert client.meta("q", id)["deliveries"] == 2


def test_a_silent_nack_counts_none_and_the_receipt_still_grows(client: Client) -> None:
    client.setup("q", "DELIVERIES", 1)
    id = held(client)
    for number in range(2, 6):
        assert client.nack("q", id, options=["SILENT"]) == [id]
        assert client.take("q") == [id]
        meta = client.meta("q", id)
        assert (meta["failures"], meta["receipt"]) == (0, b"%s@%d" % (id, number))


def test_delay_goes_through_scheduled(still: Client, exact_clock: Clock) -> None:
    id = held(still)
    still.nack("q", id, options=["DELAY", 500])
    assert still.scheduled("q") == [[id, b"x", BASE + 500]]
    exact_clock.pass_by(499)
    assert still.pop("q") is None
    exact_clock.pass_by(1)
    assert still.take("q") == [id]


def test_delay_overrides_the_back_off(still: Client) -> None:
    still.setup("q", "BACKOFF", 1000, 2, 0)
    first, second, third = still.push("q", "a", "b", "c")
    still.take("q", 3)
    still.nack("q", first)
    still.nack("q", second, options=["DELAY", 7])
    still.nack("q", third, options=["DELAY", 0])
    assert [(row[0], row[2]) for row in still.scheduled("q")] == [(second, BASE + 7), (first, BASE + 1000)]
    assert still.waiting("q") == [[third, b"c"]]


def test_a_silent_nack_has_no_back_off(still: Client) -> None:
    still.setup("q", "BACKOFF", 1000, 2, 0)
    first, second = still.push("q", "a", "b")
    still.take("q", 2)
    still.nack("q", first, options=["SILENT"])
    still.nack("q", second, options=["SILENT", "DELAY", 5])
    assert still.waiting("q") == [[first, b"a"]]
    assert [row[2] for row in still.scheduled("q")] == [BASE + 5]


def test_dead_buries_at_once_with_its_reason(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "x")
    still.pop_with("q", "CONSUMER", "ann")
    exact_clock.pass_by(30)
    assert still.nack("q", id, options=["DEAD", "REASON", "cannot be read"]) == [id]
    assert still.dead("q") == [[id, b"x", BASE + 30, 1, 1, b"cannot be read", b"ann"]]
    assert still.length("q") == 0 and still.facts("q", "dead", "dead-letters") == (1, 1)


def test_a_reason_of_any_bytes(client: Client) -> None:
    for reason in (b"\xff\0\r\n", b"x" * 4096):
        client.nack("q", held(client), options=["DEAD", "REASON", reason])
    assert [row[5] for row in client.dead("q")] == [b"\xff\0\r\n", b"x" * 4096]


def test_the_last_failure_is_death(client: Client) -> None:
    client.setup("q", "DELIVERIES", 2)
    id = held(client)
    client.nack("q", id)
    assert client.dead("q") == []
    client.take("q")
    client.nack("q", id)
    assert [(row[0], *row[3:]) for row in client.dead("q")] == [(id, 2, 2, b"nack", None)]


def test_a_reason_is_kept_also_when_deliveries_are_used_up(client: Client) -> None:
    client.setup("q", "DELIVERIES", 1)
    client.nack("q", held(client), options=["REASON", "why"])
    assert client.dead("q")[0][5] == b"why"


@pytest.mark.parametrize(("retries", "tries"), [(0, 1), (1, 2), (3, 4)])
def test_retries_are_the_messages_own_limit(client: Client, retries: int, tries: int) -> None:
    client.setup("q", "DELIVERIES", 2)
    (id,) = client.push_with("q", "RETRIES", retries)
    for _ in range(tries):
        assert client.dead("q") == []
        assert client.take("q") == [id]
        client.nack("q", id)
    assert [row[3:5] for row in client.dead("q")] == [[tries, tries]]


def test_wakes_who_waits(server: Server, client: Client) -> None:
    id = held(client)
    waiter = pop_waiting(server, "q")
    client.nack("q", id)
    assert waiter.reply() == [[b"q", id, b"x"]]
    waiter.close()


def test_wakes_who_waits_when_the_delay_is_over(server: Server, client: Client) -> None:
    id = held(client)
    waiter = pop_waiting(server, "q")
    client.nack("q", id, options=["DELAY", 30])
    assert waiter.reply() == [[b"q", id, b"x"]]
    meta = client.meta("q", id)
    assert meta["deliveries"] == 2
    waiter.close()


def test_leaves_out_what_is_not_held(client: Client) -> None:
    a, b = client.push("q", "a", "b")
    client.take("q")
    before = client.digest("q")
    assert client.nack("q", b, "7-7") == []
    assert client.digest("q") == before
    assert client.nack("q", "7-7", a, b, a) == [a]
    assert client.nack("missing", a) == [] and not client.exists("missing")


def test_by_token(client: Client) -> None:
    ids = [client.push_with("q", "TOKEN", token)[0] for token in ("s", "t")]
    client.take("q", 2)
    assert client.call("RQ.NACK", "q", "DEAD", "TOKENS", 3, "t", "unknown", "s") == [ids[1], ids[0]]


def test_prefetched_ones_are_not_charged(client: Client) -> None:
    client.setup("q", "DELIVERIES", 1)
    client.push("q", "a")
    (row,) = client.pop_with("q", "PREFETCH")
    client.nack("q", row[1])
    assert client.meta("q", row[1])["failures"] == 0 and client.dead("q") == []


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("DELAY", -1, "IDS", 1, "{}"), "DELAY"),
        (("DELAY", "x", "IDS", 1, "{}"), "DELAY"),
        (("DELAY", 1 << 47, "IDS", 1, "{}"), "DELAY"),
        (("DELAY", 1, "DEAD", "IDS", 1, "{}"), "DEAD"),
        (("DEAD", "DELAY", 1, "IDS", 1, "{}"), "DEAD"),
        (("REASON", "x" * 4097, "IDS", 1, "{}"), "REASON"),
        (("SILENT", "SILENT", "IDS", 1, "{}"), "SILENT"),
        (("STATUS", "STATUS", "IDS", 1, "{}"), "STATUS"),
        (("IDS", 2, "{}"), "IDS"),
        (("IDS", 0), "IDS"),
        (("IDS", "x", "{}"), "IDS"),
        (("IDS", 1, "{}", "{}"), "IDS"),
        (("IDS", 1, "x"), "x"),
        (("IDS", 1, "{}@x"), "@x"),
        (("TOKENS", 2, "t"), "TOKENS"),
        (("LATER", "IDS", 1, "{}"), "LATER"),
        (("{}",), "RQ.NACK"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(str(word)[:9] for word in value),
)
def test_bad_input_is_named_and_changes_nothing(client: Client, words: tuple[Argument, ...], named: str) -> None:
    id = held(client).decode()
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.call("RQ.NACK", "q", *(word.format(id) if isinstance(word, str) else word for word in words))
    assert error.value.code == "ERR" and named in error.value.line and "expected" in error.value.line
    assert client.digest("q") == before
