"""RQ.SETUP: every setting, and the server's defaults."""

from typing import Any

import pytest

from tests.conftest import StartServer
from tests.support.client import Argument, Client, CommandError, as_dictionary
from tests.support.clock import BASE, Clock
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import Waiter
from tests.support.wire import Wire

pytestmark = pytest.mark.essential

DEFAULTS: dict[str, Any] = {
    "lease": 0,
    "deliveries": 0,
    "backoff-base": 0,
    "backoff-factor": b"1",
    "backoff-max": 0,
    "jitter": 0,
    "maxlen": 0,
    "maxbytes": 0,
    "overflow": b"reject",
    "dedup": 600_000,
    "expired": b"drop",
    "deadmax": 0,
    "deadttl": 0,
    "inflight": 0,
}

SETTINGS: list[tuple[tuple[Argument, ...], dict[str, Any]]] = [
    (("LEASE", 30_000), {"lease": 30_000}),
    (("LEASE", (1 << 47) - 1), {"lease": (1 << 47) - 1}),
    (("DELIVERIES", 5), {"deliveries": 5}),
    (("DELIVERIES", (1 << 16) - 1), {"deliveries": (1 << 16) - 1}),
    (("BACKOFF", 100, "1.5", 5000), {"backoff-base": 100, "backoff-factor": b"1.5", "backoff-max": 5000}),
    (("BACKOFF", 7, 1000, 0), {"backoff-base": 7, "backoff-factor": b"1000"}),
    (("BACKOFF", 7, "2.125", 0), {"backoff-base": 7, "backoff-factor": b"2.125"}),
    (("JITTER", 100), {"jitter": 100}),
    (("MAXLEN", 10), {"maxlen": 10}),
    (("MAXBYTES", 1 << 40), {"maxbytes": 1 << 40}),
    (("DROP",), {"overflow": b"drop"}),
    (("DEDUP", 0), {"dedup": 0}),
    (("DEDUP", 5), {"dedup": 5}),
    (("EXPIRED", "DEAD"), {"expired": b"dead"}),
    (("DEADMAX", 3), {"deadmax": 3}),
    (("DEADTTL", 1000), {"deadttl": 1000}),
    (("INFLIGHT", 2), {"inflight": 2}),
    (("lease", 1, "jitter", 2, "drop"), {"lease": 1, "jitter": 2, "overflow": b"drop"}),
]


def settings(client: Client, key: str = "q") -> dict[str, Any]:
    return as_dictionary(client.call("RQ.SETUP", key))


@pytest.mark.parametrize(
    ("words", "told"),
    SETTINGS,
    ids=lambda value: " ".join(str(word) for word in value) if isinstance(value, tuple) else "",
)
def test_every_setting(either: Client, words: tuple[Argument, ...], told: dict[str, Any]) -> None:
    assert either.call("RQ.SETUP", "q", *words) == b"OK"
    assert settings(either) == DEFAULTS | told
    either.call("DEBUG", "RELOAD")
    assert settings(either) == DEFAULTS | told


def test_others_stay(client: Client) -> None:
    client.setup("q", "LEASE", 5, "DELIVERIES", 6)
    client.setup("q", "LEASE", 7)
    assert settings(client) == DEFAULTS | {"lease": 7, "deliveries": 6}
    client.setup("q", "DROP")
    client.setup("q", "REJECT", "EXPIRED", "DEAD")
    client.setup("q", "EXPIRED", "DROP")
    assert settings(client) == DEFAULTS | {"lease": 7, "deliveries": 6}


def test_reading_makes_nothing(either: Client) -> None:
    assert either.call("RQ.SETUP", "q") is None
    assert not either.exists("q")
    either.push("q", "a")
    assert settings(either) == DEFAULTS


