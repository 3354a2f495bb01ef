"""Replies as bytes on the wire, where a parsed one would hide a difference."""

import socket

from tests.support.wait import DEADLINE


class Wire:
    """A socket that speaks RESP by hand."""

    def __init__(self, port: int, protocol: int = 2) -> None:
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=DEADLINE)
        if protocol == 3:
            self.send(b"HELLO", b"3")
            self._drain()

    def __enter__(self) -> "Wire":
        return self

    def __exit__(self, *_: object) -> None:
        self._socket.close()

    def send(self, *command: bytes) -> None:
        parts = [b"*%d\r\n" % len(command)]
        parts += [b"$%d\r\n%s\r\n" % (len(word), word) for word in command]
        self._socket.sendall(b"".join(parts))

    def call(self, *command: bytes) -> bytes:
        """Sends a command and returns every byte of its reply."""
        self.send(*command)
        return self._drain()

    def _drain(self) -> bytes:
        """Reads up to the reply of an ECHO sent behind the command: what precedes it is whole."""
        marker = b"$10\r\nwire-drain\r\n"
        self.send(b"ECHO", b"wire-drain")
        data = b""
        while not data.endswith(marker):
            received = self._socket.recv(1 << 16)
            if not received:
                raise ConnectionError("the server closed the connection")
            data += received
        return data.removesuffix(marker)
