"""What is particular to queues of a server: lost replies, time-outs, given clients, and errors."""

import os
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest
import redis
import redis.asyncio
import reliableq
from redis.backoff import NoBackoff
from redis.retry import Retry
from reliableq import (
    Connection,
    Error,
    Exhausted,
    InvalidType,
    MissingModule,
    Refused,
    Unavailable,
    WrongType,
    protocol,
)
from reliableq._native import Embedded

from tests.conftest import StartServer
from tests.support.client import Client
from tests.support.proxy import Proxy
from tests.support.server import Server, free_port, server_command
from tests.support.wait import wait_until


@pytest.fixture
def proxy(server: Server) -> Iterator[Proxy]:
    proxy = Proxy(server.port)
    yield proxy
    proxy.close()


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def through(request: pytest.FixtureRequest, proxy: Proxy) -> Iterator[Connection]:
    """A connection through the proxy."""
    with reliableq.connect(f"redis://127.0.0.1:{proxy.port}?protocol={request.param}") as connection:
        yield connection


@pytest.fixture
def rq(server: Server) -> Iterator[Connection]:
    with reliableq.connect(f"redis://127.0.0.1:{server.port}") as connection:
        yield connection


# Lost replies.


def test_a_push_that_is_resent_is_stored_once(through: Connection, proxy: Proxy) -> None:
    queue = through.queue("q")
    first = queue.push(b"a")
    proxy.swallow(b"RQ.PUSHEX", times=3)
    ids = [first, *queue.push_many([b"b", b"c"]), queue.push(b"d")]
    assert proxy.seen == [b"RQ.PUSHEX"] * 3
    assert [(message.id, message.body) for message in queue.inspect()] == list(
        zip(ids, [b"a", b"b", b"c", b"d"], strict=True)
    )


def test_a_push_after_one_of_unknown_outcome_is_stored(proxy: Proxy) -> None:
    with redis.Redis(port=proxy.port, retry=Retry(NoBackoff(), 0)) as client:
        queue = reliableq.connect(client).queue("q")
        queue.push(b"a")
        proxy.swallow(b"RQ.PUSHEX")
        with pytest.raises(Unavailable, match="whether it was stored is not known") as error:
            queue.push(b"b")
        assert isinstance(error.value.__cause__, redis.ConnectionError)
        queue.push(b"c")
        assert [message.body for message in queue.inspect()] == [b"a", b"b", b"c"]


def test_a_refused_resend_tells_that_the_first_may_be_stored(server: Server, proxy: Proxy) -> None:
    """The server runs out of memory between the two."""
    with server.client() as control, redis.Redis(port=proxy.port, retry=Retry(NoBackoff(), 1)) as client:
        queue = reliableq.connect(client).queue("q")
        queue.push(b"a")
        proxy.swallow(b"RQ.PUSHEX")
        proxy.afterwards = lambda: control.call("CONFIG", "SET", "maxmemory", "1")
        try:
            with pytest.raises(Refused, match=r"OOM .*whether it was stored is not known"):
                queue.push(b"b")
        finally:
            control.call("CONFIG", "SET", "maxmemory", "0")
        queue.push(b"c")
        assert [message.body for message in queue.inspect()] == [b"a", b"b", b"c"]


@pytest.mark.parametrize("command", ["RQ.POP", "RQ.RECOVER"])
def test_pop_and_recover_are_not_resent(through: Connection, proxy: Proxy, command: str) -> None:
    queue = through.queue("q")
    queue.push_many([b"a", b"b"])
    if command == "RQ.RECOVER":
        queue.pop_many(2)
    proxy.swallow(command.encode())
    with pytest.raises(Unavailable, match=r"recover\(\) brings it back"):
        queue.pop() if command == "RQ.POP" else queue.recover(1, elapsed=0)
    info = queue.info()
    assert info is not None and info["received"] == (1 if command == "RQ.POP" else 3)
    assert b"a" in [message.body for message in queue.recover(elapsed=0)]


def test_an_ack_that_is_resent_counts_as_done(through: Connection, proxy: Proxy) -> None:
    queue = through.queue("q")
    queue.push_many([b"a", b"b", b"c"])
    first, second = queue.pop_many(2)
    (waiting,) = queue.inspect()
    proxy.swallow(b"RQ.ACK", times=2)
    assert first.ack() is True
    assert queue.ack([second, waiting]) == [second.id]
    assert proxy.seen == [b"RQ.ACK"] * 2
    assert len(queue) == 1


