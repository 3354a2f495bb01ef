"""Effects as docs/format.md describes them, written by hand, and those that a server propagated."""

from collections.abc import Iterator

from tests.support.server import Server

PUSH, DELIVER, ACKNOWLEDGE, STORE, TAKE, FORGET, FORGET_TOKENS, ACKNOWLEDGE_AT = range(1, 9)
AGAIN, RETURN, EXTEND, REMOVE, DUE, EXPIRE, REDRIVE = range(9, 16)
HEAD, MESSAGES, DELIVERIES, END, PRODUCERS, RESTING, LETTERS, SCHEDULE, LANES, TOKENS = range(16, 26)
FLOOR, FLUSH, TRIM, SETUP, PAUSE, DUPLICATES = range(32, 38)

LISTS = {ACKNOWLEDGE, ACKNOWLEDGE_AT, AGAIN, RETURN, EXTEND, REMOVE, EXPIRE, REDRIVE, FORGET, FORGET_TOKENS}
"""Kinds that end with a list: cut between two entries, they are an effect as well."""

LEASE, NACK, RECOVER, CLAIM = range(4)
"""Causes."""

WAITING, DEAD = 0, 1
"""Fates of what comes back; above 1, it is due that many milliseconds later, less one."""

Command = list[bytes]
Id = tuple[int, int]


