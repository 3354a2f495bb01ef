"""`reliableq setup`: shows the settings of a queue, or changes them."""

from collections.abc import Mapping
from typing import Any, NamedTuple, Unpack

import click

from reliableq import Connection, Settings
from reliableq.arguments import MOST_TRIES
from reliableq.cli import exits, show
from reliableq.cli.place import Run, connected_or_made_if
from reliableq.cli.values import DURATION, Backoff, Duration, Number, shortest
from reliableq.settings import Given

NUMBER = Number()


class Setting(NamedTuple):
    """An option, and how it is told."""

    type: click.ParamType[Any]
    meaning: str


SETTINGS = {
    "lease": Setting(DURATION, "A delivered message returns after so long; 0: never."),
    "deliveries": Setting(Number(0, MOST_TRIES), "The failed delivery that is the last; 0: no limit."),
    "backoff": Setting(
        Backoff(), "A message waits so long after a failure; times factor for each further one, up to max."
    ),
    "jitter": Setting(Number(0, 100), "Percent of the back-off, up to which a part of it is left out."),
    "maxlen": Setting(NUMBER, "Most messages; 0: no limit."),
    "maxbytes": Setting(NUMBER, "Most bytes of bodies and headers; 0: no limit."),
    "overflow": Setting(click.Choice(("reject", "drop")), "Beyond these, refuse a push, or drop what waits longest."),
    "dedup": Setting(DURATION, "Tokens of messages that left are remembered so long."),
    "expired": Setting(click.Choice(("drop", "dead")), "What becomes of a message that waited longer than its --ttl."),
    "deadmax": Setting(NUMBER, "Most dead letters; 0: no limit."),
    "deadttl": Setting(DURATION, "A dead letter goes after so long; 0: never."),
    "inflight": Setting(NUMBER, "Most messages delivered, to a named consumer and to all unnamed ones; 0: no limit."),
}


def options(run: Run) -> Run:
    """An option for each setting."""
    for name, setting in reversed(SETTINGS.items()):
        run = click.option(f"--{name}", type=setting.type, help=setting.meaning)(run)
    return run


def changes(arguments: Mapping[str, object]) -> bool:
    """Whether any setting is given."""
    return any(arguments[name] is not None for name in SETTINGS)


@click.command(short_help="Show the settings of a queue, or change them.")
@click.argument("queue")
@options
@show.as_json
@connected_or_made_if(changes)
def setup(rq: Connection, queue: str, as_json: bool, **given: Unpack[Given]) -> int:
    """Show the settings of QUEUE; with options, change these first. 0 clears one.

    --json prints an object with all of them; times are seconds, and the back-off is [base, factor, max].

    Exit code 1 when there is no such queue, and no option that would make one.
    """
    settings = rq.queue(queue).setup(**given)
    if as_json:
        show.document(settings)
    elif settings is None:
        exits.tell(f"there is no queue {queue}; it comes to be with its first message, or its first setting")
    elif show.at_terminal():
        rows = [(name, _shown(settings, name), setting.meaning) for name, setting in SETTINGS.items()]
        show.table(queue, ("setting", "value", "meaning"), rows)
    else:
        for name in SETTINGS:
            show.line(f"{name}\t{_shown(settings, name)}")
    return exits.NOTHING if settings is None else exits.DONE


def _shown(settings: Settings, name: str) -> str:
    """A value as its option takes it."""
    value: Any = dict(settings)[name]
    if name == "backoff":
        base, factor, most = value
        return f"{shortest(base)},{factor:g},{shortest(most)}"
    return shortest(value) if isinstance(SETTINGS[name].type, Duration) else str(value)
