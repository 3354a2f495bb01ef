"""RQ.RECOVER key count elapsed"""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.clock import BASE, HOUR, Clock, true_time
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.wire import Wire

pytestmark = pytest.mark.essential


def test_gives_delivered_messages_again_as_rows_like_those_of_pop(either: Client) -> None:
    ids = either.push("q", "a", "b")
    either.take("q", 2)
    assert either.call("RQ.RECOVER", "q", 10, 0) == [[b"q", ids[0], b"a"], [b"q", ids[1], b"b"]]


def test_counts_the_delivery_and_moves_the_message_to_the_tail(client: Client) -> None:
    a, b, c = client.push("q", "a", "b", "c")
    client.take("q", 3)
    assert [row[1] for row in client.recover("q", 1)] == [a]
    assert [(row[0], row[4]) for row in client.pending("q")] == [(b, 1), (c, 1), (a, 2)]
    assert [row[1] for row in client.recover("q", 2)] == [b, c]
    assert [(row[0], row[4]) for row in client.pending("q")] == [(a, 2), (b, 2), (c, 2)]


def test_looks_at_each_message_at_most_once(client: Client) -> None:
    ids = client.push("q", "a", "b", "c")
    client.take("q", 3)
    assert [row[1] for row in client.recover("q", 1000)] == ids
    assert [row[4] for row in client.pending("q")] == [2, 2, 2]


def test_leaves_waiting_messages_alone(client: Client) -> None:
    client.push("q", "a", "b")
    (first,) = client.take("q")
    assert [row[1] for row in client.recover("q")] == [first]
    assert [row[1] for row in client.waiting("q")] == [b"b"]


def test_a_message_not_yet_due_stays(client: Client) -> None:
    client.push("q", "a")
    client.take("q")
    before = client.digest("q")
    assert client.recover("q", 10, 3_600_000) == []
    assert client.recover("q", 10, (1 << 63) - 1) == []
    assert client.digest("q") == before


def test_elapsed_is_compared_with_the_time_since_the_last_delivery(
    start_server: StartServer, exact_clock: Clock
) -> None:
    exact_clock.stop(BASE)
    with start_server(exact_clock).client() as client:
        a, b = client.push("q", "a", "b")
        client.take("q")
        exact_clock.pass_by(400)
        client.take("q")
        exact_clock.pass_by(599)
        assert client.recover("q", 10, 1000) == []
        exact_clock.pass_by(1)
        assert [row[1] for row in client.recover("q", 10, 1000)] == [a]
        assert client.recover("q", 10, 1000) == []
        assert client.pending("q") == [[b, b"b", BASE + 400, 600, 1], [a, b"a", BASE + 1000, 0, 2]]
        exact_clock.pass_by(400)
        assert [row[1] for row in client.recover("q", 10, 1000)] == [b]


@pytest.mark.parametrize("jump", [-HOUR, -24 * HOUR, HOUR, 24 * HOUR])
def test_a_clock_that_is_set_recovers_nothing_early(start_server: StartServer, clock: Clock, jump: int) -> None:
    clock.shift(0)
    server = start_server(clock)
    with server.client() as client:
        client.push("q", "a")
        client.take("q")
        clock.shift(jump)
        server.wait_for_time(true_time() + jump)
        assert client.recover("q", 10, HOUR // 2) == []
        assert 0 <= client.pending("q")[0][3] < HOUR // 2
        wait_until("it is recovered when its time has come", lambda: client.recover("q", 10, 50))


def test_count_limits_what_is_recovered(client: Client) -> None:
    ids = client.push("q", *range(100))
    client.take("q", 100)
    seen: list[bytes] = []
    for _ in range(10):
        seen += [row[1] for row in client.recover("q", 10)]
    assert seen == ids


def test_a_recovered_message_is_acknowledged_by_its_id(client: Client) -> None:
    (id,) = client.push("q", "a")
    client.take("q")
    client.recover("q")
    assert client.ack("q", id) == [id]
    assert client.recover("q") == []


@pytest.mark.parametrize("protocol", [2, 3])
def test_nothing_is_an_empty_array(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        assert wire.call(b"RQ.RECOVER", b"missing", b"1", b"0") == b"*0\r\n"
        wire.call(b"RQ.PUSH", b"q", b"x")
        assert wire.call(b"RQ.RECOVER", b"q", b"1", b"0") == b"*0\r\n"
        assert wire.call(b"EXISTS", b"missing") == b":0\r\n"


def test_wrong_type(either: Client) -> None:
    either.call("SET", "q", "text")
    with pytest.raises(CommandError) as error:
        either.recover("q")
    assert error.value.code == "WRONGTYPE"
