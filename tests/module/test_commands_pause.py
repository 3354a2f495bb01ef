"""RQ.PAUSE and RQ.RESUME key [PUSH|POP|ALL]"""

import pytest

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.clock import Clock
from tests.support.server import Server
from tests.support.waiter import Waiter, pop_waiting

pytestmark = pytest.mark.essential


def paused(client: Client) -> bytes:
    return bytes(client.facts("q", "paused")[0])


def test_pop_is_what_is_paused_unless_told(either: Client) -> None:
    either.push("q", "a")
    assert either.call("RQ.PAUSE", "q") == b"OK"
    assert paused(either) == b"pop"
    assert either.pop("q") is None and len(either.push("q", "b")) == 1
    assert either.call("RQ.RESUME", "q") == b"OK"
    assert paused(either) == b"none" and either.bodies("q") == [b"a", b"b"]


def test_a_paused_push_is_refused(client: Client) -> None:
    client.push("q", "a")
    client.call("RQ.PAUSE", "q", "PUSH")
    before = client.digest("q")
    for command in (("RQ.PUSH", "q", "b"), ("RQ.PUSHEX", "q", "DELAY", 5, "ELEMENTS", 1, "b")):
        with pytest.raises(CommandError) as error:
            client.call(*command)
        assert error.value.code == "PAUSED"
    assert client.digest("q") == before
    assert client.bodies("q") == [b"a"]


def test_each_side_by_itself(client: Client) -> None:
    client.push("q", "a")
    told = []
    for command, side in [
        ("PAUSE", "ALL"),
        ("RESUME", "PUSH"),
        ("PAUSE", "push"),
        ("RESUME", "POP"),
        ("PAUSE", "POP"),
        ("RESUME", "all"),
    ]:
        client.call(f"RQ.{command}", "q", side)
        told.append(paused(client))
    assert told == [b"all", b"pop", b"all", b"push", b"all", b"none"]


def test_whoever_is_blocked_waits_on(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "q")
    client.call("RQ.PAUSE", "q")
    (id,) = client.push("q", "a")
    assert waiter.is_blocked
    late = pop_waiting(server, "q")
    client.push("q", "b")
    client.call("RQ.RESUME", "q")
    assert waiter.reply() == [[b"q", id, b"a"]]
    assert late.reply()[0][2] == b"b"
    waiter.close()
    late.close()


def test_other_queues_of_a_pop_go_on(client: Client) -> None:
    client.push("q", "a")
    client.push("r", "b")
    client.call("RQ.PAUSE", "q")
    assert [row[0] for row in client.call("RQ.POP", "COUNT", 9, "KEYS", 2, "q", "r")] == [b"r"]


def test_what_is_held_goes_on(still: Client, exact_clock: Clock) -> None:
    acked, nacked, lost = still.push("q", "a", "b", "c")
    still.pop_with("q", "COUNT", 3, "LEASE", 100)
    still.push_with("q", "DELAY", 100, bodies=["due"])
    still.call("RQ.PAUSE", "q", "ALL")
    assert still.ack("q", acked) == [acked] and still.nack("q", nacked) == [nacked]
    exact_clock.pass_by(100)
    still.call("RQ.RESUME", "q", "POP")
    assert [row[1] for row in still.pop_with("q", "COUNT", 9)][:2] == [nacked, lost]
    assert still.facts("q", "scheduled") == (0,)


def test_a_paused_queue_exists_without_messages(client: Client) -> None:
    client.call("RQ.PAUSE", "q")
    assert client.exists("q") and client.length("q") == 0
    client.push("q", "a")
    client.call("RQ.RESUME", "q")
    client.ack("q", *client.take("q"))
    assert not client.exists("q")
    client.call("RQ.RESUME", "q")
    assert not client.exists("q"), "to resume what is not there makes nothing"


def test_notify_waits_for_a_paused_queue(server: Server, client: Client) -> None:
    with server.client() as consumer:
        client.call("RQ.PAUSE", "q")
        client.push("q", "a")
        consumer.call("RQ.REGISTER", "q")
        assert consumer.call("RQ.NOTIFY", 1) is None
        client.call("RQ.RESUME", "q")
        assert consumer.call("RQ.NOTIFY", 0) == b"q"


def test_survives_and_is_followed(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        client.call("RQ.PAUSE", "q", "ALL")
        replica.catch_up(primary)
        assert paused(copy) == b"all"
        client.call("DEBUG", "RELOAD")
        assert paused(client) == b"all"


def test_a_waiter_of_a_paused_queue_gets_its_null(server: Server, client: Client) -> None:
    client.call("RQ.PAUSE", "q")
    client.push("q", "a")
    assert client.call("RQ.POP", "BLOCK", 1, "q") is None
    waiter = Waiter(server, "RQ.POP", "BLOCK", 0, "KEYS", 1, "q")
    assert waiter.is_blocked
    waiter.close()


@pytest.mark.parametrize("command", ["RQ.PAUSE", "RQ.RESUME"])
@pytest.mark.parametrize("words", [("BOTH",), ("PUSH", "POP"), ("PUSH", "PUSH"), ("",)])
def test_bad_input_changes_nothing(client: Client, command: str, words: tuple[str, ...]) -> None:
    with pytest.raises(CommandError, match="expected"):
        client.call(command, "q", *words)
    assert not client.exists("q")
