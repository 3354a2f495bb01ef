"""The places that every test of the contract runs on."""

from collections.abc import Callable, Iterator
from itertools import count
from typing import Any

import pytest
import reliableq

_numbers = count()


@pytest.fixture(params=["memory", "RESP2", "RESP3"])
def url(request: pytest.FixtureRequest) -> str:
    """Names a place without queues."""
    if request.param == "memory":
        return f"memory:contract-{next(_numbers)}"
    server: Any = request.getfixturevalue("server")
    return f"redis://127.0.0.1:{server.port}?protocol={request.param[-1]}"


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
