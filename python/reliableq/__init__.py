"""A reliable queue: a message is kept until its consumer says that it is done with it.

import reliableq

with reliableq.connect("memory:") as rq:
    queue = rq.queue("emails")
    queue.push(b"hello")
    message = queue.pop(timeout=5)
    print(message.body)
    message.ack()
"""

from reliableq._native import __version__
from reliableq.connection import Connection, connect
from reliableq.errors import (
    Closed,
    Damaged,
    Error,
    Exhausted,
    InvalidArgument,
    InvalidBody,
    InvalidId,
    InvalidType,
    MissingModule,
    MissingPackage,
    Refused,
    Unavailable,
    UnsupportedURL,
    WrongType,
)
from reliableq.message import Message
from reliableq.queue import Queue
from reliableq.types import Body, Info

__all__ = [
    "Body",
    "Closed",
    "Connection",
    "Damaged",
    "Error",
    "Exhausted",
    "Info",
    "InvalidArgument",
    "InvalidBody",
    "InvalidId",
    "InvalidType",
    "Message",
    "MissingModule",
    "MissingPackage",
    "Queue",
    "Refused",
    "Unavailable",
    "UnsupportedURL",
    "WrongType",
    "__version__",
    "connect",
]
