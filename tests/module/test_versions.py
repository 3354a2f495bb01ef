"""What earlier releases wrote is read for ever. Each format version leaves two files in golden/: a queue
as DUMP gave it, and the append-only file of its making. They are never written anew.
The steps are in crates/rq-dump/tests/golden.rs."""

from pathlib import Path

import pytest

from tests.conftest import StartServer
from tests.support.client import Client
from tests.support.effects import applied
from tests.support.payload import dump_of, value_of

pytestmark = pytest.mark.essential

GOLDEN = Path(__file__).with_name("golden")
MADE = 1_900_000_000_000

WAITING = [
    [b"%d-1" % (MADE + 7), b"five"],
    [b"%d-2" % (MADE + 7), b"long" * 2000],
    [b"%d-3" % (MADE + 7), b"seven"],
    [b"%d-1" % (MADE + 49), b"produced"],
]
PENDING = [
    [b"%d-3" % MADE, b"", MADE + 20, 1],
    [b"%d-4" % MADE, bytes(range(256)), MADE + 20, 1],
    [b"%d-1" % MADE, b"one", MADE + 33, 2],
    [b"%d-1" % (MADE + 44), b"leased", MADE + 45, 1],
]
SCHEDULED = [[b"%d-1" % (MADE + 40), b"scheduled", MADE + 10_000_040]]
DEAD = [[b"%d-1" % (MADE + 41), b"dead", MADE + 43, 1, 1, b"poison", b"worker"]]
COUNTERS = {
    "sent": 12,
    "received": 9,
    "returned": 3,
    "returned_nack": 1,
    "returned_recover": 2,
    "dead": 1,
    "deleted": 2,
    "consumers": 1,
    "last-id": b"%d-1" % (MADE + 49),
}


def check(client: Client) -> None:
    """Compares the queue q with the one that every golden file holds."""
    assert client.waiting("q") == WAITING
    assert [[*row[:3], row[4]] for row in client.pending("q")] == PENDING
    assert client.call("RQ.INSPECT", "q", "SCHEDULED", 0, 10) == SCHEDULED
    assert client.call("RQ.INSPECT", "q", "DEAD", 0, 10) == DEAD
    info = client.queue_info("q")
    assert info is not None
    assert {name: info[name] for name in COUNTERS} == COUNTERS


@pytest.mark.parametrize("version", [1])
def test_a_dump_is_read(client: Client, version: int) -> None:
    dump = (GOLDEN / f"version-{version}.dump").read_bytes()
    client.call("RESTORE", "q", 0, dump_of(value_of(dump)))
    check(client)


@pytest.mark.parametrize("version", [1])
def test_effects_are_read(start_server: StartServer, version: int) -> None:
    with start_server().client() as client:
        for command in applied((GOLDEN / f"version-{version}.aof").read_bytes()):
            client.call("RQ.APPLY", *command)
        check(client)
