"""Settings of a queue: given to queue(), changed by setup(), and those of a new one."""

import warnings
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
import reliableq
from reliableq import DEFAULT, DURABLE, OKQ, PLAIN, Connection, InvalidArgument, Preset, Queue, SettingsChanged

NONE: dict[str, Any] = {
    "lease": 0.0,
    "deliveries": 0,
    "backoff": (0.0, 1.0, 0.0),
    "jitter": 0,
    "maxlen": 0,
    "maxbytes": 0,
    "overflow": "reject",
    "dedup": 600.0,
    "expired": "drop",
    "deadmax": 0,
    "deadttl": 0.0,
    "inflight": 0,
}
"""A queue without any."""

OTHERS: dict[str, tuple[Any, Any]] = {
    "lease": (timedelta(minutes=2), 120.0),
    "deliveries": (7, 7),
    "backoff": ((1, 1.5, timedelta(minutes=1)), (1.0, 1.5, 60.0)),
    "jitter": (20, 20),
    "maxlen": (1000, 1000),
    "maxbytes": ((1 << 63) - 1, (1 << 63) - 1),
    "overflow": ("drop", "drop"),
    "dedup": (0, 0.0),
    "expired": ("dead", "dead"),
    "deadmax": (5, 5),
    "deadttl": (0.0015, 0.002),
    "inflight": (3, 3),
}
"""For each setting another value, as it is given, and as it is shown."""


@pytest.fixture(autouse=True)
def no_warnings() -> Any:
    """Who does not expect a warning fails by it."""
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield


def settings(queue: Queue) -> dict[str, Any]:
    found: Any = queue.setup()
    assert found is not None
    return dict(found)


# What a new queue has.


@pytest.mark.parametrize(
    ("preset", "lease", "deliveries"),
    [
        (None, 30.0, 3),
        (DEFAULT, 30.0, 3),
        (OKQ, 30.0, 0),
        (DURABLE, 300.0, 3),
        (PLAIN, 0.0, 0),
        (Preset(1.5, 7), 1.5, 7),
    ],
)
@pytest.mark.parametrize(
    "push",
    [lambda queue: queue.push(b"a"), lambda queue: queue.push_many([b"a"]), lambda queue: queue.push(b"a", delay=9)],
    ids=["push", "push_many", "with options"],
)
def test_a_new_queue_is_as_its_preset_says(
    rq: Connection, preset: Preset | None, lease: float, deliveries: int, push: Callable[[Queue], object]
) -> None:
    queue = rq.queue("q", preset=preset)
    push(queue)
    assert settings(queue) == NONE | {"lease": lease, "deliveries": deliveries}


def test_a_preset_changes_no_queue_that_exists(rq: Connection, queue: Queue) -> None:
    queue.push(b"a")
    rq.queue("q", preset=OKQ).push(b"b")
    rq.queue("q", preset=PLAIN)
    assert settings(queue)["deliveries"] == 3


def test_what_a_push_gave_goes_with_the_last_message(rq: Connection, queue: Queue) -> None:
    queue.push(b"a")
    assert queue.ack(queue.pop_many(1))
    other = rq.queue("q", preset=Preset(7, 9))
    other.push(b"b")
    assert (settings(queue)["lease"], settings(queue)["deliveries"]) == (7.0, 9)


def test_looking_at_settings_makes_no_queue(rq: Connection, queue: Queue) -> None:
    assert queue.setup() is None
    assert rq.names() == [] and queue.info() is None


# Given to queue().


def test_settings_given_to_a_new_queue(rq: Connection) -> None:
    queue = rq.queue("q", lease=5, backoff=2)
    assert settings(queue) == NONE | {"lease": 5.0, "deliveries": 3, "backoff": (2.0, 1.0, 0.0)}
    queue.push(b"a")
    assert queue.ack(queue.pop_many(1))
    assert settings(queue)["lease"] == 5.0, "what was set up stays"
    okq = rq.queue("okq", preset=OKQ, maxlen=9)
    assert settings(okq) == NONE | {"lease": 30.0, "maxlen": 9}


