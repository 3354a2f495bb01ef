"""Errors name what is wrong, and say what was expected."""

import pytest

from tests.support.client import Argument, Client, CommandError

pytestmark = pytest.mark.essential

TTL = "TTL is out of range, expected milliseconds, 1 or more, below 2^47"
TRIES = "is out of range, expected an integer from 0 to 65535"
COUNT = "is out of range, expected a positive integer below 2^63"

LISTED = (
    "RQ.ACK q",
    "RQ.NACK q",
    "RQ.EXTEND q 5",
    "RQ.CLAIM q c 0",
    "RQ.GET q",
    "RQ.DELETE q",
    "RQ.REDRIVE q",
    "RQ.FORWARD q r",
)
"""Commands with a list of messages, as far as it."""

ERRORS = [
    # Numbers.
    *((f"RQ.PUSHEX q TTL {ttl} ELEMENTS 1 x", TTL) for ttl in (0, -1, 1 << 47, 1 << 63, 1 << 64)),
    ("RQ.PUSHEX q TTL x ELEMENTS 1 x", "TTL is not an integer: 'x', expected milliseconds, 1 or more, below 2^47"),
    (
        "RQ.PUSHEX q DELAY ELEMENTS 1 x",
        "DELAY is not an integer: 'ELEMENTS', expected milliseconds, 0 or more, below 2^47",
    ),
    ("RQ.PUSHEX q DELAY", "DELAY lacks its value, expected: RQ.PUSHEX key"),
    ("RQ.PUSHEX q RETRIES 65536 ELEMENTS 1 x", f"RETRIES {TRIES}"),
    ("RQ.PUSHEX q NEW 1 65536 ELEMENTS 1 x", f"NEW's deliveries {TRIES}"),
    ("RQ.FORWARD q r NEW 1 65536 IDS 1 1-1 ELEMENTS 1 x", f"NEW's deliveries {TRIES}"),
    ("RQ.SETUP q DELIVERIES 65536", f"DELIVERIES {TRIES}"),
    ("RQ.SETUP q DELIVERIES -1", f"DELIVERIES {TRIES}"),
    ("RQ.SETUP q LEASE 1.5", "LEASE is not an integer: '1.5', expected milliseconds, 0 or more, below 2^47"),
    (f"RQ.SETUP q MAXLEN {1 << 63}", "MAXLEN is out of range, expected an integer, 0 or more, below 2^63"),
    ("RQ.SETUP q EXPIRED later", "EXPIRED is 'later', expected DROP or DEAD"),
    ("RQ.SPLIT q 0", "n is out of range, expected a number of parts from 1 to 65536"),
    ("RQ.EXTEND q IDS 1 1-1", "milliseconds is not an integer: 'IDS', expected milliseconds, 0 or more, below 2^47"),
    # Names.
    ("RQ.PUSHEX q PRODUCER  SEQ 1 ELEMENTS 1 x", "PRODUCER has 0 bytes, expected 1 to 1024"),
    (f"RQ.PUSHEX q PRODUCER {'p' * 1025} SEQ 1 ELEMENTS 1 x", "PRODUCER has 1025 bytes, expected 1 to 1024"),
    # Counted lists.
    *((f"{words} {name}", f"{name} lacks its value") for words in LISTED for name in ("IDS", "TOKENS")),
    *((f"{words} {name} 0", f"{name} {COUNT}") for words in LISTED for name in ("IDS", "TOKENS")),
    *((f"{words} {name} -1 1-1", f"{name} {COUNT}") for words in LISTED for name in ("IDS", "TOKENS")),
    *((f"{words} {name} x 1-1", f"{name} is not an integer: 'x'") for words in LISTED for name in ("IDS", "TOKENS")),
    *((f"{words} {name} 1", f"{name} says 1, but 0 follow") for words in LISTED for name in ("IDS", "TOKENS")),
    *((f"{words} {name} 3 1-1", f"{name} says 3, but 1 follow") for words in LISTED for name in ("IDS", "TOKENS")),
    *(
        (f"{words} {name} 1 1-1 2-2", f"{name} says 1, but 2 follow")
        for words in LISTED[:-1]
        for name in ("IDS", "TOKENS")
    ),
    *((f"{words} IDS 1 x", "IDS takes 'x': invalid ID") for words in LISTED),
    *((words, "IDS or TOKENS is missing") for words in LISTED if words not in ("RQ.ACK q", "RQ.REDRIVE q")),
    ("RQ.FORWARD q r IDS 1 1-1 2-2 ELEMENTS 1 x", "'2-2' is unknown or not in its place, IDS before it took '1' '1-1'"),
    ("RQ.FORWARD q r IDS 2 1-1 ELEMENTS 1 x", "IDS takes 'ELEMENTS': invalid ID"),
    (
        "RQ.FORWARD q r TOKENS 2 t ELEMENTS 1 x",
        "'1' is unknown or not in its place, TOKENS before it took '2' 't' 'ELEMENTS'",
    ),
    *((f"{words} ELEMENTS 0", f"ELEMENTS {COUNT}") for words in ("RQ.PUSHEX q", "RQ.FORWARD q r IDS 1 1-1")),
    *(
        (f"{words} ELEMENTS 1", "ELEMENTS says 1, but 0 follow")
        for words in ("RQ.PUSHEX q", "RQ.FORWARD q r IDS 1 1-1")
    ),
    *(
        (f"{words} ELEMENTS 2 x", "ELEMENTS says 2, but 1 follow")
        for words in ("RQ.PUSHEX q", "RQ.FORWARD q r IDS 1 1-1")
    ),
    *(
        (f"{words} ELEMENTS 1 x y", "ELEMENTS says 1, but 2 follow")
        for words in ("RQ.PUSHEX q", "RQ.FORWARD q r IDS 1 1-1")
    ),
    ("RQ.PUSHEX q FRONT", "ELEMENTS is missing"),
    ("RQ.POP KEYS 0", f"KEYS {COUNT}"),
    ("RQ.POP KEYS 2 q", "KEYS says 2, but 1 follow"),
    ("RQ.POP KEYS 1 q r", "KEYS says 1, but 2 follow"),
    ("RQ.POP COUNT 1", "a key is missing"),
    ("RQ.POP q COUNT 1", "COUNT stands among the keys behind 'q', expected options before them"),
    # What an option swallowed.
    (
        "RQ.PUSHEX q HEADERS 2 a b ELEMENTS 1 x",
        "'x' is unknown or not in its place, HEADERS before it took '2' 'a' 'b' 'ELEMENTS' '1'",
    ),
    (
        "RQ.PUSHEX q HEADERS 1 a ELEMENTS 1 x",
        "'1' is unknown or not in its place, HEADERS before it took '1' 'a' 'ELEMENTS'",
    ),
    ("RQ.PUSHEX q HEADERS 2 a b ELEMENTS 1", "ELEMENTS is missing, HEADERS before it took '2' 'a' 'b' 'ELEMENTS' '1'"),
    (
        "RQ.PUSHEX q HEADERS 2 a b ELEMENTS 1 FRONT",
        "ELEMENTS is missing, HEADERS before it took '2' 'a' 'b' 'ELEMENTS' '1'",
    ),
    ("RQ.PUSHEX q TOKEN ELEMENTS 1 x", "'1' is unknown or not in its place, TOKEN before it took 'ELEMENTS'"),
    ("RQ.NACK q REASON IDS 1 1-1", "'1' is unknown or not in its place, REASON before it took 'IDS'"),
    # What is given twice, or excludes each other.
    ("RQ.REDRIVE q COUNT 1 COUNT 1", "COUNT is given twice"),
    ("RQ.REDRIVE q COUNT 1 IDS 1 1-1", "COUNT and IDS are given together, expected one of them"),
    ("RQ.FLUSH q DEAD DEAD", "DEAD is given twice"),
    ("RQ.PAUSE q PUSH POP", "PUSH and POP are given together, expected one of them"),
    ("RQ.RESUME q ALL ALL", "ALL is given twice"),
    ("RQ.FORWARD q r NEW 1 1 NEW 1 1 IDS 1 1-1 ELEMENTS 1 x", "NEW is given twice"),
    ("RQ.PUSHEX q TOKEN t UNIQUE UNIQUE ELEMENTS 1 x", "UNIQUE is given twice"),
    ("RQ.PUSHEX q SEQ 1 ELEMENTS 1 x", "SEQ is not in its place, expected it right behind PRODUCER and its name"),
    # Bounds of a range.
    ("RQ.RANGE q x +", "min is 'x', expected -, +, an ID such as"),
    ("RQ.RANGE q - (", "max is '(', expected -, +, an ID such as"),
    ("RQ.INSPECT q RANGE - 5 0 1", "RANGE's max is '5', expected -, +, an ID such as"),
    ("RQ.INSPECT q RANGE - 0 1", "RANGE's max lacks its value"),
]


@pytest.mark.parametrize(("command", "told"), ERRORS, ids=lambda text: text[:60])
def test_what_is_wrong_is_named(client: Client, command: str, told: str) -> None:
    client.push("q", "a", "b")
    client.pop_with("q", "CONSUMER", "c")
    before = client.digest("q"), client.dataset_digest()
    words: list[Argument] = [*command.split(" ")]
    with pytest.raises(CommandError) as error:
        client.call(*words)
    assert error.value.line.startswith(f"ERR {told}") and "expected" in error.value.line
    assert (client.digest("q"), client.dataset_digest()) == before


@pytest.mark.parametrize("name", ["p", "p" * 1024, b"\0\xff"], ids=["short", "long", "bytes"])
def test_names_of_producers(client: Client, name: Argument) -> None:
    (id,) = client.produce("q", name, 1, "a")
    assert client.produce("q", name, 1, "a") == [id]


def test_the_largest_limits_are_taken(client: Client) -> None:
    client.push_with("q", "NEW", 0, 65_535, "RETRIES", 65_535)
    client.setup("q", "DELIVERIES", 65_535)
    assert client.length("q") == 1
