"""Options that are refused: the error names them, and nothing is changed."""

import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from functools import partial
from typing import Any

import pytest
from reliableq import Error, InvalidArgument, InvalidBody, InvalidId, InvalidType, Queue

from tests.contract.test_arguments import NO_COUNTS, NO_TIMES, Other, state, told_type

BAD_TIMES: list[Any] = [-1, -0.001, math.nan, math.inf, 1 << 47, 10**400, timedelta(microseconds=-1)]
"""Of times that a queue keeps, which are shorter than those that a caller waits."""

BAD_FLAGS: list[Any] = [None, 0, 0.0, 1, "", "yes", b"1", []]


@pytest.fixture
def filled(queue: Queue) -> Queue:
    """A queue with messages of every state."""
    queue.push_many([b"a", b"b", b"c", b"d"])
    queue.pop_many(1)[0].nack(dead=True)
    queue.pop_many(2)
    queue.push(b"later", delay=3600, token="known")
    return queue


@pytest.fixture
def full(filled: Queue) -> Iterator[Queue]:
    """The same, and afterwards it is as it was."""
    before = all_of(filled)
    yield filled
    assert all_of(filled) == before


def all_of(queue: Queue) -> Any:
    shown = [(m.id, m.state, m.deliveries, m.failures, m.deadline) for m in queue.range()]
    return state(queue), shown, queue.setup()


def refuses(kind: type[Error], told: str, call: Callable[[], object]) -> None:
    with pytest.raises(kind) as error:
        call()
    assert told in str(error.value)


Call = Callable[[Queue, Any], object]

TIMES: dict[str, Call] = {
    "delay of push": lambda queue, time: queue.push(b"x", delay=time),
    "delay of push_many": lambda queue, time: queue.push_many([b"x"], delay=time),
    "ttl of push": lambda queue, time: queue.push(b"x", ttl=time),
    "ttl of push_many": lambda queue, time: queue.push_many([b"x"], ttl=time),
    "lease of pop": lambda queue, time: queue.pop(lease=time),
    "lease of pop_many": lambda queue, time: queue.pop_many(1, lease=time),
    "delay of nack": lambda queue, time: queue.nack(queue.inspect(pending=True)[0], delay=time),
    "delay of message.nack": lambda queue, time: queue.inspect(pending=True)[0].nack(time),
    "duration of extend": lambda queue, time: queue.extend(queue.inspect(pending=True)[0], time),
    "duration of message.extend": lambda queue, time: queue.inspect(pending=True)[0].extend(time),
    "lease of claim": lambda queue, time: queue.claim(queue.inspect(pending=True), "c", lease=time),
    "lease of recover": lambda queue, time: queue.recover(elapsed=0, lease=time),
}


@pytest.mark.parametrize("name", TIMES)
def test_bad_times(full: Queue, name: str) -> None:
    argument = name.partition(" ")[0]
    for time in BAD_TIMES:
        refuses(InvalidArgument, f"{argument} is ", partial(TIMES[name], full, time))


@pytest.mark.parametrize("name", TIMES)
def test_what_is_no_time(full: Queue, name: str) -> None:
    argument = name.partition(" ")[0]
    for time in NO_TIMES:
        refuses(InvalidType, f"{argument} is seconds or a timedelta", partial(TIMES[name], full, time))