@pytest.mark.parametrize("protocol", [2, 3])
def test_no_queue_is_null(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        assert wire.call(b"RQ.SETUP", b"q") == {2: b"*-1\r\n", 3: b"_\r\n"}[protocol]


def test_a_queue_with_settings_exists_until_they_are_cleared(client: Client) -> None:
    client.setup("q", "LEASE", 5)
    client.push("q", "a")
    client.ack("q", *client.take("q"))
    assert client.exists("q")
    client.setup("q", "LEASE", 0)
    assert not client.exists("q")
    client.setup("q", "MAXLEN", 0)
    assert not client.exists("q")


def test_survive_every_way(start_server: StartServer) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    client = server.client()
    words = ("LEASE", 1, "DELIVERIES", 2, "BACKOFF", 3, "4.5", 6, "JITTER", 7, "MAXLEN", 8, "MAXBYTES", 9, "DROP")
    client.setup("q", *words, "DEDUP", 10, "EXPIRED", "DEAD", "DEADMAX", 11, "DEADTTL", 12, "INFLIGHT", 13)
    told = settings(client)
    assert not {name for name, value in told.items() if value == DEFAULTS[name]}
    client.call("COPY", "q", "copy")
    client.call("RESTORE", "restored", 0, client.call("DUMP", "q"))
    assert settings(client, "copy") == settings(client, "restored") == told
    server.restart(kill=True)
    client = server.client()
    assert settings(client) == told
    server.rewrite_aof()
    server.restart(kill=True)
    client = server.client()
    assert settings(client) == told
    replica = start_server()
    replica.follow(server)
    with replica.client() as copy:
        assert copy.digest("q") == client.digest("q")


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("LEASE", -1), "LEASE"),
        (("LEASE", "x"), "LEASE"),
        (("LEASE", 1 << 47), "LEASE"),
        (("LEASE",), "LEASE"),
        (("DELIVERIES", -1), "DELIVERIES"),
        (("DELIVERIES", 1 << 16), "DELIVERIES"),
        (("BACKOFF", -1, 2, 0), "BACKOFF"),
        (("BACKOFF", 1, "0.5", 0), "BACKOFF"),
        (("BACKOFF", 1, "1001", 0), "BACKOFF"),
        (("BACKOFF", 1, "1.2345", 0), "BACKOFF"),
        (("BACKOFF", 1, "x", 0), "BACKOFF"),
        (("BACKOFF", 1, 2, "x"), "BACKOFF"),
        (("BACKOFF", 1, 2), "BACKOFF"),
        (("JITTER", -1), "JITTER"),
        (("JITTER", 101), "JITTER"),
        (("JITTER", "x"), "JITTER"),
        (("MAXLEN", -1), "MAXLEN"),
        (("MAXLEN", "x"), "MAXLEN"),
        (("MAXBYTES", -1), "MAXBYTES"),
        (("REJECT", "DROP"), "REJECT"),
        (("DEDUP", -1), "DEDUP"),
        (("DEDUP", 1 << 47), "DEDUP"),
        (("EXPIRED", "NEVER"), "EXPIRED"),
        (("EXPIRED",), "EXPIRED"),
        (("DEADMAX", -1), "DEADMAX"),
        (("DEADTTL", -1), "DEADTTL"),
        (("DEADTTL", 1 << 47), "DEADTTL"),
        (("INFLIGHT", -1), "INFLIGHT"),
        (("INFLIGHT", "x"), "INFLIGHT"),
        (("LEASE", 1, "LEASE", 2), "LEASE"),
        (("DROP", "DROP"), "DROP"),
        (("SPEED", 5), "SPEED"),
        (("LEASE", 1, "SPEED", 5), "SPEED"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(str(word) for word in value),
)
def test_bad_input_is_named_and_changes_nothing(client: Client, words: tuple[Argument, ...], named: str) -> None:
    client.setup("q", "LEASE", 77)
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.call("RQ.SETUP", "q", *words)
    assert error.value.code == "ERR" and named in error.value.line and "expected" in error.value.line
    assert client.digest("q") == before
    with pytest.raises(CommandError):
        client.call("RQ.SETUP", "new", *words)
    assert not client.exists("new")


