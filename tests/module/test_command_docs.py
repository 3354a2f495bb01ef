"""What the server tells about our commands: COMMAND DOCS, INFO and GETKEYS."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.client import Argument, Client, CommandError
from tests.support.effort import effort
from tests.support.server import Server

pytestmark = pytest.mark.essential

COMMANDS = [
    "rq.push",
    "rq.pushex",
    "rq.pop",
    "rq.ack",
    "rq.recover",
    "rq.inspect",
    "rq.range",
    "rq.split",
    "rq.len",
    "rq.info",
    "rq.status",
]


@pytest.fixture(scope="module")
def docs(shared_server: Server) -> dict[str, Any]:
    with shared_server.client(protocol=3) as client:
        reply = client.call("COMMAND", "DOCS", *COMMANDS)
    return {name.decode().lower(): fields for name, fields in reply.items()}


@pytest.mark.parametrize("name", COMMANDS)
def test_docs(docs: dict[str, Any], name: str) -> None:
    about = docs[name]
    assert len(about[b"summary"]) > 10
    assert about[b"since"].count(b".") == 2
    assert about[b"complexity"].startswith(b"O(")
    assert about[b"module"] == b"reliableq"


def required(docs: dict[str, Any], name: str) -> list[str]:
    """The names of the arguments that can't be left out."""
    arguments = docs[name][b"arguments"]
    return [argument[b"name"].decode() for argument in arguments if b"optional" not in argument.get(b"flags", [])]


def tokens(docs: dict[str, Any], name: str) -> set[bytes]:
    """The words among the arguments, those of blocks included."""
    arguments = docs[name][b"arguments"]
    inner = [part for argument in arguments for part in argument.get(b"arguments", [])]
    return {argument.get(b"token", b"").upper() for argument in [*arguments, *inner]}


def test_documented_arguments(docs: dict[str, Any]) -> None:
    assert {name: required(docs, name) for name in COMMANDS} == {
        "rq.push": ["key", "element"],
        "rq.pushex": ["key", "count", "element"],
        "rq.pop": ["key"],
        "rq.ack": ["key", "id"],
        "rq.recover": ["key", "count", "elapsed"],
        "rq.inspect": ["key", "start", "count"],
        "rq.range": ["key", "min", "max"],
        "rq.split": ["key", "n"],
        "rq.len": ["key"],
        "rq.info": ["key"],
        "rq.status": [],
    }
    assert {b"COUNT", b"BLOCK", b"WITHMETA", b"KEYS"} <= tokens(docs, "rq.pop")
    assert {b"PRODUCER", b"SEQ", b"ELEMENTS"} <= tokens(docs, "rq.pushex")
    assert {b"REV", b"COUNT", b"WITHMETA"} <= tokens(docs, "rq.range")
    repeated = {name: docs[name][b"arguments"][-1].get(b"flags", []) for name in ("rq.push", "rq.pushex", "rq.ack")}
    assert all("multiple" in [flag.decode() for flag in flags] for flags in repeated.values())


@pytest.fixture(scope="module")
def table(shared_server: Server) -> dict[str, list[Any]]:
    with shared_server.client() as client:
        return {entry[0].decode().lower(): entry for entry in client.call("COMMAND", "INFO", *COMMANDS, "rq.apply")}


@pytest.mark.parametrize(
    ("name", "flags", "absent"),
    [
        ("rq.push", {"write", "denyoom", "module"}, {"readonly", "admin"}),
        ("rq.pushex", {"write", "denyoom", "fast", "module"}, {"readonly", "admin", "movablekeys"}),
        ("rq.pop", {"write", "module", "movablekeys"}, {"readonly", "denyoom", "admin"}),
        ("rq.ack", {"write", "module"}, {"readonly", "denyoom", "admin", "movablekeys"}),
        ("rq.recover", {"write", "module"}, {"readonly", "denyoom", "admin", "movablekeys"}),
        ("rq.inspect", {"readonly", "module"}, {"write", "denyoom", "admin", "movablekeys"}),
        ("rq.range", {"readonly", "module"}, {"write", "denyoom", "admin", "movablekeys", "fast"}),
        ("rq.split", {"readonly", "module"}, {"write", "denyoom", "admin", "movablekeys", "fast"}),
        ("rq.len", {"readonly", "fast", "module"}, {"write", "denyoom", "admin", "movablekeys"}),
        ("rq.info", {"readonly", "module"}, {"write", "denyoom", "admin", "movablekeys"}),
        ("rq.status", {"readonly", "module"}, {"write", "denyoom", "admin", "movablekeys", "fast"}),
        ("rq.apply", {"write", "admin", "module"}, {"readonly"}),
    ],
)
def test_flags(table: dict[str, list[Any]], name: str, flags: set[str], absent: set[str]) -> None:
    found = {bytes(flag).decode() for flag in table[name][2]}
    assert flags <= found
    assert not absent & found


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in ("rq.pop", "rq.status")])
def test_the_key_stands_first(table: dict[str, list[Any]], name: str) -> None:
    assert table[name][3:6] == [1, 1, 1]


