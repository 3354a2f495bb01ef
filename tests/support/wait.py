"""Waiting for a condition, with a deadline, in place of sleeping and hoping."""

import time
from collections.abc import Callable
from typing import TypeVar

Value = TypeVar("Value")

DEADLINE = 30.0
"""Seconds until a condition that does not come true fails the test; far longer than any needs."""


def wait_until(what: str, condition: Callable[[], Value], deadline: float = DEADLINE, pause: float = 0.005) -> Value:
    """Asks until the condition is true, and returns what it said; fails by naming `what`."""
    end = time.monotonic() + deadline
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline} s: {what}")
        time.sleep(pause)
