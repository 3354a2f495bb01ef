"""What replies mean."""

from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any, Protocol, cast

from reliableq._native import Message
from reliableq.protocol.command import Command
from reliableq.types import Consumer, Info, Settings, Status

_TIMES = {"lease", "dedup", "deadttl"}
"""Settings that are milliseconds there, and seconds here."""


class Holder(Protocol):
    """The queue that a message belongs to, and is settled through."""

    @property
    def name(self) -> str:
        """Its name."""

    def acknowledge(self, ids: Sequence[str], /) -> list[str]:
        """Lets go of messages."""

    def call(self, command: Command, /) -> Any:
        """Executes a command."""


def read_produced(reply: Any) -> list[str | None]:
    """The IDs of what a push stored, None where one is not remembered."""
    return [None if id is None else id.decode() for id in reply]


def read_names(reply: Any) -> list[str]:
    """The names of the queues that hold messages."""
    return [row.name for row in read_status(reply) if row.total > 0]


def read_status(reply: Any) -> list[Status]:
    """Queues in three numbers. One whose name is no UTF-8 can't be asked for, and is left out."""
    shown = [(key, Status(key.decode(errors="replace"), *numbers[:3])) for key, *numbers in reply]
    return [row for key, row in shown if row.name.encode() == key]


def read_consumers(reply: Any) -> list[Consumer]:
    """Those who hold messages."""
    return [Consumer(_text(row[0]), row[1], row[2] / 1000, _moment(row[3])) for row in reply or ()]


def read_ids(reply: Any) -> list[str]:
    """IDs."""
    return [id.decode() for id in reply]


def read_done(reply: Any) -> list[bool]:
    """Whether each was settled, of a reply with STATUS."""
    return [status in {b"OK", "OK"} for status in reply]


# Messages.


def read_taken(holder: Holder, reply: Any) -> list[Message]:
    """The messages of a pop, recover or claim."""
    return [_message(holder, row[1], row[2], row[3]) for row in reply or ()]


def read_held(holder: Holder, row: Any) -> Message | None:
    """The message of a row; None where there was none."""
    return None if row is None else _message(holder, row[0], row[1], row[2])


def read_range(holder: Holder, reply: Any) -> list[Message]:
    """The messages of a range."""
    return [_message(holder, row[0], row[1], row[2]) for row in reply]


def read_shown(holder: Holder, reply: Any, state: str) -> list[Message]:
    """The messages of an inspect."""
    read = {"delivered": _delivered, "dead": _dead, "scheduled": _scheduled}.get(state, _waiting)
    return [read(holder, row) for row in reply]


def _waiting(holder: Holder, row: Any) -> Message:
    return Message(holder, row[0].decode(), row[1], "waiting", 0, 0)


def _delivered(holder: Holder, row: Any) -> Message:
    return Message(holder, row[0].decode(), row[1], "delivered", row[4], row[2])


def _scheduled(holder: Holder, row: Any) -> Message:
    return Message(holder, row[0].decode(), row[1], "scheduled", 0, 0, due=row[2])


def _dead(holder: Holder, row: Any) -> Message:
    id, body, died, deliveries, failures, reason, consumer = row[:7]
    return Message(
        holder,
        id.decode(),
        body,
        "dead",
        deliveries,
        0,
        failures=failures,
        died=died,
        reason=reason,
        consumer=consumer or None,
    )


def _message(holder: Holder, id: bytes, body: bytes, meta: Any) -> Message:
    fields = _map(meta)
    state = fields[b"state"].decode()
    headers = fields.get(b"headers") or ()
    return Message(
        holder,
        id.decode(),
        body,
        state,
        fields[b"deliveries"],
        fields[b"last-delivery"],
        failures=fields.get(b"failures", 0),
        deadline=fields.get(b"deadline", 0),
        priority=fields.get(b"priority", 0),
        token=fields.get(b"token"),
        consumer=fields.get(b"consumer") or None,
        headers=list(zip(headers[::2], headers[1::2], strict=True)) if headers else None,
        due=fields.get(b"due", 0),
        died=fields.get(b"died", 0),
        reason=fields.get(b"reason"),
    )


# Numbers.


def read_info(reply: Any) -> Info | None:
    """A queue's numbers; None where there is no queue."""
    if reply is None:
        return None
    fields = {name.decode().replace("-", "_"): value for name, value in _map(reply).items()}
    return cast(Info, {name: _plain(fields[name]) for name in Info.__annotations__})


def read_settings(reply: Any) -> Settings | None:
    """A queue's settings; None where there is no queue."""
    if reply is None:
        return None
    fields = {name.decode(): value for name, value in _map(reply).items()}
    base, factor, most = (fields[f"backoff-{part}"] for part in ("base", "factor", "max"))
    fields["backoff"] = (base / 1000, float(factor), most / 1000)
    values = {name: _setting(name, fields[name]) for name in Settings.__annotations__}
    return cast(Settings, values)


def _setting(name: str, value: Any) -> object:
    return value / 1000 if name in _TIMES else _plain(value)


def _plain(value: Any) -> str | int:
    return value.decode() if isinstance(value, bytes) else cast("str | int", value)


def _text(name: bytes) -> str:
    return name.decode(errors="surrogateescape")


def _moment(milliseconds: int) -> datetime | None:
    return datetime.fromtimestamp(milliseconds / 1000, UTC) if milliseconds else None


def _map(reply: Any) -> dict[bytes, Any]:
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))
