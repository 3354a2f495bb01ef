"""RQ.PUSH key elem [elem ...]"""

import re

import pytest

from tests.support.client import Client, CommandError
from tests.support.server import Server
from tests.support.wire import Wire

pytestmark = pytest.mark.essential

ID = re.compile(rb"[1-9][0-9]*-[1-9][0-9]*")


def test_answers_with_the_id_of_each_element(either: Client) -> None:
    ids = either.push("q", "one", "two", "three")
    assert len(ids) == 3
    assert all(ID.fullmatch(id) for id in ids)
    assert either.waiting("q") == [[ids[0], b"one"], [ids[1], b"two"], [ids[2], b"three"]]


def test_creates_the_key_with_its_type(client: Client) -> None:
    assert not client.exists("q")
    client.push("q", "x")
    assert client.call("TYPE", "q") == b"RELIABLEQ"


def test_appends_to_the_end(client: Client) -> None:
    first = client.push("q", "a", "b")
    second = client.push("q", "c")
    assert [row[0] for row in client.waiting("q")] == first + second


@pytest.mark.parametrize(
    "body",
    [b"", b"\0", b"\r\n", bytes(range(256)), b"12345", b"x" * 70_000, b"y" * (3 << 20)],
    ids=["empty", "zero", "newline", "every-byte", "number", "70-kB", "3-MB"],
)
def test_keeps_every_payload_as_it_is(either: Client, body: bytes) -> None:
    (id,) = either.push("q", body)
    assert either.waiting("q") == [[id, body]]
    assert either.pop("q") == [[b"q", id, body]]
    assert either.pending("q")[0][:2] == [id, body]


def test_a_key_is_binary_safe(client: Client) -> None:
    key = b"\0queue\r\n\xff"
    (id,) = client.push(key, "x")
    assert client.pop(key) == [[key, id, b"x"]]


def test_many_elements_at_once_keep_their_order(client: Client) -> None:
    bodies = [b"%d" % number for number in range(5000)]
    ids = client.push("q", *bodies)
    assert client.length("q") == 5000
    assert client.waiting("q", 0, 5000) == [list(pair) for pair in zip(ids, bodies, strict=True)]


def test_any_letter_case_will_do(client: Client) -> None:
    for name in ("rq.push", "RQ.PUSH", "Rq.Push"):
        client.call(name, "q", "x")
    assert client.length("q") == 3


def test_wrong_type(either: Client) -> None:
    either.call("SET", "q", "text")
    with pytest.raises(CommandError) as error:
        either.push("q", "x")
    assert error.value.code == "WRONGTYPE"
    assert either.call("GET", "q") == b"text"


@pytest.mark.parametrize("protocol", [2, 3])
def test_the_reply_is_an_array_of_bulk_strings(server: Server, protocol: int) -> None:
    with Wire(server.port, protocol) as wire:
        reply = wire.call(b"RQ.PUSH", b"q", b"a", b"b")
    assert re.fullmatch(rb"\*2\r\n(\$\d+\r\n\d+-\d+\r\n){2}", reply)
