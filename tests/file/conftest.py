"""Files in both their roles."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.process import Keeper


@pytest.fixture(params=["owner", "client"])
def url(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A file that the process which opens it next owns, or that another owns."""
    url = f"file:{tmp_path}/jobs.rq?timeout=30"
    if request.param == "owner":
        yield url
        return
    keeper = Keeper()
    keeper.open(url)
    yield url
    keeper.end()