def test_settings_that_were_others_are_changed_with_a_warning(rq: Connection) -> None:
    rq.queue("q", lease=5, deliveries=7)
    with pytest.warns(SettingsChanged) as told:
        queue = rq.queue("q", lease=5, deliveries=9, backoff=(1, 2, 60))
    (warning,) = told
    assert str(warning.message) == (
        "the settings of queue 'q' were changed: deliveries was 7 and is now 9, "
        "backoff was (0.0, 1.0, 0.0) and is now (1.0, 2.0, 60.0)"
    )
    assert warning.filename == __file__
    assert settings(queue) == NONE | {"lease": 5.0, "deliveries": 9, "backoff": (1.0, 2.0, 60.0)}


@pytest.mark.parametrize(("name", "other"), [(name, other) for name, (other, _) in OTHERS.items()], ids=OTHERS)
def test_each_setting_warns_where_it_differs(rq: Connection, queue: Queue, name: str, other: Any) -> None:
    queue.push(b"a")
    given: Any = {name: other}
    with pytest.warns(SettingsChanged, match=f": {name} was .* and is now "):
        rq.queue("q", **given)
    assert settings(queue) == NONE | {"lease": 30.0, "deliveries": 3} | {name: OTHERS[name][1]}
    rq.queue("q", **given)


def test_the_same_settings_and_none_change_nothing(rq: Connection, connect: Callable[[], Connection]) -> None:
    before = settings(rq.queue("q", lease=0.1, backoff=(1, 1.1, 3), overflow="drop"))
    rq.queue("q")
    connect().queue("q", lease=timedelta(milliseconds=100), backoff=(1.0, 1.1, timedelta(seconds=3)), overflow="drop")
    connect().queue("q", lease=None, maxlen=None, preset=OKQ)
    assert settings(rq.queue("q")) == before


# Changed by setup().


def test_setup_changes_what_it_is_given(queue: Queue) -> None:
    given: Any = {name: other for name, (other, _) in OTHERS.items()}
    expected: Any = {name: shown for name, (_, shown) in OTHERS.items()}
    assert queue.setup(**given) == expected == settings(queue)
    expected["lease"] = 1.0
    assert queue.setup(lease=1) == expected
    cleared: Any = {name: 0 for name in NONE if name not in {"overflow", "expired", "dedup"}}
    queue.push(b"a")
    assert queue.setup(**cleared, overflow="reject", expired="drop", dedup=600) == NONE


def test_setup_makes_a_queue_that_stays(rq: Connection, queue: Queue) -> None:
    assert queue.setup(lease=9) == NONE | {"lease": 9.0, "deliveries": 3}
    assert queue.info() is not None and rq.names() == [] and queue.dump() is None
    queue.push(b"a")
    queue.flush()
    assert settings(queue)["lease"] == 9.0


def test_settings_are_carried(rq: Connection) -> None:
    queue = rq.queue("q", lease=9, maxlen=5)
    queue.push(b"a")
    data = queue.dump()
    assert data is not None
    assert settings(rq.restore("copy", data)) == settings(queue)


@pytest.mark.parametrize("factor", [1, 1.001, 1.5, 2, 999.999, 1000])
def test_factors_are_kept_to_thousandths(queue: Queue, factor: float) -> None:
    found = queue.setup(backoff=(1, factor, 0))
    assert found is not None and found["backoff"] == (1.0, factor, 0.0)


# Names in braces.


def test_a_hash_tag_is_the_name_in_braces(rq: Connection) -> None:
    queue = rq.queue("é mails", hash_tag=True)
    assert queue.name == "{é mails}"
    queue.push(b"a")
    assert rq.names() == ["{é mails}"]
    message = rq.queue("{é mails}").pop()
    assert message is not None and message.queue == "{é mails}" and message.ack()


@pytest.mark.parametrize("name", ["", "{a}", "a}", "{"])
def test_what_can_be_no_hash_tag(rq: Connection, name: str) -> None:
    with pytest.raises(InvalidArgument, match="can't be a hash tag"):
        rq.queue(name, hash_tag=True)


# What is refused.


