"""Bad arguments are refused with an error that says what was expected, and change nothing."""

from collections.abc import Callable, Sequence

import pytest

from tests.support.client import Argument, Client, CommandError

BAD_COUNTS: list[Argument] = [
    0,
    -1,
    "",
    " 1",
    "1 ",
    "+1",
    "1.0",
    "1e3",
    "0x10",
    "NaN",
    "inf",
    "ten",
    1 << 63,
    -(1 << 63),
    -(1 << 63) - 1,
    1 << 64,
    "9" * 400,
    b"1\0",
    b"\xff",
]
BAD_TIMES: list[Argument] = [value for value in BAD_COUNTS if value != 0]
BAD_STARTS: list[Argument] = [value for value in BAD_COUNTS if value not in (0, -1, -(1 << 63))]
BAD_IDS: list[Argument] = [
    "",
    "-",
    "1",
    "1-",
    "-1",
    "1-1-1",
    "--1",
    "1--1",
    "a-b",
    "1-b",
    "a-1",
    "01-1",
    "1-01",
    "+1-1",
    "1-+1",
    " 1-1",
    "1-1 ",
    "1 -1",
    "1.0-1",
    "1e3-1",
    "0x1-1",
    b"1-1\0",
    b"\xff-\xff",
    "18446744073709551616-1",
    "1-18446744073709551616",
    "9" * 400 + "-1",
    "*",
    "$",
    "+",
]


def refused(client: Client, *command: Argument) -> CommandError:
    """Runs a command that must fail and leave the queue q as it is."""
    before = client.digest("q"), client.dataset_digest()
    with pytest.raises(CommandError) as error:
        client.call(*command)
    assert (client.digest("q"), client.dataset_digest()) == before
    return error.value


@pytest.fixture
def full(either: Client) -> Client:
    """A client of a server with a queue that has messages of both kinds."""
    either.push("q", *"abcdef")
    either.take("q", 3)
    return either


def explains(error: CommandError, *words: str) -> None:
    """Checks that the error is one of arguments, and says of one of these what was expected."""
    assert error.code == "ERR"
    text = error.line.lower()
    assert "expected" in text
    assert any(word in text for word in words), f"{error.line!r} names none of {words}"


@pytest.mark.parametrize("count", BAD_COUNTS, ids=repr)
@pytest.mark.parametrize(
    "command",
    [
        ("RQ.POP", "COUNT", "{}", "q"),
        ("RQ.POP", "COUNT", "{}", "KEYS", 1, "q"),
        ("RQ.RECOVER", "q", "{}", 0),
        ("RQ.INSPECT", "q", 0, "{}"),
        ("RQ.INSPECT", "q", "PENDING", 0, "{}"),
        ("RQ.RANGE", "q", "-", "+", "COUNT", "{}"),
        ("RQ.SPLIT", "q", "{}"),
        ("RQ.PUSHEX", "q", "ELEMENTS", "{}", "a"),
        ("RQ.PUSHEX", "q", "PRODUCER", "p", "SEQ", "{}", "ELEMENTS", 1, "a"),
    ],
    ids=["pop", "pop-keys", "recover", "inspect", "inspect-pending", "range", "split", "elements", "seq"],
)
def test_bad_count(full: Client, command: Sequence[Argument], count: Argument) -> None:
    explains(refused(full, *fill(command, count)), "count", "positive", "integer", "number")


@pytest.mark.parametrize("count", [0, -1, -(1 << 63)], ids=repr)
def test_bad_count_in_the_older_form(full: Client, count: int) -> None:
    explains(refused(full, "RQ.POP", count, "q"), "count", "positive")


@pytest.mark.parametrize("time", BAD_TIMES, ids=repr)
@pytest.mark.parametrize(
    "command",
    [
        ("RQ.POP", "BLOCK", "{}", "q"),
        ("RQ.POP", "COUNT", 1, "BLOCK", "{}", "KEYS", 1, "q"),
        ("RQ.RECOVER", "q", 1, "{}"),
    ],
    ids=["block", "count-block", "elapsed"],
)
def test_bad_time(full: Client, command: Sequence[Argument], time: Argument) -> None:
    explains(refused(full, *fill(command, time)), "millisecond", "timeout", "time-out", "time", "elapsed", "block")


@pytest.mark.parametrize("start", BAD_STARTS, ids=repr)
@pytest.mark.parametrize("word", [(), ("PENDING",)], ids=["waiting", "pending"])
def test_bad_start(full: Client, word: tuple[str, ...], start: Argument) -> None:
    explains(refused(full, "RQ.INSPECT", "q", *word, start, 1), "start", "integer", "number")