def number(value: int) -> bytes:
    """An unsigned number: 7 bits a byte, lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def difference(start: int, end: int) -> bytes:
    """A number for the way from one to another, small when they are near."""
    return number(2 * (end - start) if end >= start else 2 * (start - end) - 1)


def text(value: bytes) -> bytes:
    return number(len(value)) + value


def ids(*all: Id) -> bytes:
    """IDs, each told by its difference from the one before."""
    return entries(*((id, b"") for id in all))


def entries(*all: tuple[Id, bytes]) -> bytes:
    """IDs in the same way, with something behind each."""
    out, (milliseconds, sequence) = b"", (0, 0)
    for (next_milliseconds, next_sequence), behind in all:
        start = sequence if next_milliseconds == milliseconds else 0
        out += difference(milliseconds, next_milliseconds) + difference(start, next_sequence) + behind
        milliseconds, sequence = next_milliseconds, next_sequence
    return out


def head(kind: int, *numbers: int, version: int = 1) -> bytes:
    return bytes([version, kind]) + b"".join(number(value) for value in numbers)


def push(first: Id, count: int, raises: bool = False) -> bytes:
    """The head of a push of `count` messages, whose first ID is given."""
    return head(PUSH, int(raises), *first, count)


def store(
    first: Id,
    count: int,
    time: int,
    *,
    new: tuple[int, int] | None = None,
    producer: tuple[bytes, int] | None = None,
    due: int | None = None,
    front: bool = False,
    fields: bytes = b"",
    drops: int = 0,
    duplicates: int = 0,
) -> bytes:
    """The head of a push with options.

    `new` are lease and deliveries of the queue, `fields` as `fields` makes them, and a producer has its highest number.
    """
    given = [new is not None, producer is not None, due is not None, front, fields, drops, duplicates]
    flags = sum(1 << bit for bit, is_given in enumerate(given) if is_given)
    out = head(STORE, 0, *first, count, time) + bytes([flags]) + b"".join(number(value) for value in new or ())
    if producer is not None:
        out += text(producer[0]) + number(producer[1])
    if due is not None:
        out += number(due)
    return out + fields + b"".join(number(value) for value in (drops, duplicates) if value)


def fields(
    priority: int = 0,
    expiry: int = 0,
    retries: int | None = None,
    token: bytes | None = None,
    headers: list[tuple[bytes, bytes]] | None = None,
) -> bytes:
    """What travels with a message; some of it must be given."""
    given = [priority, expiry, retries is not None, token is not None, headers]
    out = bytes([sum(1 << bit for bit, is_given in enumerate(given) if is_given)])
    if priority:
        out += bytes([priority])
    if expiry:
        out += number(expiry)
    if retries is not None:
        out += number(retries)
    if token is not None:
        out += text(token)
    if headers:
        out += number(len(headers)) + b"".join(text(name) + text(value) for name, value in headers)
    return out


def policy(
    flags: int = 0,
    lease: int = 0,
    deliveries: int = 0,
    backoff: tuple[int, int, int] = (0, 1000, 0),
    jitter: int = 0,
    max_length: int = 0,
    max_bytes: int = 0,
    dedup: int = 600_000,
    dead_max: int = 0,
    dead_ttl: int = 0,
    inflight: int = 0,
) -> bytes:
    """Settings; of the flags, 1 is that caps drop, 2 that what expires is dead, 4 that they are kept."""
    numbers = [flags, lease, deliveries, *backoff, jitter, max_length, max_bytes, dedup, dead_max, dead_ttl, inflight]
    return b"".join(number(value) for value in numbers)


def produce(first: Id, count: int, name: bytes, highest: int, time: int) -> bytes:
    """The head of a push by a producer, whose highest number it makes `highest`."""
    return store(first, count, time, producer=(name, highest))


def take(time: int, first: Id, count: int, flags: int = 0, lease: int = 0, consumer: bytes = b"") -> bytes:
    """The head of a delivery with options; of the flags, 1 is that nobody acknowledges, 2 that it is not begun."""
    return head(TAKE, time, *first, count, flags, lease) + text(consumer)


def again(time: int, *fates: tuple[Id, int], cause: int = RECOVER, lease: int = 0, consumer: bytes = b"") -> bytes:
    """The head of deliveries to somebody else; a fate is that it waits or that it is dead."""
    listed = entries(*((id, number(fate)) for id, fate in fates))
    return head(AGAIN, time, cause, lease) + text(consumer) + listed


def returned(time: int, *fates: tuple[Id, int], cause: int = NACK, silent: bool = False, reason: bytes = b"") -> bytes:
    """The head of deliveries that came to nothing."""
    listed = entries(*((id, number(fate)) for id, fate in fates))
    return head(RETURN, time, cause, int(silent)) + text(reason) + listed


def snapshot_head(
    last: Id,
    clock: int = 0,
    *,
    messages: int = 0,
    deliveries: int = 0,
    resting: int = 0,
    letters: int = 0,
    scheduled: int = 0,
    lined: int = 0,
    producers: int = 0,
    tokens: int = 0,
    counters: tuple[int, ...] = (0,) * 10,
    settings: bytes = policy(),
    paused: int = 0,
) -> bytes:
    """The first part of a snapshot: how much of each list follows, the counters in the order of docs/format.md."""
    counts = (messages, deliveries, resting, letters, scheduled, lined, producers, tokens)
    return head(HEAD, *last, clock, *counts, *counters) + settings + bytes([paused])


def messages(*all: tuple[Id, bytes, bytes]) -> bytes:
    """A part of a snapshot: IDs, fields (none: no bytes) and payloads."""
    rows = ((id, number(len(payload) << 1 | bool(fields)) + fields + payload) for id, fields, payload in all)
    return head(MESSAGES) + entries(*rows)


def propagated(server: Server) -> list[Command]:
    """The RQ.APPLY commands in the append-only file of a server, without the first word."""
    files = sorted((server.folder / "appendonlydir").glob("*.incr.aof"))
    return [command for path in files for command in applied(path.read_bytes())]


def applied(log: bytes) -> list[Command]:
    """The RQ.APPLY commands in an append-only file, without the first word."""
    return [command[1:] for command in _commands(log) if command[0].upper() == b"RQ.APPLY"]


def _commands(data: bytes) -> Iterator[Command]:
    """The commands of an append-only file."""
    place = 0

    def line() -> bytes:
        nonlocal place
        start, place = place, data.index(b"\r\n", place) + 2
        return data[start : place - 2]

    while place < len(data):
        if data[place : place + 1] == b"#":  # a remark, such as the time
            line()
            continue
        words = []
        for _ in range(int(line()[1:])):
            length = int(line()[1:])
            words.append(data[place : place + length])
            place += length + 2
        yield words
