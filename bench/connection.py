"""A raw connection to the server: single commands for set-up, round trips of bytes for load."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence

Reply = bytes | int | None | list["Reply"]

# Far beyond any honest answer, also under valgrind: a wrong reply pattern must not hang the run.
PATIENCE_SECONDS = 300.0
CHUNK = 1 << 18


class ServerError(Exception):
    """An error reply, or a reply of an unexpected shape."""


def bulk(word: bytes) -> bytes:
    """A word as RESP's bulk string."""
    return b"$%d\r\n%s\r\n" % (len(word), word)


def encode(words: Sequence[bytes | str | int]) -> bytes:
    """A whole command in RESP."""
    raw = [word if isinstance(word, bytes) else str(word).encode() for word in words]
    return b"*%d\r\n" % len(raw) + b"".join(map(bulk, raw))


class Connection:
    """One TCP connection on loopback."""

    def __init__(self, port: int) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_SECONDS)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._reader = self._socket.makefile("rb")

    def __enter__(self) -> Connection:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close; the server frees its buffers when it notices."""
        self._reader.close()
        self._socket.close()

    def send(self, data: bytes) -> None:
        """Send bytes that are already RESP."""
        self._socket.sendall(data)

    def command(self, *words: bytes | str | int) -> Reply:
        """One command and its reply. Not to be mixed with an unfinished `receive`."""
        self.send(encode(words))
        return self.reply()

    def reply(self) -> Reply:
        """Read one RESP2 reply."""
        line = self._reader.readline()
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return rest
        if kind == b":":
            return int(rest)
        if kind == b"$":
            size = int(rest)
            return None if size < 0 else self._reader.read(size + 2)[:-2]
        if kind == b"*":
            count = int(rest)
            return None if count < 0 else [self.reply() for _ in range(count)]
        raise ServerError(rest.decode(errors="replace") or "connection closed")

    def receive(self, pattern: re.Pattern[bytes], expected: int) -> list[bytes]:
        """Read until `pattern` was found `expected` times; returns what it captured.

        The last match of a round trip ends its last reply, so nothing is left over.
        """
        data = b""
        while True:
            chunk = self._socket.recv(CHUNK)
            if not chunk:
                raise ServerError("connection closed")
            data = data + chunk if data else chunk
            found: list[bytes] = pattern.findall(data)
            if len(found) >= expected:
                return found
            if data[:1] == b"-" or b"\r\n-" in data:
                raise ServerError(data[:200].decode(errors="replace"))
