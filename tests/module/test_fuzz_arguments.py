"""Arguments that nobody would send: the server answers each, and lives."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.support.client import Argument, Client, CommandError
from tests.support.effort import effort

COMMANDS = [
    "RQ.PUSH",
    "RQ.PUSHEX",
    "RQ.POP",
    "RQ.ACK",
    "RQ.RECOVER",
    "RQ.INSPECT",
    "RQ.RANGE",
    "RQ.SPLIT",
    "RQ.LEN",
    "RQ.INFO",
    "RQ.STATUS",
    "RQ.NACK",
    "RQ.EXTEND",
    "RQ.FORWARD",
    "RQ.CLAIM",
    "RQ.PEEK",
    "RQ.GET",
    "RQ.DELETE",
    "RQ.REDRIVE",
    "RQ.FLUSH",
    "RQ.PAUSE",
    "RQ.RESUME",
    "RQ.SETUP",
    "RQ.CONSUMER",
    "RQ.REGISTER",
]

KEYS = ["q", "drained", "text", "missing", "1", "COUNT", "", "KEYS"]

edges = [0, 1, 2, -1, 1 << 31, 1 << 32, 1 << 48, 1 << 53, 1 << 62, 1 << 63, 1 << 64, 1 << 128]
numbers = st.one_of(
    st.sampled_from([sign * edge + delta for edge in edges for sign in (1, -1) for delta in (-1, 0, 1)]),
    st.integers(-(1 << 65), 1 << 65),
    st.integers(-10, 10),
)
words = st.one_of(
    st.sampled_from(["COUNT", "KEYS", "PENDING", "count", "NaN", "inf", "-inf", "1e308", "", "*", "-", "1-", "-1"]),
    st.sampled_from(["PRODUCER", "SEQ", "ELEMENTS", "REV", "WITHMETA", "elements", "+", "(", "(1-1", "(-", "(+"]),
    st.sampled_from(["IDS", "TOKENS", "LEASE", "DELAY", "DEAD", "STATUS", "LIST", "DELETE", "ALL", "1-1@1", "1-1@"]),
    st.sampled_from(["FRONT", "PRIORITY", "HEADERS", "TTL", "AT", "TOKEN", "BACKOFF", "MAXLEN", "DROP", "CONSUMER"]),
    numbers.map(str),
    st.tuples(numbers, numbers).map(lambda pair: f"{pair[0]}-{pair[1]}"),
    st.sampled_from(KEYS),
    st.binary(max_size=40),
)
pushes = st.builds(
    lambda key, producer, number, bodies: [
        *(key, "PRODUCER", producer, "SEQ", number),
        *("ELEMENTS", len(bodies), *bodies),
    ],
    st.sampled_from(KEYS),
    words,
    st.one_of(words, st.integers(1, 9)),
    st.lists(words, min_size=1, max_size=4),
)
ranges = st.builds(
    lambda key, low, high, options: [key, low, high, *options],
    st.sampled_from(KEYS),
    st.one_of(st.just("-"), words),
    st.one_of(st.just("+"), words),
    st.lists(st.one_of(st.sampled_from(["REV", "WITHMETA"]), words), max_size=5),
)
calls = st.one_of(
    st.tuples(st.sampled_from(COMMANDS), st.lists(words, max_size=8)),
    st.tuples(st.just("RQ.PUSHEX"), pushes),
    st.tuples(st.just("RQ.RANGE"), ranges),
)
"""Anything at all, and what comes near to being right."""


def prepare(client: Client) -> None:
    """Gives each command something to hit."""
    client.call_many([("DEL", *KEYS), ("SET", "text", "x"), ("RQ.PUSH", "drained", "x"), ("RQ.POP", "drained")])
    for key in ("q", "1", "COUNT"):
        client.push(key, *"abcd")
        client.take(key, 2)
    client.produce("q", "1", 1, "e", "f")


def acceptable(reply: object) -> bool:
    if isinstance(reply, CommandError):
        return reply.code in {"ERR", "WRONGTYPE", "GAP", "DUPLICATE", "CAPPED", "PAUSED", "NOTHELD"}
    return reply is None or reply == b"OK" or isinstance(reply, int | list | dict)


@settings(max_examples=effort(300))
@given(batch=st.lists(calls, min_size=1, max_size=30))
@example(batch=[(name, []) for name in COMMANDS])
def test_any_arguments_get_an_answer(either: Client, batch: list[tuple[str, list[Argument]]]) -> None:
    prepare(either)
    for (name, arguments), reply in zip(
        batch, either.call_many([(name, *arguments) for name, arguments in batch]), strict=True
    ):
        assert acceptable(reply), f"{name} {arguments!r} answered {reply!r}"
    assert either.call("PING") == b"PONG"


@settings(max_examples=effort(200))
@given(arguments=st.lists(st.one_of(words, st.just("BLOCK")), max_size=8))
def test_any_arguments_get_an_answer_where_nothing_may_block(client: Client, arguments: list[Argument]) -> None:
    prepare(client)
    for name in COMMANDS:
        script = "return redis.pcall(unpack(ARGV))"
        (reply,) = client.call_many([("EVAL", script, 0, name, *arguments)])
        assert acceptable(reply), f"{name} {arguments!r} answered {reply!r}"


@settings(max_examples=effort(150))
@given(arguments=st.one_of(st.lists(words, min_size=1, max_size=8), pushes, ranges))
def test_an_error_changes_nothing(client: Client, arguments: list[Argument]) -> None:
    prepare(client)
    for name in COMMANDS:
        before = client.dataset_digest()
        (reply,) = client.call_many([(name, *arguments)])
        if isinstance(reply, CommandError):
            assert client.dataset_digest() == before, f"{name} {arguments!r} failed and changed something"


APPLY = st.one_of(
    st.binary(max_size=64),
    st.binary(min_size=1, max_size=8).map(lambda head: head * 9),
    st.integers(0, 255).map(lambda byte: bytes([byte]) * 24),
)


@pytest.mark.parametrize("key", ["q", "missing"])
@settings(max_examples=effort(200))
@given(head=APPLY, payloads=st.lists(st.binary(max_size=20), max_size=4))
def test_garbage_is_no_effect(either: Client, key: str, head: bytes, payloads: list[bytes]) -> None:
    prepare(either)
    before = either.dataset_digest()
    with pytest.raises(CommandError) as error:
        either.call("RQ.APPLY", key, head, *payloads)
    assert error.value.code == "BADEFFECT"
    assert either.dataset_digest() == before


def test_garbage_is_no_effect_on_another_type(client: Client) -> None:
    client.call("SET", "text", "x")
    with pytest.raises(CommandError) as error:
        client.call("RQ.APPLY", "text", b"\xff\xff\xff")
    assert error.value.code in {"BADEFFECT", "WRONGTYPE"}
    assert client.call("GET", "text") == b"x"