# Back-off.


@pytest.mark.parametrize(
    ("backoff", "delays"),
    [
        ((100, 2, 0), [100, 200, 400, 800]),
        ((100, 2, 300), [100, 200, 300, 300]),
        ((100, "1.5", 0), [100, 150, 225, 337]),
        ((100, 1, 0), [100, 100, 100, 100]),
        ((500, 2, 100), [100, 100, 100, 100]),
    ],
    ids=str,
)
def test_back_off_grows(still: Client, exact_clock: Clock, backoff: tuple[Argument, ...], delays: list[int]) -> None:
    still.setup("q", "BACKOFF", *backoff)
    (id,) = still.push("q", "x")
    seen = []
    for delay in delays:
        (now,) = still.facts("q", "age")
        still.take("q")
        still.nack("q", id)
        ((_, _, due),) = still.scheduled("q")
        seen.append(due - BASE - now)
        exact_clock.pass_by(delay)
    assert seen == delays


def test_jitter_takes_some_of_it_off(still: Client) -> None:
    still.setup("q", "BACKOFF", 1000, 2, 0, "JITTER", 50)
    ids = still.push("q", *range(100))
    still.take("q", 100)
    still.nack("q", *ids)
    delays = {row[2] - BASE for row in still.scheduled("q")}
    assert len(delays) > 20 and min(delays) >= 500 and max(delays) <= 1000


