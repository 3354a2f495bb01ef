"""Dead letters: RQ.INSPECT DEAD, RQ.REDRIVE, RQ.FLUSH, DEADMAX, DEADTTL."""

import pytest

from tests.support.client import Argument, Client, CommandError
from tests.support.clock import BASE, Clock
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import pop_waiting
from tests.support.wire import Wire

pytestmark = pytest.mark.essential


def bury(client: Client, *bodies: str, key: str = "q") -> list[bytes]:
    """Makes dead letters, one after the other."""
    ids = client.push(key, *bodies)
    client.take(key, len(ids))
    for id in ids:
        client.nack(key, id, options=["DEAD"])
    return ids


# Looking.


def test_longest_dead_first(still: Client, exact_clock: Clock) -> None:
    a, b = still.push("q", "a", "b")
    still.take("q", 2)
    still.nack("q", b, options=["DEAD", "REASON", "first"])
    exact_clock.pass_by(5)
    still.nack("q", a, options=["DEAD"])
    assert still.dead("q") == [[b, b"b", BASE, 1, 1, b"first", None], [a, b"a", BASE + 5, 1, 1, b"nack", None]]
    assert [row[0] for row in still.dead("q", -1, 1)] == [a] and still.dead("q", 2, 1) == []


def test_dead_ones_are_apart(client: Client) -> None:
    bury(client, "a", "b")
    client.push("q", "c")
    assert client.length("q") == 1
    assert client.facts("q", "dead", "dead-letters", "waiting") == (2, 2, 1)
    assert client.call("RQ.STATUS", "q") == [[b"q", 1, 0, 0]]
    assert client.recover("q") == [] and client.bodies("q") == [b"c"]


def test_a_queue_of_dead_ones_exists(client: Client) -> None:
    (id,) = bury(client, "a")
    assert client.exists("q") and client.length("q") == 0
    assert client.call("RQ.GET", "q", "IDS", 1, id) == [[id, b"a"]]
    client.call("DEBUG", "RELOAD")
    assert len(client.dead("q")) == 1


@pytest.mark.parametrize("protocol", [2, 3])
def test_no_consumer_is_null(server: Server, client: Client, protocol: int) -> None:
    bury(client, "a")
    with Wire(server.port, protocol) as wire:
        reply = wire.call(b"RQ.INSPECT", b"q", b"DEAD", b"0", b"1")
    assert reply.startswith(b"*1\r\n*7\r\n") and reply.endswith({2: b"$-1\r\n", 3: b"_\r\n"}[protocol])


# Redriving.


def test_redrives_all(either: Client) -> None:
    ids = bury(either, "a", "b", "c")
    assert either.call("RQ.REDRIVE", "q") == ids
    assert either.dead("q") == [] and either.bodies("q") == [b"a", b"b", b"c"]


def test_redrives_the_longest_dead(client: Client) -> None:
    ids = bury(client, "a", "b", "c")
    assert client.call("RQ.REDRIVE", "q", "COUNT", 2) == ids[:2]
    assert [row[0] for row in client.dead("q")] == ids[2:]


def test_redrives_those_named(client: Client) -> None:
    ids = bury(client, "a", "b", "c")
    assert client.call("RQ.REDRIVE", "q", "IDS", 3, ids[2], "7-7", ids[0]) == [ids[2], ids[0]]
    assert client.call("RQ.REDRIVE", "q", "IDS", 1, ids[0]) == []
    assert [row[1] for row in client.waiting("q")] == [b"c", b"a"]


def test_redrives_by_token(client: Client) -> None:
    (id,) = client.push_with("q", "TOKEN", "t")
    client.nack("q", *client.take("q"), options=["DEAD"])
    assert client.call("RQ.REDRIVE", "q", "TOKENS", 2, "unknown", "t") == [id]


def test_a_redriven_message_starts_without_failures(client: Client) -> None:
    client.setup("q", "DELIVERIES", 2)
    (id,) = client.push("q", "a")
    for _ in range(2):
        client.take("q")
        client.nack("q", id)
    client.call("RQ.REDRIVE", "q")
    meta = client.meta("q", id)
    assert (meta["state"], meta["deliveries"], meta["failures"]) == (b"waiting", 2, 0)
    client.take("q")
    client.nack("q", id)
    assert client.dead("q") == [], "it has its two tries again"
    client.take("q")
    client.nack("q", id)
    assert [row[3:5] for row in client.dead("q")] == [[4, 2]]


def test_no_cap_refuses_a_redrive(client: Client) -> None:
    client.setup("q", "MAXLEN", 1)
    for _ in range(3):
        bury(client, "dead")
    client.push("q", "alive")
    assert len(client.call("RQ.REDRIVE", "q")) == 3 and client.length("q") == 4


