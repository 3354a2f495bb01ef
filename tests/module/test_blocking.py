"""RQ.POP with BLOCK: who is served, in which order, and by what."""

import pytest

from tests.support.client import Client
from tests.support.server import Server
from tests.support.waiter import Waiter, blocked_clients, pop_waiting

pytestmark = pytest.mark.essential


def bodies(rows: list[list[bytes]] | None) -> list[bytes]:
    return [row[2] for row in rows or []]


@pytest.mark.parametrize("protocol", [2, 3])
def test_a_push_serves_a_waiting_client(server: Server, client: Client, protocol: int) -> None:
    waiter = pop_waiting(server, "q", protocol=protocol)
    (id,) = client.push("q", "a")
    assert waiter.reply() == [[b"q", id, b"a"]]
    assert [row[0] for row in client.pending("q")] == [id]
    assert blocked_clients(client) == 0


def test_a_producer_serves_a_waiting_client_once(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    (id,) = client.produce("q", "p", 1, "a")
    assert waiter.reply() == [[b"q", id, b"a"]]
    later = pop_waiting(server, "q")
    assert client.produce("q", "p", 1, "a") == [id]
    assert later.is_blocked
    client.produce("q", "p", 1, "a", "b")
    assert bodies(later.reply()) == [b"b"]


def test_no_need_to_wait_where_there_is_something(client: Client) -> None:
    (id,) = client.push("q", "a")
    assert client.call("RQ.POP", "BLOCK", 0, "missing", "q") == [[b"q", id, b"a"]]


@pytest.mark.parametrize("protocol", [2, 3])
def test_null_when_the_time_is_over(server: Server, protocol: int) -> None:
    with server.client(protocol=protocol) as client:
        assert client.call("RQ.POP", "BLOCK", 1, "q") is None
        assert client.call("RQ.POP", "COUNT", 5, "BLOCK", 20, "KEYS", 2, "q", "r") is None
        assert blocked_clients(client) == 0


def test_after_a_time_out_the_connection_is_as_before(client: Client) -> None:
    assert client.call("RQ.POP", "BLOCK", 1, "q") is None
    client.push("q", "a")
    assert bodies(client.call("RQ.POP", "BLOCK", 1, "q")) == [b"a"]


@pytest.mark.parametrize("time", [1 << 31, 1 << 32, 1 << 53, (1 << 62) - 1, (1 << 63) - 1])
def test_a_very_long_time_is_waited(server: Server, client: Client, time: int) -> None:
    waiter = Waiter(server, "RQ.POP", "BLOCK", time, "q")
    client.push("q", "a")
    assert bodies(waiter.reply()) == [b"a"]


def test_the_order_of_arrival(server: Server, client: Client) -> None:
    waiters = [pop_waiting(server, "q") for _ in range(5)]
    for number, waiter in enumerate(waiters):
        client.push("q", number)
        assert bodies(waiter.reply()) == [b"%d" % number]
        assert all(later.is_blocked for later in waiters[number + 1 :])


def test_one_push_satisfies_many_in_the_order_of_arrival(server: Server, client: Client) -> None:
    waiters = [pop_waiting(server, "q") for _ in range(5)]
    client.push("q", *"abc")
    assert [bodies(waiter.reply()) for waiter in waiters[:3]] == [[b"a"], [b"b"], [b"c"]]
    assert [waiter.is_blocked for waiter in waiters[3:]] == [True, True]
    client.push("q", "d", "e", "f")
    assert [bodies(waiter.reply()) for waiter in waiters[3:]] == [[b"d"], [b"e"]]
    assert client.waiting("q")[0][1] == b"f"


def test_the_first_takes_up_to_its_count_and_the_rest_is_for_the_next(server: Server, client: Client) -> None:
    greedy, modest, late = (pop_waiting(server, "q", count=count) for count in (3, 1, 10))
    client.push("q", *"abcdef")
    assert bodies(greedy.reply()) == [b"a", b"b", b"c"]
    assert bodies(modest.reply()) == [b"d"]
    assert bodies(late.reply()) == [b"e", b"f"]


def test_many_waiting_clients(server: Server, client: Client) -> None:
    waiters = [pop_waiting(server, "q") for _ in range(100)]
    client.push("q", *range(60))
    client.push("q", *range(60, 100))
    assert [bodies(waiter.reply()) for waiter in waiters] == [[b"%d" % number] for number in range(100)]
    assert blocked_clients(client) == 0


def test_a_woken_client_takes_only_from_the_key_that_woke_it(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "first", "second", count=10)
    client.transaction(("RQ.PUSH", "second", "s1", "s2"), ("RQ.PUSH", "first", "f1"))
    rows = waiter.reply()
    assert [(row[0], row[2]) for row in rows] == [(b"second", b"s1"), (b"second", b"s2")]
    assert [row[1] for row in client.waiting("first")] == [b"f1"]


def test_a_client_that_waits_for_several_keys_is_served_once(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "a", "b", "c")
    client.push("b", "1")
    assert waiter.reply()[0][0] == b"b"
    client.push("a", "2")
    client.push("c", "3")
    assert len(client.waiting("a")) == len(client.waiting("c")) == 1
    assert waiter.call("PING") == b"PONG"


def test_a_key_named_twice(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q", "q", count=5)
    client.push("q", "a", "b")
    assert bodies(waiter.reply()) == [b"a", b"b"]


def test_waiters_for_different_keys_in_one_push_each(server: Server, client: Client) -> None:
    both, only_b = pop_waiting(server, "a", "b"), pop_waiting(server, "b")
    client.push("b", "1", "2")
    assert bodies(both.reply()) == [b"1"]
    assert bodies(only_b.reply()) == [b"2"]


def test_what_is_delivered_does_not_serve(server: Server, client: Client) -> None:
    client.push("q", "a")
    client.take("q")
    waiter = pop_waiting(server, "q")
    client.recover("q")
    assert waiter.is_blocked
    client.push("q", "b")
    assert bodies(waiter.reply()) == [b"b"]


def test_waiting_makes_no_key(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q", "r")
    assert client.call("DBSIZE") == 0
    waiter.close()
    assert client.call("DBSIZE") == 0


def test_waiting_for_a_key_of_another_type(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    client.call("RPUSH", "q", "x")
    client.call("LPOP", "q")
    client.call("SET", "q", "text")
    client.call("DEL", "q")
    client.call("XADD", "q", "*", "f", "v")
    assert waiter.is_blocked
    client.call("DEL", "q")
    client.push("q", "a")
    assert bodies(waiter.reply()) == [b"a"]


def test_lists_and_queues_do_not_serve_each_other(server: Server, client: Client) -> None:
    lister, popper = Waiter(server, "BLPOP", "k", 0), pop_waiting(server, "k")
    client.push("k", "a", "b")
    assert bodies(popper.reply()) == [b"a"]
    assert lister.is_blocked
    client.call("DEL", "k")
    client.call("RPUSH", "k", "x")
    assert lister.reply() == [b"k", b"x"]


# Where nothing may block, there is an answer at once.


@pytest.mark.parametrize("protocol", [2, 3])
def test_in_a_transaction(server: Server, protocol: int) -> None:
    with server.client(protocol=protocol) as client:
        assert client.transaction(("RQ.POP", "BLOCK", 0, "q"), ("RQ.POP", "BLOCK", 9, "q")) == [None, None]
        client.push("q", "a")
        (rows,) = client.transaction(("RQ.POP", "BLOCK", 0, "q"))
        assert bodies(rows) == [b"a"]


def test_in_a_script(client: Client) -> None:
    script = "return redis.call('RQ.POP', 'BLOCK', '0', KEYS[1])"
    assert client.call("EVAL", script, 1, "q") is None
    client.push("q", "a")
    assert bodies(client.call("EVAL", script, 1, "q")) == [b"a"]


def test_in_a_function(client: Client) -> None:
    library = """#!lua name=waiting
    redis.register_function('pop', function(keys, args)
        return redis.call('RQ.POP', 'BLOCK', '0', keys[1])
    end)"""
    client.call("FUNCTION", "LOAD", library)
    assert client.call("FCALL", "pop", 1, "q") is None
    client.push("q", "a")
    assert bodies(client.call("FCALL", "pop", 1, "q")) == [b"a"]


def test_a_transaction_serves_when_it_is_over(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q", count=10)
    client.transaction(("RQ.PUSH", "q", "a"), ("RQ.PUSH", "q", "b"))
    assert bodies(waiter.reply()) == [b"a", b"b"]


def test_what_a_transaction_takes_back_serves_nobody(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    client.transaction(("RQ.PUSH", "q", "a"), ("RQ.POP", "q"))
    client.transaction(("RQ.PUSH", "r", "a"), ("RENAME", "r", "q"), ("DEL", "q"))
    assert waiter.is_blocked
    client.push("q", "b")
    assert bodies(waiter.reply()) == [b"b"]


def test_a_push_from_a_script_serves(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    client.call("EVAL", "return redis.call('RQ.PUSH', KEYS[1], 'a')", 1, "q")
    assert bodies(waiter.reply()) == [b"a"]
