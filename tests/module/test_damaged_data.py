"""Damaged, cut and future data is refused; a server that answers goes on answering."""

import struct
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.conftest import StartServer
from tests.support.client import Client, CommandError
from tests.support.effort import effort
from tests.support.payload import (
    HEADER,
    crc64,
    dump_of,
    encoding_version,
    value_of,
    with_checksum,
    with_encoding_version,
)
from tests.support.scenario import both_lists, every_size
from tests.support.server import WRECKAGE, Server, ServerExited


@pytest.fixture
def value(client: Client) -> bytes:
    """A queue of a few messages in both lists, and of a producer, as DUMP gives it."""
    both_lists(client)
    client.produce("both", "someone", 1, "g", "h")
    value = value_of(client.call("DUMP", "both"))
    client.call("FLUSHALL")
    return value


def restore(client: Client, value: bytes) -> bool:
    """Whether RESTORE accepts the value; if it does, the queue must behave."""
    (reply,) = client.call_many([("RESTORE", "copy", 0, dump_of(value), "REPLACE")])
    if isinstance(reply, CommandError):
        assert reply.line == "ERR Bad data format"
        return False
    use_up(client, b"copy")
    return True


def use_up(client: Client, key: bytes) -> None:
    """Takes and acknowledges all that a queue holds, checking that its parts agree. Nothing that damage may have
    set up or paused is in the way."""
    client.call("RQ.RESUME", key, "ALL")
    client.call("RQ.SETUP", key, "LEASE", 0, "DELIVERIES", 0, "INFLIGHT", 0)
    if not client.exists(key):
        return
    count = client.length(key)
    waiting, pending = client.waiting(key, 0, 1 << 40), client.pending(key, 0, 1 << 40)
    info = client.queue_info(key)
    assert info is not None and (info["waiting"], info["delivered"]) == (len(waiting), len(pending))
    assert count == len(waiting) + len(pending)
    client.call("DUMP", key)
    client.pop(key, 1 << 40)
    ids = [row[1] for row in client.recover(key, 1 << 40)]
    assert sorted(ids) == sorted(row[0] for row in waiting + pending)
    if ids:
        assert client.ack(key, *ids) == ids
    client.call("DEL", key)


def test_an_undamaged_value_is_accepted(client: Client, value: bytes) -> None:
    assert restore(client, value)


@pytest.mark.essential
def test_a_value_cut_anywhere_is_refused(client: Client, value: bytes) -> None:
    accepted = [length for length in range(1, len(value)) if restore(client, value[:length])]
    assert accepted == []
    assert not client.exists("copy")


@pytest.mark.essential
def test_a_value_with_something_behind_it_is_refused_or_whole(client: Client, value: bytes) -> None:
    for tail in (b"\0", b"\x02\0", value[HEADER:], bytes(64)):
        restore(client, value + tail)
    assert client.call("PING") == b"PONG"


@pytest.mark.essential
@pytest.mark.parametrize("ahead", [1, 2, 100])
def test_a_future_encoding_is_refused_with_a_log_line(server: Server, client: Client, value: bytes, ahead: int) -> None:
    future = encoding_version(value) + ahead
    seen = len(server.log())
    assert not restore(client, with_encoding_version(value, future))
    line = server.log()[seen:].lower()
    assert "version" in line and str(future) in line


def test_every_bit_flipped(client: Client, value: bytes) -> None:
    for place in range(HEADER, len(value)):
        for bit in range(8):
            damaged = bytearray(value)
            damaged[place] ^= 1 << bit
            restore(client, bytes(damaged))
    assert client.call("PING") == b"PONG"


@settings(max_examples=effort(400))
@given(data=st.data())
def test_random_damage(client: Client, value: bytes, data: st.DataObject) -> None:
    damaged = bytearray(value)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(HEADER, len(damaged) - 1))
        change = data.draw(st.sampled_from(["set", "insert", "delete", "repeat"]))
        if change == "set":
            damaged[place] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0x81, 0xC0, 0xFF]))
        elif change == "insert":
            damaged[place:place] = data.draw(st.binary(min_size=1, max_size=12))
        elif change == "delete":
            del damaged[place : place + data.draw(st.integers(1, 8))]
        else:
            damaged[place:place] = damaged[place : place + 16]
        if len(damaged) <= HEADER + 1:
            break
    restore(client, bytes(damaged))
    assert client.call("PING") == b"PONG"