def test_a_redrive_wakes_who_waits(server: Server, client: Client) -> None:
    (id,) = bury(client, "a")
    waiter = pop_waiting(server, "q")
    client.call("RQ.REDRIVE", "q")
    assert waiter.reply() == [[b"q", id, b"a"]]
    waiter.close()


def test_a_redrive_of_nothing(client: Client) -> None:
    client.push("q", "a")
    before = client.digest("q")
    assert client.call("RQ.REDRIVE", "q") == [] and client.call("RQ.REDRIVE", "missing") == []
    assert client.digest("q") == before and not client.exists("missing")


# Flushing.


def test_flush_removes_all(either: Client) -> None:
    bury(either, "dead")
    either.push("q", "held")
    (held,) = either.take("q")
    either.push("q", "waiting")
    either.push_with("q", "DELAY", 3_600_000)
    assert either.call("RQ.FLUSH", "q") == 4
    assert not either.exists("q")
    assert either.ack("q", held) == [], "a holder's later ack is harmless"
    assert either.call("RQ.FLUSH", "q") == 0


def test_nothing_returns_after_a_flush(still: Client, exact_clock: Clock) -> None:
    still.setup("q", "LEASE", 100)
    (id,) = still.push("q", "a")
    still.take("q")
    still.push_with("q", "DELAY", 50)
    still.call("RQ.FLUSH", "q")
    exact_clock.pass_by(1000)
    assert still.pop("q") is None and still.nack("q", id) == []
    assert still.facts("q", "cancelled", "returned") == (2, 0), "settings stay"


def test_flush_of_the_dead_only(client: Client) -> None:
    bury(client, "a", "b")
    client.push("q", "c")
    assert client.call("RQ.FLUSH", "q", "dead") == 2
    assert client.dead("q") == [] and client.length("q") == 1
    assert client.facts("q", "cancelled") == (2,)
    client.ack("q", *client.take("q"))
    bury(client, "d")
    client.call("RQ.FLUSH", "q", "DEAD")
    assert not client.exists("q")


def test_flush_wakes_nobody_and_harms_nobody(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    client.push_with("q", "DELAY", 3_600_000)
    client.call("RQ.FLUSH", "q")
    assert waiter.is_blocked
    client.push("q", "a")
    assert waiter.reply()[0][2] == b"a"
    waiter.close()


# Bounds.


def test_deadmax_lets_the_oldest_go(client: Client) -> None:
    client.setup("q", "DEADMAX", 2)
    ids = bury(client, "a", "b", "c", "d")
    assert [row[0] for row in client.dead("q")] == ids[2:]
    assert client.facts("q", "dead", "dead-letters", "expired") == (4, 2, 2)


def test_a_lower_deadmax_holds_at_once(client: Client) -> None:
    ids = bury(client, "a", "b", "c", "d")
    client.setup("q", "DEADMAX", 1)
    wait_until("only one is left", lambda: len(client.dead("q")) == 1)
    assert [row[0] for row in client.dead("q")] == ids[3:]


def test_deadttl_lets_them_go_in_time(still: Client, exact_clock: Clock) -> None:
    still.setup("q", "DEADTTL", 1000)
    (old,) = bury(still, "a")
    exact_clock.pass_by(600)
    (new,) = bury(still, "b")
    exact_clock.pass_by(399)
    still.push("q", "x")
    assert [row[0] for row in still.dead("q")] == [old, new]
    exact_clock.pass_by(1)
    still.push("q", "y")
    assert [row[0] for row in still.dead("q")] == [new]
    assert still.facts("q", "expired") == (1,)


def test_deadttl_needs_nobody_to_ask(client: Client) -> None:
    client.setup("q", "DEADTTL", 30)
    bury(client, "a", "b")
    wait_until("they are gone by themselves", lambda: client.facts("q", "dead-letters") == (0,))


@pytest.mark.parametrize(
    "command",
    [
        ("RQ.REDRIVE", "q", "COUNT", 0),
        ("RQ.REDRIVE", "q", "COUNT", -1),
        ("RQ.REDRIVE", "q", "COUNT", "x"),
        ("RQ.REDRIVE", "q", "COUNT"),
        ("RQ.REDRIVE", "q", "COUNT", 1, "IDS", 1, "1-1"),
        ("RQ.REDRIVE", "q", "IDS", 2, "1-1"),
        ("RQ.REDRIVE", "q", "ALL"),
        ("RQ.FLUSH", "q", "ALL"),
        ("RQ.FLUSH", "q", "DEAD", "DEAD"),
    ],
    ids=lambda command: " ".join(str(word) for word in command),
)
def test_bad_input_changes_nothing(client: Client, command: tuple[Argument, ...]) -> None:
    bury(client, "a")
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.call(*command)
    assert error.value.code == "ERR" and "expected" in error.value.line
    assert client.digest("q") == before
