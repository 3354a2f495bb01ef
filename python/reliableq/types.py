"""The types of what goes in and out."""

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import NamedTuple, TypedDict

Body = bytes | bytearray | memoryview
"""A payload."""


class Info(TypedDict):
    """A queue in numbers."""

    waiting: int
    """Messages that wait to be delivered."""
    delivered: int
    """Messages delivered and not settled."""
    scheduled: int
    """Messages that are not due yet."""
    dead_letters: int
    """Dead messages that it keeps."""
    consumers: int
    """Named consumers that hold something."""
    bytes: int
    """Bytes of bodies and headers, as the setting `maxbytes` counts them."""
    paused: str
    """What is paused: "none", "push", "pop" or "all"."""
    sent: int
    """Messages ever pushed."""
    received: int
    """Deliveries, those by recover() and claim() included."""
    returned: int
    """Deliveries that came to nothing: the sum of the next three."""
    returned_lease: int
    """Deliveries whose lease ended."""
    returned_nack: int
    """Deliveries ended by nack(), or with their consumer."""
    returned_recover: int
    """Deliveries that recover() took over."""
    dead: int
    """Messages that ever became dead letters."""
    deleted: int
    """Messages acknowledged, and so deleted."""
    cancelled: int
    """Messages removed by delete() or flush()."""
    expired: int
    """Messages that the queue let go by itself: time to live, caps, bounds of the dead letters."""
    duplicates: int
    """Messages pushed again, by token or number, and not stored."""
    memory: int
    """Bytes allocated."""
    first_id: str
    """ID of the oldest message, dead ones included; "0-0" without any."""
    last_id: str
    """The last ID made; new ones are above it."""
    age: int
    """Milliseconds since the oldest message was pushed; 0 without any."""


def holds_messages(info: Info | None) -> bool:
    """Whether a queue has any, dead ones included. One is kept without for its settings, or for what it remembers."""
    return info is not None and bool(info["waiting"] + info["delivered"] + info["scheduled"] + info["dead_letters"])


class Settings(TypedDict):
    """What a queue does by itself. Times are seconds; 0 is none, but for `dedup`."""

    lease: float
    """After so long a delivered message returns."""
    deliveries: int
    """The failed delivery that is the last."""
    backoff: tuple[float, float, float]
    """How long a message waits after a failure: base, the factor for each further one, and at most."""
    jitter: int
    """Percent of the back-off that may be taken off."""
    maxlen: int
    """Most messages held."""
    maxbytes: int
    """Most bytes of bodies and headers held."""
    overflow: str
    """What happens to a push beyond these: "reject", or "drop" what waits longest."""
    dedup: float
    """So long tokens and producers are remembered."""
    expired: str
    """What happens to a message whose time to live is over: "drop" or "dead"."""
    deadmax: int
    """Most dead letters."""
    deadttl: float
    """After so long a dead letter goes."""
    inflight: int
    """Most messages delivered, for each named consumer and for all unnamed ones together."""


class Status(NamedTuple):
    """A queue in three numbers."""

    name: str
    total: int
    """Messages held, as len(queue) counts them."""
    processing: int
    """Those of them that are delivered."""
    consumers: int
    """Consumers that wait, are registered, or hold something."""


class Consumer(NamedTuple):
    """Somebody who holds messages of a queue under a name."""

    name: str
    pending: int
    """So many it holds."""
    idle: float
    """Seconds since it was last seen."""
    last_seen: datetime | None
    """When it last popped, in UTC; None when this place has not seen it."""


class Headers(Mapping[str, str]):
    """Names and values that travel with a message. Order, duplicates and bytes are kept.

    As a mapping it has the first value of each name. Bytes that are no UTF-8 come as lone surrogates, and go back
    into the same bytes when they are pushed.
    """

    __slots__ = ("raw",)

    raw: tuple[tuple[bytes, bytes], ...]
    """All of them, as bytes."""

    def __init__(self, pairs: Iterable[tuple[bytes, bytes]] = ()) -> None:
        self.raw = tuple(pairs)

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """All of them, in their order."""
        return [(_text(name), _text(value)) for name, value in self.raw]

    def __getitem__(self, name: str) -> str:
        for found, value in self.raw:
            if _text(found) == name:
                return _text(value)
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(dict.fromkeys(_text(name) for name, _ in self.raw))

    def __len__(self) -> int:
        return len({name for name, _ in self.raw})

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Headers):
            return self.raw == other.raw
        if isinstance(other, Mapping):
            return self.pairs == list(other.items()) if len(self) < len(self.raw) else dict(self) == dict(other)
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return f"Headers({self.pairs!r})"


def _text(part: bytes) -> str:
    return part.decode(errors="surrogateescape")
