"""`reliableq ack`: lets go of messages that are done."""

import os

import click

from reliableq import Connection, Queue
from reliableq.cli import ids as of_messages
from reliableq.cli import show
from reliableq.cli.place import connected


@click.command(short_help="Acknowledge messages that are done.")
@click.argument("queue")
@of_messages.argument
@click.option(
    "--token", "tokens", multiple=True, help="In place of IDs, the token that it was pushed with; again for more."
)
@show.as_json
@connected
def ack(rq: Connection, queue: str, ids: tuple[str, ...], tokens: tuple[str, ...], as_json: bool) -> int:
    """Acknowledge delivered messages of QUEUE: the queue lets go of them. Prints the IDs of those that it let go.

    A receipt, ID@n, may stand for an ID: then it does nothing when somebody else has the message by now. Without an
    ID, each line of standard input begins with one, so that `reliableq pop QUEUE | reliableq ack QUEUE` works.

    --json prints {"acknowledged": [ID...], "missing": [ID...]}. Missing are those that this call could not let go:
    they still wait, were acknowledged before, or were never there.

    Exit code 1 when none was acknowledged.
    """
    target = rq.queue(queue)
    if not tokens:
        return of_messages.do(ids, target.ack, "acknowledged", "not held", as_json)
    if ids:
        raise click.UsageError("--token stands in place of IDs; give one of them")
    return of_messages.do(tokens, lambda batch: _by_token(target, batch), "acknowledged", "not held", as_json)


def _by_token(queue: Queue, tokens: list[str]) -> list[str]:
    given = {os.fsencode(token): token for token in tokens}
    return [given[bytes(token)] for token in queue.ack(tokens=list(given)) if isinstance(token, bytes)]