@pytest.mark.parametrize("id", BAD_IDS, ids=repr)
def test_bad_id(full: Client, id: Argument) -> None:
    explains(refused(full, "RQ.ACK", "q", id), "id")


@pytest.mark.parametrize("id", [*(id for id in BAD_IDS if id not in ("-", "+")), "(", "(-", "(+", "((1-1"], ids=repr)
def test_bad_bounds(full: Client, id: Argument) -> None:
    explains(refused(full, "RQ.RANGE", "q", id, "+"), "id")
    explains(refused(full, "RQ.RANGE", "q", "-", id), "id")


@pytest.mark.parametrize("id", BAD_IDS[:6], ids=repr)
def test_one_bad_id_refuses_all(full: Client, id: Argument) -> None:
    good = full.pending("q")[0][0]
    explains(refused(full, "RQ.ACK", "q", good, id), "id")
    assert full.ack("q", good) == [good]


@pytest.mark.parametrize("id", BAD_IDS[:4], ids=repr)
def test_a_bad_id_is_refused_also_where_there_is_no_queue(either: Client, id: Argument) -> None:
    explains(refused(either, "RQ.ACK", "missing", id), "id")


@pytest.mark.parametrize(
    "keys",
    [
        ("KEYS", 1),
        ("KEYS", 0),
        ("KEYS", 0, "q"),
        ("KEYS", -1, "q"),
        ("KEYS", 2, "q"),
        ("KEYS", 1, "q", "q"),
        ("KEYS", 1 << 63, "q"),
        ("KEYS", (1 << 63) - 1, "q"),
        ("KEYS", "x", "q"),
        ("KEYS", "", "q"),
    ],
    ids=repr,
)
@pytest.mark.parametrize("before", [("COUNT", 1), ("BLOCK", 0)], ids=["count", "block"])
def test_bad_number_of_keys(full: Client, before: tuple[Argument, ...], keys: tuple[Argument, ...]) -> None:
    explains(refused(full, "RQ.POP", *before, *keys), "key")


SINGLE = (
    *("NACK", "EXTEND", "FORWARD", "CLAIM", "PEEK", "GET", "DELETE", "REDRIVE", "FLUSH", "PAUSE", "RESUME", "SETUP"),
    *("CONSUMER", "NOTIFY"),
)
"""Commands that are nothing without an argument."""


@pytest.mark.parametrize(
    "command",
    [
        ("RQ.PUSH",),
        ("RQ.PUSH", "q"),
        ("RQ.PUSHEX",),
        ("RQ.PUSHEX", "q"),
        ("RQ.PUSHEX", "q", "a"),
        ("RQ.PUSHEX", "q", "ELEMENTS"),
        ("RQ.PUSHEX", "q", "ELEMENTS", 1),
        ("RQ.PUSHEX", "q", "ELEMENTS", 1, "a", "b"),
        ("RQ.PUSHEX", "q", "PRODUCER", "p", "ELEMENTS", 1, "a"),
        ("RQ.PUSHEX", "q", "SEQ", 1, "ELEMENTS", 1, "a"),
        ("RQ.PUSHEX", "q", "PRODUCER", "p", "SEQ", 1),
        ("RQ.POP",),
        ("RQ.ACK",),
        ("RQ.ACK", "q"),
        ("RQ.RECOVER",),
        ("RQ.RECOVER", "q"),
        ("RQ.RECOVER", "q", 1),
        ("RQ.RECOVER", "q", 1, 0, 0),
        ("RQ.INSPECT",),
        ("RQ.INSPECT", "q"),
        ("RQ.INSPECT", "q", 0),
        ("RQ.INSPECT", "q", "PENDING", 0),
        ("RQ.INSPECT", "q", "PENDING", 0, 1, 2),
        ("RQ.INSPECT", "q", "WAITING", 0, 1),
        ("RQ.INSPECT", "q", 0, 1, "PENDING"),
        ("RQ.RANGE",),
        ("RQ.RANGE", "q"),
        ("RQ.RANGE", "q", "-"),
        ("RQ.RANGE", "q", "-", "+", "COUNT"),
        ("RQ.RANGE", "q", "-", "+", "PENDING"),
        ("RQ.RANGE", "q", "-", "+", "REV", "REV"),
        ("RQ.SPLIT",),
        ("RQ.SPLIT", "q"),
        ("RQ.SPLIT", "q", 1, 1),
        ("RQ.LEN",),
        ("RQ.LEN", "q", "q"),
        ("RQ.INFO",),
        ("RQ.INFO", "q", "q"),
        *((f"RQ.{name}",) for name in SINGLE),
        ("RQ.ACK", "q", "IDS"),
        ("RQ.NACK", "q"),
        ("RQ.EXTEND", "q"),
        ("RQ.EXTEND", "q", 1),
        ("RQ.FORWARD", "q"),
        ("RQ.FORWARD", "q", "r"),
        ("RQ.CLAIM", "q"),
        ("RQ.CLAIM", "q", "c"),
        ("RQ.CLAIM", "q", "c", 0),
        ("RQ.DELETE", "q"),
        ("RQ.GET", "q"),
        ("RQ.CONSUMER", "LIST"),
        ("RQ.CONSUMER", "DELETE", "q"),
        ("RQ.NOTIFY", 1, 1),
    ],
    ids=lambda command: " ".join(str(word) for word in command),
)
def test_missing_and_superfluous_arguments(full: Client, command: Sequence[Argument]) -> None:
    explains(refused(full, *command), str(command[0]).lower(), "start", "elements", "once", "producer")


