"""Frames that are appended to a queue."""

import pytest
import reliableq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession


def append(frame: DataFrame, url: str) -> None:
    frame.write.format("reliableq").options(url=url, queue="q").mode("append").save()


def bodies(queue: reliableq.Queue) -> list[bytes]:
    return [message.body for message in queue.inspect(0, 100_000)]


def test_bodies_keep_their_bytes_and_order(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    """Empty ones, and those that are no text, too; behind what is there."""
    given = [b"", b"\x00\xff", "Grüße".encode(), b"x" * 2_000_000, b"last"]
    queue.push(b"first")
    append(spark.createDataFrame([(body,) for body in given], "value BINARY").coalesce(1), url)
    assert bodies(queue) == [b"first", *given]


def test_text_becomes_utf8(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    append(spark.createDataFrame([("Grüße",), ("",), ("🐘",)], "value STRING").coalesce(1), url)
    assert bodies(queue) == ["Grüße".encode(), b"", "🐘".encode()]


def test_every_row_of_every_partition_is_pushed_once(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    append(spark.range(25_000).repartition(3).selectExpr("CAST(id AS STRING) AS value"), url)
    assert sorted(map(int, bodies(queue))) == list(range(25_000))


def test_wide_types_of_arrow_are_taken(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    name = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(name, "true")
    try:
        append(spark.createDataFrame([("text",)], "value STRING"), url)
        append(spark.createDataFrame([(b"bytes",)], "value BINARY"), url)
    finally:
        spark.conf.unset(name)
    assert bodies(queue) == [b"text", b"bytes"]


def test_frame_without_rows_makes_no_queue(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    append(spark.createDataFrame([], "value BINARY"), url)
    assert queue.info() is None


@pytest.mark.parametrize("kind", ["BINARY", "STRING"])
def test_null_fails_its_task_and_names_the_row(
    spark: SparkSession, url: str, queue: reliableq.Queue, kind: str
) -> None:
    frame = spark.range(0, 20_000, numPartitions=1).selectExpr(
        f"CAST(IF(id = 12345, NULL, CAST(id AS STRING)) AS {kind}) AS value"
    )
    with pytest.raises(PySparkException, match=r"row 12345 of partition 0 \(counted from 0\) is null"):
        append(frame, url)
    # At least once, not all or nothing: the batch before was pushed.
    assert bodies(queue) == [b"%d" % number for number in range(10_000)]


def test_server_that_does_not_answer_is_named(spark: SparkSession) -> None:
    frame = spark.createDataFrame([(b"a",)], "value BINARY")
    with pytest.raises(PySparkException, match=r"127\.0\.0\.1:1"):
        append(frame, "redis://127.0.0.1:1")
