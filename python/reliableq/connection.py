"""A connection to the place where queues are."""

import warnings
from types import TracebackType
from typing import NoReturn, Unpack, cast

from reliableq import protocol, settings
from reliableq.arguments import check_dump, check_flag, check_name, tagged
from reliableq.backends.base import Backend
from reliableq.backends.select import Place, open_backend
from reliableq.errors import InvalidType, SettingsChanged
from reliableq.presets import DEFAULT, Preset
from reliableq.queue import Queue
from reliableq.types import Body, Status


class Connection:
    """Gives access to queues by name, and may be used from many threads. Made by connect()."""

    __slots__ = ("_backend", "_place")

    def __init__(self, backend: Backend, place: str) -> None:
        self._backend = backend
        self._place = place

    def queue(
        self,
        name: str,
        *,
        preset: Preset | None = None,
        hash_tag: bool = False,
        **given: Unpack[settings.Given],
    ) -> Queue:
        """The queue of this name. It comes to be with its first message or setting, and ends with its last message.

        One that is made here gets a lease of 30 seconds and 3 deliveries, or those of a `preset`. Settings that are
        given are written to the queue if they differ from what it has, and a SettingsChanged tells so; without any,
        nothing is asked or changed. `hash_tag` wraps the name in braces, for proxies of clusters.
        """
        name = check_name(name)
        chosen = DEFAULT if preset is None else settings.check_preset(preset)
        values = settings.read_given(given)
        key = tagged(name) if check_flag("hash_tag", hash_tag) else name
        queue = Queue(self._backend.queue(key, new=chosen.new), self._backend, self._place, chosen)
        if values:
            _write(queue, values)
        return queue

    def names(self) -> list[str]:
        """The names of the queues that hold messages, sorted."""
        return self._backend.names()

    def status(self) -> list[Status]:
        """All queues in three numbers each, by name; those too that are only waited for."""
        return protocol.read_status(self._backend.queue("").call(protocol.STATUS))

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


def _write(queue: Queue, values: dict[str, object]) -> None:
    """Writes settings where they differ, and warns where they were others."""
    found = queue.setup()
    if found is None:
        queue.setup(**cast(settings.Given, values))
    elif changed := settings.differing(values, found):
        queue.setup(**cast(settings.Given, changed))
        warnings.warn(settings.changes(queue.name, changed, found), SettingsChanged, stacklevel=3)


def connect(place: Place) -> Connection:
    """Connects to the place that a URL names, best in a `with` statement, which closes the connection.

    `memory:` is queues in memory that only this connection sees; they end with it. `memory:name` is queues that all
    connections of this process with the same name share; they end with the process. `file:path` is queues in a
    directory, which processes of this machine share; options: `?sync=always`, `interval` or `os`. `redis://host:port/number`,
    `rediss://` and `unix:///path` are queues of a server that has loaded the module. A client of redis-py, a
    redis.Redis, may stand for its URL: it is neither closed nor changed.
    """
    return Connection(*open_backend(place))
