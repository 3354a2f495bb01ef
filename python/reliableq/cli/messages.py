"""Messages as pop, recover and inspect print them."""

from collections.abc import Callable, Sequence

import click

from reliableq import Message, Queue
from reliableq.cli import exits, show

Run = Callable[..., int | None]

raw = click.option("--raw", is_flag=True, help="Print only the bodies, as they are, each followed by a newline.")


def taking(run: Run) -> Run:
    """Options of those that take messages."""
    acknowledge = click.option(
        "--ack", "acknowledge", is_flag=True, help="Acknowledge the messages as soon as they are printed."
    )
    return acknowledge(raw(show.as_json(run)))


def hand_over(queue: Queue, messages: Sequence[Message], acknowledge: bool, raw: bool, as_json: bool) -> int:
    """Prints messages that were taken. Only what has been printed is acknowledged: what can't be, stays delivered."""
    print_all(queue.name, messages, raw, as_json)
    if acknowledge and messages:
        queue.ack(messages)
    return exits.DONE if messages else exits.NOTHING


def check_form(raw: bool, as_json: bool) -> None:
    """Refuses two forms at once, before any message is taken."""
    if raw and as_json:
        raise click.UsageError("--raw and --json exclude each other")


def print_all(name: str, messages: Sequence[Message], raw: bool, as_json: bool) -> None:
    """Prints messages in the form that was asked for."""
    if raw:
        show.write(b"".join(message.body + b"\n" for message in messages))
    elif as_json:
        show.document([described(message) for message in messages])
    elif show.at_terminal():
        if messages:
            rows = [
                (message.id, str(message.deliveries), _clock(message), show.text(message.body)) for message in messages
            ]
            show.table(name, ("id", "deliveries", "last delivery", "body"), rows, numbers=("deliveries",))
        else:
            exits.tell(f"no message of {name}")
    else:
        show.write("".join(f"{m.id}\t{show.text(m.body)}\n" for m in messages).encode())


def described(message: Message) -> dict[str, str | int | None]:
    """A message in JSON."""
    return {
        "queue": message.queue,
        "id": message.id,
        "state": message.state,
        "deliveries": message.deliveries,
        "enqueued": show.time(message.enqueued),
        "last_delivery": show.time(message.last_delivery),
        **show.body(message),
    }


def _clock(message: Message) -> str:
    """When it was last delivered, in the reader's own time."""
    moment = message.last_delivery
    return "-" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")
