"""Numbers under which bodies are pushed, so that a push that is sent again is stored once."""

import os
from collections.abc import Callable, Sequence
from typing import TypeVar

from reliableq.errors import Gap, Refused

MOST_PRODUCERS = 10_000
"""For so many queues the producers are kept. Those that are let go are made anew, under new names."""

Id = TypeVar("Id")


class Producer:
    """Numbers the messages that one thread at a time pushes into one queue."""

    __slots__ = ("name", "next")

    def __init__(self) -> None:
        self.name = os.urandom(16).hex().encode()
        self.next = 1


class Producers:
    """The producers of a connection that nobody uses at the moment, by process and queue."""

    def __init__(self) -> None:
        self._idle: dict[tuple[int, str], list[Producer]] = {}

    def push(self, name: str, count: int, produce: Callable[[bytes, int], Sequence[Id | None]]) -> list[Id]:
        """Pushes so many messages under numbers of a producer that nobody else uses meanwhile, in this process or a
        forked one. `produce` is given its name and the first number, and gives the IDs.

        After any error the producer is let go: its number may be taken by what the error hid.
        """
        idle = self._of(name)
        try:
            producer = idle.pop()
        except IndexError:
            producer = Producer()
        try:
            ids = produce(producer.name, producer.next)
        except Gap:
            producer = Producer()
            ids = produce(producer.name, producer.next)
        known = [id for id in ids if id is not None]
        if len(known) < len(ids):
            raise Refused("the server takes this push for an older one", "report this: the package misnumbered it")
        producer.next += count
        idle.append(producer)
        return known

    def _of(self, name: str) -> list[Producer]:
        if len(self._idle) >= MOST_PRODUCERS:
            self._idle = {}
        return self._idle.setdefault((os.getpid(), name), [])
