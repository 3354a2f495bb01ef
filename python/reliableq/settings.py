"""The settings of a queue: what callers may give, and what is sent for it."""

import math
from collections.abc import Callable
from datetime import timedelta
from typing import TypedDict, cast

from reliableq.arguments import MOST_TRIES, Duration, check_choice, check_number, term
from reliableq.errors import InvalidArgument, InvalidType
from reliableq.presets import Preset
from reliableq.types import Settings

Backoff = Duration | tuple[Duration, float, Duration]
"""The wait after a failure; or that, the factor for each further one, and at most how long (0: no limit)."""

MOST_FACTOR = 1000
"""A back-off grows at most by so much with each failure."""

Words = tuple[bytes | int, ...]


class Given(TypedDict, total=False):
    """Settings as callers give them. None, or left out: as it is."""

    lease: Duration | None
    deliveries: int | None
    backoff: Backoff | None
    jitter: int | None
    maxlen: int | None
    maxbytes: int | None
    overflow: str | None
    dedup: Duration | None
    expired: str | None
    deadmax: int | None
    deadttl: Duration | None
    inflight: int | None


def read_given(given: Given) -> dict[str, object]:
    """Settings that were given, checked, as Settings has them."""
    values = {name: value for name, value in given.items() if value is not None}
    unknown = [name for name in values if name not in _CHECKS]
    if unknown:
        raise InvalidType(f"there is no setting {unknown[0]!r}", f"expected {', '.join(_CHECKS)}")
    return {name: _CHECKS[name](name, value) for name, value in values.items()}


def with_preset(values: dict[str, object], preset: Preset) -> dict[str, object]:
    """Settings of a queue that they make: what is not given is as its preset says."""
    return {**_times(preset), **values}


def differing(values: dict[str, object], settings: Settings) -> dict[str, object]:
    """Those that are not as they are given."""
    return {name: value for name, value in values.items() if cast(dict[str, object], settings)[name] != value}


def changes(name: str, values: dict[str, object], settings: Settings) -> str:
    """What the warning says: each old and new value."""
    old = cast(dict[str, object], settings)
    told = ", ".join(f"{setting} was {old[setting]!r} and is now {value!r}" for setting, value in values.items())
    return f"the settings of queue {name!r} were changed: {told}"


def words(values: dict[str, object]) -> Words:
    """Settings as they are sent."""
    return tuple(word for name, value in values.items() for word in _sent(name, value))


def check_preset(preset: Preset) -> Preset:
    """A preset, also one of the caller's own."""
    if not isinstance(preset, Preset):
        remedy = "give reliableq.OKQ, DURABLE, PLAIN or a Preset(lease, deliveries)"
        raise InvalidType(f"preset is a Preset, not {type(preset).__name__}", remedy)
    lease = term("the preset's lease", preset.lease) / 1000
    return Preset(lease, check_number("the preset's deliveries", preset.deliveries, 0, MOST_TRIES))


def _times(preset: Preset) -> dict[str, object]:
    return {"lease": float(preset.lease), "deliveries": preset.deliveries}


def _sent(name: str, value: object) -> Words:
    option = name.upper().encode()
    if name == "overflow":
        return (cast(str, value).upper().encode(),)
    if name == "expired":
        return option, cast(str, value).upper().encode()
    if name == "backoff":
        base, factor, most = cast(tuple[float, float, float], value)
        return option, round(base * 1000), f"{factor:.3f}".rstrip("0").rstrip(".").encode(), round(most * 1000)
    return option, round(value * 1000) if isinstance(value, float) else cast(int, value)


def _seconds(name: str, duration: Duration) -> float:
    return term(name, duration) / 1000


def _backoff(name: str, backoff: Backoff) -> tuple[float, float, float]:
    if not isinstance(backoff, tuple | list):
        return _seconds(name, backoff), 1.0, 0.0
    if len(backoff) != 3:
        raise InvalidArgument(f"backoff has {len(backoff)} parts", "expected seconds, or (base, factor, max)")
    base, factor, most = backoff
    return _seconds("backoff's base", base), _factor(factor), _seconds("backoff's max", most)


def _factor(factor: float) -> float:
    remedy = f"expected a number from 1 to {MOST_FACTOR} with at most three decimals"
    if isinstance(factor, bool | timedelta | str) or not hasattr(factor, "__float__"):
        raise InvalidType(f"backoff's factor is a number, not {type(factor).__name__}", remedy)
    rounded = round(float(factor), 3) if 1 <= float(factor) <= MOST_FACTOR else math.nan
    if not math.isclose(rounded, float(factor), rel_tol=1e-9):  # True for NaN as well
        raise InvalidArgument(f"backoff's factor is {factor}", remedy)
    return rounded


def _tries(name: str, number: int) -> int:
    return check_number(name, number, 0, MOST_TRIES)


def _percent(name: str, number: int) -> int:
    return check_number(name, number, 0, 100)


_CHECKS: dict[str, Callable[..., object]] = {
    "lease": _seconds,
    "deliveries": _tries,
    "backoff": _backoff,
    "jitter": _percent,
    "maxlen": check_number,
    "maxbytes": check_number,
    "overflow": lambda name, word: check_choice(name, word, ("reject", "drop")),
    "dedup": _seconds,
    "expired": lambda name, word: check_choice(name, word, ("drop", "dead")),
    "deadmax": check_number,
    "deadttl": _seconds,
    "inflight": check_number,
}
"""How each setting is read."""
