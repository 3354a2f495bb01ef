"""Options of a queue's calls, checked, and read into those of commands."""

from reliableq.arguments import (
    MOST_TRIES,
    Duration,
    HeadersGiven,
    Moment,
    check_bound,
    check_choice,
    check_consumer,
    check_count,
    check_flag,
    check_headers,
    check_number,
    check_pending,
    milliseconds,
    term,
    unix_milliseconds,
)
from reliableq.errors import InvalidArgument
from reliableq.protocol import Delivery, Filter, Pop, check_ids

HIGHEST_PRIORITY = 255

STATES = ("waiting", "delivered", "scheduled", "dead")


def read_delivery(
    delay: Duration | None,
    at: Moment | None,
    ttl: Duration | None,
    retries: int | None,
    front: bool,
    priority: int,
    headers: HeadersGiven | None,
) -> Delivery:
    """Those of a push."""
    if delay is not None and at is not None:
        raise InvalidArgument("a push was given both delay and at", "give one of them")
    if ttl is not None and term("ttl", ttl) == 0:
        raise InvalidArgument("ttl is 0", "give a time above 0, or None for no end")
    return Delivery(
        front=check_flag("front", front),
        delay=read_time("delay", delay),
        at=None if at is None else unix_milliseconds("at", at),
        ttl=read_time("ttl", ttl),
        retries=None if retries is None else check_number("retries", retries, 0, MOST_TRIES),
        priority=check_number("priority", priority, 0, HIGHEST_PRIORITY),
        headers=() if headers is None else tuple(check_headers(headers)),
    )


def read_pop(
    name: str,
    count: int,
    lease: Duration | None,
    consumer: str | None,
    no_ack: bool,
    prefetch: bool,
    max_bytes: int | None,
) -> Pop:
    """Those of a pop."""
    if check_flag("no_ack", no_ack) and (check_flag("prefetch", prefetch) or lease is not None):
        cause = "no_ack was given with a lease or with prefetch, and what it delivers is gone at once"
        raise InvalidArgument(cause, "leave out one of them")
    return Pop(
        name,
        check_count(count),
        read_time("lease", lease),
        read_consumer("consumer", consumer),
        no_ack,
        check_flag("prefetch", prefetch),
        None if max_bytes is None else check_number("max_bytes", max_bytes, 1),
    )


def read_filter(
    state: str | None,
    pending: bool,
    idle: Duration | None,
    consumer: str | None,
    first: str | None,
    last: str | None,
) -> Filter:
    """Those of an inspection."""
    held = check_pending(pending)
    chosen = "delivered" if held else "waiting"
    if state is not None:
        chosen = check_choice("state", state, STATES)
        if held and chosen != "delivered":
            raise InvalidArgument(f"pending means delivered messages, and state is {state!r}", "give one of them")
    if idle is not None and chosen != "delivered":
        raise InvalidArgument(f"idle is for delivered messages, not {chosen} ones", 'give state="delivered"')
    if consumer is not None and chosen not in {"delivered", "dead"}:
        remedy = 'give state="delivered" or "dead"'
        raise InvalidArgument(f"consumer is for delivered and dead messages, not {chosen} ones", remedy)
    least = None if idle is None else milliseconds("idle", idle)
    return Filter(chosen, least, read_consumer("consumer", consumer), *read_bounds(first, last))


def read_bounds(first: str | None, last: str | None) -> tuple[str, str]:
    """Those of a range of IDs."""
    bounds = check_bound("first", first, "-"), check_bound("last", last, "+")
    check_ids([bound.removeprefix("(") for bound in bounds if bound not in {"-", "+"}])
    return bounds


def read_time(name: str, duration: Duration | None) -> int | None:
    """Milliseconds, or None where nothing was given."""
    return None if duration is None else term(name, duration)


def read_timeout(timeout: Duration | None, name: str = "timeout") -> int | None:
    """Milliseconds, or None to wait for ever."""
    return None if timeout is None else milliseconds(name, timeout, ", or None to wait for ever")


def read_consumer(name: str, consumer: str | None) -> bytes | None:
    """The name of a consumer, or None where nothing was given."""
    return None if consumer is None else check_consumer(name, consumer)
