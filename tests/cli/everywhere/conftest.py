"""What the command does on a file, whose client it is while the test has it open, and on a server."""

from pathlib import Path

import pytest


@pytest.fixture(params=["file", "server"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    if request.param == "file":
        return f"file:{tmp_path}/jobs.rq"
    return f"redis://127.0.0.1:{request.getfixturevalue('server').port}"
