"""RQ.FORWARD source destination IDS n id ... ELEMENTS n elem ...: handed over exactly once."""

import pytest

from tests.conftest import StartServer
from tests.support.client import Argument, Client, CommandError
from tests.support.clock import Clock
from tests.support.server import Server
from tests.support.waiter import pop_waiting

pytestmark = pytest.mark.essential


def forward(client: Client, id: Argument, *bodies: str, to: str = "dst") -> list[bytes]:
    ids: list[bytes] = client.call("RQ.FORWARD", "src", to, "IDS", 1, id, "ELEMENTS", len(bodies), *bodies)
    return ids


def held(client: Client) -> bytes:
    (id,) = client.push("src", "x")
    client.take("src")
    return id


def refused(client: Client, code: str, *command: Argument) -> None:
    """Runs what must be refused without any change."""
    before = client.dataset_digest()
    with pytest.raises(CommandError) as error:
        client.call(*command)
    assert error.value.code == code
    assert client.dataset_digest() == before


def test_acknowledges_and_pushes(either: Client) -> None:
    ids = forward(either, held(either), "a", "b")
    assert either.waiting("dst") == [[ids[0], b"a"], [ids[1], b"b"]]
    assert not either.exists("src")


def test_many_messages_into_one(client: Client) -> None:
    ids = client.push("src", "a", "b", "c")
    client.take("src", 2)
    client.call("RQ.FORWARD", "src", "dst", "IDS", 2, ids[1], ids[0] + b"@1", "ELEMENTS", 1, "ab")
    assert client.waiting("src") == [[ids[2], b"c"]] and client.pending("src") == []
    assert client.facts("src", "deleted") == (2,)
    assert [row[1] for row in client.waiting("dst")] == [b"ab"]


def test_a_second_time_is_refused(client: Client) -> None:
    id = held(client)
    forward(client, id, "a")
    refused(client, "NOTHELD", "RQ.FORWARD", "src", "dst", "IDS", 1, id, "ELEMENTS", 1, "a")
    assert client.length("dst") == 1


def test_all_or_nothing(client: Client) -> None:
    a, b = client.push("src", "a", "b")
    client.take("src")
    for other in (b, b"7-7", a + b"@2"):
        refused(client, "NOTHELD", "RQ.FORWARD", "src", "dst", "IDS", 2, a, other, "ELEMENTS", 1, "x")
    assert not client.exists("dst")


def test_a_consumer_whose_lease_ended_forwards_nothing(still: Client, exact_clock: Clock) -> None:
    (id,) = still.push("src", "x")
    still.pop_with("src", "LEASE", 100)
    exact_clock.pass_by(100)
    with pytest.raises(CommandError) as error:
        forward(still, id + b"@1", "a")
    assert error.value.code == "NOTHELD" and not still.exists("dst")
    still.take("src")
    with pytest.raises(CommandError) as error:
        forward(still, id + b"@1", "a")
    assert error.value.code == "NOTHELD" and not still.exists("dst")
    assert len(forward(still, id + b"@2", "a")) == 1


def test_to_the_same_queue(client: Client) -> None:
    (new,) = forward(client, held(client), "again", to="src")
    assert client.waiting("src") == [[new, b"again"]] and client.pending("src") == []


def test_a_full_queue_forwards_to_itself(client: Client) -> None:
    # What leaves makes room for what comes, and no more.
    client.call("RQ.SETUP", "src", "MAXLEN", 2, "MAXBYTES", 3)
    first, _ = client.push("src", "x", "y")
    client.take("src")
    for bodies in (["a", "b"], ["xyz"]):
        refused(client, "CAPPED", "RQ.FORWARD", "src", "src", "IDS", 1, first, "ELEMENTS", len(bodies), *bodies)
    (id,) = forward(client, first, "ab", to="src")
    assert client.call("RQ.LEN", "src") == 2
    assert client.waiting("src")[-1] == [id, b"ab"]


def test_to_the_same_queue_while_many_leases_end(still: Client, exact_clock: Clock) -> None:
    """More than are returned in one step: it is still both or nothing."""
    ids = still.push("src", *range(2100))
    still.pop_with("src", "LEASE", 100, "COUNT", 2100)
    exact_clock.pass_by(100)
    pushed = True
    try:
        forward(still, ids[-1] + b"@1", "new", to="src")
    except CommandError as error:
        assert error.code == "NOTHELD"
        pushed = False
    assert still.facts("src", "sent", "deleted") == ((2101, 1) if pushed else (2100, 0))


