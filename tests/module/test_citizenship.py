"""Everything that Redis does with keys it does with queues too."""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.payload import dump_of, value_of
from tests.support.scenario import SCENARIOS, both_lists
from tests.support.server import Server
from tests.support.wait import wait_until


@pytest.mark.essential
def test_the_module_and_its_type(client: Client) -> None:
    names = [fields[fields.index(b"name") + 1] for fields in client.call("MODULE", "LIST")]
    assert b"reliableq" in names
    client.push("q", "a")
    assert client.call("TYPE", "q") == b"RELIABLEQ"


def test_scan_by_type(client: Client) -> None:
    for number in range(20):
        client.push(f"q{number}", "a")
        client.call("SET", f"text{number}", "x")
    cursor, found = b"0", set()
    while True:
        cursor, keys = client.call("SCAN", cursor, "TYPE", "RELIABLEQ")
        found.update(keys)
        if cursor == b"0":
            break
    assert found == {b"q%d" % number for number in range(20)}


def test_object_commands_answer(client: Client) -> None:
    client.push("q", "a")
    assert client.call("OBJECT", "REFCOUNT", "q") == 1
    assert client.call("OBJECT", "IDLETIME", "q") >= 0
    assert isinstance(client.call("OBJECT", "ENCODING", "q"), bytes)


@pytest.mark.essential
def test_a_transaction_is_one(client: Client) -> None:
    ids, rows, length = client.transaction(("RQ.PUSH", "q", "a", "b"), ("RQ.POP", "q"), ("RQ.LEN", "q"))
    assert rows == [[b"q", ids[0], b"a"]] and length == 2


def test_an_error_in_a_transaction_is_that_commands_alone(client: Client) -> None:
    client.call("SET", "text", "x")
    commands = [("RQ.PUSH", "q", "a"), ("RQ.POP", "COUNT", 0, "q"), ("RQ.PUSH", "text", "b"), ("RQ.PUSH", "q", "c")]
    first, bad_count, bad_type, last = client.transaction(*commands)
    assert bad_count.code == "ERR" and bad_type.code == "WRONGTYPE"
    assert [row[0] for row in client.waiting("q")] == first + last


def test_watch_sees_every_change(server: Server, client: Client) -> None:
    client.push("q", *"abcd")
    changes = [
        ("RQ.PUSH", "q", "x"),
        ("RQ.PUSHEX", "q", "PRODUCER", "p", "SEQ", 1, "ELEMENTS", 1, "x"),
        ("RQ.POP", "q"),
        ("RQ.RECOVER", "q", 1, 0),
    ]
    with server.client() as other:
        for change in changes:
            client.call("WATCH", "q")
            other.call(*change)
            client.call_many([("MULTI",), ("PING",)])
            assert client.call("EXEC") is None, f"{change[0]} was not seen"
        client.call("WATCH", "q")
        other.ack("q", other.pending("q")[0][0])
        client.call_many([("MULTI",), ("PING",)])
        assert client.call("EXEC") is None


def test_watch_is_not_disturbed_by_looking(server: Server, client: Client) -> None:
    client.produce("q", "p", 1, "a")
    client.take("q")
    with server.client() as other:
        client.call("WATCH", "q")
        other.call("RQ.RANGE", "q", "-", "+"), other.call("RQ.SPLIT", "q", 2), other.call("RQ.STATUS")
        other.pop("q")
        other.ack("q", "1-1")
        other.recover("q", 1, 3_600_000)
        other.waiting("q"), other.pending("q"), other.length("q"), other.queue_info("q")
        client.call_many([("MULTI",), ("PING",)])
        assert client.call("EXEC") == [b"PONG"]


@pytest.mark.essential
def test_scripts_and_functions(client: Client) -> None:
    script = """
    local ids = redis.call('RQ.PUSH', KEYS[1], 'a', 'b')
    local rows = redis.call('RQ.POP', 'COUNT', 2, 'KEYS', 1, KEYS[1])
    redis.call('RQ.ACK', KEYS[1], rows[1][2])
    return {ids, rows, redis.call('RQ.LEN', KEYS[1])}"""
    ids, rows, length = client.call("EVAL", script, 1, "q")
    assert [row[1] for row in rows] == ids and length == 1
    client.call(
        "FUNCTION",
        "LOAD",
        "#!lua name=sending\nredis.register_function('send', function(keys, args)"
        " return redis.call('RQ.PUSH', keys[1], args[1]) end)",
    )
    assert len(client.call("FCALL", "send", 1, "q", "c")) == 1
    assert client.length("q") == 2


