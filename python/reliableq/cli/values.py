"""Counts, times and headers as people type them."""

import math
import os
import re
from datetime import datetime

import click

from reliableq.arguments import LARGEST, LONGEST_TERM, LONGEST_TIME

FOREVER = "forever"

UNITS = {"ms": 0.001, "s": 1, "m": 60, "h": 3600, "d": 86_400}
"""Seconds of each."""


class Number(click.ParamType[int]):
    """A whole number within bounds."""

    name = "number"

    def __init__(self, least: int = 0, most: int = LARGEST) -> None:
        self._least = least
        self._most = most

    def convert(self, value: object, parameter: click.Parameter | None, context: click.Context | None) -> int:
        text = str(value)
        number = int(text) if re.fullmatch("[+-]?[0-9]{1,30}", text) else None
        if number is None or not self._least <= number <= self._most:
            expected = f"expected a whole number from {self._least} to {self._most}"
            self.fail(f"{expected}, not {text!r}", parameter, context)
        return number


COUNT = Number(1)


class Duration(click.ParamType[float | None]):
    """A time: seconds, or a number with its unit; where a wait may have no end, also the word forever."""

    name = "time"

    def __init__(self, *, forever: bool = False, least: float = 0, longest: float = LONGEST_TERM) -> None:
        self._forever = forever
        self._least = least
        self._longest = longest

    def convert(self, value: object, parameter: click.Parameter | None, context: click.Context | None) -> float | None:
        text = str(value)
        if self._forever and text == FOREVER:
            return None
        seconds = _seconds(text)
        if not self._least <= seconds <= self._longest:  # False for NaN too
            otherwise = f", or `{FOREVER}`" if self._forever else ""
            expected = (
                f"expected seconds from {self._least:g} to {self._longest}, or a time such as 500ms, 10s, 5m, 2h, 1d"
            )
            self.fail(f"{expected}{otherwise}, not {text!r}", parameter, context)
        return seconds


DURATION = Duration()
ELAPSED = Duration(longest=LONGEST_TIME)
TIMEOUT = Duration(forever=True, longest=LONGEST_TIME)
POSITIVE = Duration(least=0.001)


class Moment(click.ParamType[float]):
    """A moment, as Unix seconds: given so, or as ISO 8601, without a zone in the reader's own time."""

    name = "moment"

    def convert(self, value: object, parameter: click.Parameter | None, context: click.Context | None) -> float:
        text = str(value)
        seconds = _number(text)
        if math.isnan(seconds):
            seconds = _iso(text)
        if not 0 <= seconds <= LONGEST_TERM:
            expected = "expected a time such as 2026-11-18T09:30, 2026-11-18T09:30:00Z, or Unix seconds"
            self.fail(f"{expected}, not {text!r}", parameter, context)
        return seconds


class Header(click.ParamType[tuple[bytes, bytes]]):
    """A header, name=value."""

    name = "name=value"

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> tuple[bytes, bytes]:
        name, equals, rest = str(value).partition("=")
        if not name or not equals:
            self.fail(f"expected name=value, not {str(value)!r}", parameter, context)
        return os.fsencode(name), os.fsencode(rest)


class Backoff(click.ParamType[tuple[float, float, float]]):
    """A back-off: a time, or base,factor,max."""

    name = "base[,factor,max]"

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> tuple[float, float, float]:
        base, *rest = str(value).split(",")
        factor, most = rest if len(rest) == 2 else ("1", "0") if not rest else ("", "")
        read = _seconds(base), _number(factor), _seconds(most)
        if not all(0 <= seconds <= LONGEST_TERM for seconds in (read[0], read[2])) or math.isnan(read[1]):
            expected = "expected a time such as 10s, or base,factor,max such as 1s,2,5m"
            self.fail(f"{expected}, not {str(value)!r}", parameter, context)
        return read


def shortest(seconds: float) -> str:
    """A time as it may be given: in the largest unit that needs no fraction."""
    milliseconds = round(seconds * 1000)
    for unit, size in reversed(UNITS.items()):
        if milliseconds and milliseconds % round(size * 1000) == 0:
            return f"{milliseconds // round(size * 1000)}{unit}"
    return "0"


def _seconds(text: str) -> float:
    """A time in seconds; NaN for what is none."""
    for unit in ("ms", *UNITS):
        if text.endswith(unit):
            return _number(text.removesuffix(unit)) * UNITS[unit]
    return _number(text)


def _number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        return math.nan


def _iso(text: str) -> float:
    try:
        return datetime.fromisoformat(text).timestamp()  # without a zone, it is taken as local
    except (ValueError, OverflowError, OSError):
        return math.nan
