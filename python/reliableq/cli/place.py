"""Where the queues are: the option --url, on the group or on a subcommand, or the environment."""

from collections.abc import Callable
from functools import wraps

import click

import reliableq
from reliableq import Connection

VARIABLE = "RELIABLEQ_URL"

HELP = "Where the queues are: file:jobs.rq, redis://host:port, rediss://…, unix:///path."

Run = Callable[..., int | None]


def connected(run: Run) -> Run:
    """Gives a subcommand the option --url, and as its first argument the connection."""

    @click.option("--url", help=f"{HELP} Before the subcommand or after it.")
    @wraps(run)
    def with_connection(url: str | None, **arguments: object) -> int | None:
        with reliableq.connect(check(url or of_group())) as rq:
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


__all__ = ["HELP", "VARIABLE", "Connection", "Run", "check", "connected", "of_group"]
