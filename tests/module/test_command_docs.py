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
    "rq.peek",
    "rq.get",
    "rq.nack",
    "rq.extend",
    "rq.claim",
    "rq.forward",
    "rq.delete",
    "rq.redrive",
    "rq.flush",
    "rq.pause",
    "rq.resume",
    "rq.setup",
    "rq.consumer",
    "rq.register",
    "rq.notify",
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

    def flat(arguments: list[Any]) -> list[Any]:
        return [part for each in arguments for part in [each, *flat(each.get(b"arguments", []))]]

    return {argument.get(b"token", b"").upper() for argument in flat(docs[name][b"arguments"])}


def test_documented_arguments(docs: dict[str, Any]) -> None:
    assert {name: required(docs, name) for name in COMMANDS} == {
        "rq.push": ["key", "element"],
        "rq.pushex": ["key", "count", "element"],
        "rq.pop": ["key"],
        "rq.ack": ["key", "messages"],
        "rq.recover": ["key", "count", "elapsed"],
        "rq.inspect": ["key", "start", "count"],
        "rq.range": ["key", "min", "max"],
        "rq.split": ["key", "n"],
        "rq.len": ["key"],
        "rq.info": ["key"],
        "rq.status": [],
        "rq.peek": ["key"],
        "rq.get": ["key", "messages"],
        "rq.nack": ["key", "messages"],
        "rq.extend": ["key", "milliseconds", "messages"],
        "rq.claim": ["key", "consumer", "min-idle", "messages"],
        "rq.forward": ["source", "destination", "messages", "count", "element"],
        "rq.delete": ["key", "messages"],
        "rq.redrive": ["key"],
        "rq.flush": ["key"],
        "rq.pause": ["key"],
        "rq.resume": ["key"],
        "rq.setup": ["key"],
        "rq.consumer": ["subcommand"],
        "rq.register": [],
        "rq.notify": ["milliseconds"],
    }
    pop = {b"COUNT", b"BLOCK", b"CONSUMER", b"LEASE", b"NOACK", b"PREFETCH", b"MAXBYTES", b"WITHMETA", b"KEYS"}
    assert pop <= tokens(docs, "rq.pop")
    pushex = {b"FRONT", b"DELAY", b"AT", b"TTL", b"RETRIES", b"PRIORITY", b"HEADERS", b"TOKEN", b"UNIQUE", b"NEW"}
    assert pushex | {b"PRODUCER", b"SEQ", b"ELEMENTS"} <= tokens(docs, "rq.pushex")
    assert {b"DELAY", b"DEAD", b"REASON", b"SILENT", b"STATUS", b"IDS", b"TOKENS"} <= tokens(docs, "rq.nack")
    assert {b"STATUS", b"IDS", b"TOKENS"} <= tokens(docs, "rq.ack")
    assert {b"COUNT", b"IDS", b"TOKENS"} <= tokens(docs, "rq.redrive")
    setup = {b"LEASE", b"DELIVERIES", b"BACKOFF", b"JITTER", b"MAXLEN", b"MAXBYTES", b"REJECT", b"DROP", b"DEDUP"}
    assert setup | {b"EXPIRED", b"DEADMAX", b"DEADTTL", b"INFLIGHT"} <= tokens(docs, "rq.setup")
    assert {b"REV", b"COUNT", b"WITHMETA"} <= tokens(docs, "rq.range")
    repeated = {name: docs[name][b"arguments"][-1].get(b"flags", []) for name in ("rq.push", "rq.pushex", "rq.forward")}
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
        ("rq.peek", {"readonly", "fast", "module"}, {"write", "denyoom", "admin"}),
        ("rq.get", {"readonly", "module"}, {"write", "denyoom", "admin"}),
        ("rq.nack", {"write", "fast", "module"}, {"readonly", "denyoom", "admin"}),
        ("rq.extend", {"write", "fast", "module"}, {"readonly", "denyoom", "admin"}),
        ("rq.claim", {"write", "fast", "module"}, {"readonly", "denyoom", "admin"}),
        ("rq.forward", {"write", "denyoom", "module"}, {"readonly", "admin", "movablekeys"}),
        ("rq.delete", {"write", "module"}, {"readonly", "denyoom", "admin"}),
        ("rq.redrive", {"write", "module"}, {"readonly", "denyoom", "admin", "fast"}),
        ("rq.flush", {"write", "module"}, {"readonly", "denyoom", "admin", "fast"}),
        ("rq.pause", {"write", "fast", "module"}, {"readonly", "admin"}),
        ("rq.resume", {"write", "fast", "module"}, {"readonly", "denyoom", "admin"}),
        ("rq.setup", {"fast", "module"}, {"write", "readonly", "denyoom", "admin"}),
        ("rq.consumer", {"module"}, {"write", "readonly", "denyoom", "admin", "fast"}),
        ("rq.register", {"readonly", "module"}, {"write", "denyoom", "admin"}),
        ("rq.notify", {"readonly", "module", "blocking"}, {"write", "denyoom", "admin", "movablekeys"}),
        ("rq.apply", {"write", "admin", "module"}, {"readonly"}),
    ],
)
def test_flags(table: dict[str, list[Any]], name: str, flags: set[str], absent: set[str]) -> None:
    found = {bytes(flag).decode() for flag in table[name][2]}
    assert flags <= found
    assert not absent & found


