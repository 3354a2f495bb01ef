"""The commands of a server: what to send for a call, and what its reply means. Nothing here sends or waits.

Replies are those of RESP2 and of RESP3, undecoded: what is a map in one is a flat array in the other.
"""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple, Protocol, cast

from reliableq._native import Message
from reliableq.arguments import ID, no_id
from reliableq.errors import (
    Error,
    Exhausted,
    Exists,
    Failed,
    Full,
    Gap,
    InvalidBody,
    InvalidDump,
    MissingModule,
    Refused,
    Unavailable,
    WrongType,
)
from reliableq.types import Body, Info

CHUNK_BYTES = 1 << 20
"""A push ends at about so many bytes, unless a single body is larger."""

ACK_CHUNK = 10_000
"""So many IDs are acknowledged by one command. Servers take a million arguments at most."""

GET_CHUNK = 1000
"""So many messages are asked for by their IDs at a time."""

NOTHING_SENT = "nothing was sent, so try again"
READ_AGAIN = "it changed nothing, so call it again"
PUSH_DOUBT = "whether it was stored is not known; when pushed again, it may be there twice"
TAKE_DOUBT = "what it may have taken stays delivered, and recover() brings it back"
RESTORE_DOUBT = "whether it was stored is not known, so look"
ACK_DOUBT = "whether it was acknowledged is not known, so do it again"

SEE_WHETHER_IT_RUNS = "see whether it runs and can be reached; "

_ID_LIMIT = 1 << 64

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


class Holder(Protocol):
    """The queue that a message belongs to, and is acknowledged through."""

    @property
    def name(self) -> str:
        """Its name."""

    def acknowledge(self, ids: Sequence[str], /) -> list[str]:
        """Lets go of messages."""


class Command(NamedTuple):
    """What to send to the server."""

    name: str
    """The queue that it is about."""
    words: tuple[bytes | int, ...]
    resend: bool
    """Whether it does no harm to send it again when no reply came."""
    doubt: str
    """What to think, and to do, when no reply came at all."""


# Calls.

PING = Command("", (b"PING",), True, NOTHING_SENT)
"""Asks whether anybody answers."""


def push(name: str, producer: bytes, sequence: int, bodies: Sequence[bytes]) -> Command:
    """Stores bodies, once however often it is sent."""
    head = (b"RQ.PUSHEX", name.encode(), b"PRODUCER", producer, b"SEQ", sequence, b"ELEMENTS", len(bodies))
    return Command(name, (*head, *bodies), True, PUSH_DOUBT)


def pop(name: str, count: int, block: int) -> Command:
    """Takes messages, and waits `block` milliseconds for the first; not at all for 0."""
    wait = (b"BLOCK", block) if block else ()
    return Command(name, (b"RQ.POP", b"COUNT", count, *wait, b"WITHMETA", b"KEYS", 1, name.encode()), False, TAKE_DOUBT)


def acknowledge(name: str, ids: Sequence[str]) -> Command:
    """Lets go of messages."""
    return Command(name, (b"RQ.ACK", name.encode(), *(id.encode() for id in ids)), True, ACK_DOUBT)


def recover(name: str, count: int, elapsed: int) -> Command:
    """Takes over messages."""
    return Command(name, (b"RQ.RECOVER", name.encode(), count, elapsed, b"WITHMETA"), False, TAKE_DOUBT)


def inspect(name: str, start: int, count: int, pending: bool) -> Command:
    """Shows messages."""
    which = (b"PENDING",) if pending else ()
    return _read(name, b"RQ.INSPECT", *which, start, count)


def peek(name: str, back: bool) -> Command:
    """Shows the next message, or the last one."""
    which = (b"BACK",) if back else ()
    return _read(name, b"RQ.PEEK", *which, b"WITHMETA")


def get(name: str, ids: Sequence[str]) -> Command:
    """Shows messages by their IDs."""
    return _read(name, b"RQ.GET", b"WITHMETA", b"IDS", len(ids), *(id.encode() for id in ids))


def range_of(name: str, first: str, last: str, count: int, reverse: bool) -> Command:
    """Shows messages in the order of their IDs."""
    order = (b"REV",) if reverse else ()
    return _read(name, b"RQ.RANGE", first.encode(), last.encode(), *order, b"COUNT", count, b"WITHMETA")


def split(name: str, parts: int) -> Command:
    """Asks for IDs that cut the queue into parts."""
    return _read(name, b"RQ.SPLIT", parts)


