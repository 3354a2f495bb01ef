"""What a queue is, said as plainly as possible: two lists of messages.

Messages are numbered in the order of their arrival; how a place names them (its IDs) is its own.
A queue that holds nothing is as if it had never been."""

from dataclasses import dataclass


@dataclass
class Message:
    number: int
    body: bytes
    deliveries: int = 0


class Model:
    """One queue."""

    def __init__(self) -> None:
        self.waiting: list[Message] = []
        self.delivered: list[Message] = []  # the longest delivered first
        self.sent = self.received = self.deleted = 0

    def push(self, messages: list[Message]) -> None:
        self.waiting += messages
        self.sent += len(messages)

    def pop(self, count: int) -> list[Message]:
        taken, self.waiting = self.waiting[:count], self.waiting[count:]
        return self._deliver(taken)

    def recover(self, count: int) -> list[Message]:
        """Delivers again the first `count` of those delivered, all of them being due."""
        taken, self.delivered = self.delivered[:count], self.delivered[count:]
        return self._deliver(taken)

    def _deliver(self, messages: list[Message]) -> list[Message]:
        for message in messages:
            message.deliveries += 1
        self.delivered += messages
        self.received += len(messages)
        return messages

    def ack(self, numbers: list[int]) -> list[int]:
        """Forgets the messages that are delivered; returns their numbers."""
        held = {message.number for message in self.delivered}
        done = [number for number in dict.fromkeys(numbers) if number in held]
        self.delivered = [message for message in self.delivered if message.number not in done]
        self.deleted += len(done)
        if not self.waiting and not self.delivered:
            self.clear()
        return done

    def clear(self) -> None:
        self.__init__()  # type: ignore[misc]


def window(messages: list[Message], start: int, count: int) -> list[Message]:
    """The part of a list that RQ.INSPECT shows: a negative start counts from the end."""
    first = start if start >= 0 else max(0, len(messages) + start)
    return messages[first : first + count]
