"""RQ.SETUP and RQ.CONSUMER, which look or change as their arguments say: where each is let."""

import time

import pytest

from tests.conftest import StartServer
from tests.support.client import Argument, Client, CommandError, as_dictionary
from tests.support.server import Server
from tests.support.wait import wait_until

pytestmark = pytest.mark.essential

LOOKING: list[tuple[Argument, ...]] = [("RQ.SETUP", "q"), ("RQ.CONSUMER", "LIST", "q")]
CHANGING: list[tuple[Argument, ...]] = [("RQ.SETUP", "q", "LEASE", 60_000), ("RQ.CONSUMER", "DELETE", "q", "ann")]

looking = pytest.mark.parametrize("command", LOOKING, ids=lambda words: words[0])
changing = pytest.mark.parametrize("command", CHANGING, ids=lambda words: words[0])


def fill(client: Client) -> None:
    client.setup("q", "DELIVERIES", 7)
    client.push("q", "a", "b")
    client.pop_with("q", "CONSUMER", "ann")


def script(command: tuple[Argument, ...]) -> str:
    return f"return redis.call({', '.join(repr(str(word)) for word in command)})"


@looking
def test_looking_propagates_nothing(start_server: StartServer, command: tuple[Argument, ...]) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        fill(client)
        before = client.info("persistence")["aof_current_size"], client.digest("q")
        for _ in range(5):
            client.call(*command)
            client.call(*(word if word != "q" else "none" for word in command))
        assert (client.info("persistence")["aof_current_size"], client.digest("q")) == before
        assert not client.exists("none")


@looking
def test_looking_does_no_due_work(client: Client, command: tuple[Argument, ...]) -> None:
    """The transaction keeps timers from doing it meanwhile."""
    push = ("RQ.PUSHEX", "q", "DELAY", 1, "ELEMENTS", 1, "x")
    replies = client.transaction(push, ("DEBUG", "SLEEP", "0.02"), command, ("RQ.INSPECT", "q", "SCHEDULED", 0, 9))
    assert len(replies[-1]) == 1


@looking
def test_looking_is_no_change_for_who_watches(server: Server, client: Client, command: tuple[Argument, ...]) -> None:
    fill(client)
    client.call("WATCH", "q")
    with server.client() as other:
        other.call(*command)
    assert client.transaction(("RQ.LEN", "q")) == [2]


@changing
def test_changes_go_on_in_transactions_and_scripts(client: Client, command: tuple[Argument, ...]) -> None:
    fill(client)
    (reply,) = client.transaction(command)
    assert reply in (b"OK", 1)
    fill(client)
    assert client.call("EVAL", script(command), 0) in (b"OK", 1)
    settings = as_dictionary(client.call("RQ.SETUP", "q"))
    assert settings["lease"] == 60_000 or client.call("RQ.CONSUMER", "LIST", "q") == []


@pytest.mark.parametrize("command", [*LOOKING, *CHANGING], ids=lambda words: " ".join(map(str, words)))
def test_read_only_scripts_are_refused_both(client: Client, command: tuple[Argument, ...]) -> None:
    """A module can't know that it is called by one, so the server has to refuse."""
    fill(client)
    before = client.digest("q")
    declared = f"#!lua flags=no-writes\n{script(command)}"
    for call in (("EVAL_RO", script(command), 0), ("EVAL", declared, 0)):
        with pytest.raises(CommandError) as error:
            client.call(*call)
        assert "not allowed from read-only scripts" in error.value.line
    assert client.digest("q") == before


@pytest.mark.parametrize("command", [*LOOKING, *CHANGING], ids=lambda words: " ".join(map(str, words)))
def test_a_pause_of_writes_is_waited_for(client: Client, command: tuple[Argument, ...]) -> None:
    fill(client)
    begun = time.monotonic()
    client.call("CLIENT", "PAUSE", 200, "WRITE")
    assert client.length("q") == 2
    assert time.monotonic() - begun < 0.2, "this machine is too slow for the test"
    client.call(*command)
    assert time.monotonic() - begun > 0.19


@changing
def test_a_change_within_a_pause_is_refused(client: Client, command: tuple[Argument, ...]) -> None:
    """What is propagated then ends the server, which may have begun to hand over."""
    fill(client)
    before = client.digest("q")
    refused = client.transaction(("CLIENT", "PAUSE", 60_000, "WRITE"), command, *LOOKING)
    client.call("CLIENT", "UNPAUSE")
    assert refused[1].code == "TRYAGAIN" and "expected" in refused[1].line
    assert refused[2] and refused[3]
    assert client.digest("q") == before
    assert client.call(*command) in (b"OK", 1)


@changing
def test_a_server_with_too_few_replicas_refuses_changes(
    start_server: StartServer, command: tuple[Argument, ...]
) -> None:
    with start_server().client() as client:
        fill(client)
        before = client.digest("q")
        client.call("CONFIG", "SET", "min-replicas-to-write", 1)
        with pytest.raises(CommandError) as error:
            client.call(*command)
        assert error.value.code == "NOREPLICAS"
        (refused,) = client.transaction(command)
        assert isinstance(refused, CommandError)
        assert client.call(*LOOKING[0]) and client.call(*LOOKING[1])
        assert client.digest("q") == before
        client.call("CONFIG", "SET", "min-replicas-to-write", 0)
        assert client.call(*command) in (b"OK", 1)


@changing
def test_a_server_that_can_not_save_refuses_changes(start_server: StartServer, command: tuple[Argument, ...]) -> None:
    server = start_server(save="3600 1")
    with server.client() as client:
        fill(client)
        before = client.digest("q")
        # A directory in the place of the file, which no right overcomes.
        (server.folder / "dump.rdb" / "inside").mkdir(parents=True)
        client.call("BGSAVE")
        wait_until("the save has failed", lambda: client.info("persistence")["rdb_last_bgsave_status"] == "err")
        with pytest.raises(CommandError) as error:
            client.call(*command)
        assert error.value.code == "MISCONF"
        assert client.call(*LOOKING[0]) and client.call(*LOOKING[1])
        assert client.digest("q") == before
