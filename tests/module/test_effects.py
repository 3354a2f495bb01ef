"""RQ.APPLY: what comes from elsewhere is checked as a whole before anything changes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.clock import true_time
from tests.support.effects import (
    ACKNOWLEDGE,
    DELIVER,
    END,
    FLOOR,
    FORGET,
    HEAD,
    MESSAGES,
    PRODUCE,
    PUSH,
    REDELIVER,
    Command,
    head,
    produce,
    propagated,
    push,
)
from tests.support.effort import effort
from tests.support.operations import random_operations

LAST = (1 << 64) - 1
FAR = (1 << 48) - 1
"""The last millisecond that an ID can have."""


def refused(client: Client, key: str, *words: bytes) -> None:
    """Applies what must be refused without a change."""
    before = client.dataset_digest()
    with pytest.raises(CommandError) as error:
        client.call("RQ.APPLY", key, *words)
    assert error.value.code == "BADEFFECT"
    assert client.dataset_digest() == before


@pytest.mark.essential
def test_an_effect_makes_a_queue(client: Client) -> None:
    client.call("RQ.APPLY", "q", push((1000, 1), 2), b"a", b"b")
    assert client.waiting("q") == [[b"1000-1", b"a"], [b"1000-2", b"b"]]
    client.call("RQ.APPLY", "q", head(DELIVER, 5000, 1000, 1, 1))
    assert [row[:3] for row in client.pending("q")] == [[b"1000-1", b"a", 5000]]


@pytest.fixture
def effects(start_server: StartServer) -> list[Command]:
    """What a server propagated for changes of every kind."""
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no", aof_timestamp_enabled="no")
    with server.client() as client:
        random_operations(client, 11, 150)
    return [command for command in propagated(server) if command[0] == b"a"]


@pytest.fixture
def lone(start_server: StartServer) -> Client:
    """A client of a server of its own: damaged effects may raise the floor of all queues."""
    return start_server().client()


@pytest.mark.essential
@pytest.mark.parametrize(
    "words",
    [
        (b"",),
        (b"\x01",),
        (head(PUSH, 0, 3000, 1, 1, version=0), b"x"),
        (head(PUSH, 0, 3000, 1, 1, version=2), b"x"),
        (head(99, 1),),
        (push((3000, 1), 1),),
        (push((3000, 1), 1), b"x", b"y"),
        (push((3000, 1), 0),),
        (push((1000, 1), 1), b"x"),
        (push((999, 9), 1), b"x"),
        (push((3000, LAST), 2), b"x", b"y"),
        (push((FAR + 1, 1), 1), b"x"),
        (push((3000, 1), LAST), b"x"),
        (push((3000, 1), 1) + b"\0", b"x"),
        (head(DELIVER, 9000, 1000, 3, 2),),
        (head(DELIVER, 9000, 1000, 4, 1),),
        (head(DELIVER, 9000, 1000, 3, 0),),
        (head(DELIVER, 9000, 1000, 3, LAST),),
        (head(DELIVER, 4999, 1000, 3, 1),),
        (head(DELIVER, FAR + 1, 1000, 3, 1),),
        (head(REDELIVER, 9000, 1000, 2, 1),),
        (head(REDELIVER, 9000, 1000, 1, 3),),
        (head(REDELIVER, 9000, 1000, 3, 1),),
        (head(ACKNOWLEDGE),),
        (head(ACKNOWLEDGE, 2000, 6),),
        (head(ACKNOWLEDGE, 2000, 2, 0, 0),),
        (head(DELIVER, 9000, 1000, 3, 1), b"payload"),
        (produce((3000, 1), 2, b"p", 6, 3000), b"x"),
        (produce((1000, 3), 1, b"p", 6, 3000), b"x"),
        (produce((3000, 1), 1, b"p", 6, 3000) + b"\0", b"x"),
        (produce((3000, 1), 1, b"p", 6, 3000)[:-1], b"x"),
        (produce((3000, 1), 0, b"p", 5, 3000),),
        (head(FORGET) + b"\x05p",),
        (head(FORGET) + b"\x01p", b"payload"),
    ],
    ids=lambda words: "-".join(word.hex() for word in words)[:40],
)
def test_an_effect_that_does_not_fit_is_refused(client: Client, words: tuple[bytes, ...]) -> None:
    """The queue holds 1000-1 and 1000-2, delivered at 5000, and 1000-3, waiting."""
    client.call("RQ.APPLY", "q", push((1000, 1), 3), b"a", b"b", b"c")
    client.call("RQ.APPLY", "q", head(DELIVER, 5000, 1000, 1, 2))
    refused(client, "q", *words)


@pytest.mark.parametrize("kind", [DELIVER, ACKNOWLEDGE, REDELIVER])
def test_a_change_of_no_queue_is_refused(client: Client, kind: int) -> None:
    refused(client, "missing", head(kind, 5000, 1000, 1, 1))
    assert not client.exists("missing")


def test_real_effects_cut_anywhere_are_refused(lone: Client, effects: list[Command]) -> None:
    for key, whole, *payloads in effects[:60]:
        for length in range(len(whole)):
            (reply,) = lone.call_many([("RQ.APPLY", key, whole[:length], *payloads)])
            accepted = not isinstance(reply, CommandError)
            assert not accepted or whole[1] == ACKNOWLEDGE, f"{whole.hex()} cut at {length} was applied"
        lone.call_many([("RQ.APPLY", key, whole, *payloads)])


@settings(max_examples=effort(150))
@given(data=st.data())
def test_damaged_effects_are_refused_or_whole(lone: Client, effects: list[Command], data: st.DataObject) -> None:
    lone.call("FLUSHALL")
    start = effects[: data.draw(st.integers(0, 30))]
    kinds = {whole[1] for _, whole, *_ in start}
    for key, whole, *payloads in start:
        lone.call_many([("RQ.APPLY", key, whole, *payloads)])
    for _ in range(5):
        key, whole, *payloads = data.draw(st.sampled_from(effects))
        damaged = bytearray(whole)
        damaged[data.draw(st.integers(0, len(whole) - 1))] ^= 1 << data.draw(st.integers(0, 7))
        kinds.add(damaged[1])
        # In one go: a producer of a damaged time may be forgotten at any moment.
        apply: Command = [b"RQ.APPLY", key, bytes(damaged), *payloads]
        before, reply, after = lone.transaction(("DEBUG", "DIGEST"), apply, ("DEBUG", "DIGEST"))
        if isinstance(reply, CommandError):
            assert reply.code == "BADEFFECT"
            assert after == before
    for key in lone.call("KEYS", "*"):
        held = len(lone.waiting(key, 0, 1 << 40)) + len(lone.pending(key, 0, 1 << 40))
        assert lone.length(key) == held
        assert held > 0 or PRODUCE in kinds
    lone.call("DEBUG", "RELOAD")
    assert lone.call("PING") == b"PONG"


# The end of all IDs.


@pytest.mark.essential
def test_a_queue_without_further_ids_refuses_a_push_and_nothing_else(either: Client) -> None:
    either.call("RQ.APPLY", "q", push((FAR, LAST - 1), 1), b"old")
    with pytest.raises(CommandError) as error:
        either.push("q", "a", "b")
    assert error.value.code == "EXHAUSTED"
    assert either.push("q", "last") == [b"%d-%d" % (FAR, LAST)]
    before = either.digest("q")
    with pytest.raises(CommandError) as error:
        either.push("q", "a")
    assert error.value.code == "EXHAUSTED"
    assert either.digest("q") == before
    ids = either.take("q", 2)
    assert either.ack("q", *ids) == ids
    assert not either.exists("q")


@pytest.mark.essential
def test_the_end_of_one_queue_is_not_that_of_others(client: Client) -> None:
    client.call("RQ.APPLY", "q", push((FAR, LAST), 1), b"old")
    client.call("DEL", "q")
    for key in ("q", "other"):
        (id,) = client.push(key, "x")
        assert int(id.partition(b"-")[0]) <= true_time() + 1000


@pytest.mark.essential
def test_a_floor_out_of_range(client: Client) -> None:
    refused(client, "q", head(FLOOR, FAR + 1, 1))
    (id,) = client.push("q", "x")
    assert int(id.split(b"-")[0]) <= FAR


SNAPSHOT = [
    head(HEAD, 1000, 2, 0, 2, 0, 0, 2, 0, 0, 0, 0),
    bytes([1, MESSAGES]) + b"\xd0\x0f\x02\x01a" + b"\x00\x02\x01b",
    head(END),
]


@pytest.mark.essential
def test_a_snapshot_makes_a_queue_when_it_is_whole(client: Client) -> None:
    for part in SNAPSHOT[:-1]:
        client.call("RQ.APPLY", "q", part)
        assert not client.exists("q")
    client.call("RQ.APPLY", "q", SNAPSHOT[-1])
    assert client.waiting("q") == [[b"1000-1", b"a"], [b"1000-2", b"b"]]


def test_parts_of_a_snapshot_belong_to_one_key(client: Client) -> None:
    client.call("RQ.APPLY", "q", SNAPSHOT[0])
    refused(client, "other", SNAPSHOT[1])
    client.call("RQ.APPLY", "q", SNAPSHOT[0])
    client.push("q", "x")
    for part in SNAPSHOT:
        refused(client, "q", part)


def test_a_key_of_another_type(client: Client) -> None:
    client.call("SET", "s", "x")
    for word in (b"garbage", push((1000, 1), 1), SNAPSHOT[0]):
        with pytest.raises(CommandError) as error:
            client.call("RQ.APPLY", "s", word)
        assert error.value.code == "WRONGTYPE"
