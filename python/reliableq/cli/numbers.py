"""Counts and times as people type them."""

import math

import click

from reliableq.arguments import LONGEST_TIME

FOREVER = "forever"


class Seconds(click.ParamType[float | None]):
    """Seconds, or where a wait may have no end the word forever."""

    name = "seconds"

    def __init__(self, forever: bool = False) -> None:
        self._forever = forever

    def convert(self, value: object, parameter: click.Parameter | None, context: click.Context | None) -> float | None:
        if self._forever and value == FOREVER:
            return None
        try:
            seconds = float(str(value))
        except ValueError:
            seconds = math.nan
        if not 0 <= seconds <= LONGEST_TIME:  # False for NaN too
            otherwise = f", or `{FOREVER}`" if self._forever else ""
            self.fail(f"expected seconds from 0 to {LONGEST_TIME}{otherwise}, not {str(value)!r}", parameter, context)
        return seconds


COUNT = click.IntRange(min=1)
