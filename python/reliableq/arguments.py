"""What callers may give: checked, and brought into the form that backends take."""

import math
from datetime import timedelta
from operator import index

from reliableq.errors import InvalidArgument

LARGEST = (1 << 63) - 1
"""The largest number that a backend takes."""

Duration = float | timedelta
"""Seconds, or a timedelta."""


def check_count(count: int) -> int:
    """A number of messages."""
    count = index(count)
    if not 1 <= count <= LARGEST:
        raise InvalidArgument(f"count is {_shown(count)}", f"expected a whole number from 1 to {LARGEST}")
    return count


def check_start(start: int) -> int:
    """A position, from the end when negative."""
    start = index(start)
    if not -LARGEST - 1 <= start <= LARGEST:
        raise InvalidArgument(f"start is {_shown(start)}", f"expected a whole number from -2**63 to {LARGEST}")
    return start


def milliseconds(name: str, duration: Duration) -> int:
    """A duration in whole milliseconds, rounded up: one that is not 0 stays so."""
    seconds = duration.total_seconds() if isinstance(duration, timedelta) else duration
    if not 0 <= seconds <= LARGEST // 1000:  # False for NaN too
        remedy = "expected seconds from 0 on, as a number or a timedelta"
        raise InvalidArgument(f"{name} is {_shown(seconds)}", remedy)
    # To the microsecond first: 0.07 * 1000 is a little above 70.
    return max(math.ceil(round(seconds * 1_000_000) / 1000), 1 if seconds > 0 else 0)


def _shown(number: float) -> str:
    """A number as text, or only its size: Python refuses to write very long ones."""
    return str(number) if not isinstance(number, int) or number.bit_length() < 256 else "far out of range"
