"""IDs always grow, and none is given twice: whatever happens to the queue, the clock or the server."""

from collections.abc import Callable

import pytest

from tests.conftest import StartServer
from tests.support.client import Client
from tests.support.clock import BASE, HOUR, Clock, true_time
from tests.support.effects import FLOOR, PAUSE, SETUP, head, number, policy
from tests.support.effects import push as pushed

Parsed = tuple[int, int]


def parse(id: bytes) -> Parsed:
    milliseconds, sequence = id.split(b"-")
    return int(milliseconds), int(sequence)


def push(client: Client, key: str = "q", count: int = 1) -> list[Parsed]:
    return [parse(id) for id in client.push(key, *["x"] * count)]


def used_up(client: Client, key: str = "q") -> Parsed:
    """Pushes one message, takes and acknowledges it: the queue ceases. Returns the ID."""
    (id,) = client.push(key, "x")
    client.ack(key, *client.take(key))
    assert not client.exists(key)
    return parse(id)


@pytest.fixture
def standing(start_server: StartServer, exact_clock: Clock) -> Client:
    """A client of a server whose clocks stand still at BASE."""
    exact_clock.stop(BASE)
    return start_server(exact_clock).client()


@pytest.mark.essential
def test_the_milliseconds_are_the_servers_time(client: Client) -> None:
    before = true_time()
    ((milliseconds, _),) = push(client)
    assert before - 1000 <= milliseconds <= true_time() + 1000


@pytest.mark.essential
def test_the_sequence_starts_at_one_in_each_millisecond(standing: Client, exact_clock: Clock) -> None:
    assert push(standing, count=3) == [(BASE, 1), (BASE, 2), (BASE, 3)]
    assert push(standing) == [(BASE, 4)]
    exact_clock.pass_by(1)
    assert push(standing, count=2) == [(BASE + 1, 1), (BASE + 1, 2)]
    exact_clock.pass_by(5000)
    assert push(standing) == [(BASE + 5001, 1)]


@pytest.mark.essential
def test_the_sequence_of_a_new_queue_starts_at_one(standing: Client, exact_clock: Clock) -> None:
    push(standing, "other", count=9)
    exact_clock.pass_by(1)
    assert push(standing, "new") == [(BASE + 1, 1)]


def test_a_sequence_goes_far(standing: Client) -> None:
    last = (BASE, 0)
    for _ in range(80):
        ids = push(standing, count=1000)
        assert ids == [(BASE, last[1] + number) for number in range(1, 1001)]
        last = ids[-1]


@pytest.mark.essential
@pytest.mark.parametrize("jump", [-5000, -HOUR, -24 * HOUR, HOUR, 24 * HOUR])
def test_a_clock_that_is_set(start_server: StartServer, clock: Clock, jump: int) -> None:
    """IDs grow on from where they were, with monotonic time."""
    clock.shift(0)
    server = start_server(clock)

    with server.client() as client:
        lasting, passing = push(client, count=2), [used_up(client, "other")]
        for shift in (jump, 0):
            clock.shift(shift)
            server.wait_for_time(true_time() + shift)
            lasting += push(client, count=2)
            passing += [used_up(client, "other"), used_up(client, "other")]
        for given in (lasting, passing):
            assert given == sorted(set(given))
            assert given[-1][0] - given[0][0] < HOUR / 2


def test_a_clock_that_goes_back_by_a_millisecond(standing: Client, exact_clock: Clock) -> None:
    assert push(standing) == [(BASE, 1)]
    exact_clock.stand_at(BASE - 1)
    assert push(standing) == [(BASE, 2)]
    exact_clock.pass_by(1000)
    assert push(standing) == [(BASE + 999, 1)], "it is drawn towards the wall clock"


@pytest.mark.essential
def test_a_queue_emptied_and_made_again_in_the_same_millisecond(standing: Client) -> None:
    given = [used_up(standing) for _ in range(50)]
    assert given == sorted(set(given))


@pytest.mark.essential
@pytest.mark.parametrize("removal", [("DEL", "q"), ("UNLINK", "q"), ("FLUSHALL",), ("FLUSHDB",), ("PEXPIREAT", "q", 1)])
def test_a_queue_deleted_and_made_again_in_the_same_millisecond(standing: Client, removal: tuple[str, ...]) -> None:
    given: list[Parsed] = []
    for _ in range(5):
        given += push(standing, count=3)
        standing.call(*removal)
    assert given == sorted(set(given))


