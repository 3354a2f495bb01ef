"""The module, the package at every place and the model live the same life."""

from collections.abc import Iterator
from itertools import count
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.stateful import run_state_machine_as_test

from tests.conftest import StartServer
from tests.stateful.machine import FileMachine, Machine, ServerMachine
from tests.stateful.places import FileClientPlace, ModulePlace, OwnFilePlace, PackagePlace, SocketPlace
from tests.support.effort import effort
from tests.support.process import Keeper
from tests.support.server import Server


@pytest.fixture(params=["yes", "no"], ids=["preamble", "commands"])
def pair(request: pytest.FixtureRequest, start_server: StartServer) -> tuple[Server, Server]:
    """A primary with an append-only file, and its replica."""
    primary = start_server(appendonly="yes", appendfsync="always", aof_use_rdb_preamble=request.param)
    replica = start_server()
    replica.follow(primary)
    return primary, replica


@pytest.fixture
def keeper() -> Iterator[Keeper]:
    keeper = Keeper()
    yield keeper
    keeper.end()


def test_the_module_the_package_and_the_model(pair: tuple[Server, Server]) -> None:
    """The package has databases of its own in the same server, one for each protocol."""
    primary, replica = pair

    class OnServers(ServerMachine):
        def __init__(self) -> None:
            with primary.client() as client:
                client.call("FLUSHALL")
            url = f"redis://127.0.0.1:{primary.port}"
            sockets = [SocketPlace(f"{url}/{protocol}?protocol={protocol}") for protocol in (2, 3)]
            super().__init__([PackagePlace("memory:"), *sockets], ModulePlace(primary), replica)

    run_state_machine_as_test(OnServers, settings=settings(max_examples=effort(60), stateful_step_count=50))


def test_files_and_the_model(keeper: Keeper, tmp_path: Path) -> None:
    """A file that this process owns, and one that another owns."""
    numbers = count()

    class OnFiles(FileMachine):
        def __init__(self) -> None:
            folder = tmp_path / str(next(numbers))
            folder.mkdir()
            super().__init__([PackagePlace("memory:")], OwnFilePlace(folder), FileClientPlace(folder, keeper))

    run_state_machine_as_test(OnFiles, settings=settings(max_examples=effort(60), stateful_step_count=50))


def test_memory_and_the_model() -> None:
    class InMemory(Machine):
        def __init__(self) -> None:
            super().__init__([PackagePlace("memory:")])

    run_state_machine_as_test(InMemory, settings=settings(max_examples=effort(200), stateful_step_count=60))
