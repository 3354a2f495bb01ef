"""A connection to the place where queues are."""

from types import TracebackType
from typing import NoReturn

from reliableq.arguments import check_dump, check_flag, check_name
from reliableq.backends.base import Backend
from reliableq.backends.select import Place, open_backend
from reliableq.errors import InvalidType
from reliableq.queue import Queue
from reliableq.types import Body


class Connection:
    """Gives access to queues by name, and may be used from many threads. Made by connect()."""

    __slots__ = ("_backend", "_place")

    def __init__(self, backend: Backend, place: str) -> None:
        self._backend = backend
        self._place = place

    def queue(self, name: str) -> Queue:
        """The queue of this name. It comes to be with its first message, and ends with its last one."""
        return Queue(self._backend.queue(check_name(name)), self._place)

    def names(self) -> list[str]:
        """The names of the queues that hold messages, sorted."""
        return self._backend.names()

    def restore(self, name: str, data: Body, replace: bool = False) -> Queue:
        """Makes a queue of what dump() of one gave, or DUMP of a server, with its lists, counts and IDs.

        One of this name that is there already is replaced only if `replace` says so.
        """
        name, replace = check_name(name), check_flag("replace", replace)
        self._backend.restore(name, check_dump(data), replace)
        return self.queue(name)

    def close(self) -> None:
        """Ends the connection: later calls raise Closed, and so do those that wait."""
        self._backend.close()

    def __reduce__(self) -> NoReturn:
        raise InvalidType("a Connection belongs to its process, and can't be pickled", "connect in the child process")

    def __repr__(self) -> str:
        return f"<Connection to {self._place!r}>"

    def __enter__(self) -> "Connection":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def connect(place: Place) -> Connection:
    """Connects to the place that a URL names, best in a `with` statement, which closes the connection.

    `memory:` is queues in memory that only this connection sees; they end with it. `memory:name` is queues that all
    connections of this process with the same name share; they end with the process. `file:path` is queues in a
    directory, which processes of this machine share; options: `?sync=always`, `interval` or `os`. `redis://host:port/number`,
    `rediss://` and `unix:///path` are queues of a server that has loaded the module. A client of redis-py, a
    redis.Redis, may stand for its URL: it is neither closed nor changed.
    """
    return Connection(*open_backend(place))
