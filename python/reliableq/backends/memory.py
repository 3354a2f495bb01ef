"""Queues in the memory of this process: gone when it ends, and unknown to others."""

from reliableq._native import Clock, Embedded
from reliableq.backends.base import Backend


def open_memory(name: str | None, clock: Clock | None = None) -> Backend:
    """Queues of its own, or those that every connection with this name shares for as long as the process lives."""
    return Embedded.memory(name, clock)