@pytest.mark.parametrize(
    "command",
    [
        ("RQ.POP", "COUNT", 0, "text"),
        ("RQ.RECOVER", "text", 0, 0),
        ("RQ.ACK", "text", "x"),
        ("RQ.PUSHEX", "text", "ELEMENTS", 2, "x"),
        ("RQ.RANGE", "text", "x", "+"),
        ("RQ.SPLIT", "text", 0),
        ("RQ.NACK", "text", "IDS", 1, "x"),
        ("RQ.EXTEND", "text", -1, "IDS", 1, "1-1"),
        ("RQ.CLAIM", "text", "", 0, "IDS", 1, "1-1"),
        ("RQ.FORWARD", "text", "text", "IDS", 1, "x", "ELEMENTS", 1, "a"),
        ("RQ.GET", "text", "IDS", 1, "x"),
        ("RQ.DELETE", "text", "IDS", 1, "x"),
        ("RQ.REDRIVE", "text", "COUNT", 0),
        ("RQ.FLUSH", "text", "ALL"),
        ("RQ.PAUSE", "text", "BOTH"),
        ("RQ.SETUP", "text", "LEASE", -1),
        ("RQ.CONSUMER", "DELETE", "text", ""),
        ("RQ.INSPECT", "text", 0, 0),
    ],
    ids=lambda command: str(command[0]),
)
def test_arguments_are_judged_before_the_key(either: Client, command: Sequence[Argument]) -> None:
    either.call("SET", "text", "x")
    with pytest.raises(CommandError) as error:
        either.call(*command)
    assert error.value.code == "ERR"


