"""A client that waits in a blocking command."""

from typing import Any

from tests.support.client import Argument, Client
from tests.support.server import Server
from tests.support.wait import wait_until


class Waiter:
    """A connection that has sent a command which blocks."""

    def __init__(self, server: Server, *command: Argument, db: int = 0, protocol: int = 2) -> None:
        self._client = server.client(protocol=protocol, db=db)
        self._watch = server.client()
        self.id = int(self._client.call("CLIENT", "ID"))
        self._client.send(*command)
        wait_until(f"{command!r} blocks", self._blocked)

    def _blocked(self) -> bool:
        line = bytes(self._watch.call("CLIENT", "LIST", "ID", self.id)).decode()
        fields = dict(field.partition("=")[::2] for field in line.split())
        return "b" in fields.get("flags", "")

    @property
    def is_blocked(self) -> bool:
        """Whether it still waits. The server serves waiting clients at the end of each command, so
        once a command was answered there is nothing to wait for."""
        return self._blocked()

    def reply(self) -> Any:
        """The reply of the command, once it comes."""
        return self._client.read()

    def call(self, *command: Argument) -> Any:
        """Another command on the same connection, once the first was answered."""
        return self._client.call(*command)

    def close(self) -> None:
        """Breaks the connection."""
        self._client.close()
        self._watch.close()


def pop_waiting(server: Server, *keys: Argument, count: int = 1, db: int = 0, protocol: int = 2) -> Waiter:
    """A client that waits, without a limit of time, for messages of any of the keys."""
    command = ("RQ.POP", "COUNT", count, "BLOCK", 0, "KEYS", len(keys), *keys)
    return Waiter(server, *command, db=db, protocol=protocol)


def blocked_clients(client: Client) -> int:
    return int(client.info("clients")["blocked_clients"])
