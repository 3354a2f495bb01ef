"""The program, beside a connection to the same queues."""

from pathlib import Path

import pytest

from tests.cli.program import Program


@pytest.fixture
def program(url: str, tmp_path: Path) -> Program:
    return Program(url, tmp_path)
