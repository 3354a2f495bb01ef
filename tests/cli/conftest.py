"""The program, beside a connection to the same queues."""

from collections.abc import Iterator
from pathlib import Path

import pytest
import reliableq

from tests.cli.program import Program
from tests.support.server import Server


@pytest.fixture
def url(server: Server) -> str:
    return f"redis://127.0.0.1:{server.port}"


@pytest.fixture
def program(url: str, tmp_path: Path) -> Program:
    return Program(url, tmp_path)


@pytest.fixture
def rq(url: str) -> Iterator[reliableq.Connection]:
    with reliableq.connect(url) as rq:
        yield rq


@pytest.fixture
def queue(rq: reliableq.Connection) -> reliableq.Queue:
    return rq.queue("q")
