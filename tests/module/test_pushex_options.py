"""The options of RQ.PUSHEX: order, time, headers, tokens."""

import pytest

from tests.support.client import Argument, Client, CommandError
from tests.support.clock import BASE, HOUR, Clock, true_time

pytestmark = pytest.mark.essential


def refused(client: Client, *options: Argument, bodies: tuple[str, ...] = ("x",)) -> CommandError:
    """Pushes what must be refused, and leave everything as it is."""
    before = client.dataset_digest()
    with pytest.raises(CommandError) as error:
        client.push_with("q", *options, bodies=bodies)
    assert client.dataset_digest() == before
    return error.value


# FRONT and PRIORITY.


def test_front_is_before_the_never_delivered(client: Client) -> None:
    client.push("q", "a", "b")
    client.push_with("q", "FRONT", bodies=["c", "d"])
    client.push_with("q", "FRONT", bodies=["e"])
    assert client.bodies("q") == [b"e", b"c", b"d", b"a", b"b"]


def test_front_is_behind_returned_ones(client: Client) -> None:
    (id,) = client.push("q", "returned")
    client.take("q")
    client.nack("q", id)
    client.push_with("q", "FRONT", bodies=["front"])
    assert client.bodies("q") == [b"returned", b"front"]


def test_front_is_first_of_its_priority_only(client: Client) -> None:
    client.push_with("q", "PRIORITY", 5, bodies=["high"])
    client.push_with("q", "FRONT", bodies=["front"])
    client.push_with("q", "FRONT", "PRIORITY", 5, bodies=["high front"])
    assert client.bodies("q") == [b"high front", b"high", b"front"]


def test_higher_priority_first_and_in_order_within_one(client: Client) -> None:
    for priority in (0, 7, 255, 1, 7, 0):
        client.push_with("q", "PRIORITY", priority, bodies=[f"{priority}a", f"{priority}b"])
    client.push("q", "plain")
    expected = ["255a", "255b", "7a", "7b", "7a", "7b", "1a", "1b", "0a", "0b", "0a", "0b", "plain"]
    assert client.bodies("q") == [body.encode() for body in expected]


def test_priority_is_told(client: Client) -> None:
    (high,) = client.push_with("q", "PRIORITY", 200)
    (plain,) = client.push("q", "x")
    assert client.meta("q", high)["priority"] == 200 and client.meta("q", plain)["priority"] == 0


# DELAY and AT.


