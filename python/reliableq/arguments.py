"""What callers may give: checked, and brought into the form that backends take."""

import math
import os
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from operator import index
from typing import TypeVar

from reliableq.errors import InvalidArgument, InvalidBody, InvalidId, InvalidType
from reliableq.types import Body, Headers

LARGEST = (1 << 63) - 1
"""The largest number that a backend takes."""

LONGEST_TIME = LARGEST // 1000
"""The longest time, in seconds."""

LONGEST_TERM = ((1 << 47) - 1) // 1000
"""The longest time that a queue keeps, in seconds: leases, delays and the like, and Unix times."""

LONGEST_CONSUMER = 1024
"""So many bytes the name of a consumer may have."""

LONGEST = 60
"""So many characters of a refused text are shown."""

MOST_PARTS = 65_536
"""So many parts a queue can be cut into."""

ID = re.compile(r"(0|[1-9][0-9]{0,19})-(0|[1-9][0-9]{0,19})", re.ASCII)
"""What an ID looks like; a backend sees whether its numbers fit 64 bits."""

RECEIPT = re.compile(rf"{ID.pattern}(?:@([1-9][0-9]{{0,9}}))?", re.ASCII)
"""What an ID or a receipt looks like: `ID@n`, n the number of the delivery."""

ID_EXPECTED = "expected milliseconds-sequence, such as 1601155608777-1"

DECODE = "turn an ID into text with id.decode()"

Duration = float | timedelta
"""Seconds, or a timedelta."""

Moment = float | datetime
"""Unix seconds, or a datetime with its time zone."""

HeadersGiven = Mapping[str, str] | Mapping[bytes, bytes] | Iterable[tuple[str | bytes, str | bytes]]
"""Names and values that travel with a message."""

MOST_TRIES = 65_535
"""The largest limit of deliveries or retries: failures are counted so far."""

Item = TypeVar("Item")


def check_url(url: object) -> str:
    """A URL, as far as its type goes."""
    if not isinstance(url, str):
        remedy = 'give it as text, such as "memory:", or give a redis.Redis'
        if isinstance(url, os.PathLike):
            remedy = 'for queues in a file give "file:" + str(path)'
        raise InvalidType(f"a URL is a str, not {_type(url)}", remedy)
    return url


def check_name(name: str) -> str:
    """The name of a queue: any text that has a form in bytes."""
    if not isinstance(name, str):
        raise InvalidType(f"a queue's name is a str, not {_type(name)}", "give it as text")
    if not is_encodable(name):
        cause = f"the queue's name {_shortened(name)} can't be encoded as UTF-8"
        raise InvalidArgument(cause, "give a text without lone surrogates")
    return name


def tagged(name: str) -> str:
    """A queue's name as a hash tag, which keeps keys of the same name in one slot of a cluster."""
    if not name or "{" in name or "}" in name:
        cause = f"the queue's name {_shortened(name)} can't be a hash tag: it has braces, or nothing to put into them"
        raise InvalidArgument(cause, "leave out hash_tag, or the braces")
    return f"{{{name}}}"


def check_bodies(bodies: Iterable[Body], call: str = "push_many") -> Iterator[Body]:
    """Many bodies. One alone is refused, though it can be iterated: over numbers, or not at all when it is empty."""
    takes = f"{call}() takes an iterable of bodies"
    if isinstance(bodies, str | Body):
        remedy = "for one body use push()"
        if isinstance(bodies, str):
            remedy += ", and turn text into bytes with text.encode()"
        raise InvalidBody(f"{takes}, not {_type(bodies)}", remedy)
    return _iterate(bodies, takes, "for one body use push()")


def check_id(call: str, id: str) -> str:
    """What may be an ID or a receipt: a backend looks closer, but takes no text that has no form in bytes."""
    if not isinstance(id, str):
        cause = f"{call}() takes a Message, or an ID as a str, not {_type(id)}"
        raise InvalidType(cause, DECODE if isinstance(id, Body) else "give what pop() or push() returned")
    if not is_encodable(id):
        raise no_id(id)
    return id


def no_id(text: str) -> InvalidId:
    """The error for a text that is no ID."""
    return InvalidId(f"{_shortened(text)} is no message ID", ID_EXPECTED)


