"""`reliableq dead`: dead letters, shown, redriven or removed."""

import sys

import click

from reliableq import Connection
from reliableq.cli import exits, messages, show
from reliableq.cli import ids as of_messages
from reliableq.cli.confirm import confirmed, yes
from reliableq.cli.inspect import count as shown_count
from reliableq.cli.inspect import start as shown_start
from reliableq.cli.place import connected
from reliableq.cli.values import COUNT


@click.group(short_help="Show, redrive or purge dead letters.")
def dead() -> None:
    """Dead letters: messages that failed too often, or that were given up. Nobody gets them until they are redriven."""


@dead.command("list", short_help="Show dead letters.")
@click.argument("queue")
@shown_start
@shown_count
@messages.shown
@connected
def list_dead(rq: Connection, queue: str, start: int, count: int, form: messages.Form) -> int:
    """Show dead letters of QUEUE, the first died first: when, deliveries, failures, reason and last consumer.

    Into a pipe, each is a line with tabs between ID, time of death, deliveries, failures, reason, consumer and body.

    Exit code 1 when there is none.
    """
    source = rq.queue(queue)
    found = messages.whole(source, source.dead(start, count))
    if form.raw or form.as_json:
        messages.print_all(queue, found, form)
    elif not show.at_terminal():
        show.write("".join("\t".join(_fields(message)) + "\n" for message in found).encode())
    elif found:
        columns = ("id", "died", "deliveries", "failures", "reason", "consumer", "body")
        rows = [(message.id, show.ago(message.died), *_fields(message)[2:]) for message in found]
        show.table(queue, columns, rows, numbers=("deliveries", "failures"))
    else:
        exits.tell(f"no dead letter of {queue}")
    return exits.DONE if found else exits.NOTHING


@dead.command("redrive", short_help="Let dead letters wait again.")
@click.argument("queue")
@of_messages.argument
@click.option("--count", "-n", type=COUNT, help="So many, the first died first.")
@click.option("--all", "everything", is_flag=True, help="All of them.")
@show.as_json
@connected
def redrive(
    rq: Connection, queue: str, ids: tuple[str, ...], count: int | None, everything: bool, as_json: bool
) -> int:
    """Let dead letters of QUEUE wait again, behind all others and without their failures. Prints their IDs.

    Those named, so many, or all. Otherwise each line of standard input begins with an ID, as those of
    `reliableq dead list` do.

    --json prints {"redriven": [ID...], "missing": [ID...]}.

    Exit code 1 when none was redriven.
    """
    if bool(ids) + (count is not None) + everything > 1:
        raise click.UsageError("give IDs, --count or --all, not several of them")
    target = rq.queue(queue)
    if count is not None or everything:
        report = of_messages.Report("redriven", "not dead", as_json)
        report.add([], target.redrive(count=count))
        report.end_json()
        return report.end()
    if not ids and sys.stdin.isatty():
        raise click.UsageError("give IDs, --count or --all")
    return of_messages.do(ids, target.redrive, "redriven", "not dead", as_json)


@dead.command("purge", short_help="Remove all dead letters.")
@click.argument("queue")
@yes
@show.as_json
@connected
def purge(rq: Connection, queue: str, yes: bool, as_json: bool) -> int:
    """Remove all dead letters of QUEUE, once you have confirmed it.

    --json prints {"queue", "removed"}.

    Exit code 1 when there was none, or when it was not confirmed.
    """
    target = rq.queue(queue)
    info = target.info()
    there = 0 if info is None else info["dead_letters"]
    removed = 0
    if there and confirmed(f"Remove {show.counted(there, 'dead letter')} of {queue}?", yes):
        removed = target.flush(dead=True)
    if as_json:
        show.document({"queue": queue, "removed": removed})
    else:
        show.line(f"{show.word(queue)}: removed {show.counted(removed, 'dead letter')}")
    return exits.DONE if removed else exits.NOTHING


def _fields(message: messages.Shown) -> list[str]:
    return [
        message.id,
        show.time(message.died) or "-",
        str(message.deliveries),
        str(message.failures),
        show.word(message.reason or "-"),
        show.word(message.consumer or "-"),
        show.text(message.body),
    ]
