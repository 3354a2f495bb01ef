"""Bodies and IDs as they are sent, and so many of them at a time as one command takes."""

from collections.abc import Iterator, Sequence
from typing import TypeVar

from reliableq.arguments import RECEIPT, no_id
from reliableq.errors import InvalidBody
from reliableq.types import Body

CHUNK_BYTES = 1 << 20
"""A push ends at about so many bytes, unless a single body is larger."""

ACK_CHUNK = 10_000
"""So many IDs are settled by one command. Servers take a million arguments at most."""

GET_CHUNK = 1000
"""So many messages are asked for by their IDs at a time."""

_ID_LIMIT = 1 << 64
_DELIVERY_LIMIT = 1 << 32

Item = TypeVar("Item")


def body_bytes(body: Body) -> bytes:
    """A body as it is sent."""
    if type(body) is bytes:
        return body
    try:
        return memoryview(body).tobytes()
    except TypeError:
        cause = f"a body is bytes, bytearray or memoryview, not {type(body).__name__}"
        remedy = "turn text into bytes with text.encode()" if isinstance(body, str) else "turn it into bytes"
        raise InvalidBody(cause, remedy) from None


def chunks(bodies: Sequence[bytes]) -> Iterator[Sequence[bytes]]:
    """Bodies in parts that one command takes."""
    start = size = 0
    for position, body in enumerate(bodies):
        if position > start and size + len(body) > CHUNK_BYTES:
            yield bodies[start:position]
            start, size = position, 0
        size += len(body)
    if start < len(bodies):
        yield bodies[start:]


def parts(items: Sequence[Item], size: int = ACK_CHUNK) -> Iterator[Sequence[Item]]:
    """IDs or the like in parts that one command takes."""
    for start in range(0, len(items), size):
        yield items[start : start + size]


def check_ids(ids: Sequence[str]) -> None:
    """Refuses what is neither ID nor receipt, as the server would, before any is sent."""
    for id in ids:
        found = RECEIPT.fullmatch(id)
        if found is None or int(found[1]) >= _ID_LIMIT or int(found[2]) >= _ID_LIMIT:
            raise no_id(id)
        if int(found[3] or 1) >= _DELIVERY_LIMIT:
            raise no_id(id)


def message_id(receipt: str) -> str:
    """The ID in a receipt, or the ID itself."""
    return receipt.partition("@")[0]
