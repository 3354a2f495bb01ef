"""Columns that say how each row of an appended frame is to be delivered."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import reliableq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession

from tests.spark.conftest import Read
from tests.support.server import Server


def append(frame: DataFrame, url: str) -> None:
    frame.write.format("reliableq").options(url=url, queue="q").mode("append").save()


def is_about(due: datetime | None, moment: datetime) -> bool:
    """A moment becomes time of the queue when it is pushed, which may differ a little."""
    return due is not None and abs(due - moment) < timedelta(milliseconds=100)


@pytest.fixture
def small_batches(spark: SparkSession) -> Iterator[None]:
    """A task gets ten rows at a time."""
    name = "spark.sql.execution.arrow.maxRecordsPerBatch"
    spark.conf.set(name, "10")
    yield
    spark.conf.unset(name)


def test_each_row_says_how_it_is_delivered(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    """Null says nothing."""
    moment = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
    schema = "value STRING, delay DOUBLE, at TIMESTAMP, ttl INT, retries INT, front BOOLEAN, priority INT, token STRING"
    rows: list[tuple[Any, ...]] = [
        ("plain", None, None, None, None, None, None, None),
        ("delayed", 3600.5, None, None, None, None, None, None),
        ("at", None, moment, None, None, None, None, None),
        ("short", None, None, 5000, None, None, None, None),
        ("once", None, None, None, 0, None, None, None),
        ("front", None, None, None, None, True, None, None),
        ("urgent", None, None, None, None, False, 255, None),
        ("known", None, None, None, None, None, None, "Grüße"),
    ]
    append(spark.createDataFrame(rows, schema).coalesce(1), url)
    order = [message.body.decode() for message in queue.inspect()]
    assert order == ["urgent", "front", "plain", "short", "once", "known"]
    found = {message.body.decode(): message for message in queue.range()}
    due = {message.body.decode(): message.due for message in queue.scheduled()}
    assert {name for name, message in found.items() if message.priority} == {"urgent"}
    assert {name: message.token for name, message in found.items() if message.token} == {"known": "Grüße".encode()}
    assert is_about(due["at"], moment)
    delayed = due["delayed"]
    assert delayed is not None and delayed - found["delayed"].enqueued == timedelta(seconds=3600.5)
    once = next(message for message in queue.pop_many(6) if message.body == b"once")
    once.nack()
    assert [message.body for message in queue.dead()] == [b"once"]


def test_time_to_live_of_a_row(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    append(spark.createDataFrame([("long", 3600.0), ("short", 0.001)], "value STRING, ttl DOUBLE"), url)
    taken = queue.pop_many(5)
    assert [message.body for message in taken] == [b"long"]


@pytest.mark.parametrize(
    "delay",
    [
        "3600",
        "3600L",
        "CAST(3600 AS FLOAT)",
        "CAST(3600 AS DECIMAL(10, 3))",
        "INTERVAL '1' HOUR",
        "make_dt_interval(0, 0, 60, 0)",
    ],
)
def test_delays_have_many_types(spark: SparkSession, url: str, queue: reliableq.Queue, delay: str) -> None:
    append(spark.range(2).selectExpr("'x' AS value", f"{delay} AS delay"), url)
    found = {message.id: message.enqueued for message in queue.range()}
    waits = [message.due - found[message.id] for message in queue.scheduled() if message.due]
    assert waits == [timedelta(hours=1)] * 2


@pytest.mark.parametrize(
    ("kind", "headers"),
    [
        ("MAP<STRING, STRING>", {"b": "Grüße", "a": ""}),
        ("MAP<STRING, BINARY>", {"b": "Grüße".encode(), "a": b""}),
        ("ARRAY<STRUCT<name: STRING, value: STRING>>", [("b", "Grüße"), ("a", "")]),
        ("ARRAY<STRUCT<value: BINARY, name: BINARY>>", [("Grüße".encode(), b"b"), (b"", b"a")]),
    ],
)
def test_headers_are_a_map_or_a_list(
    spark: SparkSession, url: str, queue: reliableq.Queue, kind: str, headers: Any
) -> None:
    rows = [("some", headers), ("none", None), ("empty", type(headers)())]
    append(spark.createDataFrame(rows, f"value STRING, headers {kind}").coalesce(1), url)
    found = [message.headers for message in queue.range()]
    assert sorted(found[0].pairs) == [("a", ""), ("b", "Grüße")]
    assert found[1:] == [reliableq.Headers(), reliableq.Headers()]


def test_headers_and_tokens_keep_bytes_order_and_duplicates(
    spark: SparkSession, read: Read, url: str, queue: reliableq.Queue, rq: reliableq.Connection
) -> None:
    """Through a frame and back into another queue."""
    headers = [("trace", b"2"), ("trace", b"1"), ("", b"\xff\x00")]
    queue.push(b"body", headers=headers, token=b"\xff\x00", priority=7)
    frame = read().select("value", "headers", "token", "priority")
    frame.write.format("reliableq").options(url=url, queue="copy").mode("append").save()
    (copy,) = rq.queue("copy").range()
    assert copy.headers.raw == tuple((name.encode(), value) for name, value in headers)
    assert (copy.body, copy.token, copy.priority) == (b"body", b"\xff\x00", 7)


def test_rows_of_one_priority_keep_their_order(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    """Whatever else they say."""
    columns = ("CAST(id AS STRING) AS value", "id % 3 AS priority", "map('part', CAST(id % 2 AS STRING)) AS headers")
    append(spark.range(0, 3000, numPartitions=1).selectExpr(*columns), url)
    found = [int(message.body) for message in queue.inspect(0, 10_000)]
    assert found == [number for priority in (2, 1, 0) for number in range(priority, 3000, 3)]


def test_rows_that_say_the_same_are_pushed_together(
    spark: SparkSession, url: str, queue: reliableq.Queue, server: Server
) -> None:
    columns = ("CAST(id AS STRING) AS value", "id % 4 AS priority", "IF(id % 2 = 0, 3600, NULL) AS delay")
    with server.client() as client:
        client.call("CONFIG", "RESETSTAT")
        append(spark.range(0, 8000, numPartitions=1).selectExpr(*columns), url)
        told = client.call("INFO", "commandstats").decode()
    assert len(queue) == 8000
    # Four kinds of rows, and a push takes a thousand.
    assert "cmdstat_rq.pushex:calls=8," in told.lower()


def test_row_with_a_token_is_stored_once(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    """Also when its message is gone; rows without one are stored each time."""
    frame = spark.createDataFrame([("a", b"1"), ("b", b"1"), ("c", b"2"), ("d", None)], "value STRING, token BINARY")
    append(frame.coalesce(1), url)
    assert [message.body for message in queue.range()] == [b"a", b"c", b"d"]
    queue.ack(queue.pop_many(3))
    append(frame.coalesce(1), url)
    assert [message.body for message in queue.range()] == [b"d"]


@pytest.mark.usefixtures("small_batches")
def test_job_that_is_run_again_stores_rows_with_tokens_once(
    spark: SparkSession, url: str, queue: reliableq.Queue
) -> None:
    """As a task that Spark runs again."""
    frame = spark.range(0, 100, numPartitions=1).selectExpr(
        "CAST(id AS STRING) AS value", "CAST(id AS STRING) AS token"
    )
    with pytest.raises(PySparkException, match=r"row 55 of partition 0 \(counted from 0\) is null"):
        append(frame.selectExpr("IF(value = '55', NULL, value) AS value", "token"), url)
    assert len(queue) == 50
    append(frame, url)
    assert [message.body for message in queue.range()] == [b"%d" % number for number in range(100)]


@pytest.mark.parametrize(
    ("kind", "bad", "told"),
    [
        ("delay DOUBLE", "-0.5", "delay is -0.5; expected seconds from 0"),
        ("delay DOUBLE", "double('NaN')", "delay is nan; expected seconds"),
        ("delay BIGINT", "9223372036854775807", "delay is 9223372036854775807; expected seconds"),
        ("delay INTERVAL DAY TO SECOND", "INTERVAL '-1' SECOND", "delay is -1.0; expected seconds"),
        ("at TIMESTAMP", "TIMESTAMP '1969-12-31 00:00:00Z'", "at is -86400.0; expected seconds from 0"),
        ("ttl INT", "0", "ttl is 0; give a time above 0, or None"),
        ("retries INT", "-1", "retries is -1; expected a whole number from 0"),
        ("priority INT", "256", "priority is 256; expected a whole number from 0 to 255"),
        ("token STRING", "''", "token is empty; give one of at least a byte, or null"),
        ("headers MAP<STRING, STRING>", "map('a', NULL)", "a header's value is a str or bytes, not None"),
        (
            "headers ARRAY<STRUCT<name: STRING, value: STRING>>",
            "array(named_struct('name', NULL, 'value', 'x'))",
            "a header's name is a str or bytes, not None",
        ),
        ("headers ARRAY<STRUCT<name: STRING, value: STRING>>", "array(NULL)", "a header's name is a str or bytes"),
    ],
)
@pytest.mark.usefixtures("small_batches")
def test_wrong_value_fails_its_task_and_is_named(
    spark: SparkSession, url: str, queue: reliableq.Queue, kind: str, bad: str, told: str
) -> None:
    """The batch before was pushed, and nothing of its own."""
    name, _, of = kind.partition(" ")
    frame = spark.range(0, 30, numPartitions=1)
    frame = frame.selectExpr("CAST(id AS STRING) AS value", f"CAST(IF(id = 15, {bad}, NULL) AS {of}) AS {name}")
    with pytest.raises(PySparkException) as caught:
        append(frame, url)
    assert f"row 15 of partition 0 (counted from 0) is refused: {told}" in str(caught.value)
    assert len(queue) == 10


def test_both_delay_and_moment_are_refused(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    frame = spark.range(1).selectExpr("'x' AS value", "1 AS delay", "current_timestamp() AS at")
    with pytest.raises(PySparkException, match=r"row 0 of partition .* both delay and at; give one of them"):
        append(frame, url)
    assert len(queue) == 0


def test_wide_types_of_arrow_are_taken(spark: SparkSession, url: str, queue: reliableq.Queue) -> None:
    name = "spark.sql.execution.arrow.useLargeVarTypes"
    spark.conf.set(name, "true")
    try:
        frame = spark.createDataFrame(
            [("body", "token", {"a": "1"})], "value STRING, token STRING, headers MAP<STRING, STRING>"
        )
        append(frame, url)
    finally:
        spark.conf.unset(name)
    (message,) = queue.range()
    assert message.token == b"token" and dict(message.headers) == {"a": "1"}


def test_moment_does_not_depend_on_the_zone_of_the_session(
    spark: SparkSession, url: str, queue: reliableq.Queue
) -> None:
    moment = datetime(2100, 7, 1, 12, tzinfo=UTC)
    frame = spark.createDataFrame([("x", moment)], "value STRING, at TIMESTAMP")
    spark.conf.set("spark.sql.session.timeZone", "Asia/Kathmandu")
    try:
        append(frame, url)
    finally:
        spark.conf.set("spark.sql.session.timeZone", "UTC")
    (message,) = queue.scheduled()
    assert is_about(message.due, moment)
