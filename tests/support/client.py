"""A client that shows replies as they are: bytes stay bytes, and nothing is ever sent twice."""

from collections.abc import Iterable, Sequence
from typing import Any

import redis
from redis.backoff import NoBackoff
from redis.maint_notifications import MaintNotificationsConfig
from redis.retry import Retry

from tests.support.wait import DEADLINE

Argument = bytes | str | int
Row = list[Any]


class CommandError(Exception):
    """An error reply: its first word, and the whole line."""

    def __init__(self, error: redis.ResponseError) -> None:
        code = getattr(error, "status_code", None)
        self.line = f"{code} {error}" if code else str(error)
        self.code = self.line.partition(" ")[0]
        super().__init__(self.line)


def as_dictionary(reply: Any) -> dict[str, Any]:
    """A map, whichever protocol brought it."""
    pairs = reply.items() if isinstance(reply, dict) else zip(reply[::2], reply[1::2], strict=True)
    return {name.decode(): value for name, value in pairs}


class Client:
    """One connection of redis-py, used without its table of callbacks."""

    def __init__(
        self, port: int, protocol: int = 2, db: int = 0, user: str | None = None, patience: float = DEADLINE
    ) -> None:
        self.protocol = protocol
        self._connection: Any = redis.Connection(
            host="127.0.0.1",
            port=port,
            db=db,
            username=user,
            password="secret" if user else None,
            protocol=protocol,
            socket_timeout=patience,
            socket_connect_timeout=patience,
            driver_info=None,
            retry=Retry(NoBackoff(), 0),
            maint_notifications_config=MaintNotificationsConfig(enabled=False),
        )
        self._connection.connect()

    def __enter__(self) -> "Client":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Closes the socket at once, whatever is under way."""
        self._connection.disconnect()

    # Any command.

    def send(self, *command: Argument) -> None:
        """Sends a command without reading its reply."""
        self._connection.send_command(*command)

    def read(self) -> Any:
        """Reads the next reply; raises CommandError for an error."""
        try:
            return self._connection.read_response(disconnect_on_error=False)
        except redis.ResponseError as error:
            raise CommandError(error) from None

    def read_message(self) -> Any:
        """Reads the next message of a subscription."""
        return self._connection.read_response(push_request=True)

    def call(self, *command: Argument) -> Any:
        """Sends a command and returns its reply."""
        self.send(*command)
        return self.read()

    def call_many(self, commands: Iterable[Sequence[Argument]]) -> list[Any]:
        """Sends commands in one go; errors are among the replies."""
        packed = list(commands)
        self._connection.send_packed_command(self._connection.pack_commands(packed))
        return [self._read_any() for _ in packed]

    def transaction(self, *commands: Sequence[Argument]) -> list[Any]:
        """Runs commands within MULTI and EXEC and returns EXEC's reply."""
        replies = self.call_many([("MULTI",), *commands, ("EXEC",)])
        return [CommandError(reply) if isinstance(reply, redis.ResponseError) else reply for reply in replies[-1]]

    def _read_any(self) -> Any:
        try:
            return self.read()
        except CommandError as error:
            return error

    # The queue's commands, in the form the tests use most.

    def push(self, key: Argument, *bodies: Argument) -> list[bytes]:
        return list(self.call("RQ.PUSH", key, *bodies))

    def produce(self, key: Argument, name: Argument, sequence: int, *bodies: Argument) -> list[bytes | None]:
        words = ("PRODUCER", name, "SEQ", sequence, "ELEMENTS", len(bodies), *bodies)
        return list(self.call("RQ.PUSHEX", key, *words))

    def push_with(self, key: Argument, *options: Argument, bodies: Sequence[Argument] = ("x",)) -> list[bytes]:
        """Pushes with options."""
        return list(self.call("RQ.PUSHEX", key, *options, "ELEMENTS", len(bodies), *bodies))

    def pop(self, key: Argument, count: int = 1) -> list[Row] | None:
        reply: list[Row] | None = self.call("RQ.POP", "COUNT", count, "KEYS", 1, key)
        return reply

    def take(self, key: Argument, count: int = 1) -> list[bytes]:
        """Pops and returns the IDs; fails unless there are `count`."""
        rows = self.pop(key, count) or []
        assert len(rows) == count, f"{key!r} gave {len(rows)} messages, not {count}"
        return [row[1] for row in rows]

    def pop_with(self, key: Argument, *options: Argument) -> list[Row]:
        """Pops with options; nothing is an empty list."""
        return list(self.call("RQ.POP", *options, "KEYS", 1, key) or [])

    def bodies(self, key: Argument, *options: Argument) -> list[bytes]:
        """Pops all that waits, and returns the payloads in the order of delivery."""
        return [row[2] for row in self.pop_with(key, "COUNT", 1000, *options)]

    def ack(self, key: Argument, *ids: Argument) -> list[bytes]:
        return list(self.call("RQ.ACK", key, *ids))

    def nack(self, key: Argument, *ids: Argument, options: Sequence[Argument] = ()) -> list[Any]:
        return list(self.call("RQ.NACK", key, *options, "IDS", len(ids), *ids))

    def extend(self, key: Argument, milliseconds: int, *ids: Argument, options: Sequence[Argument] = ()) -> list[Any]:
        return list(self.call("RQ.EXTEND", key, milliseconds, *options, "IDS", len(ids), *ids))

    def recover(self, key: Argument, count: int = 1000, elapsed: int = 0) -> list[Row]:
        return list(self.call("RQ.RECOVER", key, count, elapsed))

    def waiting(self, key: Argument, start: int = 0, count: int = 1000) -> list[Row]:
        return list(self.call("RQ.INSPECT", key, start, count))

    def pending(self, key: Argument, start: int = 0, count: int = 1000) -> list[Row]:
        return list(self.call("RQ.INSPECT", key, "PENDING", start, count))

    def dead(self, key: Argument, start: int = 0, count: int = 1000) -> list[Row]:
        return list(self.call("RQ.INSPECT", key, "DEAD", start, count))

    def scheduled(self, key: Argument, start: int = 0, count: int = 1000) -> list[Row]:
        return list(self.call("RQ.INSPECT", key, "SCHEDULED", start, count))

    def setup(self, key: Argument, *settings: Argument) -> None:
        assert self.call("RQ.SETUP", key, *settings) == b"OK"

    def meta(self, key: Argument, id: Argument) -> dict[str, Any]:
        """All that is known of a message."""
        (row,) = self.call("RQ.GET", key, "WITHMETA", "IDS", 1, id)
        assert row is not None, f"{key!r} has no {id!r}"
        return as_dictionary(row[2])

    def length(self, key: Argument) -> int:
        return int(self.call("RQ.LEN", key))

    def queue_info(self, key: Argument) -> dict[str, Any] | None:
        """RQ.INFO as a dictionary, whichever protocol brought it."""
        reply = self.call("RQ.INFO", key)
        return None if reply is None else as_dictionary(reply)

    def facts(self, key: Argument, *names: str) -> tuple[Any, ...]:
        """Some fields of RQ.INFO."""
        info = self.queue_info(key)
        assert info is not None, f"there is no queue {key!r}"
        return tuple(info[name] for name in names)

    # The server's commands.

    def digest(self, key: Argument) -> bytes:
        """The digest of everything the key holds; zeros when there is no key."""
        return bytes(self.call("DEBUG", "DIGEST-VALUE", key)[0])

    def dataset_digest(self) -> bytes:
        return bytes(self.call("DEBUG", "DIGEST"))

    def exists(self, key: Argument) -> bool:
        return bool(self.call("EXISTS", key))

    def info(self, section: str) -> dict[str, str]:
        """A section of INFO as a dictionary."""
        text = bytes(self.call("INFO", section)).decode()
        lines = (line.partition(":") for line in text.splitlines() if ":" in line)
        return {name: value for name, _, value in lines}

    def totals(self) -> dict[str, int]:
        """The module's totals: sent, received, returned, dead, deleted."""
        section = self.info("reliableq_totals")
        names = ("sent", "received", "returned", "dead", "deleted")
        return {name: int(section[f"reliableq_{name}"]) for name in names}
