"""What a user may say in `.option(name, value)`."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from reliableq.arguments import check_name
from reliableq.errors import InvalidArgument
from reliableq.options import STATES

NAMES = ("url", "queue", "partitions", "state")

ALL = "all"
"""Stands for every state."""

MOST_PARTITIONS = 10_000
"""More parts than this are a mistake: each is a task of Spark's, and a connection."""

REMEDIES = {
    "checkpointlocation": "use read and write: a queue can't be a stream yet",
    "paths": "call load() without an argument, and name the place in the option url",
    "provider": "a queue can't be a table: make a temporary view of a frame, createOrReplaceTempView()",
    "path": "call load() and save() without an argument, and name the place in the option url",
}


@dataclass(frozen=True)
class Options:
    """The options, checked."""

    url: str = field(repr=False)  # it may hold a password
    queue: str
    partitions: int | None
    """The number of parts to read in; None for as many as the queue's size suggests."""
    states: frozenset[str] | None
    """Those of the messages to read; None where the user did not say, for all."""


def parse(given: Mapping[str, str]) -> Options:
    """Reads what Spark passes on: names in lower case, values as text."""
    for name in given:
        if name.lower() not in NAMES:
            raise InvalidArgument(
                f"there is no option {name!r}", REMEDIES.get(name.lower(), f"expected {', '.join(NAMES)}")
            )
    return Options(
        url=_needed(given, "url", 'give a URL, such as "redis://host"'),
        queue=check_name(_needed(given, "queue", "give the queue's name")),
        partitions=_partitions(given["partitions"]) if "partitions" in given else None,
        states=_states(given["state"]) if "state" in given else None,
    )


def _needed(given: Mapping[str, str], name: str, remedy: str) -> str:
    if name not in given or (name == "url" and not given[name]):
        raise InvalidArgument(f"the option {name!r} is missing", remedy)
    return given[name]


def _partitions(text: str) -> int:
    number = int(text) if text.isascii() and text.isdigit() else 0
    if not 1 <= number <= MOST_PARTITIONS:
        remedy = f"expected a whole number from 1 to {MOST_PARTITIONS}"
        raise InvalidArgument(f"the option 'partitions' is {text[:60]!r}", remedy)
    return number


def _states(text: str) -> frozenset[str]:
    named = frozenset(part.strip() for part in text.split(","))
    if named == {ALL}:
        return frozenset(STATES)
    if not named <= set(STATES):
        remedy = f"expected {ALL}, or one or several of {', '.join(STATES)}, with commas between"
        raise InvalidArgument(f"the option 'state' is {text[:60]!r}", remedy)
    return named
