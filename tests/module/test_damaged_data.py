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
from tests.support.server import Server, ServerExited


def a_value(client: Client) -> bytes:
    """A queue of a few messages in both lists, as DUMP gives it."""
    both_lists(client)
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
    """Takes and acknowledges all that a queue holds, checking that its parts agree."""
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


def test_an_undamaged_value_is_accepted(client: Client) -> None:
    assert restore(client, a_value(client))


@pytest.mark.essential
def test_a_value_cut_anywhere_is_refused(client: Client) -> None:
    value = a_value(client)
    accepted = [length for length in range(1, len(value)) if restore(client, value[:length])]
    assert accepted == []
    assert not client.exists("copy")


@pytest.mark.essential
def test_a_value_with_something_behind_it_is_refused_or_whole(client: Client) -> None:
    value = a_value(client)
    for tail in (b"\0", b"\x02\0", value[HEADER:], bytes(64)):
        restore(client, value + tail)
    assert client.call("PING") == b"PONG"


@pytest.mark.essential
@pytest.mark.parametrize("ahead", [1, 2, 100])
def test_a_future_encoding_is_refused_with_a_log_line(server: Server, client: Client, ahead: int) -> None:
    value = a_value(client)
    future = encoding_version(value) + ahead
    seen = len(server.log())
    assert not restore(client, with_encoding_version(value, future))
    line = server.log()[seen:].lower()
    assert "version" in line and str(future) in line


def test_every_bit_flipped(client: Client) -> None:
    value = a_value(client)
    for place in range(HEADER, len(value)):
        for bit in range(8):
            damaged = bytearray(value)
            damaged[place] ^= 1 << bit
            restore(client, bytes(damaged))
    assert client.call("PING") == b"PONG"


@settings(max_examples=effort(400))
@given(data=st.data())
def test_random_damage(client: Client, data: st.DataObject) -> None:
    value = bytearray(a_value(client))
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(HEADER, len(value) - 1))
        change = data.draw(st.sampled_from(["set", "insert", "delete", "repeat"]))
        if change == "set":
            value[place] = data.draw(st.sampled_from([0, 1, 0x7F, 0x80, 0x81, 0xC0, 0xFF]))
        elif change == "insert":
            value[place:place] = data.draw(st.binary(min_size=1, max_size=12))
        elif change == "delete":
            del value[place : place + data.draw(st.integers(1, 8))]
        else:
            value[place:place] = value[place : place + 16]
        if len(value) <= HEADER + 1:
            break
    restore(client, bytes(value))
    assert client.call("PING") == b"PONG"


@settings(max_examples=effort(200))
@given(body=st.binary(max_size=200))
def test_anything_else_under_our_name(client: Client, body: bytes) -> None:
    restore(client, a_value(client)[:HEADER] + body)
    assert client.call("PING") == b"PONG"


def test_a_refused_value_leaves_the_old_one(client: Client) -> None:
    value = a_value(client)
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
    return ended.value


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
    assert ended.returncode > 0
    assert "version" in ended.log.lower() and "crashed by signal" not in ended.log


@pytest.mark.essential
def test_a_file_cut_short_stops_the_start(stopped: Server) -> None:
    path = stopped.folder / "dump.rdb"
    whole = path.read_bytes()
    start = value_start(whole, b"both")
    for length in (start, start + 1, start + 9, len(whole) // 2, len(whole) - 20):
        ended = damaged_start(stopped, path, whole[:length])
        assert ended.returncode > 0
        assert "crashed by signal" not in ended.log and "panicked" not in ended.log


def test_a_damaged_file_is_refused_or_whole(stopped: Server) -> None:
    path = stopped.folder / "dump.rdb"
    body = body_of(path.read_bytes())
    start = value_start(body, b"both")
    refusals = 0
    for place in range(start, start + 40, 3):
        damaged = bytearray(body)
        damaged[place] ^= 0xFF
        path.write_bytes(with_checksum(bytes(damaged)))
        try:
            stopped.start()
        except ServerExited as ended:
            refusals += 1
            assert ended.returncode > 0, f"byte {place} ended the server by a signal"
            assert "panicked" not in ended.log
            assert len(ended.log.splitlines()) > 1
        else:
            with stopped.client() as client:
                use_up(client, b"both")
            stopped.kill()
    assert refusals > 0


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
    assert ended.returncode > 0
    assert "orders" in ended.log and "panicked" not in ended.log