@pytest.mark.parametrize("version", [2, 3], ids=["RESP2", "RESP3"])
def test_connections_that_the_server_closed_meanwhile(server: Server, client: Client, version: int) -> None:
    with reliableq.connect(f"redis://127.0.0.1:{server.port}?protocol={version}") as rq:
        queue = rq.queue("q")
        queue.push_many([b"a", b"b"])
        for expected in (b"a", b"b"):
            client.call("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
            message = queue.pop()
            assert message is not None and message.body == expected


def test_a_server_that_went_back_in_time_takes_pushes(rq: Connection, client: Client) -> None:
    """As after a failover to a replica that lacked the last pushes: it knows the producer, at a lower number."""
    queue = rq.queue("q")
    queue.push(b"a")
    before = client.call("DUMP", "q")
    queue.push(b"lost")
    client.call("RESTORE", "q", 0, before, "REPLACE")
    queue.push(b"b")
    queue.push(b"c")
    assert [message.body for message in queue.inspect()] == [b"a", b"b", b"c"]


def test_a_forked_child_pushes_under_its_own_name(rq: Connection, server: Server) -> None:
    program = f"""
import os, reliableq
queue = reliableq.connect("redis://127.0.0.1:{server.port}").queue("q")
queue.push(b"before")
child = os.fork()
queue.push(b"child" if child == 0 else b"parent")
if child == 0:
    os._exit(0)
assert os.waitpid(child, 0)[1] == 0
"""
    subprocess.run([sys.executable, "-c", program], check=True, timeout=60)
    assert sorted(message.body for message in rq.queue("q").inspect()) == [b"before", b"child", b"parent"]


def test_producers_of_many_queues_are_let_go(rq: Connection, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reliableq.backends.producers.MOST_PRODUCERS", 2)
    for _ in range(3):
        for number in range(5):
            rq.queue(str(number)).push(b"a")
    assert [len(rq.queue(str(number))) for number in range(5)] == [3] * 5


# Time-outs.


def test_a_wait_may_be_longer_than_the_time_out_of_the_socket(server: Server, client: Client) -> None:
    with reliableq.connect(f"redis://127.0.0.1:{server.port}?socket_timeout=2") as rq:
        queue = rq.queue("q")
        client.call("CONFIG", "RESETSTAT")

        def push_after_some_slices() -> None:
            with server.client() as other:
                wait_until("it asked often", lambda: _calls(other, "rq.pop") >= 4)
                other.push("q", b"a")

        pusher = threading.Thread(target=push_after_some_slices)
        pusher.start()
        message = queue.pop(timeout=None)
        pusher.join()
        assert message is not None and message.body == b"a"


def _calls(client: Client, command: str) -> int:
    lines = {name.lower(): line for name, line in client.info("commandstats").items()}
    line = lines.get(f"cmdstat_{command}", "calls=0,")
    return int(line.partition("calls=")[2].partition(",")[0])


def test_a_server_that_does_not_answer(server: Server) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        retry: Any = Retry(NoBackoff(), 0)
        with redis.Redis(port=port, protocol=2, socket_timeout=0.05, retry=retry, driver_info=None) as client:
            queue = reliableq.connect(client).queue("q")
            for call in (queue.info, queue.pop, lambda: queue.push(b"a")):
                with pytest.raises(Unavailable) as error:
                    call()
                assert isinstance(error.value.__cause__, redis.TimeoutError)


# Clients.


def test_a_given_client_stays_as_it_is(server: Server) -> None:
    with redis.Redis(port=server.port, decode_responses=True, socket_timeout=7) as client:
        before = dict(client.connection_pool.connection_kwargs)
        client.set("key", "value")
        with reliableq.connect(client) as rq:
            assert repr(rq) == f"<Connection to 'redis://localhost:{server.port}/0'>"
            queue = rq.queue("q")
            id = queue.push(b"\xff\xfe")
            assert type(id) is str
            assert queue.pop_many(2)[0].body == b"\xff\xfe"
            assert queue.inspect(pending=True)[0].id == id
            info = queue.info()
            assert info is not None and info["last_id"] == id
        assert client.connection_pool.connection_kwargs == before
        connections: Any = client.connection_pool
        assert any(connection._sock is not None for connection in connections._available_connections)
        assert client.get("key") == "value"


def test_a_connection_of_its_own_is_closed(server: Server, client: Client) -> None:
    def clients() -> int:
        return len(bytes(client.call("CLIENT", "LIST", "TYPE", "normal")).splitlines())

    alone = clients()
    with reliableq.connect(f"redis://127.0.0.1:{server.port}") as rq:
        rq.queue("q").push(b"a")
        assert clients() > alone
    wait_until("it is closed", lambda: clients() == alone)


def test_other_clients_are_refused_with_the_reason(server: Server) -> None:
    class Own(redis.asyncio.Redis):
        pass

    cluster = redis.RedisCluster.__new__(redis.RedisCluster)
    cluster.nodes_manager = None  # type: ignore[assignment]
    given: list[tuple[Any, str]] = [
        (redis.asyncio.Redis(), "asynchronous"),
        (Own(), "asynchronous"),
        (redis.asyncio.RedisCluster("localhost", server.port), "asynchronous"),
        (cluster, "cluster"),
        (redis.Redis().pipeline(), "collects commands"),
        (redis.ConnectionPool(), "no client"),
    ]
    for client, reason in given:
        with pytest.raises(InvalidType, match=f"{reason}.*; give "):
            reliableq.connect(client)


def test_databases_and_sockets(start_server: StartServer, tmp_path: Path) -> None:
    path = Path(os.path.relpath(tmp_path)) / "s"
    server = start_server(unixsocket=str(tmp_path / "s"))
    with (
        reliableq.connect(f"redis://127.0.0.1:{server.port}/3") as third,
        reliableq.connect(f"redis://127.0.0.1:{server.port}/") as first,
        reliableq.connect(f"unix://{path.resolve()}?db=3") as local,
    ):
        third.queue("q").push(b"a")
        assert len(first.queue("q")) == 0
        assert len(local.queue("q")) == 1
        assert repr(local) == f"<Connection to 'unix://{path.resolve()}'>"


def test_without_redis_py_it_says_what_to_install() -> None:
    program = """
import sys
sys.modules["redis"] = None
import reliableq
try:
    reliableq.connect("redis://localhost")
except ImportError as error:
    assert isinstance(error, reliableq.MissingPackage)
    print(error.remedy)
"""
    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "pip install 'redis>=8'\n"


# Errors of the server.


CALLS: list[Callable[[reliableq.Queue], object]] = [
    lambda queue: queue.push(b"a"),
    lambda queue: queue.pop(),
    lambda queue: queue.pop(timeout=None),
    lambda queue: queue.ack("1-1"),
    lambda queue: queue.recover(elapsed=0),
    lambda queue: queue.inspect(),
    lambda queue: queue.info(),
    len,
]


def raises_each(queue: reliableq.Queue, kind: type[Error], match: str) -> None:
    for call in CALLS:
        with pytest.raises(kind, match=match) as error:
            call(queue)
        assert isinstance(error.value.__cause__, redis.RedisError)


@contextmanager
def plain_server(folder: Path) -> Iterator[int]:
    """A server without the module; gives its port."""
    port = free_port()
    options = ["--port", str(port), "--save", "", "--dir", str(folder), "--bind", "127.0.0.1"]
    process = subprocess.Popen([*server_command(), *options], stdout=subprocess.DEVNULL)
    try:
        wait_until("it answers", lambda: _answers(port))
        yield port
    finally:
        process.kill()
        process.wait()


def _answers(port: int) -> bool:
    with suppress(redis.ConnectionError), Client(port) as client:
        return bool(client.call("PING") == b"PONG")
    return False


def test_a_server_without_the_module(tmp_path: Path) -> None:
    with plain_server(tmp_path) as port, reliableq.connect(f"redis://127.0.0.1:{port}") as rq:
        raises_each(rq.queue("q"), MissingModule, r"not loaded the module; .*loadmodule.*reliableq module-path")
        with pytest.raises(MissingModule) as error:
            rq.queue("q").push(b"private")
        assert "private" not in str(error.value)
        dump = _dump()
        for call in (rq.names, lambda: rq.restore("q", dump), rq.queue("q").dump):
            with pytest.raises(MissingModule, match="not loaded the module"):
                call()


def _dump() -> bytes:
    """A queue as bytes."""
    with reliableq.connect("memory:") as rq:
        rq.queue("q").push(b"a")
        return rq.queue("q").dump() or b""


def test_a_key_of_another_type(rq: Connection, client: Client) -> None:
    client.call("SET", "text", "value")
    raises_each(rq.queue("text"), WrongType, "'text' holds another type; use another name")
    assert client.call("GET", "text") == b"value"


def test_a_server_without_memory(rq: Connection, server: Server) -> None:
    queue = rq.queue("q")
    queue.push_many([b"a", b"b"])
    with server.configured(maxmemory="1"):
        with pytest.raises(Refused, match=r"OOM .*; raise the server's maxmemory"):
            queue.push(b"c")
        assert [message.ack() for message in queue.pop_many(2)] == [True, True]
    queue.push(b"d")
    assert [message.body for message in queue.inspect()] == [b"d"]


def test_a_replica_and_a_primary(start_server: StartServer, server: Server) -> None:
    replica = start_server()
    replica.follow(server)
    with reliableq.connect(f"redis://127.0.0.1:{replica.port}") as rq:
        with pytest.raises(Refused, match=r"READONLY.*; connect to the primary"):
            rq.queue("q").push(b"a")
        assert rq.queue("q").info() is None


def test_users(server: Server, client: Client) -> None:
    client.call("ACL", "SETUSER", "limited", "on", ">pass", "~mine*", "+rq.pushex", "+rq.len", "+client", "+hello")
    try:
        with reliableq.connect(f"redis://limited:pass@127.0.0.1:{server.port}") as rq:
            assert repr(rq) == f"<Connection to 'redis://127.0.0.1:{server.port}'>"
            rq.queue("mine").push(b"a")
            with pytest.raises(Refused, match=r"NOPERM.*; .*ACL SETUSER"):
                rq.queue("other").push(b"a")
            with pytest.raises(Refused, match="NOPERM"):
                rq.queue("mine").pop()
            assert len(rq.queue("mine")) == 1
        with reliableq.connect(f"redis://limited:mistyped@127.0.0.1:{server.port}") as rq:
            with pytest.raises(Refused, match=r"WRONGPASS.*; give the right") as error:
                rq.queue("mine").push(b"a")
            assert "mistyped" not in f"{error.value!r} {error.value.__cause__!r}"
    finally:
        client.call("ACL", "DELUSER", "limited")


def test_one_of_two_commands_that_are_sent_together_is_refused(server: Server, client: Client) -> None:
    """The reply to the other one is not taken for that of a later command."""
    rights = ("+rq.pushex", "+rq.pop", "+rq.extend", "+rq.nack", "+rq.len", "+client", "+hello")
    client.call("ACL", "SETUSER", "limited", "on", ">pass", "~*", *rights)
    try:
        with reliableq.connect(f"redis://limited:pass@127.0.0.1:{server.port}") as rq:
            queue = rq.queue("q")
            queue.push_many([b"a", b"b"])
            with queue.consume(idle_timeout=0, count=2) as messages:
                assert next(messages).body == b"a"
                with pytest.raises(Refused, match=r"NOPERM.*(RQ.ACK|rq.ack)"):
                    next(messages)
                assert len(queue) == 2
            assert len(queue) == 2
        assert client.call("RQ.INSPECT", "q", 0, 9) == [client.call("RQ.PEEK", "q", "BACK")], "the one behind returned"
    finally:
        client.call("ACL", "DELUSER", "limited")


def test_a_server_that_is_not_there() -> None:
    with redis.Redis(port=free_port(), retry=Retry(NoBackoff(), 0)) as client:
        raises_each(reliableq.connect(client).queue("q"), Unavailable, "refused.*nothing was sent, so try again")


@pytest.mark.parametrize(
    ("line", "kind"),
    [
        ("LOADING Redis is loading the dataset in memory", Unavailable),
        ("MASTERDOWN Link with MASTER is down", Unavailable),
        ("CLUSTERDOWN The cluster is down", Unavailable),
        ("MOVED 866 127.0.0.1:7001", Refused),
        ("MISCONF Errors writing to the AOF file", Refused),
        ("EXHAUSTED the queue has no further IDs", Exhausted),
        ("GAP expected 3", Refused),
        ("ERR something else", Refused),
        ("NEWWORD something new", Refused),
    ],
)
def test_error_replies(line: str, kind: type[Error]) -> None:
    error = protocol.server_error(line, protocol.length("q"))
    assert isinstance(error, kind)
    assert error.cause and error.remedy


def test_a_server_that_does_not_know_the_handshake_is_not_told_to_load_the_module() -> None:
    connecting = protocol.Command("", (b"CONNECT",), True, protocol.NOTHING_SENT)
    assert isinstance(protocol.server_error("ERR unknown command 'HELLO'", connecting), Refused)


# Replies.


def test_replies_of_later_servers_may_have_more_fields() -> None:
    meta = {b"state": b"delivered", b"new": 7, b"deliveries": 2, b"enqueued": 5, b"last-delivery": 9}
    flat = [word for pair in meta.items() for word in pair]
    handle = Embedded.memory(None).queue("q")
    for fields in (meta, flat):
        (message,) = protocol.read_taken(handle, [[b"q", b"5-1", b"body", fields, b"more"]])
        assert (message.id, message.body, message.state, message.deliveries) == ("5-1", b"body", "delivered", 2)


def test_a_push_is_cut_by_bytes() -> None:
    bodies = [b"a" * size for size in (1, 1 << 20, 1, (1 << 20) - 1, 1, 3 << 20, 0)]
    cut = [[len(body) for body in chunk] for chunk in protocol.chunks(bodies)]
    assert cut == [[1], [1 << 20], [1, (1 << 20) - 1], [1], [3 << 20], [0]]
    assert list(protocol.chunks([])) == []