@pytest.mark.parametrize(
    ("given", "kind", "told"),
    [
        ({"lease": -1}, InvalidArgument, "lease is -1"),
        ({"lease": 1 << 60}, InvalidArgument, "lease is"),
        ({"lease": "5"}, reliableq.InvalidType, "lease is seconds or a timedelta, not str"),
        ({"deliveries": -1}, InvalidArgument, "deliveries is -1"),
        ({"deliveries": 1 << 16}, InvalidArgument, "deliveries is 65536; expected a whole number from 0 to 65535"),
        ({"deliveries": 1.5}, reliableq.InvalidType, "deliveries is a whole number, not float"),
        ({"backoff": -1}, InvalidArgument, "backoff is -1"),
        ({"backoff": (1, 2)}, InvalidArgument, "backoff has 2 parts"),
        ({"backoff": (-1, 2, 3)}, InvalidArgument, "backoff's base is -1"),
        ({"backoff": (1, 0.5, 3)}, InvalidArgument, "backoff's factor is 0.5"),
        ({"backoff": (1, 1001, 3)}, InvalidArgument, "backoff's factor is 1001"),
        ({"backoff": (1, 1.0001, 3)}, InvalidArgument, "backoff's factor is 1.0001"),
        ({"backoff": (1, float("nan"), 3)}, InvalidArgument, "backoff's factor is nan"),
        ({"backoff": (1, "2", 3)}, reliableq.InvalidType, "backoff's factor is a number, not str"),
        ({"backoff": (1, 2, -3)}, InvalidArgument, "backoff's max is -3"),
        ({"backoff": "1"}, reliableq.InvalidType, "backoff is seconds or a timedelta, not str"),
        ({"jitter": 101}, InvalidArgument, "jitter is 101"),
        ({"jitter": True}, reliableq.InvalidType, "jitter is a whole number, not bool"),
        ({"maxlen": -1}, InvalidArgument, "maxlen is -1"),
        ({"maxlen": 1 << 63}, InvalidArgument, "maxlen is 9223372036854775808"),
        ({"maxbytes": -1}, InvalidArgument, "maxbytes is -1"),
        ({"overflow": "keep"}, InvalidArgument, "overflow is 'keep'; expected 'reject' or 'drop'"),
        ({"overflow": 1}, reliableq.InvalidType, "overflow is a str, not int"),
        ({"dedup": -1}, InvalidArgument, "dedup is -1"),
        ({"expired": "keep"}, InvalidArgument, "expired is 'keep'; expected 'drop' or 'dead'"),
        ({"deadmax": -1}, InvalidArgument, "deadmax is -1"),
        ({"deadttl": -1}, InvalidArgument, "deadttl is -1"),
        ({"inflight": -1}, InvalidArgument, "inflight is -1"),
        ({"speed": 5}, reliableq.InvalidType, "there is no setting 'speed'; expected lease, deliveries, "),
    ],
    ids=str,
)
def test_a_wrong_setting_changes_nothing(
    rq: Connection, given: dict[str, Any], kind: type[reliableq.Error], told: str
) -> None:
    queue = rq.queue("q", lease=5)
    before = settings(queue)
    for call in (queue.setup, lambda **settings: rq.queue("q", **settings)):
        with pytest.raises(kind) as error:
            call(**({"inflight": 9, "maxlen": 9} | given))
        assert told in str(error.value)
    assert settings(queue) == before
    with pytest.raises(kind):
        rq.queue("new", **given)
    assert rq.queue("new").setup() is None


@pytest.mark.parametrize("preset", [(30, 3), "okq", 30], ids=repr)
def test_what_is_no_preset(rq: Connection, preset: Any) -> None:
    with pytest.raises(reliableq.InvalidType, match=r"preset is a Preset, not .*; give reliableq\.OKQ"):
        rq.queue("q", preset=preset)


@pytest.mark.parametrize(
    ("preset", "told"),
    [
        (Preset(-1, 3), "the preset's lease is -1"),
        (Preset(1, -3), "the preset's deliveries is -3"),
        (Preset(1, 1 << 16), "the preset's deliveries is 65536"),
    ],
)
def test_a_preset_with_wrong_numbers(rq: Connection, preset: Preset, told: str) -> None:
    with pytest.raises(InvalidArgument, match=told):
        rq.queue("q", preset=preset)


def test_a_hash_tag_is_asked_for_by_a_bool(rq: Connection) -> None:
    with pytest.raises(reliableq.InvalidType, match="hash_tag is a bool, not int"):
        rq.queue("q", hash_tag=1)  # type: ignore[arg-type]
