"""Where the queues are: the option --url, on the group or on a subcommand, or the environment."""

from collections.abc import Callable, Mapping
from functools import wraps

import click

import reliableq
from reliableq._native import file_uuid
from reliableq.backends.file import naming, read_url
from reliableq.errors import Missing

VARIABLE = "RELIABLEQ_URL"

HELP = "Where the queues are: file:jobs.rq, redis://host:port, rediss://…, unix:///path."

Run = Callable[..., int | None]


Makes = Callable[[Mapping[str, object]], bool]
"""Tells by the arguments of a subcommand whether it may begin a file."""


def connected(run: Run) -> Run:
    """Gives a subcommand the option --url, and as its first argument the connection. It makes no file."""
    return _connected(run, lambda arguments: False)


def connected_or_made(run: Run) -> Run:
    """The same, for those that may begin a file."""
    return _connected(run, lambda arguments: True)


def connected_or_made_if(makes: Makes) -> Callable[[Run], Run]:
    """The same, for those that may begin a file by some of their arguments."""
    return lambda run: _connected(run, makes)


def _connected(run: Run, makes: Makes) -> Run:
    @click.option("--url", help=f"{HELP} Before the subcommand or after it.")
    @wraps(run)
    def with_connection(url: str | None, **arguments: object) -> int | None:
        checked = check(url or of_group())
        with reliableq.connect(checked if makes(arguments) else check_there(checked)) as rq:
            return run(rq, **arguments)

    return with_connection


def of_group() -> str | None:
    """The URL given before the subcommand, or else by the environment."""
    url = click.get_current_context().find_root().params["url"]
    return None if url is None else str(url)


def check(url: str | None) -> str:
    """A URL that makes sense for a process that soon ends."""
    if not url:
        raise click.UsageError(f"no URL: give --url file:jobs.rq or --url redis://localhost, or set {VARIABLE}")
    if url.startswith("memory:"):
        remedy = "use file:jobs.rq for queues that stay, or redis://localhost for those of a server"
        raise click.UsageError(f"{url} is queues in the memory of one process, and this one ends at once: {remedy}")
    return url


def check_there(url: str) -> str:
    """A URL whose file, if it names one, exists: whoever only looks or takes should not make one by a typo."""
    scheme, _, rest = url.partition(":")
    if scheme == "file":
        path, _ = read_url(rest)
        try:
            with naming(path):
                file_uuid(path)
        except Missing as error:
            raise Missing(
                f"there is no file {path}", "see whether the path is right; push, serve and setup make one"
            ) from error
    return url