def check_messages(call: str, messages: Iterable[Item]) -> Iterator[Item]:
    """Many messages or IDs, each of which is yet to be checked."""
    takes = f"{call}() takes a Message, an ID as a str, or an iterable of these"
    if isinstance(messages, Body):
        raise InvalidType(f"{takes}, not {_type(messages)}", DECODE)
    return _iterate(messages, takes, "give what pop() returned; when that is None, no message came")


def check_number(name: str, number: int, least: int = 0, most: int = LARGEST) -> int:
    """A whole number within bounds."""
    number = _whole(name, number)
    if not least <= number <= most:
        raise InvalidArgument(f"{name} is {_shown(number)}", f"expected a whole number from {least} to {most}")
    return number


def check_count(count: int) -> int:
    """A number of messages."""
    return check_number("count", count, 1)


def check_start(start: int) -> int:
    """A position, from the end when negative."""
    start = _whole("start", start)
    if not -LARGEST - 1 <= start <= LARGEST:
        raise InvalidArgument(f"start is {_shown(start)}", f"expected a whole number from -2**63 to {LARGEST}")
    return start


def check_parts(parts: int) -> int:
    """A number of parts that a queue is cut into."""
    return check_number("parts", parts, 1, MOST_PARTS)


def check_bound(name: str, bound: str | None, end: str) -> str:
    """A bound of a range: an ID, or `(` and an ID that is left out; None for the end."""
    if bound is None:
        return end
    if not isinstance(bound, str):
        remedy = DECODE if isinstance(bound, Body) else "give an ID, or None for the end of the queue"
        raise InvalidType(f"{name} is an ID as a str, not {_type(bound)}", remedy)
    if not ID.fullmatch(bound.removeprefix("(")) or not is_encodable(bound):
        remedy = f"{ID_EXPECTED}, ( and an ID that is left out, or None for the end of the queue"
        raise InvalidId(f"{_shortened(bound)} is no bound of a range", remedy)
    return bound


def check_flag(name: str, flag: bool) -> bool:
    """A switch that is on or off; None is neither."""
    if not isinstance(flag, bool):
        raise InvalidType(f"{name} is a bool, not {_type(flag)}", "expected True or False")
    return flag


def check_dump(data: Body) -> bytes:
    """A queue as bytes."""
    if isinstance(data, str) or not isinstance(data, Body):
        raise InvalidType(f"a dump is bytes, not {_type(data)}", "give what dump() of a queue gave")
    return bytes(data)


def check_pending(pending: bool) -> bool:
    """Whether the delivered messages are meant."""
    if not isinstance(pending, bool):
        remedy = "expected True or False, for delivered messages or waiting ones"
        raise InvalidType(f"pending is a bool, not {_type(pending)}", remedy)
    return pending


def check_choice(name: str, given: str, choices: Iterable[str]) -> str:
    """One of several words."""
    choices = tuple(choices)
    expected = f"expected {', '.join(map(repr, choices[:-1]))} or {choices[-1]!r}"
    if not isinstance(given, str):
        raise InvalidType(f"{name} is a str, not {_type(given)}", expected)
    if given not in choices:
        raise InvalidArgument(f"{name} is {_shortened(given)}", expected)
    return given


def check_text(name: str, text: str) -> bytes:
    """A text as it is sent. Lone surrogates that stand for bytes become these bytes again."""
    if not isinstance(text, str):
        raise InvalidType(f"{name} is a str, not {_type(text)}", "give it as text")
    try:
        return text.encode(errors="surrogateescape")
    except UnicodeEncodeError:
        cause = f"{name} is {_shortened(text)}, which can't be encoded as UTF-8"
        raise InvalidArgument(cause, "give a text without lone surrogates") from None


def check_consumer(name: str, consumer: str) -> bytes:
    """The name of a consumer, as it is sent."""
    sent = check_text(name, consumer)
    if not 1 <= len(sent) <= LONGEST_CONSUMER:
        remedy = f"expected a text of 1 to {LONGEST_CONSUMER} bytes"
        raise InvalidArgument(f"{name} has {len(sent)} bytes", remedy)
    return sent


def check_word(name: str, word: str | bytes) -> bytes:
    """A text or bytes, as they are sent."""
    if isinstance(word, Body):
        return bytes(word)
    if not isinstance(word, str):
        raise InvalidType(f"{name} is a str or bytes, not {_type(word)}", "give it as text or bytes")
    return check_text(name, word)


