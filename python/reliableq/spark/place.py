"""Where the queues are, as every process of a Spark application finds it."""

import os
from dataclasses import dataclass
from urllib.parse import quote, urlencode

import reliableq
from reliableq import Connection
from reliableq.errors import Missing, UnsupportedURL


@dataclass(frozen=True, repr=False)
class Place:
    """A URL that means the same in each process. It may hold a password, so it is not shown."""

    url: str

    def open(self) -> Connection:
        """Connects."""
        return reliableq.connect(self.url)


def locate(url: str) -> Place:
    """The place that a URL means here, beside the driver."""
    scheme, _, rest = url.partition(":")
    if scheme == "memory":
        cause = f"{url!r} is the memory of one process, and Spark has many"
        raise UnsupportedURL(cause, "use a file, or a Redis or Valkey server")
    if scheme == "file":
        return Place(_file(rest))
    reliableq.connect(url).close()  # refuses what is no URL here, and not in every task; it does not connect yet
    return Place(url)


def _file(rest: str) -> str:
    """The URL of a file by its full path and its UUID. Executors have other working directories, may run on hosts where
    the path is that of another file, and must neither make nor own one."""
    from reliableq._native import file_uuid
    from reliableq.backends.file import read_url

    path, options = read_url(rest)
    full = os.path.abspath(path)
    try:
        uuid = options.uuid or file_uuid(full)
    except Missing as error:
        cause = f"there is no file {full} on {os.uname().nodename}, where Spark's driver runs"
        relative = "" if os.path.isabs(path) else "; a relative path begins where Spark was started"
        remedy = f"open it in the driver, and keep it open, or run `reliableq serve`{relative}"
        raise Missing(cause, remedy) from error
    asked = {"sync": options.sync, "timeout": options.timeout, "owner": "never", "uuid": uuid}
    return f"file:{quote(full)}?{urlencode(asked)}"
