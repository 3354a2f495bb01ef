"""Messages as pop, recover, inspect and the like print them."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from functools import wraps
from typing import NamedTuple

import click

from reliableq import Headers, Message, Queue
from reliableq.cli import exits, show

Run = Callable[..., int | None]
Described = dict[str, object]


class Form(NamedTuple):
    """How messages are to be printed."""

    raw: bool
    as_json: bool
    receipts: bool = False


def shown(run: Run) -> Run:
    """Gives a subcommand the options of those that print messages, as its argument `form`."""

    @wraps(run)
    def with_form(*, raw: bool, as_json: bool, receipts: bool = False, **arguments: object) -> int | None:
        if raw and as_json:  # before any message is taken
            raise click.UsageError("--raw and --json exclude each other")
        if raw and receipts:
            raise click.UsageError("--raw prints bodies alone, without --receipt")
        return run(form=Form(raw, as_json, receipts), **arguments)

    return raw(show.as_json(with_form))


def taking(run: Run) -> Run:
    """The same for those that take messages; also `acknowledge`."""
    receipts = click.option("--receipt", "receipts", is_flag=True, help="Print receipts, ID@n, in place of IDs.")
    acknowledge = click.option(
        "--ack", "acknowledge", is_flag=True, help="Acknowledge the messages as soon as they are printed."
    )
    return acknowledge(receipts(shown(run)))


raw = click.option("--raw", is_flag=True, help="Print only the bodies, as they are, each followed by a newline.")


def hand_over(queue: Queue, messages: Sequence[Message], acknowledge: bool, form: Form) -> int:
    """Prints messages that were taken. Only what has been printed is acknowledged: what can't be, stays delivered."""
    print_all(queue.name, messages, form)
    if acknowledge and messages:
        queue.ack(messages)
    return exits.DONE if messages else exits.NOTHING


@dataclass(frozen=True)
class Whole:
    """A message of an inspection, with all that the queue knows of it."""

    queue: str
    id: str
    receipt: str
    body: bytes
    state: str
    deliveries: int
    failures: int
    priority: int
    enqueued: datetime
    last_delivery: datetime | None
    deadline: datetime | None
    due: datetime | None
    died: datetime | None
    reason: str | None
    consumer: str | None
    token: bytes | None
    headers: Headers


Shown = Message | Whole


def whole(queue: Queue, found: Sequence[Message]) -> list[Whole]:
    """Messages of an inspection, which tells only what their state is about, with the rest; unless they moved since."""
    there = queue.get([message.id for message in found])
    return [
        _joined(message, full if full is not None and full.state == message.state else message)
        for message, full in zip(found, there, strict=True)
    ]


def completed(queue: Queue, message: Message) -> Shown:
    """A message that was asked for by its ID, with what only an inspection tells: when it is due."""
    if message.state != "scheduled":
        return message
    for found in queue.inspect(0, 1, state="scheduled", first=message.id, last=message.id):
        return _joined(found, message)
    return message


def _joined(message: Message, full: Message) -> Whole:
    values = {field.name: getattr(full, field.name) for field in fields(Whole)}
    for name in ("due", "died", "reason", "consumer"):
        values[name] = getattr(message, name) or values[name]
    return Whole(**values)


def print_all(name: str, messages: Sequence[Shown], form: Form) -> None:
    """Prints messages in the form that was asked for."""
    if form.raw:
        show.write(b"".join(message.body + b"\n" for message in messages))
    elif form.as_json:
        show.document([described(message) for message in messages])
    elif show.at_terminal():
        _table(name, messages)
    else:
        rows = ((message.receipt if form.receipts else message.id, message.body) for message in messages)
        show.write("".join(f"{id}\t{show.text(body)}\n" for id, body in rows).encode())


def described(message: Shown) -> Described:
    """A message in JSON."""
    return {
        "queue": message.queue,
        "id": message.id,
        "receipt": message.receipt,
        "state": message.state,
        "deliveries": message.deliveries,
        "failures": message.failures,
        "priority": message.priority,
        "enqueued": show.time(message.enqueued),
        "last_delivery": show.time(message.last_delivery),
        "deadline": show.time(message.deadline),
        "due": show.time(message.due),
        "died": show.time(message.died),
        "reason": None if message.reason is None else show.plain(message.reason),
        "consumer": None if message.consumer is None else show.plain(message.consumer),
        **({"token": None} if message.token is None else show.data("token", message.token)),
        "headers": [{**show.data("name", name), **show.data("value", value)} for name, value in message.headers.raw],
        **show.data("body", message.body),
    }


# For people.


def _table(name: str, messages: Sequence[Shown]) -> None:
    if not messages:
        exits.tell(f"no message of {name}")
        return
    rows = [
        (
            message.receipt if message.state == "delivered" else message.id,
            str(message.deliveries),
            clock(message.last_delivery),
            "\n".join([show.text(message.body), *_notes(message)]),
        )
        for message in messages
    ]
    show.table(name, ("message", "deliveries", "last delivery", "body"), rows, numbers=("deliveries",))


def clock(moment: datetime | None) -> str:
    """A moment in the reader's own time."""
    return "-" if moment is None else moment.astimezone().strftime("%Y-%m-%d %H:%M:%S")


def _notes(message: Shown) -> list[str]:
    """A line with what most messages don't have; none where this one hasn't, either."""
    notes = [
        message.state if message.state not in {"waiting", "delivered"} else "",
        f"due {show.until(message.due)}" if message.due else "",
        f"died {show.ago(message.died)}" if message.died else "",
        f"reason: {show.word(message.reason)}" if message.reason else "",
        f"lease ends {show.until(message.deadline)}" if message.deadline else "",
        f"consumer {show.word(message.consumer)}" if message.consumer else "",
        show.counted(message.failures, "failure") if message.failures else "",
        f"priority {message.priority}" if message.priority else "",
        f"token {show.text(message.token)}" if message.token is not None else "",
        *(f"{show.text(name)}={show.text(value)}" for name, value in message.headers.raw),
    ]
    line = ", ".join(filter(None, notes))
    return [line] if line else []
