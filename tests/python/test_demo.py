"""The story that `make demo` tells, and its pipeline where there is no Spark."""

import subprocess
import sys
from pathlib import Path

import pytest
import reliableq
from reliableq.demo import pipeline, story
from reliableq.demo.__main__ import main

from tests.support.java import make_home


def test_the_story_goes_as_told() -> None:
    def told() -> str:
        return subprocess.check_output([sys.executable, "-m", "reliableq.demo", "story"], text=True)

    text = told()
    assert all(word in text for word in ("PUSH", "POP", "ACK", "RECOVER", "waiting |", "delivered |"))
    assert max(map(len, text.splitlines())) <= 80
    assert text.isascii()
    assert told() == text


def test_a_story_that_goes_wrong_ends_with_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reliableq.Queue.recover", lambda self, count, elapsed: [])
    with pytest.raises(SystemExit) as end:
        story.main()
    assert "not as told" in str(end.value.code)


def words(text: str) -> str:
    """A text without its line breaks."""
    return " ".join(text.split())


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory, of a machine that has no Java."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PATH", str(tmp_path / "empty"))
    monkeypatch.delenv("JAVA_HOME", raising=False)
    return tmp_path


def test_without_java_both_parts_are_shown_but_spark(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    main([])
    text = capsys.readouterr().out
    assert "Every message was done" in text
    assert "Spark is left out: no Java was found on the PATH. Remedy: `make java` in a clone" in words(text)
    assert "orders | 4,800 waiting, 200 delivered" in text
    assert "5,000 orders, 72,083.40 EUR: nothing was lost" in text
    assert max(map(len, text.splitlines()[:-1])) <= 80  # the last names this Python's folder
    with reliableq.connect("file:demo-output/shop.rq") as rq:
        assert rq.names() == ["orders"]


def test_java_that_spark_does_not_run_on_is_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_home(folder / "home", "25.0.1")))
    pipeline.main(folder)
    text = words(capsys.readouterr().out)
    assert "is Java 25, and Spark runs on 17 to 23" in text and "nothing was lost" in text


def test_packages_that_are_missing_are_named(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("JAVA_HOME", str(make_home(folder / "home", "17.0.1")))
    for package in ("pyspark", "matplotlib"):
        monkeypatch.setitem(sys.modules, package, None)
    pipeline.main(folder)
    text = words(capsys.readouterr().out)
    assert "not installed: pyspark. Remedy: pip install 'reliableq[spark]'" in text
    assert "pip install matplotlib" in text and not (folder / "orders.png").exists()
    assert "nothing was lost" in text


def test_a_second_run_begins_anew_and_leaves_other_files_alone(folder: Path) -> None:
    (folder / "mine").write_text("kept")
    for _ in range(2):
        pipeline.main(folder)
    assert (folder / "mine").read_text() == "kept"
    with reliableq.connect("file:shop.rq") as rq:
        assert len(rq.queue("orders")) == 5_000


def test_a_pipeline_that_loses_an_order_ends_with_an_error(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("reliableq.demo.pipeline.COUNT", 5_001)
    with pytest.raises(SystemExit) as end:
        pipeline.main(folder)
    assert "not as told" in str(end.value.code)