FLAGS: dict[str, Call] = {
    "front of push": lambda queue, flag: queue.push(b"x", front=flag),
    "front of push_many": lambda queue, flag: queue.push_many([b"x"], front=flag),
    "unique of push": lambda queue, flag: queue.push(b"x", token="t", unique=flag),
    "no_ack of pop": lambda queue, flag: queue.pop(no_ack=flag),
    "prefetch of pop": lambda queue, flag: queue.pop(prefetch=flag),
    "no_ack of pop_many": lambda queue, flag: queue.pop_many(1, no_ack=flag),
    "prefetch of pop_many": lambda queue, flag: queue.pop_many(1, prefetch=flag),
    "dead of nack": lambda queue, flag: queue.nack(queue.inspect(pending=True)[0], dead=flag),
    "silent of nack": lambda queue, flag: queue.nack(queue.inspect(pending=True)[0], silent=flag),
    "dead of message.nack": lambda queue, flag: queue.inspect(pending=True)[0].nack(dead=flag),
    "silent of message.nack": lambda queue, flag: queue.inspect(pending=True)[0].nack(silent=flag),
    "start of extend": lambda queue, flag: queue.extend(queue.inspect(pending=True)[0], 9, start=flag),
    "start of message.extend": lambda queue, flag: queue.inspect(pending=True)[0].extend(9, start=flag),
    "dead of flush": lambda queue, flag: queue.flush(dead=flag),
    "back of peek": lambda queue, flag: queue.peek(back=flag),
    "reverse of range": lambda queue, flag: queue.range(reverse=flag),
    "pending of inspect": lambda queue, flag: queue.inspect(pending=flag),
}


@pytest.mark.parametrize("name", FLAGS)
def test_flags_are_bools(full: Queue, name: str) -> None:
    argument = name.partition(" ")[0]
    for flag in BAD_FLAGS:
        told = f"{argument} is a bool, not {told_type(flag)}; expected True or False"
        refuses(InvalidType, told, partial(FLAGS[name], full, flag))


def test_a_flag_is_a_bool_also_beside_what_it_forbids(full: Queue) -> None:
    number: Any = 1
    refuses(InvalidType, "no_ack is a bool, not int", lambda: full.pop(lease=9, no_ack=number))
    refuses(InvalidType, "prefetch is a bool, not int", lambda: full.pop(no_ack=True, prefetch=number))


CONSUMERS: dict[str, Call] = {
    "consumer of pop": lambda queue, name: queue.pop(consumer=name),
    "consumer of pop_many": lambda queue, name: queue.pop_many(1, consumer=name),
    "consumer of claim": lambda queue, name: queue.claim(queue.inspect(pending=True), name),
    "consumer of recover": lambda queue, name: queue.recover(elapsed=0, consumer=name),
    "from_consumer of recover": lambda queue, name: queue.recover(elapsed=0, from_consumer=name),
    "name of delete_consumer": lambda queue, name: queue.delete_consumer(name),
}


@pytest.mark.parametrize("call", CONSUMERS)
def test_a_consumer_s_name_is_a_text_of_some_bytes(full: Queue, call: str) -> None:
    argument = call.partition(" ")[0]
    for name, told in (("", "has 0 bytes"), ("é" * 513, "has 1026 bytes"), ("\ud800", "UTF-8")):
        refuses(InvalidArgument, argument, partial(CONSUMERS[call], full, name))
        refuses(InvalidArgument, told, partial(CONSUMERS[call], full, name))
    for other in (1, b"c", True, ["c"], Other()):
        refuses(InvalidType, f"{argument} is a str", partial(CONSUMERS[call], full, other))


