"""Counts and times as people type them."""

import click

FOREVER = "forever"


class Seconds(click.ParamType[float | None]):
    """Seconds, or the word forever."""

    name = "seconds"

    def convert(self, value: object, parameter: click.Parameter | None, context: click.Context | None) -> float | None:
        if value == FOREVER:
            return None
        try:
            return float(str(value))
        except ValueError:
            self.fail(f"{value!r} is neither a number of seconds nor `{FOREVER}`", parameter, context)


COUNT = click.IntRange(min=1)
