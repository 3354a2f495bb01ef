"""A message as its consumer sees it."""

from collections.abc import Callable
from datetime import UTC, datetime


class Message:
    """A message of a queue. It stays in the queue until it is acknowledged."""

    __slots__ = ("_last_delivery", "_settle", "body", "deliveries", "id", "queue")

    def __init__(
        self, settle: Callable[[str], bool], queue: str, id: str, body: bytes, deliveries: int, last_delivery: int
    ) -> None:
        self._settle = settle
        self._last_delivery = last_delivery
        self.queue = queue
        """Name of its queue."""
        self.id = id
        """Its ID, `milliseconds-sequence`."""
        self.body = body
        """Its payload."""
        self.deliveries = deliveries
        """How often it was delivered, this time included."""

    @property
    def last_delivery(self) -> datetime | None:
        """When it was last delivered; None for one that still waits."""
        if self._last_delivery == 0:
            return None
        return datetime.fromtimestamp(self._last_delivery / 1000, UTC)

    def ack(self) -> bool:
        """Says that the work on it is done, so that the queue lets go of it.

        Returns whether this call did it: not when it was acknowledged before, or still waits.
        """
        return self._settle(self.id)

    def __repr__(self) -> str:
        body = self.body if len(self.body) <= 40 else self.body[:40] + b"..."
        return f"<Message {self.id} of {self.queue!r}, deliveries={self.deliveries}, body={body!r}>"