def test_names_of_consumers_that_just_fit(filled: Queue) -> None:
    for name in ("c", "é" * 512, "\0", "\udcff"):
        (message,) = filled.claim(filled.inspect(0, 1, pending=True), name)
        assert message.consumer == name
        assert filled.inspect(pending=True, consumer=name)[0].id == message.id


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"delay": 1, "at": 2}, InvalidArgument, "a push was given both delay and at"),
        ({"ttl": 0}, InvalidArgument, "ttl is 0"),
        ({"at": datetime(2026, 1, 1)}, InvalidArgument, "at is a datetime without a time zone"),
        ({"at": timedelta(1)}, InvalidType, "at is a moment, not timedelta"),
        ({"at": "tomorrow"}, InvalidType, "at is a moment, not str"),
        ({"at": True}, InvalidType, "at is a moment, not bool"),
        ({"at": -1}, InvalidArgument, "at is -1"),
        ({"at": math.nan}, InvalidArgument, "at is nan"),
        ({"at": datetime(1969, 1, 1, tzinfo=UTC)}, InvalidArgument, "at is -"),
        ({"at": "tomorrow"}, InvalidType, "at is "),
        ({"retries": -1}, InvalidArgument, "retries is -1"),
        ({"retries": 1 << 16}, InvalidArgument, "retries is 65536; expected a whole number from 0 to 65535"),
        ({"priority": -1}, InvalidArgument, "priority is -1"),
        ({"priority": 256}, InvalidArgument, "priority is 256; expected a whole number from 0 to 255"),
        ({"headers": "text"}, InvalidType, "headers are a mapping or pairs, not str"),
        ({"headers": 5}, InvalidType, "headers are a mapping or pairs, not int"),
        ({"headers": ["ab"]}, InvalidType, "headers hold str, which is no pair"),
        ({"headers": [("a", "b", "c")]}, InvalidType, "headers hold tuple, which is no pair"),
        ({"headers": {"a": 1}}, InvalidType, "a header's value is a str or bytes, not int"),
        ({"headers": {1: "a"}}, InvalidType, "a header's name is a str or bytes, not int"),
        ({"headers": {"a": "\ud800"}}, InvalidArgument, "a header's value is '\\ud800'"),
    ],
    ids=str,
)
def test_wrong_options_of_a_push(full: Queue, options: dict[str, Any], kind: type[Error], told: str) -> None:
    refuses(kind, told, lambda: full.push(b"x", **options))
    refuses(kind, told, lambda: full.push_many([b"x"], **options))


@pytest.mark.parametrize("argument", ["retries", "priority"])
def test_numbers_of_a_push_are_whole(full: Queue, argument: str) -> None:
    for number in NO_COUNTS:
        if number is None and argument == "retries":
            continue
        options: Any = {argument: number}
        refuses(InvalidType, f"{argument} is a whole number", partial(full.push, b"x", **options))
        refuses(InvalidType, f"{argument} is a whole number", partial(full.push_many, [b"x"], **options))


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"token": ""}, InvalidArgument, "token is empty"),
        ({"token": b""}, InvalidArgument, "token is empty"),
        ({"token": 7}, InvalidType, "token is a str or bytes, not int"),
        ({"token": "\ud800"}, InvalidArgument, "token is '\\ud800'"),
        ({"unique": True}, InvalidArgument, "unique was given without a token"),
    ],
    ids=str,
)
def test_wrong_tokens(full: Queue, options: dict[str, Any], kind: type[Error], told: str) -> None:
    refuses(kind, told, lambda: full.push(b"x", **options))


def test_bodies_of_pushes_with_options(full: Queue) -> None:
    text: Any = "text"
    refuses(InvalidBody, "encode()", lambda: full.push(text, priority=1))
    refuses(InvalidBody, "encode()", lambda: full.push_many([b"a", text], delay=1))
    refuses(InvalidBody, "push_many() takes an iterable", lambda: full.push_many(text, delay=1))


@pytest.mark.parametrize(
    ("options", "kind", "told"),
    [
        ({"no_ack": True, "lease": 1}, InvalidArgument, "no_ack was given with a lease or with prefetch"),
        ({"no_ack": True, "prefetch": True}, InvalidArgument, "no_ack was given with a lease or with prefetch"),
        ({"max_bytes": 0}, InvalidArgument, "max_bytes is 0"),
        ({"max_bytes": 1 << 63}, InvalidArgument, "max_bytes is 9223372036854775808"),
        ({"max_bytes": 1.5}, InvalidType, "max_bytes is a whole number, not float"),
        ({"consumer": "c", "timeout": -1}, InvalidArgument, "timeout is -1"),
    ],
    ids=str,
)
def test_wrong_options_of_a_pop(full: Queue, options: dict[str, Any], kind: type[Error], told: str) -> None:
    refuses(kind, told, lambda: full.pop_many(1, **options))