def test_an_error_in_a_script_is_an_error(client: Client) -> None:
    client.call("SET", "text", "x")
    with pytest.raises(CommandError) as error:
        client.call("EVAL", "return redis.call('RQ.PUSH', KEYS[1], 'a')", 1, "text")
    assert "WRONGTYPE" in error.value.line


def test_a_read_only_script_may_look_and_not_change(client: Client) -> None:
    client.push("q", "a")
    assert client.call("EVAL_RO", "return redis.call('RQ.LEN', KEYS[1])", 1, "q") == 1
    with pytest.raises(CommandError):
        client.call("EVAL_RO", "return redis.call('RQ.POP', KEYS[1])", 1, "q")


@pytest.mark.essential
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_a_copy_is_equal_and_independent(client: Client, scenario: str) -> None:
    SCENARIOS[scenario](client)
    for key in client.call("KEYS", "*"):
        before = client.digest(key)
        assert client.call("COPY", key, b"copy") == 1
        assert client.digest("copy") == before
        client.push("copy", "x")
        client.pop("copy", 5)
        client.ack("copy", client.pending("copy")[0][0])
        assert client.digest(key) == before
        copied = client.digest("copy")
        assert copied != before
        client.push(key, "y")
        assert client.digest("copy") == copied
        client.call("DEL", key)
        assert client.digest("copy") == copied


@pytest.mark.essential
@pytest.mark.parametrize("scenario", SCENARIOS)
def test_dump_and_restore(client: Client, scenario: str) -> None:
    SCENARIOS[scenario](client)
    for key in client.call("KEYS", "*"):
        client.call("PERSIST", key)
        dump = client.call("DUMP", key)
        client.call("RESTORE", "restored", 0, dump, "REPLACE")
        assert client.digest("restored") == client.digest(key)
        again = client.call("DUMP", "restored")
        assert value_of(again) == value_of(dump)
        client.call("RESTORE", "restored", 0, dump_of(value_of(dump)), "REPLACE")


def test_a_restored_queue_is_a_living_one(client: Client) -> None:
    both_lists(client)
    waiting, pending = client.waiting("both"), client.pending("both")
    dump = client.call("DUMP", "both")
    client.call("DEL", "both")
    client.call("RESTORE", "q", 0, dump)
    assert client.waiting("q") == waiting
    assert [row[:3] for row in client.pending("q")] == [row[:3] for row in pending]
    (id,) = client.push("q", "new")
    assert id not in [row[0] for row in waiting + pending]
    assert client.ack("q", pending[0][0]) == [pending[0][0]]


@pytest.mark.essential
def test_rename_and_move(client: Client) -> None:
    both_lists(client)
    before = client.digest("both")
    client.call("RENAME", "both", "q")
    assert client.digest("q") == before
    assert client.call("MOVE", "q", 4) == 1
    client.call("SELECT", 4)
    assert client.digest("q") == before
    assert client.take("q") != []
    client.call("SELECT", 0)


@pytest.mark.essential
def test_a_client_stays_in_its_database(client: Client) -> None:
    """Whatever the module listens to, it must not disturb commands, also those about other types."""
    client.call("SET", "here", "x")
    for make in ("RPUSH", "RQ.PUSH"):
        client.call(make, make, "x")
        for command in (("COPY", make, make, "DB", 3), ("MOVE", make, 4), ("SWAPDB", 3, 4)):
            client.call(*command)
            assert client.call("GET", "here") == b"x", f"{command} led elsewhere"


def test_expiry(client: Client) -> None:
    client.push("q", "a")
    client.call("PEXPIRE", "q", 20)
    wait_until("the queue has expired", lambda: not client.exists("q"))
    assert client.length("q") == 0
    assert client.queue_info("q") is None
    client.push("q", "b")
    assert client.call("TTL", "q") == -1


def test_a_change_leaves_the_time_to_live(client: Client) -> None:
    client.push("q", "a", "b")
    client.call("EXPIRE", "q", 1000)
    client.push("q", "c")
    client.ack("q", *client.take("q"))
    assert client.call("TTL", "q") > 0


