"""Queues between this process and every supported server, as DUMP gives them and RESTORE takes them; and so
between servers that refuse each other's dumps."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime

import pytest
import reliableq

from tests.support.client import Client, CommandError
from tests.support.payload import with_checksum
from tests.support.server import Server, module_path, named_command

NAMES = ("redis-7.0", "redis-8.0", "valkey-8.1", "valkey-9.1")
REFUSED = "DUMP payload version or checksum are wrong"

BODIES = {
    "short": [b"%05d" % number for number in range(200)],
    "numbers": [b"12345", b"-1", b"127", b"32768", b"2147483647", b"9223372036854775807"] * 30,
    "medium": [b"message number %010d" % number for number in range(200)],
    "long": [b"%05d" % number * 1000 for number in range(40)],
    "mixed": [b"", bytes(range(256)), b"x" * 100_000, b"12345", b"y" * 63, b"z" * 16_384] * 5,
}
"""Elements of 5, 25 and 5,000 bytes, numbers, and those around the servers' forms of lengths and compression."""

assert {len(body) for name in ("short", "medium", "long") for body in BODIES[name]} == {5, 25, 5000}

Serving = Callable[[str], Server]
Rows = list[tuple[str, bytes, int, datetime | None]]


@pytest.fixture(scope="module")
def serving(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Serving]:
    """Gives the server of a name, started when it is first asked for."""
    started: dict[str, Server] = {}

    def serve(name: str) -> Server:
        if name not in started:
            started[name] = Server(named_command(name), module_path(), tmp_path_factory.mktemp(name)).start()
        with started[name].client() as client:
            client.call("FLUSHALL")
        return started[name]

    yield serve
    try:
        for server in started.values():
            server.check_health()
    finally:
        for server in started.values():
            server.kill()


@pytest.fixture
def memory() -> Iterator[reliableq.Connection]:
    with reliableq.connect("memory:") as connection:
        yield connection


# One queue in every state that a message can have, made on a server or here.