def test_by_token(client: Client) -> None:
    client.push_with("src", "TOKEN", "t")
    client.take("src")
    command = ("RQ.FORWARD", "src", "dst", "TOKENS", 1, "t", "ELEMENTS", 1, "a")
    assert len(client.call(*command)) == 1
    refused(client, "NOTHELD", *command)


def test_wakes_who_waits(server: Server, client: Client) -> None:
    waiter = pop_waiting(server, "dst")
    (id,) = forward(client, held(client), "a")
    assert waiter.reply() == [[b"dst", id, b"a"]]
    waiter.close()


def test_a_destination_that_takes_nothing(client: Client) -> None:
    id = held(client)
    command = ("RQ.FORWARD", "src", "dst", "IDS", 1, id, "ELEMENTS", 2, "a", "b")
    client.call("RQ.PAUSE", "dst", "PUSH")
    refused(client, "PAUSED", *command)
    client.call("RQ.RESUME", "dst", "PUSH")
    client.setup("dst", "MAXLEN", 1)
    refused(client, "CAPPED", *command)
    client.call("DEL", "dst")
    client.call("SET", "dst", "text")
    refused(client, "WRONGTYPE", *command)
    assert len(client.pending("src")) == 1


def test_no_source(client: Client) -> None:
    refused(client, "NOTHELD", "RQ.FORWARD", "src", "dst", "IDS", 1, "1-1", "ELEMENTS", 1, "a")
    client.call("SET", "src", "text")
    refused(client, "WRONGTYPE", "RQ.FORWARD", "src", "dst", "IDS", 1, "1-1", "ELEMENTS", 1, "a")


def test_it_is_one_record_in_the_log(start_server: StartServer) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    path = server.folder / "appendonlydir"
    with server.client() as client:
        id = held(client)
        before = b"".join(file.read_bytes() for file in sorted(path.glob("*.incr.aof")))
        forward(client, id, "a")
    log = b"".join(file.read_bytes() for file in sorted(path.glob("*.incr.aof")))[len(before) :]
    assert log.startswith(b"*1\r\n$5\r\nMULTI\r\n") and log.endswith(b"*1\r\n$4\r\nEXEC\r\n")
    assert log.count(b"MULTI") == 1 and log.count(b"RQ.APPLY") == 2
    server.restart(kill=True)
    with server.client() as client:
        assert not client.exists("src") and [row[1] for row in client.waiting("dst")] == [b"a"]


def test_a_log_that_ends_within_it_holds_none_of_it(start_server: StartServer) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no", aof_load_truncated="yes")
    with server.client() as client:
        id = held(client)
        forward(client, id, "a")
    server.kill()
    (file,) = (server.folder / "appendonlydir").glob("*.incr.aof")
    whole = file.read_bytes()
    file.write_bytes(whole[: whole.rindex(b"*1\r\n$4\r\nEXEC")])
    server.start()
    with server.client() as client:
        assert not client.exists("dst") and [row[0] for row in client.pending("src")] == [id]


def test_a_replica_follows(start_server: StartServer) -> None:
    primary, replica = start_server(), start_server()
    replica.follow(primary)
    with primary.client() as client, replica.client() as copy:
        forward(client, held(client), "a")
        replica.catch_up(primary)
        assert copy.dataset_digest() == client.dataset_digest()
        assert not copy.exists("src") and copy.length("dst") == 1


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("IDS", 1, "{}"), "RQ.FORWARD"),
        (("ELEMENTS", 1, "a"), "RQ.FORWARD"),
        (("IDS", 2, "{}", "ELEMENTS", 1, "a"), "ELEMENTS"),
        (("IDS", 9, "{}", "ELEMENTS", 1, "a"), "IDS"),
        (("IDS", 1, "x", "ELEMENTS", 1, "a"), "x"),
        (("IDS", 1, "{}", "ELEMENTS", 2, "a"), "ELEMENTS"),
        (("IDS", 1, "{}", "ELEMENTS", 0), "ELEMENTS"),
        (("IDS", 1, "{}", "ELEMENTS", 1, "a", "b"), "ELEMENTS"),
        (("SILENT", "IDS", 1, "{}", "ELEMENTS", 1, "a"), "SILENT"),
    ],
    ids=lambda value: value if isinstance(value, str) else " ".join(str(word) for word in value),
)
def test_bad_input_is_named_and_changes_nothing(client: Client, words: tuple[Argument, ...], named: str) -> None:
    id = held(client)
    before = client.dataset_digest()
    with pytest.raises(CommandError) as error:
        client.call("RQ.FORWARD", "src", "dst", *(id if word == "{}" else word for word in words))
    assert error.value.code == "ERR" and named in error.value.line and "expected" in error.value.line
    assert client.dataset_digest() == before
