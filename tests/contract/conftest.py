"""The places that every test of the contract runs on."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future
from itertools import count
from pathlib import Path
from typing import Any

import pytest
import reliableq

from tests.support.process import Keeper

PLACES = ["memory", "file", "file client", "RESP2", "RESP3"]

Start = Callable[..., "Future[object]"]

_numbers = count()


@pytest.fixture(scope="session")
def keeper() -> Iterator[Keeper]:
    keeper = Keeper()
    yield keeper
    keeper.end()


@pytest.fixture(params=PLACES)
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """Names a place without queues. The file is this process's own, or that of another."""
    if request.param == "memory":
        yield f"memory:contract-{next(_numbers)}"
    elif request.param == "file":
        yield f"file:{tmp_path}/contract.rq"
    elif request.param == "file client":
        keeper: Keeper = request.getfixturevalue("keeper")
        url = f"file:{tmp_path}/contract.rq"
        keeper.open(url)
        yield url
        keeper.close()
    else:
        server: Any = request.getfixturevalue("server")
        yield f"redis://127.0.0.1:{server.port}?protocol={request.param[-1]}"


@pytest.fixture
def remembers(request: pytest.FixtureRequest) -> bool:
    """Whether a queue of this place remembers each push for a while, and so is there without messages."""
    place: str = request.node.callspec.params["url"]
    return place in {"file client", "RESP2", "RESP3"}


@pytest.fixture
def connect(url: str) -> Iterator[Callable[[], reliableq.Connection]]:
    """Makes connections to the same place."""
    made: list[reliableq.Connection] = []

    def connect() -> reliableq.Connection:
        made.append(reliableq.connect(url))
        return made[-1]

    yield connect
    for connection in made:
        connection.close()


@pytest.fixture
def rq(connect: Callable[[], reliableq.Connection]) -> reliableq.Connection:
    return connect()


@pytest.fixture
def queue(rq: reliableq.Connection) -> reliableq.Queue:
    return rq.queue("q")


@pytest.fixture
def start() -> Start:
    """Starts calls in threads of their own. One that never ends does not keep the run from ending."""

    def start(call: Callable[..., object], *arguments: object, **options: object) -> "Future[object]":
        future: Future[object] = Future()

        def run() -> None:
            try:
                future.set_result(call(*arguments, **options))
            except BaseException as error:
                future.set_exception(error)

        threading.Thread(target=run, daemon=True).start()
        return future

    return start
