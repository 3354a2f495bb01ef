"""The types of what goes in and out."""

from typing import TypedDict

Body = bytes | bytearray | memoryview
"""A payload."""


class Info(TypedDict):
    """A queue in numbers."""

    waiting: int
    """Messages that wait to be delivered."""
    delivered: int
    """Messages delivered and not acknowledged."""
    sent: int
    """Messages ever pushed."""
    received: int
    """Deliveries, those by recover() included."""
    returned: int
    """Deliveries that nobody acknowledged, so that recover() took them back."""
    dead: int
    """Messages that became dead letters."""
    deleted: int
    """Messages acknowledged, and so deleted."""
    memory: int
    """Bytes allocated."""
    first_id: str
    """ID of the oldest message held."""
    last_id: str
    """The last ID made."""
    age: int
    """Milliseconds since the oldest message held was pushed."""