def fill_server(client: Client, bodies: list[bytes]) -> None:
    client.push("q", *bodies)
    client.produce("q", "producer", 2, b"numbered", b"12345")
    taken = client.take("q", len(bodies) // 2)
    client.ack("q", *taken[::3])
    client.recover("q", len(bodies) // 8)


def fill_memory(queue: reliableq.Queue, bodies: list[bytes]) -> None:
    queue.push_many(bodies)
    taken = queue.pop_many(len(bodies) // 2)
    queue.ack(taken[::3])
    queue.recover(len(bodies) // 8, elapsed=0)


# What a queue holds, seen from both sides.


def waiting_on(client: Client, key: str) -> Rows:
    return [(id.decode(), body, 0, None) for id, body in client.waiting(key)]


def pending_on(client: Client, key: str) -> Rows:
    return [
        (id.decode(), body, deliveries, datetime.fromtimestamp(time / 1000, UTC))
        for id, body, time, _elapsed, deliveries in client.pending(key)
    ]


def rows_of(queue: reliableq.Queue, pending: bool) -> Rows:
    messages = queue.inspect(0, 1000, pending=pending)
    return [(message.id, message.body, message.deliveries, message.last_delivery) for message in messages]


def check_same(client: Client, key: str, queue: reliableq.Queue) -> None:
    """Compares lists, IDs, counts and counters."""
    assert waiting_on(client, key) == rows_of(queue, pending=False) != []
    assert pending_on(client, key) == rows_of(queue, pending=True) != []
    info, there = queue.info(), client.queue_info(key)
    assert info is not None and there is not None
    same = ("waiting", "delivered", "sent", "received", "returned", "dead", "deleted")
    assert {name: info[name] for name in same} == {name: there[name] for name in same}  # type: ignore[literal-required]


def dump_of(queue: reliableq.Queue) -> bytes:
    dump = queue.dump()
    assert dump is not None
    return dump


@pytest.mark.parametrize("bodies", BODIES)
@pytest.mark.parametrize("compression", ["yes", "no"])
@pytest.mark.parametrize("name", NAMES)
def test_a_server_s_queue_comes_here_and_goes_back(
    serving: Serving, memory: reliableq.Connection, name: str, compression: str, bodies: str
) -> None:
    server = serving(name)
    with server.client() as client, server.configured(rdbcompression=compression):
        fill_server(client, BODIES[bodies])
        dump = client.call("DUMP", "q")
        queue = memory.restore("q", dump)
        check_same(client, "q", queue)
        back = dump_of(queue)
        assert len(back) > len(dump) if compression == "yes" else back[:-10] == dump[:-10]
        client.call("RESTORE", "back", 0, back)
        assert client.digest("back") == client.digest("q")


@pytest.mark.parametrize("bodies", BODIES)
@pytest.mark.parametrize("compression", ["yes", "no"])
@pytest.mark.parametrize("name", NAMES)
def test_a_queue_of_this_process_goes_to_a_server_and_comes_back(
    serving: Serving, memory: reliableq.Connection, name: str, compression: str, bodies: str
) -> None:
    queue = memory.queue("q")
    fill_memory(queue, BODIES[bodies])
    server = serving(name)
    with server.client() as client, server.configured(rdbcompression=compression):
        client.call("RESTORE", "q", 0, dump_of(queue))
        check_same(client, "q", queue)
        back = memory.restore("back", client.call("DUMP", "q"))
        assert dump_of(back) == dump_of(queue)


@pytest.mark.parametrize("target", NAMES)
@pytest.mark.parametrize("source", NAMES)
def test_a_queue_is_carried_between_servers(
    serving: Serving, memory: reliableq.Connection, source: str, target: str
) -> None:
    with serving(source).client() as client:
        fill_server(client, BODIES["medium"])
        dump, digest = client.call("DUMP", "q"), client.digest("q")
    carried = memory.restore("q", dump)
    with serving(target).client() as client:
        client.call("RESTORE", "carried", 0, dump_of(carried))
        assert client.digest("carried") == digest
        check_same(client, "carried", carried)


@pytest.mark.parametrize(
    ("source", "target"),
    [("redis-8.0", "redis-7.0"), ("redis-8.0", "valkey-8.1"), ("valkey-9.1", "redis-8.0"), ("redis-8.0", "valkey-9.1")],
)
def test_servers_refuse_each_other_s_dumps(serving: Serving, source: str, target: str) -> None:
    """Why carrying is needed at all."""
    with serving(source).client() as client:
        client.push("q", b"body")
        dump = client.call("DUMP", "q")
    with serving(target).client() as client, pytest.raises(CommandError, match=REFUSED):
        client.call("RESTORE", "q", 0, dump)


@pytest.mark.parametrize("name", NAMES)
def test_a_resend_is_known_after_the_journey(serving: Serving, memory: reliableq.Connection, name: str) -> None:
    with serving(name).client() as client:
        client.push("q", b"first")
        ids = client.produce("q", "producer", 2, b"one", b"two")
        carried = memory.restore("q", client.call("DUMP", "q"))
        client.call("RESTORE", "q", 0, dump_of(carried), "REPLACE")
        assert client.produce("q", "producer", 2, b"one", b"two") == ids
        assert client.length("q") == 3


@pytest.mark.parametrize("name", NAMES)
def test_other_values_and_damage_are_refused(serving: Serving, memory: reliableq.Connection, name: str) -> None:
    with serving(name).client() as client:
        client.call("SET", "text", "value")
        client.push("q", b"body")
        text, dump = client.call("DUMP", "text"), client.call("DUMP", "q")
    damaged = bytearray(dump)
    damaged[20] ^= 1
    later = with_checksum(dump[:-10] + (81).to_bytes(2, "little"))
    for data in (text, bytes(damaged), dump[:-1], dump + b"\n", later, b""):
        with pytest.raises(reliableq.InvalidDump):
            memory.restore("q", data)
    assert memory.queue("q").info() is None
    assert len(memory.restore("q", dump)) == 1
