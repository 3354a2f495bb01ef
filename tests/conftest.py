"""Servers for the tests. One is shared, and emptied before each test; those that a test ends,
reconfigures or connects to each other are its own."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import reliableq
from hypothesis import HealthCheck, settings

from tests.support.client import Client
from tests.support.clock import BASE, Clock, build_shim
from tests.support.effort import EFFORT
from tests.support.server import Server, module_path, server_command

settings.register_profile(
    "reliableq",
    deadline=None,
    derandomize=EFFORT == 1,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("reliableq")

StartServer = Callable[..., Server]


@pytest.fixture(scope="session")
def start_shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[StartServer]:
    """Starts servers that live until the end of the run."""
    yield from _starter(tmp_path_factory.mktemp("shared"))


@pytest.fixture
def start_server(tmp_path: Path) -> Iterator[StartServer]:
    """Starts servers that live until the end of the test."""
    yield from _starter(tmp_path)


def _starter(folder: Path) -> Iterator[StartServer]:
    command, module = server_command(), module_path()
    started: list[Server] = []

    def start(clock: Clock | None = None, **options: str) -> Server:
        server = Server(command, module, folder / f"server-{len(started)}", clock, **options)
        started.append(server)
        return server.start()

    yield start
    try:
        for server in started:
            server.check_health()
    finally:
        for server in started:
            server.kill()


@pytest.fixture(scope="session")
def shared_server(start_shared: StartServer) -> Server:
    return start_shared()


@pytest.fixture
def server(shared_server: Server) -> Iterator[Server]:
    """The shared server, empty."""
    if not shared_server.running:
        shared_server.start()
    with shared_server.client() as client:
        client.call("CLIENT", "KILL", "TYPE", "normal")
        client.call("FLUSHALL")
        client.call("FUNCTION", "FLUSH")
    yield shared_server
    shared_server.check_health()


@pytest.fixture
def client(server: Server) -> Iterator[Client]:
    """A client of the shared server that speaks RESP2."""
    with server.client() as client:
        yield client


@pytest.fixture
def url(server: Server) -> str:
    """Names the shared server to the package."""
    return f"redis://127.0.0.1:{server.port}"


@pytest.fixture
def rq(url: str) -> Iterator[reliableq.Connection]:
    with reliableq.connect(url) as connection:
        yield connection


@pytest.fixture
def queue(rq: reliableq.Connection) -> reliableq.Queue:
    return rq.queue("q")


@pytest.fixture(params=[2, 3], ids=["RESP2", "RESP3"])
def either(request: pytest.FixtureRequest, server: Server) -> Iterator[Client]:
    """A client of the shared server, once for each protocol."""
    with server.client(protocol=request.param) as client:
        yield client


@pytest.fixture(scope="session")
def clock_shim(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build_shim(tmp_path_factory.mktemp("shim"))


@pytest.fixture
def new_clock(clock_shim: Path, tmp_path: Path) -> Callable[[], Clock]:
    """Makes clocks for servers."""
    made: list[Clock] = []

    def make() -> Clock:
        made.append(Clock(clock_shim, tmp_path / f"clock-{len(made)}"))
        return made[-1]

    return make


@pytest.fixture
def clock(new_clock: Callable[[], Clock]) -> Clock:
    """A clock that a test sets. Not every server sees at once that it was set: see Server.wait_for_time."""
    return new_clock()


@pytest.fixture(scope="session")
def clock_stands(start_shared: StartServer, clock_shim: Path, tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether the server's time stands still when its clock does."""
    clock = Clock(clock_shim, tmp_path_factory.mktemp("clock") / "clock")
    clock.stand_at(BASE)
    with start_shared(clock).client() as client:
        return all(client.call("TIME") == [b"%d" % (BASE // 1000), b"0"] for _ in range(20))


@pytest.fixture
def exact_clock(clock: Clock, clock_stands: bool) -> Clock:
    """A clock whose every setting is seen at once, to the millisecond."""
    if not clock_stands:
        pytest.skip("this server looks at the clock now and then, and reckons its time on in between")
    return clock
