"""Connections for the tests of the package."""

from collections.abc import Iterator

import pytest
import reliableq


@pytest.fixture
def rq() -> Iterator[reliableq.Connection]:
    with reliableq.connect("memory:") as connection:
        yield connection


@pytest.fixture
def queue(rq: reliableq.Connection) -> reliableq.Queue:
    return rq.queue("q")