def test_every_argument_of_status_is_a_key(table: dict[str, list[Any]], either: Client) -> None:
    assert table["rq.status"][3:6] == [1, -1, 1]
    assert either.call("COMMAND", "GETKEYS", "RQ.STATUS", "a", "b", "a") == [b"a", b"b", b"a"]


POPS: list[tuple[list[Argument], list[bytes]]] = [
    (["q"], [b"q"]),
    (["a", "b", "c"], [b"a", b"b", b"c"]),
    (["COUNT", 5, "q"], [b"q"]),
    (["count", 5, "a", "b"], [b"a", b"b"]),
    (["BLOCK", 0, "q"], [b"q"]),
    (["COUNT", 5, "BLOCK", 100, "a", "b"], [b"a", b"b"]),
    (["BLOCK", 100, "COUNT", 5, "a", "b"], [b"a", b"b"]),
    ([10, "a", "b"], [b"a", b"b"]),
    (["10"], [b"10"]),
    (["KEYS", 1, "q"], [b"q"]),
    (["KEYS", 2, "COUNT", 5], [b"COUNT", b"5"]),
    (["KEYS", 1, 10], [b"10"]),
    (["COUNT", 5, "KEYS", 2, "a", "KEYS"], [b"a", b"KEYS"]),
    (["COUNT", 5, "BLOCK", 0, "KEYS", 2, "BLOCK", "COUNT"], [b"BLOCK", b"COUNT"]),
    (["KEYS", 2, "q", "q"], [b"q", b"q"]),
]


@pytest.mark.parametrize(("words", "keys"), POPS, ids=lambda value: " ".join(str(word) for word in value))
def test_the_keys_of_every_form_of_pop(either: Client, words: list[Argument], keys: list[bytes]) -> None:
    assert either.call("COMMAND", "GETKEYS", "RQ.POP", *words) == keys


@pytest.mark.parametrize(
    "command",
    [
        ("RQ.PUSH", "q", "a", "b"),
        ("RQ.PUSHEX", "q", "ELEMENTS", 2, "a", "b"),
        ("RQ.PUSHEX", "q", "PRODUCER", "p", "SEQ", 1, "ELEMENTS", 1, "a"),
        ("RQ.ACK", "q", "1-1", "2-2"),
        ("RQ.RECOVER", "q", 1, 0),
        ("RQ.INSPECT", "q", "PENDING", 0, 1),
        ("RQ.INSPECT", "q", 0, 1),
        ("RQ.RANGE", "q", "-", "+", "REV"),
        ("RQ.SPLIT", "q", 4),
        ("RQ.LEN", "q"),
        ("RQ.INFO", "q"),
        ("RQ.STATUS", "q"),
        ("RQ.APPLY", "q", "head", "payload"),
    ],
    ids=lambda command: " ".join(str(word) for word in command),
)
def test_the_key_of_the_others(client: Client, command: tuple[Argument, ...]) -> None:
    assert client.call("COMMAND", "GETKEYS", *command) == [b"q"]


def test_the_keys_come_with_what_is_done_to_them(client: Client) -> None:
    (key,) = client.call("COMMAND", "GETKEYSANDFLAGS", "RQ.POP", "COUNT", 2, "KEYS", 1, "q")
    assert key[0] == b"q"
    assert {b"RW", b"access"} <= {bytes(flag) for flag in key[1]}


NAMES = ["q", "r", "10", "COUNT", "BLOCK", "KEYS", "-1"]
pop_words = st.lists(st.one_of(st.sampled_from(NAMES), st.integers(-2, 6).map(str)), min_size=1, max_size=7)


@settings(max_examples=effort(500))
@given(words=pop_words)
def test_the_keys_told_are_the_keys_used(client: Client, words: list[str]) -> None:
    """Whatever the arguments, the server's idea of the keys is that of the command. It runs in a
    script, where nothing blocks."""
    client.call("FLUSHALL")
    for name in {*NAMES, *(str(number) for number in range(-2, 7))}:
        client.push(name, *"abcdef")
    (told,) = client.call_many([("COMMAND", "GETKEYS", "RQ.POP", *words)])
    (rows,) = client.call_many([("EVAL", "return redis.pcall('RQ.POP', unpack(ARGV))", 0, *words)])
    if isinstance(rows, CommandError):
        assert isinstance(told, CommandError) or told == [], f"{words} is refused, yet has keys: {told}"
        return
    assert isinstance(told, list), f"{words} runs, but no keys are told: {told}"
    used = [row[0] for row in rows]
    assert used == sorted(used, key=told.index)
    assert used[0] == told[0]
