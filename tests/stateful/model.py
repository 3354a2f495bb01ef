"""What a queue is, said as plainly as possible: two lists of messages, and the producers it remembers.

Messages are numbered in the order of their arrival; how a place names them (its IDs) is its own.
A queue that holds nothing is as if it had never been."""

from collections import Counter
from dataclasses import dataclass, field
from enum import Enum, auto


@dataclass
class Message:
    number: int
    body: bytes
    deliveries: int = 0


@dataclass
class Producer:
    highest: int = 0
    latest: list[int] = field(default_factory=list)
    """The messages of its latest push that stored any: they end with its highest number."""


class Gap(Exception):
    """A push that leaves numbers out."""


class Memory(Enum):
    """What a place remembers of a queue whose messages are gone. While it remembers anything, the queue goes on to
    count; else it ceases to exist, and counts anew."""

    NOTHING = auto()
    PRODUCERS = auto()
    """Those that were named, by the steps that do."""
    PUSHES = auto()
    """Each push, since each has a producer. A queue without messages is not told of, though."""


class Model:
    """One queue."""

    def __init__(self) -> None:
        self.waiting: list[Message] = []
        self.delivered: list[Message] = []  # the longest delivered first
        self.producers: dict[str, Producer] = {}
        self._counted: Counter[str] = Counter()
        self._forgotten: dict[Memory, Counter[str]] = {memory: Counter() for memory in Memory}

    @property
    def held(self) -> list[Message]:
        """All messages, in the order of their arrival."""
        return sorted(self.waiting + self.delivered, key=lambda message: message.number)

    def counters(self, memory: Memory) -> dict[str, int] | None:
        """What a place tells of the queue."""
        if not self.held and not (memory is Memory.PRODUCERS and self.producers):
            return None
        names = ("sent", "received", "returned", "dead", "deleted")
        counted = {name: self._counted[name] - self._forgotten[memory][name] for name in names}
        return {"waiting": len(self.waiting), "delivered": len(self.delivered), **counted}

    def push(self, messages: list[Message]) -> None:
        self.waiting += messages
        self._counted["sent"] += len(messages)

    def stored(self, name: str, sequence: int, count: int) -> list[int | None]:
        """The leading ones of `count` elements from number `sequence` on that a producer has pushed
        before: the message that each became, if it was of the latest push."""
        producer = self.producers.get(name)
        if producer is None:
            return []
        if sequence > producer.highest + 1:
            raise Gap
        first = producer.highest + 1 - len(producer.latest)
        numbers = range(sequence, min(sequence + count, producer.highest + 1))
        return [producer.latest[number - first] if number >= first else None for number in numbers]

    def produce(self, name: str, highest: int, messages: list[Message]) -> None:
        """Stores new messages of a producer; the last of them has its number `highest`."""
        self.push(messages)
        self.producers[name] = Producer(highest, [message.number for message in messages])

    def pop(self, count: int) -> list[Message]:
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        return self._deliver(taken)

    def recover(self, count: int) -> list[Message]:
        """Delivers again the first `count` of those delivered, all of them being due."""
        taken, self.delivered = self.delivered[:count], self.delivered[count:]
        self._counted["returned"] += len(taken)
        return self._deliver(taken)

    def _deliver(self, messages: list[Message]) -> list[Message]:
        for message in messages:
            message.deliveries += 1
        self.delivered += messages
        self._counted["received"] += len(messages)
        return messages

    def ack(self, numbers: list[int]) -> list[int]:
        """Forgets the messages that are delivered; returns their numbers."""
        held = {message.number for message in self.delivered}
        done = [number for number in dict.fromkeys(numbers) if number in held]
        self.delivered = [message for message in self.delivered if message.number not in done]
        self._counted["deleted"] += len(done)
        self._forget_if_empty()
        return done

    def clear(self) -> None:
        """Takes and acknowledges all, and forgets the producers. Who counts anew then takes it for deleted."""
        self.producers = {}
        self.pop(len(self.waiting))
        self.ack([message.number for message in self.delivered])
        self._forget_if_empty()

    def _forget_if_empty(self) -> None:
        if not self.held:
            self._forgotten[Memory.NOTHING] = Counter(self._counted)
            if not self.producers:
                self._forgotten[Memory.PRODUCERS] = Counter(self._counted)


def window(messages: list[Message], start: int, count: int) -> list[Message]:
    """The part of a list that RQ.INSPECT shows: a negative start counts from the end."""
    first = start if start >= 0 else max(0, len(messages) + start)
    return messages[first : first + count]


@dataclass
class Bound:
    """An end of a range: a message, or beyond all of them."""

    number: int | None
    out: bool = False
    """Whether the message itself is left out."""


def part(messages: list[Message], low: Bound, high: Bound, backwards: bool, count: int) -> list[Message]:
    """The part of a list in the order of arrival that RQ.RANGE shows."""
    above = [message for message in messages if low.number is None or message.number >= low.number + low.out]
    shown = [message for message in above if high.number is None or message.number <= high.number - high.out]
    return (shown[::-1] if backwards else shown)[:count]
