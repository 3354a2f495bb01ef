"""Queues in every state, for the tests that move data about."""

from collections.abc import Callable

from tests.support.client import Client

Make = Callable[[Client], None]


def one_waiting(client: Client) -> None:
    client.push("one", "x")


def one_delivered(client: Client) -> None:
    client.push("delivered", "x")
    client.take("delivered")


def both_lists(client: Client) -> None:
    client.push("both", *"abcdef")
    client.take("both", 4)
    client.recover("both", 2)
    client.ack("both", client.pending("both")[1][0])


def every_size(client: Client) -> None:
    client.push("sizes", b"", b"\0", b"12345", *(b"s" * size for size in (63, 64, 255, 256, 4095, 4096, 70_000)))
    client.push("sizes", b"m" * (1 << 20))
    client.take("sizes", 3)


def many_messages(client: Client) -> None:
    for start in range(0, 20_000, 1000):
        client.push("many", *(b"message-%06d" % number for number in range(start, start + 1000)))
    ids = client.take("many", 9000)
    client.ack("many", *ids[:2000], *ids[3000:9000:3])
    client.recover("many", 100)


def stuck_first(client: Client) -> None:
    ids = client.push("stuck", *range(3000))
    client.take("stuck", 3000)
    client.ack("stuck", *ids[1:])
    client.push("stuck", "late")


def with_producers(client: Client) -> None:
    client.produce("produced", "one", 1, *"abc")
    client.produce("produced", "one", 3, *"cde")
    client.produce("produced", b"\xff\0", 1 << 62, "x")
    client.take("produced", 3)


def producers_alone(client: Client) -> None:
    for number in range(100):
        client.produce("remembering", f"producer-{number:04}" * 10, number + 1, "x", "y")
    client.ack("remembering", *client.take("remembering", 200))


def over_time(client: Client) -> None:
    for number in range(50):
        client.push("slow", number)
        client.call("DEBUG", "SLEEP", "0.0011")
    client.take("slow", 20)


def other_databases(client: Client) -> None:
    client.call("SELECT", 7)
    client.push("seven", "x", "y")
    client.take("seven")
    client.call("SELECT", 0)


def with_expiry(client: Client) -> None:
    client.push("mortal", "x")
    client.call("PEXPIREAT", "mortal", 4_000_000_000_000)


SCENARIOS: dict[str, Make] = {
    make.__name__: make
    for make in (
        one_waiting,
        one_delivered,
        both_lists,
        every_size,
        many_messages,
        stuck_first,
        with_producers,
        producers_alone,
        over_time,
        other_databases,
        with_expiry,
    )
}


def every_scenario(client: Client) -> None:
    for make in SCENARIOS.values():
        make(client)
