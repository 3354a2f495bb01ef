"""RQ.APPLY: what comes from elsewhere is checked as a whole before anything changes."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.clock import true_time
from tests.support.effects import (
    ACKNOWLEDGE,
    ACKNOWLEDGE_AT,
    CLAIM,
    DEAD,
    DELIVER,
    DUE,
    DUPLICATES,
    END,
    EXPIRE,
    EXTEND,
    FLOOR,
    FLUSH,
    FORGET,
    FORGET_TOKENS,
    LISTS,
    NACK,
    PAUSE,
    PUSH,
    REDRIVE,
    REMOVE,
    SETUP,
    STORE,
    TRIM,
    WAITING,
    Command,
    again,
    fields,
    head,
    ids,
    messages,
    number,
    policy,
    produce,
    propagated,
    push,
    returned,
    snapshot_head,
    store,
    take,
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
        (take(9000, (1000, 3), 2),),
        (take(9000, (1000, 4), 1),),
        (take(4999, (1000, 3), 1),),
        (take(9000, (1000, 3), 1, flags=4),),
        (take(9000, (1000, 3), 1, lease=FAR + 1),),
        (take(9000, (1000, 3), 1, consumer=b"c")[:-1],),
        (again(9000),),
        (again(9000, ((1000, 3), WAITING)),),
        (again(9000, ((1000, 9), WAITING)),),
        (again(9000, ((1000, 1), WAITING), ((1000, 1), WAITING)),),
        (again(9000, ((1000, 1), 50)),),
        (again(4999, ((1000, 1), WAITING)),),
        (again(9000, ((1000, 1), WAITING), cause=NACK),),
        (again(9000, ((1000, 1), WAITING), cause=CLAIM + 1),),
        (again(9000, ((1000, 1), WAITING), lease=FAR + 1),),
        (returned(9000),),
        (returned(9000, ((1000, 3), WAITING)),),
        (returned(9000, ((1000, 9), DEAD)),),
        (returned(9000, ((1000, 2), DEAD), ((1000, 2), WAITING)),),
        (returned(9000, ((1000, 1), FAR)),),
        (returned(4999, ((1000, 1), WAITING)),),
        (returned(9000, ((1000, 1), WAITING), cause=CLAIM + 1),),
        (head(EXTEND, 9000, 0),),
        (head(EXTEND, 9000, 2) + ids((1000, 1)),),
        (head(EXTEND, 9000, 0) + ids((1000, 3)),),
        (head(EXTEND, FAR + 1, 0) + ids((1000, 1)),),
        (head(REMOVE, 9000, 0),),
        (head(REMOVE, 9000, 2) + ids((1000, 1)),),
        (head(REMOVE, 9000, 0) + ids((1000, 9)),),
        (head(REMOVE, 9000, 0) + ids((1000, 3), (1000, 3)),),
        (head(REMOVE, 4999, 0) + ids((1000, 3)),),
        (head(DUE, 9000, 1),),
        (head(DUE, 9000, 0),),
        (head(EXPIRE, 9000),),
        (head(EXPIRE, 9000) + ids((1000, 1)),),
        (head(EXPIRE, 4999) + ids((1000, 3)),),
        (head(REDRIVE, 9000),),
        (head(REDRIVE, 9000) + ids((1000, 3)),),
        (head(TRIM, 9000, 1),),
        (head(TRIM, 9000, 0),),
        (head(FLUSH, 4999, 0),),
        (head(FLUSH, 9000, 2),),
        (head(FLUSH, 9000, 0, 0),),
        (head(SETUP),),
        (head(SETUP) + policy(flags=8),),
        (head(SETUP) + policy(jitter=101),),
        (head(SETUP) + policy(backoff=(1, 999, 0)),),
        (head(SETUP) + policy(lease=FAR + 1),),
        (head(SETUP) + policy(deliveries=1 << 32),),
        (head(SETUP) + policy() + b"\0",),
        (head(SETUP) + policy(lease=1) + number(1000) + number(2),),
        (head(PAUSE, 1, 1000, 2),),
        (head(PAUSE),),
        (head(PAUSE, 4),),
        (head(DUPLICATES, LAST), b"payload"),
        (head(ACKNOWLEDGE_AT, 4999) + ids((1000, 1)),),
        (head(ACKNOWLEDGE_AT, 9000) + ids((1000, 3)),),
        (store((3000, 1), 1, 4999), b"x"),
        (store((3000, 1), 1, FAR + 1), b"x"),
        (store((3000, 1), 1, 9000, due=FAR + 1), b"x"),
        (store((3000, 1), 1, 9000, drops=2), b"x"),
        (store((3000, 1), 1, 9000, new=(1000, 3)), b"x"),
        (store((3000, 1), 2, 9000, fields=fields(token=b"t")), b"x", b"y"),
        (store((3000, 1), 1, 9000, fields=fields(expiry=FAR + 1)), b"x"),
        (store((3000, 1), 1, 9000, fields=fields(retries=1 << 32)), b"x"),
        (store((3000, 1), 1, 9000)[:-1] + b"\x80", b"x"),
        (store((3000, 1), 1, 9000)[:-1] + b"\x10\x00", b"x"),
        (store((3000, 1), 0, 9000, duplicates=1),),
        (store((1000, 1), 0, 9000, duplicates=1), b"x"),
        (head(ACKNOWLEDGE),),
        (head(ACKNOWLEDGE, 2000, 6),),
        (head(ACKNOWLEDGE, 2000, 2, 0, 0),),
        (head(DELIVER, 9000, 1000, 3, 1), b"payload"),
        (produce((3000, 1), 2, b"p", 6, 9000), b"x"),
        (produce((1000, 3), 1, b"p", 6, 9000), b"x"),
        (produce((3000, 1), 1, b"p", 6, 9000) + b"\0", b"x"),
        (produce((3000, 1), 1, b"p", 6, 9000)[:-1], b"x"),
        (produce((3000, 1), 0, b"p", 5, 9000),),
        (produce((3000, 1), 2, b"p", 1, 9000), b"x", b"y"),
        (head(FORGET) + b"\x05p",),
        (head(FORGET) + b"\x01p",),
        (head(FORGET_TOKENS) + b"\x01t",),
        (head(FORGET) + b"\x01p", b"payload"),
    ],
    ids=lambda words: "-".join(word.hex() for word in words)[:40],
)
def test_an_effect_that_does_not_fit_is_refused(client: Client, words: tuple[bytes, ...]) -> None:
    """The queue holds 1000-1 and 1000-2, delivered at 5000, and 1000-3, waiting."""
    client.call("RQ.APPLY", "q", push((1000, 1), 3), b"a", b"b", b"c")
    client.call("RQ.APPLY", "q", head(DELIVER, 5000, 1000, 1, 2))
    refused(client, "q", *words)


@pytest.mark.parametrize(
    "word",
    [
        head(DELIVER, 5000, 1000, 1, 1),
        head(ACKNOWLEDGE) + ids((1000, 1)),
        again(5000, ((1000, 1), WAITING)),
        returned(5000, ((1000, 1), WAITING)),
        head(REMOVE, 5000, 0) + ids((1000, 1)),
        head(FLUSH, 5000, 0),
        head(DUPLICATES, 1),
    ],
    ids=lambda word: word.hex(),
)
def test_a_change_of_no_queue_is_refused(client: Client, word: bytes) -> None:
    refused(client, "missing", word)
    assert not client.exists("missing")


def test_real_effects_cut_anywhere_are_refused(lone: Client, effects: list[Command]) -> None:
    for key, whole, *payloads in effects[:60]:
        for length in range(len(whole)):
            (reply,) = lone.call_many([("RQ.APPLY", key, whole[:length], *payloads)])
            accepted = not isinstance(reply, CommandError)
            assert not accepted or whole[1] in LISTS, f"{whole.hex()} cut at {length} was applied"
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
        # In one go as well: what is scheduled may fall due, and leases end.
        shown = [("RQ.INSPECT", key, *state, 0, 1 << 40) for state in ((), ("PENDING",), ("SCHEDULED",), ("DEAD",))]
        length, *lists = lone.transaction(("RQ.LEN", key), *shown)
        waiting, pending, scheduled, dead = map(len, lists)
        assert length == waiting + pending + scheduled
        assert length + dead > 0 or kinds & {STORE, SETUP, PAUSE}
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
    snapshot_head((1000, 2), messages=2, counters=(2, *(0,) * 9)),
    messages(((1000, 1), b"", b"a"), ((1000, 2), b"", b"b")),
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
