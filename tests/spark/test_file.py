"""Queues in a file: Spark's processes are clients of whoever owns it, and never anything else."""

import contextlib
import os
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
import reliableq
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from tests.spark.conftest import Read

HOST = re.escape(os.uname().nodename)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """With characters that mean something else in a URL."""
    return tmp_path / "100% jobs?.rq"


@pytest.fixture
def url(path: Path) -> str:
    return "file:" + str(path).replace("%", "%25").replace("?", "%3F") + "?timeout=0.5"


@pytest.fixture
def rq(url: str) -> Iterator[reliableq.Connection]:
    """The owner, in the process of the driver."""
    with reliableq.connect(url) as connection:
        yield connection


def close_moved(rq: reliableq.Connection) -> None:
    """Ends the owner of a file that was elsewhere for a while, which it may have noticed."""
    with contextlib.suppress(reliableq.Failed):
        rq.close()


def append(spark: SparkSession, url: str) -> None:
    frame = spark.range(0, 100, numPartitions=2).selectExpr("CAST(id AS STRING) AS value")
    frame.write.format("reliableq").options(url=url, queue="q").mode("append").save()


def test_read_and_write(spark: SparkSession, read: Read, url: str, queue: reliableq.Queue) -> None:
    append(spark, url)
    ids = [message.id for message in queue.range()]
    assert sorted(int(message.body) for message in queue.range()) == list(range(100))
    taken = queue.pop_many(10)
    rows = read(partitions=3).collect()
    assert [row.id for row in rows] == ids
    assert [bytes(row.value) for row in rows] == [message.body for message in queue.range()]
    assert {row.id for row in rows if row.state == "delivered"} == {message.id for message in taken}


def test_queue_that_does_not_exist_has_no_rows_and_is_not_made(read: Read, rq: reliableq.Connection) -> None:
    assert read(queue="none").collect() == []
    assert rq.names() == []


def test_relative_path_begins_where_spark_was_started(
    spark: SparkSession, read: Read, spark_directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """For planning and for tasks, and wherever the driver's program has gone meanwhile."""
    monkeypatch.chdir(spark_directory)
    with reliableq.connect("file:relative.rq") as rq:
        rq.queue("q").push(b"here")
        append(spark, "file:relative.rq")
        monkeypatch.chdir(tmp_path)
        rows = read(url="file:relative.rq").collect()
    assert len(rows) == 101 and bytes(rows[0].value) == b"here"
    assert list(tmp_path.iterdir()) == []


def test_missing_file_is_not_made(spark: SparkSession, read: Read, spark_directory: Path) -> None:
    told = rf"no file {spark_directory}/missing\.rq on {HOST}.*`reliableq serve`; a relative path begins where Spark"
    with pytest.raises(PySparkException, match=told):
        read(url="file:missing.rq").collect()
    with pytest.raises(PySparkException, match=told):
        append(spark, "file:missing.rq")
    assert not (spark_directory / "missing.rq").exists()


def test_file_without_an_owner_is_not_taken_over(spark: SparkSession, read: Read, path: Path, url: str) -> None:
    with reliableq.connect(url) as rq:
        id = rq.queue("q").push(b"kept")
    before = {entry: entry.stat().st_size for entry in path.iterdir()}
    told = (
        rf"no owner of {re.escape(str(path))} answers on {HOST}.*keep it open in the driver, or run `reliableq serve`"
    )
    with pytest.raises(PySparkException, match=told):
        read().collect()
    with pytest.raises(PySparkException, match=told):
        append(spark, url)
    assert {entry: entry.stat().st_size for entry in path.iterdir()} == before
    with reliableq.connect(url) as rq:
        assert [message.id for message in rq.queue("q").range()] == [id]


def test_owner_that_ends_after_planning_is_missed(read: Read, path: Path, url: str) -> None:
    with reliableq.connect(url) as rq:
        rq.queue("q").push(b"kept")
        frame = read()
        assert frame.rdd.getNumPartitions() == 1  # it is planned now
    with pytest.raises(PySparkException, match=rf"no owner of {re.escape(str(path))} answers on {HOST}"):
        frame.collect()


def test_worker_that_cannot_see_the_file_says_so(
    read: Read, path: Path, rq: reliableq.Connection, queue: reliableq.Queue
) -> None:
    """As on another host: what was there for the planner is not there for the task."""
    queue.push(b"hidden")
    frame = read()
    assert frame.rdd.getNumPartitions() == 1
    hidden = path.rename(path.with_name("hidden"))
    try:
        with pytest.raises(PySparkException, match=rf"no file {re.escape(str(path))} on {HOST}; use a path that this"):
            frame.collect()
        assert not path.exists()
    finally:
        hidden.rename(path)
        close_moved(rq)


def test_worker_that_sees_another_file_says_so(
    read: Read, path: Path, url: str, rq: reliableq.Connection, queue: reliableq.Queue
) -> None:
    queue.push(b"hidden")
    frame = read()
    assert frame.rdd.getNumPartitions() == 1
    hidden = path.rename(path.with_name("hidden"))
    try:
        with reliableq.connect(url) as other:
            other.queue("q").push(b"another")
            told = rf"{re.escape(str(path))} on {HOST} is another file: its UUID is"
            with pytest.raises(PySparkException, match=told):
                frame.collect()
    finally:
        path.rename(path.with_name("other"))
        hidden.rename(path)
        close_moved(rq)
