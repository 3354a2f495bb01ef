"""The load generator: one connection that pushes, pops and acknowledges messages of one peer.

Pure Python is fast enough because nothing is decoded: payloads and IDs stay bulk strings from the
reply that brought them to the command that sends them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from bench.connection import Connection, ServerError, bulk
from bench.peer import BATCH, Peer, Step
from bench.server import Server


@dataclass(frozen=True)
class Mode:
    """How commands are sent: messages per command, commands in flight."""

    name: str
    batch: int
    depth: int


D1 = Mode("d1", 1, 1)
D64 = Mode("d64", 1, 64)
B100 = Mode("b100", BATCH, 1)
MODES = (D1, D64, B100)

MINIMUM_SIZE = 16  # a payload begins with its number

Values = Callable[[int, int], Sequence[bytes]]


class Load:
    """A producer and consumer of one peer's queue, on one server, with payloads of one size."""

    def __init__(self, server: Server, peer: Peer, mode: Mode, size: int) -> None:
        if size < MINIMUM_SIZE:
            raise ValueError(f"payloads have at least {MINIMUM_SIZE} bytes, not {size}")
        self._server = server
        self.peer = peer
        self.mode = mode
        self._size = size
        self._pushed = 0
        self._head = b"$%d\r\nm" % size
        self._tail = bytes(97 + (7 * i + i // 11) % 26 for i in range(size - 16)) + b"\r\n"
        self._connection: Connection | None = None

    def __enter__(self) -> Load:
        for words in self.peer.setup(self._size):
            self.connection.command(*words)
        return self

    def __exit__(self, *_: object) -> None:
        self.disconnect()

    @property
    def connection(self) -> Connection:
        """The connection, made anew after `disconnect`."""
        if self._connection is None:
            self._connection = Connection(self._server.port)
        return self._connection

    def disconnect(self) -> None:
        """Let go of the connection, and so of the server's buffers for it."""
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def push(self, count: int) -> list[bytes]:
        """Push `count` new messages; returns what was captured, the IDs where the peer has them."""
        start = self._pushed
        self._pushed += count
        return self._run(self.peer.push, count, lambda at, n: self._payloads(start + at, n))

    def pop(self, count: int) -> list[bytes]:
        """Take exactly `count` messages; returns their IDs, as bulk strings."""
        found = self._run(self.peer.pop, count, None)
        if self.peer.invents_ids:
            return [bulk(b"1700000000000-%d" % (i % 90 + 10)) for i in range(count)]
        return found

    def ack(self, ids: Sequence[bytes]) -> None:
        """Let go of messages: every step that it takes, over all IDs."""
        for step in self.peer.acks:
            self._run(step, len(ids), lambda at, n: ids[at : at + n])

    def recover(self, count: int) -> list[bytes]:
        """Take `count` messages again that were delivered and not acknowledged."""
        assert self.peer.recover is not None
        return self._run(self.peer.recover, count, None)

    def check_empty(self) -> None:
        """Fail when a message is left: a cycle that loses its work would look cheap."""
        if self.peer.length is not None:
            left = self.connection.command(*self.peer.length.split())
            if left != 0:
                raise ServerError(f"{self.peer.name} holds {left!r} messages, expected none")

    def _payloads(self, start: int, count: int) -> list[bytes]:
        head, tail = self._head, self._tail
        return [b"%s%015x%s" % (head, i, tail) for i in range(start, start + count)]

    def _run(self, step: Step, count: int, values: Values | None) -> list[bytes]:
        batched = self.mode.batch > 1 and step.batch is not None
        text = step.batch if batched and step.batch else step.single
        width = self.mode.batch * self.mode.depth
        if batched and count % width:
            raise ValueError(f"{count} is not a multiple of the batch of {width}")
        command = _Command(text, width if batched else 1)
        pattern = re.compile(step.reply.replace(b"{body}", _body(self._size)))
        connection, captured = self.connection, list[bytes]()
        for at in range(0, count, width):
            messages = min(width, count - at)
            commands = 1 if batched else messages
            arguments = values(at, messages) if command.takes_values and values else ()
            connection.send(command.encode(arguments, commands))
            expected = messages if step.reply_per_message else commands
            captured += connection.receive(pattern, expected)
        return captured


class _Command:
    """The constant part of a command, ready to be joined with its values."""

    def __init__(self, text: str, values: int) -> None:
        words = text.split()
        self.takes_values = words[-1] in ("{payload}", "{id}")
        self._many = values > 1
        if self.takes_values:
            words.pop()
        count = len(words) + (values if self.takes_values else 0)
        self._head = b"*%d\r\n" % count + b"".join(bulk(word.encode()) for word in words)

    def encode(self, values: Sequence[bytes], commands: int) -> bytes:
        """The bytes of `commands` commands that carry `values` between them."""
        if not self.takes_values:
            return self._head * commands
        if self._many:
            return self._head + b"".join(values)
        return self._head.join([b"", *values])


def _body(size: int) -> bytes:
    return rb"\$%d\r\n(?s:.{%d})\r\n" % (size, size)
