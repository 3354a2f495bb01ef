"""RQ.STATUS [key ...]"""

import random
from collections.abc import Callable

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.effort import effort
from tests.support.operations import Operations
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import Waiter, blocked_clients, pop_waiting
from tests.support.wire import Wire

pytestmark = pytest.mark.essential


def rows(client: Client, *keys: str) -> list[list[object]]:
    return [[row[0].decode(), *row[1:]] for row in client.call("RQ.STATUS", *keys)]


def listed(client: Client) -> list[str]:
    return [str(row[0]) for row in rows(client)]


def truth(client: Client) -> list[str]:
    """The keys that hold queues with messages, found by looking at every key."""
    keys = (bytes(key).decode() for key in client.call("KEYS", "*"))
    return sorted(key for key in keys if client.call("TYPE", key) == b"RELIABLEQ" and client.length(key) > 0)


def tells_of_renames(client: Client) -> bool:
    """Valkey 8.1 does not: there a queue is listed once it was used in its new place."""
    return not client.info("server").get("valkey_version", "").startswith("8.1.")


# What it shows.


def test_all_queues_by_their_names(either: Client) -> None:
    assert rows(either) == []
    for key in ("b", "a", "é", "", "B"):
        either.push(key, "1", "2", "3")
    either.call("SET", "text", "x")
    either.ack("b", *either.take("b"))
    either.take("a", 2)
    expected = [["", 3, 0, 0], ["B", 3, 0, 0], ["a", 3, 2, 0], ["b", 2, 0, 0], ["é", 3, 0, 0]]
    assert rows(either) == expected


def test_queues_by_name_in_their_order(either: Client) -> None:
    either.push("q", "1", "2")
    either.take("q")
    assert rows(either, "none", "q", "none", "q") == [["none", 0, 0, 0], ["q", 2, 1, 0]] * 2
    assert not either.exists("none")