def length(name: str) -> Command:
    """Counts messages."""
    return _read(name, b"RQ.LEN")


def info(name: str) -> Command:
    """Asks for a queue's numbers."""
    return _read(name, b"RQ.INFO")


def dump(name: str) -> Command:
    """Asks for the whole queue."""
    return _read(name, b"DUMP")


def restore(name: str, data: bytes, replace: bool) -> Command:
    """Makes a queue of what DUMP gave."""
    option = (b"REPLACE",) if replace else ()
    return Command(name, (b"RESTORE", name.encode(), 0, data, *option), replace, RESTORE_DOUBT)


STATUS = Command("", (b"RQ.STATUS",), True, READ_AGAIN)
"""Asks for the numbers of all queues."""


def _read(name: str, verb: bytes, *words: bytes | int) -> Command:
    return Command(name, (verb, name.encode(), *words), True, READ_AGAIN)


# Arguments.


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


def check_ids(ids: Sequence[str]) -> None:
    """Refuses what is no ID, as the server would, before any is sent."""
    for id in ids:
        found = ID.fullmatch(id)
        if found is None or int(found[1]) >= _ID_LIMIT or int(found[2]) >= _ID_LIMIT:
            raise no_id(id)


# Replies.


def read_produced(reply: Any) -> list[str | None]:
    """The IDs of what a push stored, None where one is not remembered."""
    return [None if id is None else id.decode() for id in reply]


def read_names(reply: Any) -> list[str]:
    """The names of the queues that hold messages. One that is no UTF-8 can't be asked for, and is left out."""
    shown = [(key, key.decode(errors="replace")) for key, total, *_ in reply if total > 0]
    return [name for key, name in shown if name.encode() == key]


def read_ids(reply: Any) -> list[str]:
    """IDs."""
    return [id.decode() for id in reply]


def read_taken(holder: Holder, reply: Any) -> list[Message]:
    """The messages of a pop or recover."""
    return [_message(holder, row[1], row[2], row[3]) for row in reply or ()]


def read_held(holder: Holder, row: Any) -> Message | None:
    """The message of a row; None where there was none."""
    return None if row is None else _message(holder, row[0], row[1], row[2])


def read_range(holder: Holder, reply: Any) -> list[Message]:
    """The messages of a range."""
    return [_message(holder, row[0], row[1], row[2]) for row in reply]


def read_shown(holder: Holder, reply: Any, pending: bool) -> list[Message]:
    """The messages of an inspect."""
    if pending:
        return [Message(holder, row[0].decode(), row[1], "delivered", row[4], row[2]) for row in reply]
    return [Message(holder, row[0].decode(), row[1], "waiting", 0, 0) for row in reply]


def read_info(reply: Any) -> Info | None:
    """A queue's numbers. One that holds no message is none, though the server may remember its producers."""
    if reply is None:
        return None
    fields = _map(reply)
    if fields[b"waiting"] + fields[b"delivered"] == 0:
        return None
    values = {name: fields[name.replace("_", "-").encode()] for name in Info.__annotations__}
    return cast(Info, {name: value.decode() if isinstance(value, bytes) else value for name, value in values.items()})


def _message(holder: Holder, id: bytes, body: bytes, meta: Any) -> Message:
    fields = _map(meta)
    state = fields[b"state"].decode()
    return Message(holder, id.decode(), body, state, fields[b"deliveries"], fields[b"last-delivery"])


def _map(reply: Any) -> dict[bytes, Any]:
    return reply if isinstance(reply, dict) else dict(zip(reply[::2], reply[1::2], strict=True))


# Errors.


def server_error(line: str, command: Command) -> Error:
    """What an error reply means."""
    code, _, text = line.partition(" ")
    verb = cast(bytes, command.words[0]).decode()
    if code == "ERR" and text.lower().startswith("unknown command") and verb.startswith("RQ."):
        return MissingModule(f"the server does not know {verb}: it has not loaded the module", _MODULE_REMEDY)
    if code == "WRONGTYPE":
        return WrongType(f"the key {command.name!r} holds another type", "use another name for the queue")
    if code == "EXHAUSTED":
        return Exhausted("the queue has no further IDs", "drain the queue and use another")
    if code == "GAP":
        return Gap("the queue does not know the last pushes of this connection", "push again")
    if code == "BUSYKEY":
        return Exists("this name is taken already", "restore under another name, or with replace=True")
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