def test_wrong_options_of_a_nack(full: Queue) -> None:
    message = full.inspect(pending=True)[0]
    refuses(InvalidArgument, "a dead message has no delay", lambda: message.nack(1, dead=True))
    refuses(InvalidArgument, "reason has 4097 bytes", lambda: message.nack(reason="x" * 4097))
    refuses(InvalidArgument, "reason is '\\ud800'", lambda: message.nack(reason="\ud800"))
    reason: Any = b"x"
    refuses(InvalidType, "reason is a str, not bytes", lambda: full.nack(message, reason=reason))


MESSAGES: dict[str, Call] = {
    "nack": lambda queue, messages: queue.nack(messages),
    "extend": lambda queue, messages: queue.extend(messages, 9),
    "claim": lambda queue, messages: queue.claim(messages, "c"),
    "forward": lambda queue, messages: queue.forward(messages, "other", b"x"),
    "delete": lambda queue, messages: queue.delete(messages),
    "redrive": lambda queue, messages: queue.redrive(messages),
    "get": lambda queue, messages: queue.get(messages),
}


@pytest.mark.parametrize("name", MESSAGES)
def test_what_is_no_message(full: Queue, name: str) -> None:
    good, call = full.inspect(pending=True)[0].id, MESSAGES[name]
    for id in ("", "1", "1-1@", "1-1@0", "1-1@01", "1-1@4294967296", "1-1@1@1", "99999999999999999999-1", "\ud800"):
        refuses(InvalidId, "is no message ID", partial(call, full, id))
        refuses(InvalidId, "is no message ID", partial(call, full, [good, id]))
    for other in (1, 1.5, b"1-1", Other()):
        refuses(InvalidType, f"{name}() takes a Message", partial(call, full, other))
        refuses(InvalidType, f"{name}() takes a Message", partial(call, full, [good, other]))


@pytest.mark.parametrize("id", ["1-1@", "1-1@0", "1-1@4294967296", "1-1@x"])
def test_what_is_no_receipt(full: Queue, id: str) -> None:
    refuses(InvalidId, "is no message ID", lambda: full.ack(id))
    refuses(InvalidId, "is no message ID", lambda: full.ack([full.inspect(pending=True)[0].id, id]))


def test_wrong_tokens_of_an_ack(full: Queue) -> None:
    one: Any = "known"
    refuses(InvalidType, "tokens is an iterable of tokens, not str", lambda: full.ack(tokens=one))
    number: Any = ["known", 1]
    refuses(InvalidType, "a token is a str or bytes, not int", lambda: full.ack(tokens=number))
    both: Any = full
    refuses(InvalidArgument, "both messages and tokens", lambda: both.ack("1-1", tokens=["known"]))


def test_wrong_arguments_of_a_forward(full: Queue) -> None:
    message = full.inspect(pending=True)[0]
    none: Any = None
    text: Any = "text"
    refuses(InvalidArgument, "forward() was given no messages", lambda: full.forward([], "other", b"x"))
    refuses(InvalidArgument, "forward() was given no bodies", lambda: full.forward(message, "other", []))
    refuses(InvalidBody, "encode()", lambda: full.forward(message, "other", text))
    refuses(InvalidBody, "encode()", lambda: full.forward(message, "other", [b"x", text]))
    refuses(InvalidType, "a queue's name is a str, not None", lambda: full.forward(message, none, b"x"))
    refuses(InvalidArgument, "UTF-8", lambda: full.forward(message, "\ud800", b"x"))


def test_wrong_arguments_of_managing(full: Queue) -> None:
    number: Any = 1
    refuses(InvalidArgument, "what is 'pops'; expected 'pop', 'push' or 'all'", lambda: full.pause("pops"))
    refuses(InvalidType, "what is a str, not int", lambda: full.resume(number))
    refuses(InvalidArgument, "count is 0", lambda: full.redrive(count=0))
    refuses(InvalidArgument, "both messages and a count", lambda: full.redrive("1-1", count=1))
    refuses(InvalidArgument, "idle is -1", lambda: full.claim(full.inspect(pending=True), "c", idle=-1))