@pytest.mark.parametrize("protocol", [2, 3])
def test_the_reply_on_the_wire(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        assert wire.call(b"RQ.STATUS") == b"*0\r\n"
        wire.call(b"RQ.PUSH", b"q", b"x")
        assert wire.call(b"RQ.STATUS") == b"*1\r\n*4\r\n$1\r\nq\r\n:1\r\n:0\r\n:0\r\n"


def test_a_key_of_another_type_is_refused_and_never_listed(either: Client) -> None:
    either.push("q", "x")
    either.call("SET", "text", "x")
    with pytest.raises(CommandError, match="WRONGTYPE"):
        either.call("RQ.STATUS", "q", "text")
    assert listed(either) == ["q"]


def test_a_queue_that_only_remembers_a_producer_is_shown_when_named(client: Client) -> None:
    client.produce("q", "p", 1, "x")
    assert rows(client) == [["q", 1, 0, 0]]
    client.ack("q", *client.take("q"))
    assert client.exists("q")
    assert rows(client) == []
    assert rows(client, "q") == [["q", 0, 0, 0]]
    client.produce("q", "p", 2, "x")
    assert rows(client) == [["q", 1, 0, 0]]


def test_looking_is_no_use_of_a_key(client: Client) -> None:
    client.push("q", "x")
    client.call("RESTORE", "copy", 0, client.call("DUMP", "q"), "IDLETIME", 1000)
    assert len(rows(client)) == 2 and len(rows(client, "copy")) == 1
    assert client.call("OBJECT", "IDLETIME", "copy") >= 1000


def test_in_transactions_and_scripts(client: Client) -> None:
    client.push("q", "x")
    (found,) = client.transaction(("RQ.STATUS",))
    assert found == [[b"q", 1, 0, 0]]
    assert client.call("EVAL_RO", "return redis.call('RQ.STATUS')", 0) == [[b"q", 1, 0, 0]]
    assert client.call("EVAL", "return redis.call('RQ.STATUS', KEYS[1])", 1, "q") == [[b"q", 1, 0, 0]]


def test_many_queues(client: Client) -> None:
    client.call_many(("RQ.PUSH", f"q{number:04}", "x") for number in range(3000))
    assert rows(client) == [[f"q{number:04}", 1, 0, 0] for number in range(3000)]
    client.call("DEL", *(f"q{number:04}" for number in range(1, 3000)))
    assert listed(client) == ["q0000"]


# Whatever happens to keys.


def rename(client: Client) -> None:
    client.call("RENAME", "q", "r")


def rename_onto_another(client: Client) -> None:
    client.push("r", "x")
    client.call("RENAME", "r", "q")


def move_there_and_back(client: Client) -> None:
    client.call("MOVE", "q", 9)
    assert listed(client) == ["stays"]
    client.call("SELECT", 9)
    client.length("q")
    assert listed(client) == ["q"]
    client.call("MOVE", "q", 0)
    client.call("SELECT", 0)


def swap_databases(client: Client) -> None:
    client.call("SELECT", 9)
    client.push("other", "x")
    client.call("SWAPDB", 0, 9)
    assert listed(client) == truth(client)
    client.call("SELECT", 0)


def restore(client: Client) -> None:
    dump = client.call("DUMP", "q")
    client.call("DEL", "q")
    client.call("RESTORE", "r", 0, dump)
    client.call("RESTORE", "t", 0, dump)


def copy_to_another_database(client: Client) -> None:
    client.call("COPY", "q", "r", "DB", 9)
    client.call("SELECT", 9)
    assert listed(client) == ["r"]
    client.call("SELECT", 0)


def flush_one(client: Client) -> None:
    client.call("SELECT", 9)
    client.push("q", "x")
    client.call("FLUSHDB")
    assert listed(client) == []
    client.call("SELECT", 0)


CHANGES: list[Callable[[Client], object]] = [
    lambda client: client.call("DEL", "q"),
    lambda client: client.call("UNLINK", "q"),
    lambda client: client.call("FLUSHALL"),
    lambda client: client.call("FLUSHALL", "ASYNC"),
    lambda client: client.call("PEXPIREAT", "q", 1),
    lambda client: client.call("SET", "q", "text"),
    lambda client: client.ack("q", *client.take("q", 2)),
    lambda client: client.call("COPY", "q", "r"),
    lambda client: client.call("DEBUG", "RELOAD"),
    lambda client: client.call("RESTORE", "q", 0, client.call("DUMP", "q"), "REPLACE"),
    rename,
    rename_onto_another,
    move_there_and_back,
    swap_databases,
    restore,
    copy_to_another_database,
    flush_one,
]
NAMES = ["del", "unlink", "flushall", "flushall-async", "expire", "set", "ack", "copy", "reload", "restore-replace"]


@pytest.mark.parametrize("look_between", [False, True], ids=["", "looked-at"])
@pytest.mark.parametrize("change", CHANGES, ids=[*NAMES, *(change.__name__ for change in CHANGES[len(NAMES) :])])
def test_what_is_listed_is_what_there_is(
    client: Client, change: Callable[[Client], object], look_between: bool
) -> None:
    client.push("q", "1", "2")
    client.push("stays", "x")
    for _ in range(2):
        assert not look_between or listed(client)
        change(client)
        found = truth(client)  # which uses each queue
        assert listed(client) == found
        if "q" not in found:
            client.call("DEL", "q", "r", "t")
            client.push("q", "1", "2")
            assert "q" in listed(client)


def test_a_renamed_or_moved_queue_is_listed_at_once(client: Client) -> None:
    if not tells_of_renames(client):
        pytest.skip("Valkey 8.1 does not tell modules of renames")
    client.push("q", "x")
    client.call("RENAME", "q", "r")
    assert listed(client) == ["r"]
    client.call("MOVE", "r", 9)
    client.call("SELECT", 9)
    assert listed(client) == ["r"]


def test_a_queue_that_comes_back_to_its_name_is_listed(client: Client) -> None:
    client.push("q", "x")
    client.call("RENAME", "q", "r")
    listed(client)
    client.call("RENAME", "r", "q")
    client.length("q")
    assert listed(client) == ["q"]


def test_evicted_queues_are_not_listed(start_server: StartServer) -> None:
    server = start_server(maxmemory_policy="allkeys-random")
    with server.client() as client:
        for number in range(50):
            client.push(f"q{number}", "x" * 10_000)
        client.call("CONFIG", "SET", "maxmemory", int(client.info("memory")["used_memory"]) - 200_000)
        wait_until("keys are evicted", lambda: int(client.info("stats")["evicted_keys"]) > 0)
        client.call("CONFIG", "SET", "maxmemory", 0)
        assert listed(client) == truth(client)
        assert 0 < len(listed(client)) < 50


def test_random_operations(client: Client) -> None:
    for seed in range(effort(5)):
        client.call("FLUSHALL")
        Operations(client, seed).run(300)
        found = truth(client)
        assert listed(client) == found, seed


@pytest.mark.parametrize("options", [{"save": "3600 1"}, {"appendonly": "yes"}], ids=["rdb", "aof"])
def test_after_a_restart(start_server: StartServer, options: dict[str, str]) -> None:
    server = start_server(**options)
    with server.client() as client, server.client(db=9) as other:
        client.push("a", "1", "2")
        client.take("a")
        other.push("b", "x")
    server.restart()
    with server.client() as client, server.client(db=9) as other:
        assert rows(client) == [["a", 2, 1, 0]]
        assert rows(other) == [["b", 1, 0, 0]]


@pytest.mark.parametrize("load", ["disabled", "swapdb", "on-empty-db"])
def test_on_a_replica(start_server: StartServer, load: str) -> None:
    primary, replica = start_server(), start_server(repl_diskless_load=load)
    with primary.client() as client, replica.client() as copy:
        copy.push("own", "x")
        client.push("before", "1", "2")
        copy.call("REPLICAOF", "127.0.0.1", primary.port)
        wait_until("the replica is in sync", lambda: copy.info("replication")["master_link_status"] == "up")
        assert rows(copy) == [["before", 2, 0, 0]]
        client.push("after", "x")
        client.take("before")
        client.call("WAIT", 1, 0)
        assert rows(copy) == rows(client) == [["after", 1, 0, 0], ["before", 2, 1, 0]]
        client.call("DEL", "before")
        client.call("WAIT", 1, 0)
        assert listed(copy) == ["after"]


# Who waits.


def test_waiting_connections_are_counted(server: Server, client: Client) -> None:
    client.push("q", "x")
    client.take("q")
    first = pop_waiting(server, "q", "r", "q")
    others = [pop_waiting(server, "q", db=db) for db in (0, 9)]
    assert rows(client) == [["q", 1, 1, 2], ["r", 0, 0, 1]]
    assert rows(client, "r", "q") == [["r", 0, 0, 1], ["q", 1, 1, 2]]
    assert not client.exists("r")
    client.call("SELECT", 9)
    assert rows(client) == [["q", 0, 0, 1]]
    client.call("SELECT", 0)
    client.push("r", "x")
    assert first.reply()
    assert rows(client) == [["q", 1, 1, 1], ["r", 1, 1, 0]]
    assert all(waiter.is_blocked for waiter in others)


def test_who_is_served_is_not_counted_any_more_by_the_next_command(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    push, status = client.call_many([("RQ.PUSH", "q", "x"), ("RQ.STATUS",)])
    assert waiter.reply()[0][1] == push[0]
    assert status == [[b"q", 1, 1, 0]]


ENDS: dict[str, Callable[[Client, Waiter], object]] = {
    "disconnected": lambda _, waiter: waiter.close(),
    "killed": lambda client, waiter: client.call("CLIENT", "KILL", "ID", waiter.id),
    "unblocked": lambda client, waiter: client.call("CLIENT", "UNBLOCK", waiter.id),
    "unblocked by an error": lambda client, waiter: client.call("CLIENT", "UNBLOCK", waiter.id, "ERROR"),
    "served": lambda client, _: client.ack("q", client.push("q", "x")[0]),
}


@pytest.mark.parametrize("end", ENDS.values(), ids=ENDS)
def test_whoever_waits_no_more_is_not_counted(
    server: Server, client: Client, end: Callable[[Client, Waiter], object]
) -> None:
    waiter = pop_waiting(server, "q", "r")
    end(client, waiter)
    wait_until("nobody waits", lambda: blocked_clients(client) == 0)
    wait_until("nobody is counted", lambda: [row[3] for row in rows(client, "q", "r")] == [0, 0])
    assert listed(client) == truth(client)


def test_a_time_out_is_not_counted(server: Server, client: Client) -> None:
    with server.client() as waiting:
        assert waiting.call("RQ.POP", "BLOCK", 1, "q") is None
    assert rows(client) == []


def test_a_replica_to_be_has_nobody_waiting(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    with replica.client() as client:
        waiter = pop_waiting(replica, "q")
        client.call("REPLICAOF", "127.0.0.1", primary.port)
        wait_until("nobody is counted", lambda: rows(client, "q") == [["q", 0, 0, 0]])
        with pytest.raises(CommandError, match="UNBLOCKED"):
            waiter.reply()


def test_waiting_for_a_key_that_became_another_type(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    client.call("SET", "q", "text")
    assert rows(client) == [["q", 0, 0, 1]]
    client.call("DEL", "q")
    client.push("q", "x")
    assert waiter.reply()


def test_databases_that_change_places_leave_who_waits(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    client.call("SWAPDB", 0, 9)
    assert rows(client) == [["q", 0, 0, 1]]
    client.push("q", "x")
    assert waiter.reply()


def test_many_who_come_and_go(server: Server, client: Client) -> None:
    chance = random.Random(1)
    waiters = [pop_waiting(server, *chance.choices("abc", k=2)) for _ in range(60)]
    chance.shuffle(waiters)
    for waiter in waiters[:20]:
        waiter.close()
    for waiter in waiters[20:40]:
        client.call("CLIENT", "UNBLOCK", waiter.id)
    wait_until("20 are left", lambda: blocked_clients(client) == 20)
    for key in "abc":
        client.push(key, *["x"] * 60)
    wait_until("nobody waits", lambda: blocked_clients(client) == 0)
    wait_until("nobody is counted", lambda: [row[3] for row in rows(client, *"abc")] == [0, 0, 0])


# Who may see what.


def test_only_what_the_user_may_read_is_listed(server: Server, client: Client) -> None:
    for key in ("open:a", "open:b", "shut:a", "write:a"):
        client.push(key, "x")
    waiter = pop_waiting(server, "shut:w")
    client.call("ACL", "SETUSER", "someone", "reset", "on", ">secret", "+rq.status", "+eval", "~open:*", "%W~write:*")
    try:
        with server.client(user="someone") as someone:
            assert listed(someone) == ["open:a", "open:b"]
            assert someone.call("EVAL", "return #redis.call('RQ.STATUS')", 0) == 2
            with pytest.raises(CommandError, match="NOPERM"):
                someone.call("RQ.STATUS", "open:a", "shut:a")
            client.call("ACL", "SETUSER", "someone", "resetkeys", "~shut:*")
            assert listed(someone) == ["shut:a", "shut:w"]
        assert len(listed(client)) == 5 and waiter.is_blocked
        assert client.call("EVAL", "return #redis.call('RQ.STATUS')", 0) == 5
    finally:
        client.call("ACL", "DELUSER", "someone")
