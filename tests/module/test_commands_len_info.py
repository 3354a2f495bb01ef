"""RQ.LEN key and RQ.INFO key"""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.clock import BASE, Clock
from tests.support.server import Server
from tests.support.wire import Wire

pytestmark = pytest.mark.essential

FIELDS = {
    "waiting",
    "delivered",
    "sent",
    "received",
    "returned",
    "dead",
    "deleted",
    "memory",
    "first-id",
    "last-id",
    "age",
}


def facts(client: Client, *names: str) -> tuple[object, ...]:
    info = client.queue_info("q")
    assert info is not None
    return tuple(info[name] for name in names)


def test_len_counts_all_that_the_queue_holds(either: Client) -> None:
    assert either.length("q") == 0
    either.push("q", "a", "b", "c")
    assert either.length("q") == 3
    first, _ = either.take("q", 2)
    assert either.length("q") == 3
    either.ack("q", first)
    assert either.length("q") == 2


def test_len_of_a_missing_key_makes_none(client: Client) -> None:
    assert client.length("missing") == 0
    assert not client.exists("missing")


@pytest.mark.parametrize("protocol", [2, 3])
def test_info_of_a_missing_key_is_null(server: Server, protocol: int) -> None:
    null = {2: b"*-1\r\n", 3: b"_\r\n"}[protocol]
    with Wire(server.port, protocol) as wire:
        assert wire.call(b"RQ.INFO", b"missing") == null
        assert wire.call(b"RQ.LEN", b"missing") == b":0\r\n"


@pytest.mark.parametrize("protocol", [2, 3])
def test_info_is_a_map_or_a_flat_array(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        wire.call(b"RQ.PUSH", b"q", b"x")
        reply = wire.call(b"RQ.INFO", b"q")
    kind, size = reply[:1], int(reply[1 : reply.index(b"\r\n")])
    pairs = size if protocol == 3 else size // 2
    assert kind == {2: b"*", 3: b"%"}[protocol]
    assert pairs >= len(FIELDS)


def test_info_has_every_field(either: Client) -> None:
    either.push("q", "x")
    info = either.queue_info("q")
    assert info is not None
    assert info.keys() >= FIELDS
    assert isinstance(info["first-id"], bytes) and isinstance(info["last-id"], bytes)
    numbers = FIELDS - {"first-id", "last-id"}
    assert {name for name in numbers if not isinstance(info[name], int)} == set()


def test_info_counts(either: Client) -> None:
    names = ("waiting", "delivered", "sent", "received", "dead", "deleted")
    either.push("q", "a", "b", "c")
    assert facts(either, *names) == (3, 0, 3, 0, 0, 0)
    first, _ = either.take("q", 2)
    assert facts(either, *names) == (1, 2, 3, 2, 0, 0)
    either.ack("q", first, first, "1-1")
    assert facts(either, *names) == (1, 1, 3, 2, 0, 1)


def test_recovery_counts_as_receiving_again(client: Client) -> None:
    client.push("q", "a", "b")
    client.take("q", 2)
    client.recover("q", 1)
    assert facts(client, "sent", "received", "dead", "deleted") == (2, 3, 0, 0)
    client.recover("q", 10)
    assert facts(client, "received", "waiting", "delivered") == (5, 0, 2)


def test_what_finds_nothing_counts_nothing(client: Client) -> None:
    client.push("q", "a")
    client.take("q")
    before = client.queue_info("q")
    assert before is not None
    client.pop("q")
    client.ack("q", "1-1")
    client.recover("q", 1, 3_600_000)
    after = client.queue_info("q")
    assert after is not None
    del before["age"], after["age"]
    assert after == before


def test_first_and_last_id(client: Client) -> None:
    ids = client.push("q", "a", "b", "c")
    assert facts(client, "first-id", "last-id") == (ids[0], ids[2])
    client.take("q", 2)
    assert facts(client, "first-id", "last-id") == (ids[0], ids[2])
    client.ack("q", ids[0])
    assert facts(client, "first-id", "last-id") == (ids[1], ids[2])


def test_age_is_that_of_the_oldest_message(start_server: StartServer, exact_clock: Clock) -> None:
    exact_clock.stop(BASE)
    with start_server(exact_clock).client() as client:
        client.push("q", "a")
        exact_clock.pass_by(500)
        client.push("q", "b")
        assert facts(client, "age") == (500,)
        client.ack("q", *client.take("q"))
        exact_clock.pass_by(250)
        assert facts(client, "age") == (250,)
        exact_clock.stand_at(BASE - 1000)
        assert facts(client, "age") == (250,), "a clock that is set makes nothing younger"


def test_totals_over_queues(client: Client) -> None:
    names = ("returned_lease", "returned_nack", "returned_recover", "cancelled", "expired", "duplicates")

    def totals() -> dict[str, int]:
        section = client.info("reliableq_totals")
        return {name: int(section[f"reliableq_{name}"]) for name in names}

    before = totals()
    for key in ("one", "two"):
        client.setup(key, "MAXLEN", 3, "DROP")
        first, _ = client.push(key, "a", "b")
        client.take(key, 2)
        client.recover(key, 1)
        client.nack(key, first)
        client.push_with(key, "TOKEN", "t")
        client.push_with(key, "TOKEN", "t")
        client.push(key, "dropping another")
        client.call("RQ.FLUSH", key)
    after = totals()
    assert [after[name] - before[name] for name in names[1:]] == [2, 2, 6, 2, 2]
    assert after["returned_lease"] == before["returned_lease"]


def test_memory_grows_with_what_is_held(client: Client) -> None:
    client.push("q", b"x" * 100)
    (small,) = facts(client, "memory")
    client.push("q", *[b"x" * 100] * 1000)
    (large,) = facts(client, "memory")
    assert isinstance(small, int) and isinstance(large, int)
    assert large - small >= 100 * 1000


def test_wrong_type(either: Client) -> None:
    either.call("SET", "q", "text")
    for command in ("RQ.LEN", "RQ.INFO"):
        with pytest.raises(CommandError) as error:
            either.call(command, "q")
        assert error.value.code == "WRONGTYPE"
