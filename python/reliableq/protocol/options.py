"""Options of commands, as the words that are sent."""

from collections.abc import Sequence
from typing import NamedTuple

from reliableq.protocol.command import TAKE_DOUBT, Command, Words


class Pop(NamedTuple):
    """What a pop asks for. It is sent as often as its wait has slices."""

    name: str
    count: int = 1  # type: ignore[assignment] # it hides tuple.count
    lease: int | None = None
    """Milliseconds, 0 for no end; None: as the queue says."""
    consumer: bytes | None = None
    no_ack: bool = False
    prefetch: bool = False
    max_bytes: int | None = None

    def command(self, block: int) -> Command:
        """Takes messages, and waits `block` milliseconds for the first; not at all for 0."""
        words = (
            *(b"COUNT", self.count),
            *given(b"BLOCK", block or None),
            *given(b"CONSUMER", self.consumer),
            *given(b"LEASE", self.lease),
            *flag(b"NOACK", self.no_ack),
            *flag(b"PREFETCH", self.prefetch),
            *given(b"MAXBYTES", self.max_bytes),
        )
        key = (b"WITHMETA", b"KEYS", 1, self.name.encode())
        return Command(self.name, (b"RQ.POP", *words, *key), False, TAKE_DOUBT)


class Delivery(NamedTuple):
    """How pushed messages are to be delivered. Times are milliseconds."""

    front: bool = False
    delay: int | None = None
    at: int | None = None
    ttl: int | None = None
    retries: int | None = None
    priority: int = 0
    headers: Sequence[tuple[bytes, bytes]] = ()
    token: bytes | None = None
    unique: bool = False

    def words(self) -> Words:
        """The options of a push."""
        fields = [part for pair in self.headers for part in pair]
        return (
            *flag(b"FRONT", self.front),
            *given(b"DELAY", self.delay),
            *given(b"AT", self.at),
            *given(b"TTL", self.ttl),
            *given(b"RETRIES", self.retries),
            *given(b"PRIORITY", self.priority or None),
            *_counted(b"HEADERS", len(self.headers), fields),
            *given(b"TOKEN", self.token),
            *flag(b"UNIQUE", self.unique),
        )


PLAIN = Delivery()
"""As a push without options."""


class Filter(NamedTuple):
    """Which messages an inspection shows."""

    state: str = "waiting"
    idle: int | None = None
    """Milliseconds for which nobody has settled them, at least."""
    consumer: bytes | None = None
    first: str = "-"
    last: str = "+"

    def words(self) -> Words:
        """The options of an inspection."""
        bounded = (self.first, self.last) != ("-", "+")
        return (
            *_STATES[self.state],
            *given(b"IDLE", self.idle),
            *given(b"CONSUMER", self.consumer),
            *((b"RANGE", self.first.encode(), self.last.encode()) if bounded else ()),
        )


_STATES: dict[str, Words] = {
    "waiting": (),
    "delivered": (b"PENDING",),
    "dead": (b"DEAD",),
    "scheduled": (b"SCHEDULED",),
}


def _counted(word: bytes, count: int, parts: Sequence[bytes]) -> Words:
    return (word, count, *parts) if count else ()


def given(word: bytes, value: bytes | int | None) -> Words:
    """An option and its value; nothing for None."""
    return () if value is None else (word, value)


def flag(word: bytes, holds: bool) -> Words:
    """An option that is there, or not."""
    return (word,) if holds else ()
