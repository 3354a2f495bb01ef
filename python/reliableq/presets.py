"""Settings of the queues that the package makes, by the systems that they are known from."""

from typing import NamedTuple


class Preset(NamedTuple):
    """What a queue gets when a push makes it. One that exists is not changed."""

    lease: float
    """Seconds after which a delivered message returns; 0: never."""
    deliveries: int
    """The failed delivery that is the last; 0: no limit."""

    @property
    def new(self) -> tuple[int, int]:
        """The same as it is sent: milliseconds, and deliveries."""
        return round(self.lease * 1000), self.deliveries


DEFAULT = Preset(30, 3)
"""What a queue gets unless told otherwise."""

OKQ = Preset(30, 0)
"""As okq: no limit of deliveries."""

DURABLE = Preset(300, 3)
"""As durable-message-queue: five minutes."""

PLAIN = Preset(0, 0)
"""As RedisRQ: neither lease nor limit, and recovery by recover() alone."""
