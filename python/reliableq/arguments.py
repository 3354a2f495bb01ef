"""What callers may give: checked, and brought into the form that backends take."""

import math
import os
import re
from collections.abc import Iterable, Iterator
from datetime import timedelta
from operator import index
from typing import TypeVar

from reliableq.errors import InvalidArgument, InvalidBody, InvalidId, InvalidType
from reliableq.types import Body

LARGEST = (1 << 63) - 1
"""The largest number that a backend takes."""

LONGEST_TIME = LARGEST // 1000
"""The longest time, in seconds."""

LONGEST = 60
"""So many characters of a refused text are shown."""

MOST_PARTS = 65_536
"""So many parts a queue can be cut into."""

ID = re.compile(r"(0|[1-9][0-9]{0,19})-(0|[1-9][0-9]{0,19})", re.ASCII)
"""What an ID looks like; a backend sees whether its numbers fit 64 bits."""

ID_EXPECTED = "expected milliseconds-sequence, such as 1601155608777-1"

DECODE = "turn an ID into text with id.decode()"

Duration = float | timedelta
"""Seconds, or a timedelta."""

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


def check_bodies(bodies: Iterable[Body]) -> Iterator[Body]:
    """Many bodies. One alone is refused, though it can be iterated: over numbers, or not at all when it is empty."""
    takes = "push_many() takes an iterable of bodies"
    if isinstance(bodies, str | Body):
        remedy = "for one body use push()"
        if isinstance(bodies, str):
            remedy += ", and turn text into bytes with text.encode()"
        raise InvalidBody(f"{takes}, not {_type(bodies)}", remedy)
    return _iterate(bodies, takes, "for one body use push()")


def check_id(call: str, id: str) -> str:
    """What may be an ID: a backend looks closer, but takes no text that has no form in bytes."""
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


def check_count(count: int) -> int:
    """A number of messages."""
    count = _whole("count", count)
    if not 1 <= count <= LARGEST:
        raise InvalidArgument(f"count is {_shown(count)}", f"expected a whole number from 1 to {LARGEST}")
    return count


def check_start(start: int) -> int:
    """A position, from the end when negative."""
    start = _whole("start", start)
    if not -LARGEST - 1 <= start <= LARGEST:
        raise InvalidArgument(f"start is {_shown(start)}", f"expected a whole number from -2**63 to {LARGEST}")
    return start


def check_parts(parts: int) -> int:
    """A number of parts that a queue is cut into."""
    parts = _whole("parts", parts)
    if not 1 <= parts <= MOST_PARTS:
        raise InvalidArgument(f"parts is {_shown(parts)}", f"expected a whole number from 1 to {MOST_PARTS}")
    return parts


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
    """A switch that is on or off."""
    if not isinstance(flag, bool):
        raise InvalidType(f"{name} is a bool, not {_type(flag)}", "give True or False")
    return flag


def check_dump(data: Body) -> bytes:
    """A queue as bytes."""
    if isinstance(data, str) or not isinstance(data, Body):
        raise InvalidType(f"a dump is bytes, not {_type(data)}", "give what dump() of a queue gave")
    return bytes(data)


def check_pending(pending: bool) -> bool:
    """Whether the delivered messages are meant."""
    if not isinstance(pending, bool):
        remedy = "give True for delivered messages, False for waiting ones"
        raise InvalidType(f"pending is a bool, not {_type(pending)}", remedy)
    return pending


def milliseconds(name: str, duration: Duration, otherwise: str = "") -> int:
    """A duration in whole milliseconds, rounded up: one that is not 0 stays so. `otherwise` says what else there is."""
    seconds = _seconds(name, duration)
    if seconds == 0:
        return 0
    if not 0 < seconds <= LONGEST_TIME:  # False for NaN too
        remedy = f"expected seconds from 0 to {LONGEST_TIME}, as a number or a timedelta{otherwise}"
        raise InvalidArgument(f"{name} is {_shown(seconds)}", remedy)
    # To the microsecond first: 0.07 * 1000 is a little above 70.
    return max(math.ceil(round(seconds * 1_000_000) / 1000), 1)


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