OTHER_KEYS = {
    "rq.pop": [0, 0, 0],
    "rq.status": [1, -1, 1],
    "rq.register": [1, -1, 1],
    "rq.forward": [1, 2, 1],
    "rq.consumer": [2, 2, 1],
    "rq.notify": [0, 0, 0],
}


@pytest.mark.parametrize("name", OTHER_KEYS)
def test_where_keys_stand_otherwise(table: dict[str, list[Any]], name: str) -> None:
    assert table[name][3:6] == OTHER_KEYS[name]


@pytest.mark.parametrize("name", [name for name in COMMANDS if name not in OTHER_KEYS])
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
    (["CONSUMER", "c", "LEASE", 5, "PREFETCH", "MAXBYTES", 9, "WITHMETA", "a", "b"], [b"a", b"b"]),
    (["NOACK", "CONSUMER", "KEYS", "KEYS", 1, "NOACK"], [b"NOACK"]),
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
        ("RQ.PEEK", "q", "BACK"),
        ("RQ.GET", "q", "IDS", 1, "1-1"),
        ("RQ.ACK", "q", "STATUS", "IDS", 1, "1-1"),
        ("RQ.NACK", "q", "DELAY", 5, "IDS", 1, "1-1"),
        ("RQ.EXTEND", "q", 5, "START", "IDS", 1, "1-1"),
        ("RQ.CLAIM", "q", "c", 0, "IDS", 1, "1-1"),
        ("RQ.DELETE", "q", "TOKENS", 1, "t"),
        ("RQ.REDRIVE", "q", "COUNT", 5),
        ("RQ.FLUSH", "q", "DEAD"),
        ("RQ.PAUSE", "q", "ALL"),
        ("RQ.RESUME", "q"),
        ("RQ.SETUP", "q", "LEASE", 5),
        ("RQ.CONSUMER", "LIST", "q"),
        ("RQ.CONSUMER", "DELETE", "q", "c"),
        ("RQ.REGISTER", "q"),
    ],
    ids=lambda command: " ".join(str(word) for word in command),
)
def test_the_key_of_the_others(client: Client, command: tuple[Argument, ...]) -> None:
    assert client.call("COMMAND", "GETKEYS", *command) == [b"q"]


def test_forward_has_two_keys(client: Client) -> None:
    words = ("IDS", 1, "1-1", "ELEMENTS", 1, "x")
    assert client.call("COMMAND", "GETKEYS", "RQ.FORWARD", "a", "b", *words) == [b"a", b"b"]


def test_notify_has_none(client: Client) -> None:
    with pytest.raises(CommandError):
        client.call("COMMAND", "GETKEYS", "RQ.NOTIFY", 1)


def test_the_keys_come_with_what_is_done_to_them(client: Client) -> None:
    (key,) = client.call("COMMAND", "GETKEYSANDFLAGS", "RQ.POP", "COUNT", 2, "KEYS", 1, "q")
    assert key[0] == b"q"
    assert {b"RW", b"access"} <= {bytes(flag) for flag in key[1]}


@pytest.mark.parametrize("command", [("RQ.SETUP", "q"), ("RQ.CONSUMER", "LIST", "q")], ids=lambda words: words[0])
def test_what_looks_or_changes_has_a_key_for_both(client: Client, command: tuple[Argument, ...]) -> None:
    ((_, flags),) = client.call("COMMAND", "GETKEYSANDFLAGS", *command)
    assert {b"RW", b"access", b"update"} <= {bytes(flag) for flag in flags}


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