def test_replicas_agree_on_jitter(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        client.setup("q", "BACKOFF", 1_000_000, 2, 0, "JITTER", 100)
        ids = client.push("q", *range(50))
        client.take("q", 50)
        client.nack("q", *ids)
        replica.catch_up(primary)
        assert copy.scheduled("q") == client.scheduled("q")
        assert copy.digest("q") == client.digest("q")


# INFLIGHT.


def test_inflight_limits_each_named_consumer(client: Client) -> None:
    client.setup("q", "INFLIGHT", 2)
    ids = client.push("q", *range(9))
    assert [row[1] for row in client.pop_with("q", "COUNT", 9, "CONSUMER", "ann")] == ids[:2]
    assert client.pop_with("q", "CONSUMER", "ann") == []
    assert [row[1] for row in client.pop_with("q", "COUNT", 9, "CONSUMER", "bob")] == ids[2:4]
    assert [row[1] for row in client.pop_with("q", "COUNT", 9)] == ids[4:6], "all unnamed ones together"
    assert client.pop_with("q") == []
    client.ack("q", ids[0])
    assert [row[1] for row in client.pop_with("q", "COUNT", 9, "CONSUMER", "ann")] == ids[6:7]


@pytest.mark.parametrize("how", ["ack", "nack", "delete", "extend"])
def test_a_pop_at_the_limit_is_woken(server: Server, client: Client, how: str) -> None:
    client.setup("q", "INFLIGHT", 1)
    first, second = client.push("q", "a", "b")
    client.pop_with("q", "CONSUMER", "ann")
    waiter = Waiter(server, "RQ.POP", "BLOCK", 0, "CONSUMER", "ann", "KEYS", 1, "q")
    if how == "ack":
        client.ack("q", first)
    elif how == "nack":
        client.nack("q", first, options=["DELAY", 3_600_000])
    elif how == "delete":
        client.call("RQ.DELETE", "q", "IDS", 1, first)
    else:
        client.setup("q", "BACKOFF", 3_600_000, 1, 0)
        client.extend("q", 1, first)  # it returns by itself
    assert waiter.reply() == [[b"q", second, b"b"]]
    waiter.close()


def test_noack_is_within_the_limit_as_nothing_is_held(client: Client) -> None:
    client.setup("q", "INFLIGHT", 1)
    client.push("q", *"abc")
    assert len(client.pop_with("q", "NOACK", "COUNT", 3)) >= 1
    assert client.pending("q") == []


# The server's defaults.


@pytest.fixture
def lone(start_server: StartServer) -> Client:
    return start_server().client()


NAMES = ("lease", "deliveries", "maxlen", "maxbytes", "deadmax", "deadttl", "inflight")


@pytest.mark.parametrize("name", NAMES)
def test_a_default_is_none_and_can_be_set(lone: Client, name: str) -> None:
    option = f"reliableq.{name}"
    assert lone.call("CONFIG", "GET", option) == [option.encode(), b"0"]
    lone.call("CONFIG", "SET", option, 17)
    assert lone.call("CONFIG", "GET", option) == [option.encode(), b"17"]
    for bad in ("-1", "x", "99999999999999999999"):
        with pytest.raises(CommandError):
            lone.call("CONFIG", "SET", option, bad)
    assert lone.call("CONFIG", "GET", option) == [option.encode(), b"17"]
    lone.push("q", "a")
    assert settings(lone) == DEFAULTS, "shown is what the queue says"


def test_a_default_of_deliveries_is_one_that_is_reached(lone: Client) -> None:
    lone.call("CONFIG", "SET", "reliableq.deliveries", (1 << 16) - 1)
    with pytest.raises(CommandError):
        lone.call("CONFIG", "SET", "reliableq.deliveries", 1 << 16)
    assert lone.call("CONFIG", "GET", "reliableq.deliveries")[1] == b"65535"


def test_defaults_of_lease_and_deliveries(lone: Client) -> None:
    lone.call("CONFIG", "SET", "reliableq.lease", 20)
    lone.call("CONFIG", "SET", "reliableq.deliveries", 1)
    (id,) = lone.push("q", "a")
    lone.take("q")
    wait_until("its lease ends, and it dies", lambda: lone.dead("q"))
    assert lone.dead("q")[0][0] == id and lone.dead("q")[0][5] == b"lease"


def test_a_queues_own_settings_come_first(lone: Client) -> None:
    lone.call("CONFIG", "SET", "reliableq.lease", 20)
    lone.call("CONFIG", "SET", "reliableq.maxlen", 1)
    lone.setup("q", "LEASE", 3_600_000, "MAXLEN", 2)
    ids = lone.push("q", "a", "b")
    lone.take("q")
    meta = lone.meta("q", ids[0])
    assert meta["deadline"] - meta["last-delivery"] == 3_600_000
    for key in ("q", "other"):
        with pytest.raises(CommandError) as error:
            lone.push(key, "c", "d")
        assert error.value.code == "CAPPED"


def test_defaults_of_the_others(lone: Client) -> None:
    lone.call("CONFIG", "SET", "reliableq.inflight", 1)
    lone.call("CONFIG", "SET", "reliableq.deadmax", 2)
    lone.call("CONFIG", "SET", "reliableq.maxbytes", 10)
    ids = lone.push("q", "a", "b", "c")
    for id in ids:
        assert lone.take("q") == [id] and lone.pop("q") is None
        lone.nack("q", id, options=["DEAD"])
    assert [row[0] for row in lone.dead("q")] == ids[1:]
    with pytest.raises(CommandError) as error:
        lone.push("q", "x" * 11)
    assert error.value.code == "CAPPED"


def test_a_default_of_deadttl(lone: Client) -> None:
    lone.push("q", "a")
    lone.nack("q", *lone.take("q"), options=["DEAD"])
    lone.call("CONFIG", "SET", "reliableq.deadttl", 1)
    assert lone.length("q") == 0, "a default is noticed when the queue is next used"
    wait_until("the dead letter goes", lambda: not lone.exists("q"))


def test_defaults_in_the_configuration_file(start_server: StartServer) -> None:
    server = start_server()
    with server.client() as client:
        client.call("CONFIG", "SET", "reliableq.lease", 123)
        client.call("CONFIG", "REWRITE")
    text = (server.folder / "redis.conf").read_text()
    assert "reliableq.lease 123" in text