def check_headers(headers: HeadersGiven) -> list[tuple[bytes, bytes]]:
    """Names and values as they are sent: a mapping, or pairs where a name may stand more than once."""
    remedy = 'give a dict such as {"trace": "1"}, or pairs of name and value'
    if isinstance(headers, Headers):
        return list(headers.raw)
    given = headers.items() if isinstance(headers, Mapping) else headers
    if isinstance(given, str | Body):
        raise InvalidType(f"headers are a mapping or pairs, not {_type(given)}", remedy)
    pairs: list[tuple[bytes, bytes]] = []
    for pair in _iterate(given, "headers are a mapping or pairs", remedy):
        if not isinstance(pair, tuple | list) or len(pair) != 2:
            raise InvalidType(f"headers hold {_type(pair)}, which is no pair", remedy)
        pairs.append((check_word("a header's name", pair[0]), check_word("a header's value", pair[1])))
    return pairs


def unix_milliseconds(name: str, moment: Moment) -> int:
    """A moment in Unix milliseconds, rounded up."""
    if isinstance(moment, datetime):
        if moment.tzinfo is None:
            remedy = "give it its time zone, as datetime.now(UTC) has, or give Unix seconds"
            raise InvalidArgument(f"{name} is a datetime without a time zone", remedy)
        moment = moment.timestamp()
    elif isinstance(moment, timedelta | bool) or not hasattr(moment, "__float__"):
        remedy = "give a datetime with its time zone, Unix seconds, or a delay"
        raise InvalidType(f"{name} is a moment, not {_type(moment)}", remedy)
    return term(name, moment)


def milliseconds(name: str, duration: Duration, otherwise: str = "", longest: int = LONGEST_TIME) -> int:
    """A duration in whole milliseconds, rounded up: one that is not 0 stays so. `otherwise` says what else there is."""
    seconds = _seconds(name, duration)
    if seconds == 0:
        return 0
    if not 0 < seconds <= longest:  # False for NaN too
        remedy = f"expected seconds from 0 to {longest}, as a number or a timedelta{otherwise}"
        raise InvalidArgument(f"{name} is {_shown(seconds)}", remedy)
    # To the microsecond first: 0.07 * 1000 is a little above 70.
    return max(math.ceil(round(seconds * 1_000_000) / 1000), 1)


def term(name: str, duration: Duration) -> int:
    """A time that a queue keeps, in whole milliseconds."""
    return milliseconds(name, duration, longest=LONGEST_TERM)


def is_encodable(text: str) -> bool:
    """Whether a text has a form in bytes. Half of a surrogate pair has none."""
    if text.isascii():
        return True
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _iterate(values: Iterable[Item], takes: str, remedy: str) -> Iterator[Item]:
    try:
        return iter(values)
    except TypeError as error:
        raise InvalidType(f"{takes}, not {_type(values)}", remedy) from error


def _whole(name: str, number: int) -> int:
    """A number of any integer type, but no bool: that was meant for another argument."""
    if not isinstance(number, bool):
        try:
            return index(number)
        except TypeError:
            pass
    raise InvalidType(f"{name} is a whole number, not {_type(number)}", "give it as an int")


def _seconds(name: str, duration: Duration) -> float:
    if type(duration) is int or isinstance(duration, float):
        return duration
    if isinstance(duration, timedelta):
        return duration.total_seconds()
    # Decimal and the like. float() alone would read texts, too.
    if hasattr(duration, "__float__") and not isinstance(duration, bool):
        return _as_float(duration)
    remedy = "give it as a number or as a timedelta"
    raise InvalidType(f"{name} is seconds or a timedelta, not {_type(duration)}", remedy)


def _as_float(number: float) -> float:
    try:
        return float(number)
    except OverflowError:
        return math.inf
    except ValueError:
        return math.nan


def _type(given: object) -> str:
    return "None" if given is None else type(given).__name__


def _shortened(text: str) -> str:
    return ascii(text[:LONGEST]) + ("..." if len(text) > LONGEST else "")


def _shown(number: float) -> str:
    """A number as text, or only its size: Python refuses to write very long ones."""
    return str(number) if not isinstance(number, int) or number.bit_length() < 256 else "far out of range"
