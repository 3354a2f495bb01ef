"""Queues that hold nothing."""

from reliableq import Queue
from reliableq.types import holds_messages


def is_empty(queue: Queue) -> bool:
    """Whether it holds no message, not even a dead one. A place that numbers pushes may remember them yet."""
    return not holds_messages(queue.info())
