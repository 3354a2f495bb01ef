"""The module, the embedded queue and the model live the same life."""

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.conftest import StartServer
from tests.stateful.machine import Machine, ServerMachine
from tests.stateful.places import EmbeddedPlace, ModulePlace
from tests.support.effort import effort
from tests.support.server import Server


@pytest.fixture(params=["yes", "no"], ids=["preamble", "commands"])
def pair(request: pytest.FixtureRequest, start_server: StartServer) -> tuple[Server, Server]:
    """A primary with an append-only file, and its replica."""
    primary = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=request.param)
    replica = start_server()
    replica.follow(primary)
    return primary, replica


def test_the_module_the_embedded_queue_and_the_model(pair: tuple[Server, Server]) -> None:
    primary, replica = pair

    class OnServers(ServerMachine):
        def __init__(self) -> None:
            with primary.client() as client:
                client.call("FLUSHALL")
            super().__init__([EmbeddedPlace()], ModulePlace(primary), replica)

    run_state_machine_as_test(OnServers, settings=settings(max_examples=effort(60), stateful_step_count=50))


def test_the_embedded_queue_and_the_model() -> None:
    class Embedded(Machine):
        def __init__(self) -> None:
            super().__init__([EmbeddedPlace()])

    run_state_machine_as_test(Embedded, settings=settings(max_examples=effort(200), stateful_step_count=60))
