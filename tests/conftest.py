"""Servers for the tests. One is shared, and emptied before each test; those that a test ends,
reconfigures or connects to each other are its own."""

import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import reliableq
from hypothesis import HealthCheck, settings

from tests.support.client import Client
from tests.support.clock import BASE, HOUR, Clock, build_shim
from tests.support.effort import EFFORT
from tests.support.server import Server, module_path, server_command

settings.register_profile(
    "reliableq",
    deadline=None,
    derandomize=EFFORT == 1,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("reliableq")

# A shell that runs the tests in the background has them ignore Ctrl-C, and with them all that they start.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

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
def time_obeys(start_shared: StartServer, clock_shim: Path, tmp_path_factory: pytest.TempPathFactory) -> bool:
    """Whether the module's time stands still, and passes, when that of the server's clocks does."""

    def milliseconds(client: Client) -> int:
        return int(client.push("q", "x")[0].split(b"-")[0])

    standing, running = (Clock(clock_shim, tmp_path_factory.mktemp("clock") / "clock") for _ in range(2))
    standing.stop(BASE)
    with start_shared(standing).client() as client:
        stands = {milliseconds(client) for _ in range(20)} == {BASE}
        standing.pass_by(HOUR)
        exact = milliseconds(client) == BASE + HOUR
    with start_shared(running).client() as client:
        before = milliseconds(client)
        running.pass_by(HOUR)
        passes = milliseconds(client) - before >= HOUR * 98 // 100
    return stands and exact and passes


@pytest.fixture
def exact_clock(clock: Clock, time_obeys: bool) -> Clock:
    """Clocks whose every setting is seen at once, also that time passes: to the millisecond when they stand; where
    they run, a server that looks at the wall clock now and then may take a hundredth less for the truth."""
    if not time_obeys:
        pytest.skip("this server looks at the wall clock now and then, and asks the processor for monotonic time")
    return clock


@pytest.fixture
def still(start_server: StartServer, exact_clock: Clock) -> Iterator[Client]:
    """A client of a server whose clocks stand at BASE, and its timers too, until the test has time pass
    (`exact_clock.pass_by`)."""
    exact_clock.stop(BASE)
    with start_server(exact_clock).client() as client:
        yield client
