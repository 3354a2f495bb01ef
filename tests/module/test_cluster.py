"""A node of a cluster finds the keys of each command, wherever they stand."""

from collections.abc import Iterator

import pytest

from tests.conftest import StartServer
from tests.support.client import Argument, Client, CommandError
from tests.support.wait import wait_until


@pytest.fixture(scope="module")
def node(start_shared: StartServer) -> Iterator[Client]:
    server = start_shared(cluster_enabled="yes")
    with server.client() as client:
        client.call("CLUSTER", "ADDSLOTSRANGE", 0, 8191)
        client.call("CONFIG", "SET", "cluster-require-full-coverage", "no")
        wait_until("the cluster is up", lambda: b"cluster_state:ok" in client.call("CLUSTER", "INFO"))
        yield client


FORMS: list[tuple[Argument, ...]] = [
    ("COUNT", 5),
    ("COUNT", 5, "BLOCK", 10),
    (5,),
    ("COUNT", 5, "KEYS", 2),
    (),
]
"""What may stand before two keys."""


def key_in(client: Client, served: bool) -> str:
    """A key whose slot this node serves, or does not."""
    names = (f"key{number}" for number in range(1000))
    return next(name for name in names if (client.call("CLUSTER", "KEYSLOT", name) <= 8191) == served)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_keys_of_one_slot_go_together(node: Client, form: tuple[Argument, ...]) -> None:
    tag = key_in(node, served=True)
    first, second = f"{{{tag}}}1", f"{{{tag}}}2"
    node.push(first, "a")
    node.push(second, "b")
    rows = node.call("RQ.POP", *form, first, second)
    assert rows[0][0] == first.encode()
    node.call("DEL", first, second)


@pytest.mark.parametrize("form", FORMS, ids=str)
def test_keys_of_two_slots_do_not(node: Client, form: tuple[Argument, ...]) -> None:
    ours = key_in(node, served=True)
    with pytest.raises(CommandError) as error:
        node.call("RQ.POP", *form, ours, ours + "x")
    assert error.value.code == "CROSSSLOT"


ONE_KEY: list[tuple[Argument, ...]] = [
    ("RQ.PUSH", "{}", "x"),
    ("RQ.PUSHEX", "{}", "ELEMENTS", 1, "x"),
    ("RQ.PUSHEX", "{}", "PRODUCER", "p", "SEQ", 1, "ELEMENTS", 1, "x"),
    ("RQ.POP", "{}"),
    ("RQ.ACK", "{}", "1-1"),
    ("RQ.RECOVER", "{}", 1, 0),
    ("RQ.INSPECT", "{}", 0, 1),
    ("RQ.RANGE", "{}", "-", "+"),
    ("RQ.SPLIT", "{}", 2),
    ("RQ.LEN", "{}"),
    ("RQ.INFO", "{}"),
    ("RQ.STATUS", "{}"),
]


@pytest.mark.parametrize("command", ONE_KEY, ids=lambda command: " ".join(str(word) for word in command))
def test_a_key_of_an_unserved_slot(node: Client, command: tuple[Argument, ...]) -> None:
    ours, foreign = key_in(node, served=True), key_in(node, served=False)
    node.call(*(ours if word == "{}" else word for word in command))
    node.call("DEL", ours)
    with pytest.raises(CommandError) as error:
        node.call(*(foreign if word == "{}" else word for word in command))
    assert error.value.code == "CLUSTERDOWN"


def test_the_status_of_the_node(node: Client) -> None:
    tag = key_in(node, served=True)
    first, second = f"{{{tag}}}1", f"{{{tag}}}2"
    node.push(first, "a")
    assert node.call("RQ.STATUS") == [[first.encode(), 1, 0, 0]]
    assert node.call("RQ.STATUS", second, first) == [[second.encode(), 0, 0, 0], [first.encode(), 1, 0, 0]]
    with pytest.raises(CommandError, match="CROSSSLOT"):
        node.call("RQ.STATUS", tag, tag + "x")
    node.call("DEL", first)
