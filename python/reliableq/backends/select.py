"""Which backend a URL names."""

from reliableq.arguments import check_url, is_encodable
from reliableq.backends.base import Backend
from reliableq.errors import UnsupportedURL

REMEDY = (
    'use "memory:" for queues of this connection alone, or "memory:name" for queues shared in this process; '
    "a Redis or Valkey server that has loaded the module (its path: `reliableq module-path`) "
    "is used through any Redis client, with the RQ.* commands"
)


def open_backend(url: str) -> Backend:
    """Opens what the URL names. Backends are imported when they are first needed."""
    scheme, colon, rest = check_url(url).partition(":")
    if scheme != "memory" or not colon or rest.startswith("/"):
        raise UnsupportedURL(f"cannot connect to {without_password(url)!r}", REMEDY)
    if not is_encodable(rest):
        raise UnsupportedURL(f"the name in {url!r} can't be encoded as UTF-8", "give a text without lone surrogates")
    from reliableq.backends.memory import open_memory

    return open_memory(rest or None)


def without_password(url: str) -> str:
    """The URL without user and password, so that it can be shown and logged."""
    scheme, separator, rest = url.partition("://")
    authority, slash, path = rest.partition("/")
    return scheme + separator + authority.rpartition("@")[2] + slash + path