@pytest.mark.essential
def test_a_queue_made_again_after_the_clock_went_back(standing: Client, exact_clock: Clock) -> None:
    old = used_up(standing)
    exact_clock.stand_at(BASE - HOUR)
    again = used_up(standing)
    assert again > old
    assert push(standing)[0] > again


def test_an_old_holder_does_not_hit_a_new_message(standing: Client, exact_clock: Clock) -> None:
    (old,) = standing.push("q", "old")
    standing.take("q")
    standing.call("DEL", "q")
    for moment in (BASE, BASE - HOUR, BASE + 1):
        exact_clock.stand_at(moment)
        standing.push("q", "new")
        standing.take("q")
        assert standing.ack("q", old) == []
        standing.call("DEL", "q")


def test_another_name_and_another_database_are_no_way_round(standing: Client) -> None:
    """A queue's IDs are not repeated under its name; the floor is the whole server's."""
    standing.call("SELECT", 3)
    given = push(standing, count=3)
    standing.call("DEL", "q")
    given += push(standing)
    standing.call("SELECT", 0)
    assert given == sorted(set(given))


def test_many_queues_in_one_millisecond(standing: Client) -> None:
    for n in range(200):
        first, second = push(standing, f"q{n}", count=2)
        assert first[0] == second[0] == BASE and second[1] == first[1] + 1


# Restarts and failovers.


@pytest.mark.essential
@pytest.mark.parametrize("later", [0, 1, -1, -HOUR])
def test_after_a_restart_from_a_dump(start_server: StartServer, clock: Clock, later: int) -> None:
    clock.stand_at(BASE)
    server = start_server(clock)
    with server.client() as client:
        gone = used_up(client, "gone")
        (kept,) = push(client, "kept")
        client.call("SAVE")
    clock.stand_at(BASE + later)
    server.restart(kill=True)
    with server.client() as client:
        assert push(client, "gone")[0] > max(gone, kept)
        assert push(client, "kept")[0] > kept


@pytest.mark.essential
@pytest.mark.parametrize("later", [0, -HOUR])
def test_after_a_restart_from_a_dump_that_holds_no_queue(start_server: StartServer, clock: Clock, later: int) -> None:
    clock.stand_at(BASE)
    server = start_server(clock)
    with server.client() as client:
        gone = used_up(client)
        client.call("SET", "other", "x")
        client.call("SAVE")
    clock.stand_at(BASE + later)
    server.restart(kill=True)
    with server.client() as client:
        assert push(client)[0] > gone


@pytest.mark.essential
@pytest.mark.parametrize("preamble", ["yes", "no"])
@pytest.mark.parametrize("later", [0, 1, -HOUR])
def test_after_a_restart_from_an_append_only_file(
    start_server: StartServer, clock: Clock, preamble: str, later: int
) -> None:
    clock.stand_at(BASE)
    server = start_server(clock, appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble)
    with server.client() as client:
        (kept,) = push(client, "kept")
        gone = used_up(client, "gone")
    clock.stand_at(BASE + later)
    server.restart(kill=True)
    with server.client() as client:
        assert push(client, "gone")[0] > max(gone, kept)
        assert push(client, "kept")[0] > kept


@pytest.mark.essential
@pytest.mark.parametrize("later", [0, -HOUR])
def test_after_a_rewrite_with_preamble_that_holds_no_queue(start_server: StartServer, clock: Clock, later: int) -> None:
    clock.stand_at(BASE)
    server = start_server(clock, appendonly="yes", appendfsync="always", aof_use_rdb_preamble="yes")
    with server.client() as client:
        gone = used_up(client)
        server.rewrite_aof()
    clock.stand_at(BASE + later)
    server.restart(kill=True)
    with server.client() as client:
        assert push(client)[0] > gone


