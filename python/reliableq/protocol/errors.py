"""What an error reply means, and what it means that none came."""

from typing import cast

from reliableq.errors import (
    Capped,
    Duplicate,
    Error,
    Exhausted,
    Exists,
    Failed,
    Full,
    Gap,
    InvalidDump,
    MissingModule,
    NotHeld,
    Paused,
    Refused,
    Unavailable,
    WrongType,
)
from reliableq.protocol.command import NOTHING_SENT, SEE_WHETHER_IT_RUNS, Command

_MODULE_REMEDY = (
    "load it: `loadmodule` and its path (`reliableq module-path` prints it) in the server's configuration, "
    "and restart the server"
)

_REMEDIES = {
    "NOPERM": "have the user allowed to run the RQ.* commands on this key (ACL SETUSER)",
    "NOAUTH": "give user and password, redis://user:password@host",
    "WRONGPASS": "give the right user and password",
    "OOM": "raise the server's maxmemory, or have messages acknowledged; pop and ack work meanwhile",
    "READONLY": "connect to the primary: this server is a replica",
    "MISCONF": "look into the server's log: it can't save its data",
    "NOREPLICAS": "look after the server's replicas: it demands more of them than it has",
    "MOVED": "connect to the node that holds this queue; clusters are not followed",
    "ASK": "connect to the node that holds this queue; clusters are not followed",
}
"""What to do about an error of the server, by its first word."""

_WAITING = {"LOADING", "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN", "BUSY"}
"""Errors that pass by themselves."""

_FAILED = {"POISONED", "IOERR"}
"""Errors of the disk that the owner of a file has."""

_OF_QUEUE: dict[str, tuple[type[Error], str]] = {
    "DUPLICATE": (Duplicate, "give another token; without unique=True, push() returns that message's ID"),
    "CAPPED": (Capped, "push again when messages were acknowledged, or raise the cap with setup()"),
    "PAUSED": (Paused, 'resume("push") lets them go on'),
    "NOTHELD": (NotHeld, "nothing was changed; somebody else holds it now, or it was settled before"),
}
"""Errors of a queue whose text tells the cause, with their remedies."""

_FIXED: dict[str, Error] = {
    "EXHAUSTED": Exhausted("the queue has no further IDs", "drain the queue and use another"),
    "GAP": Gap("the queue does not know the last pushes of this connection", "push again"),
    "BUSYKEY": Exists("this name is taken already", "restore under another name, or with replace=True"),
}


def server_error(line: str, command: Command) -> Error:
    """What an error reply means."""
    code, _, text = line.partition(" ")
    verb = cast(bytes, command.words[0]).decode()
    if code == "ERR" and text.lower().startswith("unknown command") and verb.startswith("RQ."):
        return MissingModule(f"the server does not know {verb}: it has not loaded the module", _MODULE_REMEDY)
    if code == "WRONGTYPE":
        return WrongType(f"the key {command.name!r} holds another type", "use another name for the queue")
    if fixed := _FIXED.get(code):
        return type(fixed)(fixed.cause, fixed.remedy)
    if code in _OF_QUEUE:
        kind, remedy = _OF_QUEUE[code]
        return kind(text.partition("; ")[0].partition(", expected")[0], remedy)
    if verb == "RESTORE" and code == "ERR":
        return InvalidDump(f"the server refuses the dump: {text}", "give what dump() of a queue gave")
    if code == "FULL":
        return Full(*_told(text))
    if code in _FAILED:
        return Failed(*_told(text))
    if code in _WAITING:
        return Unavailable(f"the server can't answer yet: {line}", "try again later")
    return Refused(f"the server refuses: {line}", _REMEDIES.get(code, "see what the server says, here and in its log"))


def _told(text: str) -> tuple[str, str]:
    """Cause and remedy of a text that has both."""
    cause, _, remedy = text.partition("; ")
    return cause, remedy or "see to what it says, and try again"


def in_doubt(error: Error, command: Command) -> Error:
    """The same error for a command that was sent before, and got no reply then."""
    return type(error)(error.cause, f"{error.remedy}; it was sent before without an answer: {command.doubt}")


def no_reply(reason: str, doubt: str) -> Error:
    """What it means that the server could not be asked, or did not answer."""
    return Unavailable(f"no answer from the server: {reason}", f"{SEE_WHETHER_IT_RUNS}{doubt}")


def was_sent(error: Unavailable) -> bool:
    """Whether a command may have been done though this was its outcome."""
    return not error.remedy.endswith(NOTHING_SENT)
