"""Effects as docs/format.md describes them, written by hand, and those that a server propagated."""

from collections.abc import Iterator

from tests.support.server import Server

PUSH, DELIVER, ACKNOWLEDGE, REDELIVER, PRODUCE, FORGET = 1, 2, 3, 4, 5, 6
HEAD, MESSAGES, DELIVERIES, END, PRODUCERS, FLOOR = 16, 17, 18, 19, 20, 32

Command = list[bytes]


def number(value: int) -> bytes:
    """An unsigned number: 7 bits a byte, lowest first."""
    out = bytearray()
    while value > 127:
        out.append(value & 127 | 128)
        value >>= 7
    return bytes([*out, value])


def head(kind: int, *numbers: int, version: int = 1) -> bytes:
    return bytes([version, kind]) + b"".join(number(value) for value in numbers)


def push(first: tuple[int, int], count: int, raises: bool = False) -> bytes:
    """The head of a push of `count` messages, whose first ID is given."""
    return head(PUSH, int(raises), *first, count)


def produce(first: tuple[int, int], count: int, name: bytes, highest: int, time: int) -> bytes:
    """The head of the same by a producer, whose highest number it makes `highest`."""
    fields = number(len(name)) + name + number(highest) + number(time)
    return head(PRODUCE, 0, *first, count) + fields


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
