"""RQ.EXTEND key ms [START] [STATUS] IDS n id ..."""

import pytest

from tests.support.client import Argument, Client, CommandError
from tests.support.clock import BASE, HOUR, Clock

pytestmark = pytest.mark.essential


def test_changes_the_deadline_and_nothing_else(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "x")
    still.pop_with("q", "LEASE", 1000, "CONSUMER", "ann")
    before = still.meta("q", id)
    exact_clock.pass_by(600)
    assert still.extend("q", 1000, id) == [id]
    assert still.meta("q", id) == before | {"deadline": BASE + 1600}
    exact_clock.pass_by(999)
    assert still.pop("q") is None
    exact_clock.pass_by(1)
    assert still.take("q") == [id]


def test_shortens(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "x")
    still.pop_with("q", "LEASE", HOUR)
    still.extend("q", 10, id)
    exact_clock.pass_by(10)
    assert still.take("q") == [id]


def test_zero_is_no_end(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "x")
    still.pop_with("q", "LEASE", 1000)
    still.extend("q", 0, id)
    assert still.meta("q", id)["deadline"] == 0
    exact_clock.pass_by(HOUR)
    assert still.pop("q") is None


def test_gives_a_lease_to_one_without(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "x")
    still.take("q")
    still.extend("q", 100, id)
    exact_clock.pass_by(100)
    assert still.take("q") == [id]


def test_too_late(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "x")
    still.pop_with("q", "LEASE", 100)
    exact_clock.pass_by(100)
    assert still.extend("q", 1000, id, options=["STATUS"]) == [b"STALE"]
    assert still.take("q") == [id]


def test_start_begins_the_work(still: Client, exact_clock: Clock) -> None:
    a, b = still.push("q", "a", "b")
    still.pop_with("q", "COUNT", 2, "PREFETCH", "LEASE", 100)
    assert still.extend("q", 100, a, options=["START"]) == [a]
    exact_clock.pass_by(100)
    still.take("q", 2)
    assert [still.meta("q", id)["failures"] for id in (a, b)] == [1, 0]


def test_without_start_the_work_has_not_begun(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("q", "a")
    still.pop_with("q", "PREFETCH", "LEASE", 100)
    still.extend("q", 200, id)
    exact_clock.pass_by(200)
    still.take("q")
    assert still.meta("q", id)["failures"] == 0


def test_what_is_not_held_is_left_out(either: Client) -> None:
    a, b = either.push("q", "a", "b")
    either.take("q")
    assert either.extend("q", 1000, b, "7-7", a) == [a]
    assert either.extend("missing", 1000, a) == [] and not either.exists("missing")


def test_by_token(client: Client) -> None:
    (id,) = client.push_with("q", "TOKEN", "t")
    client.take("q")
    assert client.call("RQ.EXTEND", "q", 1000, "TOKENS", 2, "unknown", "t") == [id]


@pytest.mark.parametrize(
    ("words", "named"),
    [
        ((-1, "IDS", 1, "{}"), "milliseconds"),
        (("x", "IDS", 1, "{}"), "milliseconds"),
        ((1 << 47, "IDS", 1, "{}"), "milliseconds"),
        ((1, "START", "START", "IDS", 1, "{}"), "START"),
        ((1, "BEGIN", "IDS", 1, "{}"), "BEGIN"),
        ((1, "IDS", 2, "{}"), "IDS"),
        ((1, "IDS", 1, "x"), "x"),
        ((1,), "RQ.EXTEND"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(str(word)[:9] for word in value),
)
def test_bad_input_is_named_and_changes_nothing(client: Client, words: tuple[Argument, ...], named: str) -> None:
    client.push("q", "a")
    (id,) = client.take("q")
    before = client.digest("q")
    with pytest.raises(CommandError) as error:
        client.call("RQ.EXTEND", "q", *(id if word == "{}" else word for word in words))
    assert error.value.code == "ERR" and named in error.value.line and "expected" in error.value.line
    assert client.digest("q") == before
