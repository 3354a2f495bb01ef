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
    Capped,
    Closed,
    Corrupt,
    Damaged,
    Duplicate,
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
    NotHeld,
    Paused,
    Refused,
    SettingsChanged,
    Unavailable,
    UnsupportedURL,
    WrongType,
)
from reliableq.presets import DEFAULT, DURABLE, OKQ, PLAIN, Preset
from reliableq.queue import Queue
from reliableq.types import Body, Consumer, Headers, Info, Settings, Status

__all__ = [
    "DEFAULT",
    "DURABLE",
    "OKQ",
    "PLAIN",
    "Body",
    "Capped",
    "Closed",
    "Connection",
    "Consumer",
    "Corrupt",
    "Damaged",
    "Duplicate",
    "Error",
    "Exhausted",
    "Exists",
    "Failed",
    "Forked",
    "Full",
    "Headers",
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
    "NotHeld",
    "Paused",
    "Preset",
    "Queue",
    "Refused",
    "Settings",
    "SettingsChanged",
    "Status",
    "Unavailable",
    "UnsupportedURL",
    "WrongType",
    "__version__",
    "connect",
]
