"""Which backend a URL names, or a client of redis-py."""

import sys
from typing import TYPE_CHECKING, Union

from reliableq._native import Clock
from reliableq.arguments import check_url, is_encodable
from reliableq.backends.base import Backend
from reliableq.errors import InvalidArgument, UnsupportedURL

if TYPE_CHECKING:
    import redis

Place = Union[str, "redis.Redis"]
"""Where queues are: a URL, or a client of redis-py."""

REDIS_SCHEMES = {"redis", "rediss", "unix"}

REMEDY = (
    'use "file:path" for queues in a file, '
    '"memory:" for queues of this connection alone, "memory:name" for queues shared in this process, '
    'or "redis://host", "rediss://host" or "unix:///path" for those of a Redis or Valkey server '
    "that has loaded the module (its path: `reliableq module-path`)"
)


def open_backend(place: Place, clock: Clock | None = None) -> tuple[Backend, str]:
    """Opens what is named, and says where it is. Backends are imported when they are first needed.

    A `clock` is for queues that only this process has.
    """
    if clock is not None:
        check_own(place)
    if not isinstance(place, str) and "redis" in sys.modules and _is_of_redis(place):
        from reliableq.backends.redis import open_client

        return open_client(place)
    url = check_url(place)
    shown = without_password(url)
    scheme, colon, rest = url.partition(":")
    if scheme in REDIS_SCHEMES and rest.startswith("//"):
        return _open_server(url, shown), shown
    if scheme == "file" and colon:
        return _open_file(rest, clock), shown
    if scheme != "memory" or not colon or rest.startswith("/"):
        raise UnsupportedURL(f"cannot connect to {shown!r}", REMEDY)
    if "?" in rest:
        raise UnsupportedURL(f"queues in memory have no options, and {shown!r} has", "leave out the ? and what follows")
    if not is_encodable(rest):
        raise UnsupportedURL(f"the name in {url!r} can't be encoded as UTF-8", "give a text without lone surrogates")
    from reliableq.backends.memory import open_memory

    return open_memory(rest or None, clock), shown


def check_own(place: Place) -> None:
    """Refuses a place that has others beside this connection, and so a time of its own."""
    if isinstance(place, str) and (place == "memory:" or place.startswith("file:")):
        return
    cause = "a clock of one's own is for queues that only one connection has"
    raise InvalidArgument(cause, 'use "memory:", or "file:path" with a new file')


def without_password(url: str) -> str:
    """The URL without user, password and options, so that it can be shown and logged."""
    scheme, separator, rest = url.partition("://")
    if not separator:
        return url
    return scheme + separator + rest.rpartition("@")[2].partition("?")[0]


def _open_server(url: str, shown: str) -> Backend:
    from reliableq.backends.redis import URL_REMEDY, open_url

    path = shown.partition("://")[2].partition("/")[2]
    wanted = path.isascii() and path.isdigit() if path else True
    if (bool(path) if url.startswith("unix:") else wanted) and is_encodable(url):
        return open_url(url, shown)
    raise UnsupportedURL(f"cannot connect to {shown!r}: it is not well-formed", URL_REMEDY)


def _open_file(rest: str, clock: Clock | None) -> Backend:
    from reliableq.backends.file import open_file, read_url

    if not is_encodable(rest):
        raise UnsupportedURL("the path can't be encoded as UTF-8", "percent-encode its bytes")
    return open_file(*read_url(rest), clock)


def _is_of_redis(place: object) -> bool:
    """Whether it is of a class of redis-py, or of one made from it."""
    return any(base.__module__.partition(".")[0] == "redis" for base in type(place).__mro__)