@pytest.mark.parametrize("removal", [("DEL", "q"), ("FLUSHALL",), ("FLUSHALL", "ASYNC"), ("SET", "q", "x")])
def test_removal(client: Client, removal: tuple[str, ...]) -> None:
    both_lists(client)
    client.call("RENAME", "both", "q")
    client.call(*removal)
    assert client.call("TYPE", "q") != b"RELIABLEQ"
    client.call("DEL", "q")
    client.push("q", "a")
    assert client.length("q") == 1


@pytest.mark.essential
def test_unlink_frees_a_long_queue_in_the_background(client: Client) -> None:
    for _ in range(20):
        client.push("q", *[b"x" * 100] * 1000)
    client.take("q", 10_000)
    full = used_memory(client)
    before = int(client.info("memory")["lazyfreed_objects"])
    client.call("UNLINK", "q")
    wait_until("it is freed", lambda: client.info("memory")["lazyfree_pending_objects"] == "0")
    assert int(client.info("memory")["lazyfreed_objects"]) > before
    assert full - used_memory(client) > 20_000 * 100


@pytest.mark.parametrize(("size", "count"), [(16, 50_000), (100, 20_000), (1024, 5000), (5000, 1000), (70_000, 50)])
@pytest.mark.parametrize("delivered", [0, 0.5, 1])
def test_memory_usage_is_what_the_server_pays(
    start_server: StartServer, size: int, count: int, delivered: float
) -> None:
    server = start_server()
    with server.client() as client:
        before = used_memory(client)
        with server.client() as producer:
            for _ in range(50):
                producer.push("q", *[b"x" * size] * (count // 50))
            if delivered:
                producer.take("q", int(count * delivered))
        settle(client)
        paid = used_memory(client) - before
        told = int(client.call("MEMORY", "USAGE", "q"))
        assert abs(told - paid) < 0.1 * paid, f"MEMORY USAGE says {told}, the server pays {paid}"


@pytest.mark.essential
def test_memory_comes_back(start_server: StartServer) -> None:
    server = start_server(slowlog_max_len="0")
    with server.client() as client:
        use(server, 10_000)
        settle(client)
        before = used_memory(client)
        ids = use(server, 100_000, leave=1)
        settle(client)
        peak = int(client.info("memory")["used_memory_peak"]) - before
        assert client.length("q") == 1
        assert used_memory(client) - before < 0.02 * peak
        client.ack("q", *ids)
        settle(client)
        assert not client.exists("q")
        assert used_memory(client) - before < 0.01 * peak


def use(server: Server, count: int, leave: int = 0) -> list[bytes]:
    """Pushes, takes and acknowledges messages, but for the last ones, whose IDs it returns."""
    with server.client() as client:
        for _ in range(count // 100):
            client.push("q", *[b"x" * 100] * 100)
        ids: list[bytes] = []
        for _ in range(count // 100):
            ids += client.take("q", 100)
        for start in range(0, count - leave, 100):
            client.ack("q", *ids[start : min(start + 100, count - leave)])
    return ids[count - leave :]


@pytest.mark.essential
def test_out_of_memory_refuses_a_push_and_nothing_else(server: Server, client: Client) -> None:
    client.push("q", *"abc")
    with server.configured(maxmemory="1"):
        with pytest.raises(CommandError) as error:
            client.push("q", "d")
        assert error.value.code == "OOM"
        with pytest.raises(CommandError) as error:
            client.produce("q", "p", 1, "d")
        assert error.value.code == "OOM"
        first, second = client.take("q", 2)
        assert client.ack("q", first) == [first]
        assert [row[1] for row in client.recover("q")] == [second]
        assert len(client.waiting("q")) == len(client.pending("q")) == 1
        assert client.length("q") == 2
        assert client.queue_info("q") is not None
    assert len(client.push("q", "d")) == 1


def test_the_module_stays_loaded(client: Client) -> None:
    client.push("q", "a")
    with pytest.raises(CommandError):
        client.call("MODULE", "UNLOAD", "reliableq")
    assert client.length("q") == 1


def test_the_servers_own_look_into_a_key(client: Client) -> None:
    both_lists(client)
    assert b"encoding" in client.call("DEBUG", "OBJECT", "both")
    before = client.dataset_digest()
    client.push("both", "x")
    assert client.dataset_digest() != before


def used_memory(client: Client) -> int:
    return int(client.info("memory")["used_memory"])


def settle(client: Client) -> None:
    """Waits until other connections are gone, and their buffers with them."""
    wait_until("the others are gone", lambda: client.info("clients")["connected_clients"] == "1")
    wait_until("all is freed", lambda: client.info("memory")["lazyfree_pending_objects"] == "0")