WHOLE: list[tuple[Argument, ...]] = [
    ("RQ.PUSH", "q", "x"),
    ("RQ.PUSHEX", "q", "ELEMENTS", 1, "x"),
    ("RQ.PUSHEX", "q", "PRODUCER", "p", "SEQ", 1, "ELEMENTS", 1, "x"),
    ("RQ.POP", "COUNT", 1, "BLOCK", 1, "WITHMETA", "KEYS", 1, "q"),
    ("RQ.ACK", "q", "1-1"),
    ("RQ.RECOVER", "q", 1, 0, "WITHMETA"),
    ("RQ.INSPECT", "q", 0, 1),
    ("RQ.INSPECT", "q", "PENDING", 0, 1),
    ("RQ.RANGE", "q", "-", "+", "REV", "COUNT", 1, "WITHMETA"),
    ("RQ.SPLIT", "q", 2),
    ("RQ.LEN", "q"),
    ("RQ.INFO", "q"),
    ("RQ.STATUS", "missing", "q"),
    ("RQ.PUSHEX", "q", "FRONT", "DELAY", 1, "TTL", 9, "RETRIES", 1, "PRIORITY", 1, "ELEMENTS", 1, "x"),
    ("RQ.PUSHEX", "q", "AT", 1, "HEADERS", 1, "h", "v", "TOKEN", "t", "UNIQUE", "NEW", 1, 1, "ELEMENTS", 1, "x"),
    ("RQ.POP", "CONSUMER", "c", "LEASE", 1, "PREFETCH", "MAXBYTES", 1, "KEYS", 1, "q"),
    ("RQ.POP", "NOACK", "KEYS", 1, "q"),
    ("RQ.ACK", "q", "STATUS", "IDS", 1, "1-1"),
    ("RQ.ACK", "q", "TOKENS", 1, "t"),
    ("RQ.NACK", "q", "DELAY", 1, "REASON", "r", "SILENT", "STATUS", "IDS", 1, "1-1"),
    ("RQ.NACK", "q", "DEAD", "TOKENS", 1, "t"),
    ("RQ.EXTEND", "q", 1, "START", "STATUS", "IDS", 1, "1-1"),
    ("RQ.CLAIM", "q", "c", 0, "LEASE", 1, "WITHMETA", "IDS", 1, "1-1"),
    ("RQ.RECOVER", "q", 1, 0, "LEASE", 1, "CONSUMER", "c", "FROM", "d"),
    ("RQ.INSPECT", "q", "PENDING", "IDLE", 1, "CONSUMER", "c", "RANGE", "-", "+", 0, 1),
    ("RQ.INSPECT", "q", "DEAD", 0, 1),
    ("RQ.INSPECT", "q", "SCHEDULED", 0, 1),
    ("RQ.PEEK", "q", "BACK", "WITHMETA"),
    ("RQ.GET", "q", "WITHMETA", "IDS", 1, "1-1"),
    ("RQ.DELETE", "q", "IDS", 1, "1-1"),
    ("RQ.REDRIVE", "q", "COUNT", 1),
    ("RQ.FLUSH", "q", "DEAD"),
    ("RQ.PAUSE", "q", "ALL"),
    ("RQ.RESUME", "q", "ALL"),
    ("RQ.SETUP", "q", "LEASE", 1, "DELIVERIES", 1, "BACKOFF", 1, 1, 1, "JITTER", 1, "MAXLEN", 9, "DROP"),
    ("RQ.SETUP", "q", "MAXBYTES", 9, "DEDUP", 1, "EXPIRED", "DEAD", "DEADMAX", 1, "DEADTTL", 1, "INFLIGHT", 1),
    ("RQ.CONSUMER", "LIST", "q"),
    ("RQ.CONSUMER", "DELETE", "q", "c"),
    ("RQ.REGISTER", "missing", "q"),
]
"""Every command, with every word."""

MAKING = {"RQ.PUSH", "RQ.PUSHEX", "RQ.SETUP", "RQ.PAUSE"}

each = pytest.mark.parametrize("command", WHOLE, ids=lambda command: " ".join(str(word) for word in command))


@each
@pytest.mark.parametrize("letters", [str.lower, str.title], ids=["lower", "title"])
def test_any_letter_case(full: Client, command: tuple[Argument, ...], letters: Callable[[str], str]) -> None:
    words = [letters(word) if isinstance(word, str) and word.isupper() else word for word in command[1:]]
    (reply,) = full.call_many([(letters(str(command[0])), *words)])
    assert not isinstance(reply, CommandError)


@each
def test_another_type_is_refused_and_left(either: Client, command: tuple[Argument, ...]) -> None:
    either.call("SET", "q", "text")
    assert refused(either, *command).code == "WRONGTYPE"
    assert either.call("GET", "q") == b"text"


@each
def test_only_a_push_a_pause_and_settings_make_a_key(either: Client, command: tuple[Argument, ...]) -> None:
    either.call(*command)
    assert either.exists("q") == (command[0] in MAKING)


def test_a_huge_count_asks_for_what_there_is(either: Client) -> None:
    (id,) = either.push("q", "a")
    either.take("q")
    huge = (1 << 63) - 1
    assert either.call("RQ.POP", "COUNT", huge, "q", "missing") is None
    assert either.call("RQ.RECOVER", "q", huge, 0) == [[b"q", id, b"a"]]
    assert [row[0] for row in either.call("RQ.INSPECT", "q", "PENDING", 0, huge)] == [id]
    assert [row[0] for row in either.call("RQ.INSPECT", "q", "PENDING", -(1 << 63), huge)] == [id]
    assert either.call("RQ.INSPECT", "q", "PENDING", huge, huge) == []
    assert either.call("RQ.RANGE", "q", "-", "+", "COUNT", huge) == [[id, b"a"]]
    assert either.call("RQ.SPLIT", "q", 65536) == []


def fill(command: Sequence[Argument], value: Argument) -> list[Argument]:
    """Puts a value in the place of {}."""
    return [value if word == "{}" else word for word in command]
