"""A reliable queue: a message is kept until its consumer says that it is done with it.

import reliableq

with reliableq.connect("memory:") as rq:
    queue = rq.queue("emails")
    queue.push(b"hello")
    message = queue.pop(timeout=5)
    print(message.body)
    message.ack()
"""

from reliableq._native import Message, __version__
from reliableq.connection import Connection, connect
from reliableq.errors import (
    Closed,
    Corrupt,
    Damaged,
    Error,
    Exhausted,
    Exists,
    Failed,
    Forked,
    Full,
    InvalidArgument,
    InvalidBody,
    InvalidDump,
    InvalidId,
    InvalidType,
    Missing,
    MissingModule,
    MissingPackage,
    Refused,
    Unavailable,
    UnsupportedURL,
    WrongType,
)
from reliableq.queue import Queue
from reliableq.types import Body, Info

__all__ = [
    "Body",
    "Closed",
    "Connection",
    "Corrupt",
    "Damaged",
    "Error",
    "Exhausted",
    "Exists",
    "Failed",
    "Forked",
    "Full",
    "Info",
    "InvalidArgument",
    "InvalidBody",
    "InvalidDump",
    "InvalidId",
    "InvalidType",
    "Message",
    "Missing",
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
