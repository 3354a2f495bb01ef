"""Queues in numbers, as status and top see them."""

from collections.abc import Sequence
from typing import NamedTuple

from reliableq import Connection, Info, Status


class Row(NamedTuple):
    """A name, and the numbers of the queue where there is one."""

    status: Status
    info: Info | None

    def number(self, field: str) -> int:
        """A number of its info; 0 where there is no queue."""
        return 0 if self.info is None else int(dict(self.info)[field])  # type: ignore[call-overload]

    @property
    def paused(self) -> str:
        """What is paused, or nothing."""
        return "" if self.info is None or self.info["paused"] == "none" else self.info["paused"]

    @property
    def described(self) -> dict[str, object]:
        """It in JSON."""
        _, total, processing, consumers = self.status
        return {
            "queue": self.status.name,
            "total": total,
            "processing": processing,
            **(self.info or {"waiting": 0, "delivered": 0}),
            "consumers": consumers,  # those that wait, too, which the info does not count
        }


def look(rq: Connection, names: Sequence[str] = ()) -> list[Row]:
    """The queues named, or all."""
    if names:
        return [Row(rq.queue(name).status(), rq.queue(name).info()) for name in names]
    return [Row(status, rq.queue(status.name).info()) for status in rq.status()]