@settings(max_examples=effort(200))
@given(body=st.binary(max_size=200))
def test_anything_else_under_our_name(client: Client, value: bytes, body: bytes) -> None:
    restore(client, value[:HEADER] + body)
    assert client.call("PING") == b"PONG"


def test_a_refused_value_leaves_the_old_one(client: Client, value: bytes) -> None:
    client.push("copy", "old")
    before = client.digest("copy")
    with pytest.raises(CommandError):
        client.call("RESTORE", "copy", 0, dump_of(value[: len(value) // 2]), "REPLACE")
    assert client.digest("copy") == before


# Files: a server that can't read its data must not start as if there were none.


def damaged_start(server: Server, path: Path, data: bytes) -> ServerExited:
    path.write_bytes(data)
    with pytest.raises(ServerExited) as ended:
        server.start()
    check_end(ended.value)
    return ended.value


def check_end(ended: ServerExited) -> None:
    """Checks that the server ended by itself. Some do so with 0, as their file checker found nothing."""
    assert ended.returncode >= 0
    assert not [word for word in WRECKAGE if word in ended.log]


def refusals(ended: ServerExited) -> list[str]:
    """The module's own lines in the log, after those of its start."""
    loading = ended.log.partition("Module 'reliableq' loaded")[2]
    return [line.lower() for line in loading.splitlines() if "<reliableq>" in line]


@pytest.fixture
def stopped(start_server: StartServer) -> Server:
    """A server that has saved a queue and ended."""
    server = start_server()
    with server.client() as client:
        both_lists(client)
        every_size(client)
        client.call("SAVE")
    server.stop()
    return server


def body_of(rdb: bytes) -> bytes:
    """An RDB file without its checksum."""
    assert struct.unpack("<Q", rdb[-8:]) == (crc64(rdb[:-8]),)
    return rdb[:-8]


def value_start(body: bytes, key: bytes) -> int:
    """Where the module's own bytes of a key begin in an RDB file."""
    return body.index(bytes([7, len(key)]) + key) + 2 + len(key) + HEADER - 1


@pytest.mark.essential
def test_a_future_encoding_in_a_file_stops_the_start_with_a_log_line(stopped: Server) -> None:
    path = stopped.folder / "dump.rdb"
    body = bytearray(body_of(path.read_bytes()))
    last = value_start(bytes(body), b"both") - 1
    body[last] += 1
    ended = damaged_start(stopped, path, with_checksum(bytes(body)))
    assert refusals(ended) and "version" in refusals(ended)[0]


@pytest.mark.essential
def test_a_file_cut_short_stops_the_start(stopped: Server) -> None:
    path = stopped.folder / "dump.rdb"
    whole = path.read_bytes()
    start = value_start(whole, b"both")
    for length in (start, start + 1, start + 9, len(whole) // 2, len(whole) - 20):
        damaged_start(stopped, path, whole[:length])


def test_a_damaged_file_is_refused_or_whole(stopped: Server) -> None:
    path = stopped.folder / "dump.rdb"
    body = body_of(path.read_bytes())
    start = value_start(body, b"both")
    refused = 0
    for place in range(start, start + 40, 3):
        damaged = bytearray(body)
        damaged[place] ^= 0xFF
        path.write_bytes(with_checksum(bytes(damaged)))
        try:
            stopped.start()
        except ServerExited as ended:
            refused += 1
            check_end(ended)
            # The server itself may find no end of the value, or that a string can't be expanded.
            by_the_server = ("not terminated by the proper module value EOF marker", "Internal error in RDB reading")
            told = any(words in ended.log for words in by_the_server) or refusals(ended)
            assert told, f"byte {place} was refused without a word"
        else:
            with stopped.client() as client:
                use_up(client, b"both")
            stopped.kill()
    assert refused > 0


def test_a_damaged_effect_stops_the_start_and_names_the_key(start_server: StartServer) -> None:
    server = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble="no")
    with server.client() as client:
        client.push("orders", "a" * 20)
        client.take("orders")
    server.kill()
    (path,) = (server.folder / "appendonlydir").glob("*.incr.aof")
    data = bytearray(path.read_bytes())
    name = data.upper().rindex(b"RQ.APPLY")
    length = data.index(b"orders\r\n", name) + len(b"orders\r\n")
    head = data.index(b"\r\n", length) + 2
    data[head] ^= 0xFF
    ended = damaged_start(server, path, bytes(data))
    assert [line for line in refusals(ended) if "orders" in line]
