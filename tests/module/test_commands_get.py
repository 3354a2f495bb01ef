"""RQ.PEEK and RQ.GET: looking at single messages."""

from typing import Any

import pytest

from tests.support.client import Client, CommandError

pytestmark = pytest.mark.essential


def as_map(meta: Any) -> dict[bytes, Any]:
    return meta if isinstance(meta, dict) else dict(zip(meta[::2], meta[1::2], strict=True))


def test_peek_shows_the_ends_of_what_waits(client: Client) -> None:
    assert client.call("RQ.PEEK", "q") is None
    a, b, c = client.call("RQ.PUSH", "q", "a", "b", "c")
    client.call("RQ.POP", "q")
    assert client.call("RQ.PEEK", "q") == client.call("RQ.PEEK", "q") == [b, b"b"]
    assert client.call("RQ.PEEK", "q", "BACK") == [c, b"c"]
    id, payload, meta = client.call("RQ.PEEK", "q", "withmeta", "back")
    assert (id, payload) == (c, b"c") and as_map(meta)[b"state"] == b"waiting"
    client.call("RQ.POP", "COUNT", 2, "q")
    assert client.call("RQ.PEEK", "q") is None
    assert a != b


def test_get_has_a_row_or_null_for_each_id(client: Client) -> None:
    a, b, c = client.call("RQ.PUSH", "q", "a", "b", "c")
    client.call("RQ.POP", "COUNT", 2, "q")
    client.call("RQ.ACK", "q", b)
    assert client.call("RQ.GET", "q", "IDS", 4, c, b, a, "1-1") == [[c, b"c"], None, [a, b"a"], None]
    (row,) = client.call("RQ.GET", "q", "WITHMETA", "IDS", 1, a)
    meta = as_map(row[2])
    assert row[:2] == [a, b"a"] and (meta[b"state"], meta[b"deliveries"]) == (b"delivered", 1)
    assert client.call("RQ.GET", "none", "IDS", 2, a, b) == [None, None]
    assert client.call("EXISTS", "none") == 0


@pytest.mark.parametrize(
    "words",
    [
        ("RQ.PEEK",),
        ("RQ.PEEK", "q", "FRONT"),
        ("RQ.PEEK", "q", "BACK", "BACK"),
        ("RQ.GET", "q", "1-1"),
        ("RQ.GET", "q", "IDS", 2, "1-1"),
        ("RQ.GET", "q", "IDS", 0),
        ("RQ.GET", "q", "IDS", 1, "x"),
    ],
)
def test_wrong_arguments_are_refused(client: Client, words: tuple[str | int, ...]) -> None:
    with pytest.raises(CommandError, match="expected"):
        client.call(*words)


def test_another_type_is_refused(client: Client) -> None:
    client.call("SET", "q", "x")
    for words in (("RQ.PEEK", "q"), ("RQ.GET", "q", "IDS", 1, "1-1")):
        with pytest.raises(CommandError, match="WRONGTYPE"):
            client.call(*words)