def test_a_delay_is_not_over_early(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push_with("q", "DELAY", 1000)
    assert still.scheduled("q") == [[id, b"x", BASE + 1000]]
    assert still.meta("q", id)["state"] == b"scheduled" and still.length("q") == 1
    exact_clock.pass_by(999)
    assert still.pop("q") is None
    exact_clock.pass_by(1)
    assert still.take("q") == [id]


def test_at_is_a_time(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push_with("q", "AT", BASE + 5000)
    assert still.scheduled("q") == [[id, b"x", BASE + 5000]]
    exact_clock.pass_by(4999)
    assert still.pop("q") is None
    exact_clock.pass_by(1)
    assert still.take("q") == [id]


@pytest.mark.parametrize("options", [("DELAY", 0), ("AT", 1), ("AT", 0)])
def test_what_is_due_already_waits(client: Client, options: tuple[Argument, ...]) -> None:
    ids = client.push_with("q", *options, bodies=["a", "b"])
    assert client.scheduled("q") == []
    assert client.take("q", 2) == ids


def test_at_is_turned_into_the_queues_time_once(still: Client, exact_clock: Clock) -> None:
    still.push("q", "now")
    exact_clock.stand_at(BASE + HOUR)  # somebody sets the wall clock
    (id,) = still.push_with("q", "AT", BASE + HOUR + 5000)
    exact_clock.stand_at(BASE - HOUR)
    ((_, _, due),) = still.scheduled("q")
    assert BASE + 5000 <= due <= BASE + 5100, "five seconds from now, by the queue's time"
    exact_clock.pass_by(5100)
    assert [row[1] for row in still.pop("q", 9) or []][-1] == id


def test_due_messages_join_the_tail_in_the_order_of_their_times(still: Client, exact_clock: Clock) -> None:
    still.push_with("q", "DELAY", 200, bodies=["late"])
    still.push_with("q", "DELAY", 100, bodies=["early", "early too"])
    still.push("q", "first")
    exact_clock.pass_by(200)
    still.push("q", "last")
    assert still.bodies("q") == [b"first", b"early", b"early too", b"late", b"last"]


def test_a_delayed_front_message_joins_the_tail(still: Client, exact_clock: Clock) -> None:
    still.push_with("q", "DELAY", 100, "FRONT", bodies=["delayed"])
    still.push("q", "waiting")
    exact_clock.pass_by(100)
    assert still.bodies("q") == [b"waiting", b"delayed"]


def test_a_delayed_message_keeps_its_priority(still: Client, exact_clock: Clock) -> None:
    still.push_with("q", "DELAY", 100, "PRIORITY", 9, bodies=["high"])
    still.push("q", "low")
    exact_clock.pass_by(100)
    assert still.bodies("q") == [b"high", b"low"]


def test_at_far_away(client: Client) -> None:
    far = true_time() + 365 * 24 * HOUR
    client.push_with("q", "AT", far)
    ((_, _, due),) = client.scheduled("q")
    assert abs(due - far) < 60_000


# HEADERS.


HEADERS = [b"trace", b"1", b"trace", b"2", b"", b"", b"\xff\0", bytes(range(256)), b"TRACE", b"x" * 5000]


def test_headers_keep_order_duplicates_and_bytes(either: Client) -> None:
    (id,) = either.push_with("q", "HEADERS", len(HEADERS) // 2, *HEADERS)
    assert either.meta("q", id)["headers"] == HEADERS
    either.call("DEBUG", "RELOAD")
    assert either.meta("q", id)["headers"] == HEADERS


def test_headers_belong_to_each_element(client: Client) -> None:
    ids = client.push_with("q", "HEADERS", 1, "a", "b", bodies=["x", "y"])
    ids += client.push("q", "plain")
    assert [client.meta("q", id)["headers"] for id in ids] == [[b"a", b"b"], [b"a", b"b"], []]


def test_words_among_headers_are_no_options(client: Client) -> None:
    (id,) = client.push_with("q", "HEADERS", 2, "ELEMENTS", "5", "FRONT", "HEADERS", "PRIORITY", 3)
    meta = client.meta("q", id)
    assert meta["headers"] == [b"ELEMENTS", b"5", b"FRONT", b"HEADERS"] and meta["priority"] == 3


def test_headers_travel_through_every_state(client: Client) -> None:
    client.setup("q", "DELIVERIES", 1)
    (id,) = client.push_with("q", "HEADERS", 1, "a", "b")
    client.take("q")
    client.nack("q", id)
    assert (client.meta("q", id)["state"], client.meta("q", id)["headers"]) == (b"dead", [b"a", b"b"])
    client.call("RQ.REDRIVE", "q")
    assert client.meta("q", id)["headers"] == [b"a", b"b"]


# NEW.


def test_new_sets_up_a_queue_that_it_makes(client: Client) -> None:
    client.push_with("q", "NEW", 30_000, 3)
    settings = client.call("RQ.SETUP", "q")
    told = dict(zip(settings[::2], settings[1::2], strict=True))
    assert (told[b"lease"], told[b"deliveries"]) == (30_000, 3)
    client.ack("q", *client.take("q"))
    assert not client.exists("q"), "these settings go with the last message"


def test_new_changes_no_queue_that_is_there(client: Client) -> None:
    client.push("q", "x")
    client.push_with("q", "NEW", 30_000, 3)
    settings = client.call("RQ.SETUP", "q")
    told = dict(zip(settings[::2], settings[1::2], strict=True))
    assert (told[b"lease"], told[b"deliveries"]) == (0, 0)


# All of them.


def test_every_option_together(either: Client) -> None:
    words: list[Argument] = ["PRODUCER", "p", "SEQ", 1, "TOKEN", "t", "UNIQUE", "HEADERS", 1, "h", "v"]
    words += ["PRIORITY", 4, "RETRIES", 2, "TTL", 60_000, "DELAY", 50_000, "FRONT", "NEW", 1000, 2]
    (id,) = either.push_with("q", *words)
    meta = either.meta("q", id)
    assert (meta["state"], meta["priority"], meta["token"], meta["headers"]) == (b"scheduled", 4, b"t", [b"h", b"v"])
    either.call("DEBUG", "RELOAD")
    assert either.meta("q", id) == meta


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (("DELAY", "x"), "DELAY"),
        (("DELAY", -1), "DELAY"),
        (("DELAY", 1 << 47), "DELAY"),
        (("AT", "soon"), "AT"),
        (("AT", -1), "AT"),
        (("AT", 1 << 47), "AT"),
        (("DELAY", 1, "AT", 1), "DELAY"),
        (("AT", 1, "DELAY", 1), "AT"),
        (("TTL", 0), "TTL"),
        (("TTL", -1), "TTL"),
        (("TTL", "x"), "TTL"),
        (("TTL", 1 << 47), "TTL"),
        (("RETRIES", -1), "RETRIES"),
        (("RETRIES", "many"), "RETRIES"),
        (("RETRIES", 1 << 16), "RETRIES"),
        (("PRIORITY", -1), "PRIORITY"),
        (("PRIORITY", 256), "PRIORITY"),
        (("PRIORITY", "high"), "PRIORITY"),
        (("HEADERS", 0), "HEADERS"),
        (("HEADERS", -1), "HEADERS"),
        (("HEADERS", "x"), "HEADERS"),
        (("HEADERS", 9, "a", "b"), "HEADERS"),
        (("HEADERS", (1 << 63) - 1, "a", "b"), "HEADERS"),
        (("TOKEN", ""), "TOKEN"),
        (("UNIQUE",), "UNIQUE"),
        (("UNIQUE", "TOKEN", "t"), "UNIQUE"),
        (("NEW", -1, 3), "NEW"),
        (("NEW", 1, "x"), "NEW"),
        (("NEW", 1 << 47, 3), "NEW"),
        (("NEW", 1, 1 << 16), "NEW"),
        (("PRODUCER", "p"), "PRODUCER"),
        (("PRODUCER", "", "SEQ", 1), "PRODUCER"),
        (("PRODUCER", "p" * 1025, "SEQ", 1), "PRODUCER"),
        (("PRODUCER", "p", "SEQ", 0), "SEQ"),
        (("SEQ", 1), "SEQ"),
        (("FRONT", "FRONT"), "FRONT"),
        (("DELAY", 1, "DELAY", 1), "DELAY"),
        (("TTL", 1, "TTL", 1), "TTL"),
        (("PRIORITY", 1, "PRIORITY", 1), "PRIORITY"),
        (("TOKEN", "t", "TOKEN", "t"), "TOKEN"),
        (("BACK",), "BACK"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(str(word)[:9] for word in value),
)
def test_bad_input_is_named_and_changes_nothing(client: Client, options: tuple[Argument, ...], named: str) -> None:
    client.push("q", "there")
    error = refused(client, *options)
    assert error.code == "ERR" and named in error.line and "expected" in error.line
    assert client.length("q") == 1


def test_a_token_is_for_one_element(client: Client) -> None:
    error = refused(client, "TOKEN", "t", bodies=("a", "b"))
    assert error.code == "ERR" and "TOKEN" in error.line
    assert not client.exists("q")
