"""The story that `make demo` tells."""

import subprocess
import sys

import pytest
from reliableq.demo import main


def test_the_story_goes_as_told() -> None:
    def told() -> str:
        return subprocess.check_output([sys.executable, "-m", "reliableq.demo"], text=True)

    text = told()
    assert all(word in text for word in ("PUSH", "POP", "ACK", "RECOVER", "waiting |", "delivered |"))
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()
    assert told() == text


def test_a_story_that_goes_wrong_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reliableq.Queue.recover", lambda self, count, elapsed: [])
    with pytest.raises(SystemExit) as end:
        main()
    assert "not as told" in str(end.value.code)
