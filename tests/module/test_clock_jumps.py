"""A clock that is set: no lease ends early, nothing returns in mass, and timers go on."""

from collections.abc import Callable

import pytest

from tests.conftest import StartServer
from tests.support.client import Client
from tests.support.clock import BASE, HOUR, Clock, true_time
from tests.support.server import Server
from tests.support.wait import wait_until
from tests.support.waiter import pop_waiting

pytestmark = pytest.mark.essential

jumps = pytest.mark.parametrize("jump", [-24 * HOUR, -HOUR, HOUR, 24 * HOUR], ids=["-day", "-hour", "hour", "day"])


@pytest.fixture
def running(start_server: StartServer, clock: Clock) -> Server:
    clock.shift(0)
    return start_server(clock)


def jump_by(server: Server, clock: Clock, jump: int) -> None:
    """Sets the server's clock, and waits until it has seen that and made some rounds."""
    clock.shift(jump)
    server.wait_for_time(true_time() + jump)
    with server.client() as client:
        for _ in range(2):
            client.push("rounds", "x")
            client.pop_with("rounds", "LEASE", 1)
            wait_until("a round is made", lambda: client.facts("rounds", "delivered") == (0,))
        client.call("DEL", "rounds")


@jumps
def test_ends_no_lease_early(running: Server, clock: Clock, jump: int) -> None:
    with running.client() as client:
        ids = client.push("q", *range(100))
        client.pop_with("q", "LEASE", HOUR // 2, "COUNT", 100)
        jump_by(running, clock, jump)
        assert client.pop("q") is None
        assert client.facts("q", "delivered", "returned") == (100, 0), "nothing is delivered again"
        assert client.ack("q", *ids) == ids


@jumps
def test_nothing_scheduled_falls_due_early(running: Server, clock: Clock, jump: int) -> None:
    with running.client() as client:
        client.push_with("q", "DELAY", HOUR // 2)
        client.push_with("mortal", "TTL", HOUR // 2)
        client.produce("remembering", "p", 1, "a")
        client.ack("remembering", *client.take("remembering"))
        jump_by(running, clock, jump)
        assert client.pop("q") is None and client.facts("q", "scheduled") == (1,)
        assert client.length("mortal") == 1 and client.exists("remembering")


@jumps
def test_leases_and_delays_from_before_still_end(running: Server, clock: Clock, jump: int) -> None:
    with running.client() as client:
        client.push("held", "x")
        client.pop_with("held", "LEASE", 700)
        client.push_with("delayed", "DELAY", 700)
        waiters = [pop_waiting(running, key) for key in ("held", "delayed")]
        clock.shift(jump)
        running.wait_for_time(true_time() + jump)
        assert [waiter.reply()[0][0] for waiter in waiters] == [b"held", b"delayed"]
        for waiter in waiters:
            waiter.close()


@jumps
def test_leases_and_delays_from_after_end(running: Server, clock: Clock, jump: int) -> None:
    with running.client() as client:
        client.push("first", "x")
        jump_by(running, clock, jump)
        client.push("held", "x")
        client.pop_with("held", "LEASE", 30)
        client.push_with("delayed", "DELAY", 30)
        client.push_with("mortal", "TTL", 30)
        wait_until("it returns", lambda: client.facts("held", "waiting") == (1,))
        wait_until("it falls due", lambda: client.facts("delayed", "waiting") == (1,))
        wait_until("it is dropped", lambda: not client.exists("mortal"))


@jumps
def test_times_told_stay_where_they_were(running: Server, clock: Clock, jump: int) -> None:
    with running.client() as client:
        (before,) = client.push("q", "a")
        jump_by(running, clock, jump)
        (after,) = client.push("q", "b")
        first, second = (int(id.split(b"-")[0]) for id in (before, after))
        assert 0 <= second - first < HOUR // 2


@jumps
def test_at_means_the_wall_clock_of_the_push(running: Server, clock: Clock, jump: int) -> None:
    with running.client() as client:
        client.push("first", "x")
        jump_by(running, clock, jump)
        client.push_with("soon", "AT", true_time() + jump + 40)
        client.push_with("later", "AT", true_time() + jump + HOUR // 2)
        wait_until("it falls due", lambda: client.facts("soon", "waiting") == (1,))
        assert client.facts("later", "scheduled") == (1,)


def test_the_time_is_drawn_towards_the_wall_clock(still: Client, exact_clock: Clock) -> None:
    still.push("q", "x")
    exact_clock.stand_at(BASE + HOUR)
    exact_clock.pass_by(100_000)
    (id,) = still.push("q", "x")
    assert int(id.split(b"-")[0]) == BASE + 101_000, "by a hundredth"
    exact_clock.stand_at(BASE - HOUR)
    exact_clock.pass_by(100_000)
    (id,) = still.push("q", "x")
    assert int(id.split(b"-")[0]) == BASE + 200_000


# Queues from places whose time is ahead.


@pytest.mark.parametrize("way", ["RESTORE", "load", "failover"])
def test_a_queue_from_the_future_is_not_frozen(
    start_server: StartServer, new_clock: Callable[[], Clock], exact_clock: Clock, way: str
) -> None:
    """It goes on from its own time plus monotonic time."""
    ahead = new_clock()
    ahead.shift(24 * HOUR)
    far = start_server(ahead)
    near = far if way == "load" else start_server(exact_clock)
    if way == "failover":
        near.follow(far)
    with far.client() as client:
        (id,) = client.push("q", "a")
        client.pop_with("q", "LEASE", HOUR)
        client.push_with("q", "DELAY", HOUR, bodies=["b"])
        deadline = client.meta("q", id)["deadline"]
        if way == "RESTORE":
            dump = client.call("DUMP", "q")
        elif way == "load":
            client.call("SAVE")
    passing = exact_clock
    if way == "load":
        far.kill()
        ahead.shift(0)
        far.start()
        passing = ahead
    elif way == "failover":
        near.catch_up(far)
        far.kill()
        near.promote()
    with near.client() as client:
        if way == "RESTORE":
            client.call("RESTORE", "q", 0, dump)
        assert client.meta("q", id)["deadline"] == deadline
        assert client.pop("q") is None
        passing.pass_by(HOUR // 2)
        assert client.pop("q") is None, "not early"
        passing.pass_by(HOUR // 2 + HOUR // 10)
        wait_until("both wait", lambda: client.facts("q", "waiting") == (2,))
        assert client.bodies("q") == [b"a", b"b"]