@pytest.mark.parametrize("preamble", ["yes", "no"])
@pytest.mark.parametrize("later", [0, -HOUR])
def test_after_a_rewrite_that_holds_another_queue(
    start_server: StartServer, clock: Clock, preamble: str, later: int
) -> None:
    clock.stand_at(BASE)
    server = start_server(clock, appendonly="yes", appendfsync="always", aof_use_rdb_preamble=preamble)
    with server.client() as client:
        push(client, "another")
        clock.stand_at(BASE + 5)
        gone = used_up(client)
        server.rewrite_aof()
    clock.stand_at(BASE + 5 + later)
    server.restart(kill=True)
    with server.client() as client:
        assert push(client)[0] > gone


@pytest.mark.essential
@pytest.mark.parametrize("behind", [0, 1, HOUR])
def test_after_a_failover(start_server: StartServer, new_clock: Callable[[], Clock], behind: int) -> None:
    ours, theirs = new_clock(), new_clock()
    ours.stand_at(BASE)
    theirs.stand_at(BASE - behind)
    primary, replica = start_server(ours), start_server(theirs)
    replica.follow(primary)
    with primary.client() as client:
        gone = used_up(client, "gone")
        (kept,) = push(client, "kept")
    replica.catch_up(primary)
    primary.kill()
    replica.promote()
    with replica.client() as client:
        assert push(client, "kept")[0] > kept
        assert push(client, "gone")[0] > gone


@pytest.mark.parametrize("behind", [0, HOUR])
def test_after_a_full_synchronisation(start_server: StartServer, new_clock: Callable[[], Clock], behind: int) -> None:
    ours, theirs = new_clock(), new_clock()
    ours.stand_at(BASE)
    theirs.stand_at(BASE - behind)
    primary, replica = start_server(ours), start_server(theirs)
    with primary.client() as client:
        gone = used_up(client)
    replica.follow(primary)
    primary.kill()
    replica.promote()
    with replica.client() as client:
        assert push(client)[0] > gone


def test_a_queue_that_is_set_up_has_the_ids_of_where_it_was_made(start_server: StartServer) -> None:
    """The floor of whoever is told may be higher: of pushes that a failover lost, or of a clock that goes before."""
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        client.call("RQ.APPLY", "any", head(FLOOR, 9_000_000_000_000, 1))
        client.call("RQ.APPLY", "q", head(SETUP) + policy(flags=4, lease=5000) + number(1000) + number(3))
        client.call("RQ.APPLY", "p", head(PAUSE, 2, 1000, 3))
        for name in ("q", "p"):
            client.call("RQ.APPLY", name, pushed((1000, 4), 1), "x")
            assert client.waiting(name) == [[b"1000-4", b"x"]]
        # The same in a server: what it says of a queue that it makes does not depend on what it gave before.
        client.call("RQ.SETUP", "r", "LEASE", 5000)
        client.call("RQ.PAUSE", "s")
        client.push("r", "x")
        client.push("s", "x")
        before = client.digest("r"), client.digest("s")
        client.call("DEBUG", "LOADAOF")
        assert (client.digest("r"), client.digest("s")) == before


# What comes from elsewhere does not drag the others along.


@pytest.mark.parametrize("bring", ["RESTORE", "COPY", "RENAME"])
def test_a_queue_from_the_future_goes_on_from_its_own_last_id(
    start_server: StartServer, new_clock: Callable[[], Clock], standing: Client, exact_clock: Clock, bring: str
) -> None:
    ahead = new_clock()
    ahead.stop(BASE + 24 * HOUR)
    with start_server(ahead).client() as far:
        (future,) = push(far)
        standing.call("RESTORE", "q" if bring == "RESTORE" else "source", 0, far.call("DUMP", "q"))
    if bring != "RESTORE":
        standing.call(bring, "source", "q")
    given = push(standing)
    assert given == [(future[0], future[1] + 1)]
    exact_clock.pass_by(HOUR)
    assert push(standing)[0] > given[0]


def test_an_imported_future_does_not_move_other_queues(
    start_server: StartServer, new_clock: Callable[[], Clock], standing: Client
) -> None:
    ahead = new_clock()
    ahead.stop(BASE + 24 * HOUR)
    near = standing
    with start_server(ahead).client() as far:
        push(far)
        near.call("RESTORE", "imported", 0, far.call("DUMP", "q"))
        assert push(near, "imported")[0][0] == BASE + 24 * HOUR
        assert push(near, "new") == [(BASE, 1)]
