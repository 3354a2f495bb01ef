"""What the source refuses, with its name, before anything is read or pushed."""

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import reliableq
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from reliableq.spark.source import SCHEMA

from tests.spark.conftest import Read


def refused(call: Any) -> str:
    """The text of the error that a call raises."""
    with pytest.raises(PySparkException) as caught:
        call()
    return str(caught.value)


@pytest.fixture
def bodies(spark: SparkSession) -> DataFrame:
    return spark.createDataFrame([(b"a",), (b"b",)], "value BINARY")


def write(frame: DataFrame, url: str, mode: str = "append", **options: str) -> None:
    frame.write.format("reliableq").options(**{"url": url, "queue": "q"} | options).mode(mode).save()


@pytest.mark.parametrize(
    ("options", "told"),
    [
        ({"colour": "red"}, "there is no option 'colour'; expected url, queue, partitions, state"),
        ({"url": ""}, "the option 'url' is missing"),
        ({"provider": "reliableq"}, "there is no option 'provider'; a queue can't be a table"),
        ({"partitions": "0"}, "the option 'partitions' is '0'; expected a whole number"),
        ({"partitions": "many"}, "the option 'partitions' is 'many'"),
        ({"state": "asleep"}, "the option 'state' is 'asleep'; expected all, or one or several of waiting, delivered"),
        ({"state": "all,dead"}, "the option 'state' is 'all,dead'"),
        ({"state": ""}, "the option 'state' is ''"),
        ({"path": "jobs"}, "there is no option 'path'; call load\\(\\) and save\\(\\) without"),
    ],
)
def test_wrong_option_is_refused_by_load_and_save(
    read: Read, bodies: DataFrame, url: str, queue: reliableq.Queue, options: dict[str, str], told: str
) -> None:
    with pytest.raises(PySparkException, match=told):
        read(**options)
    with pytest.raises(PySparkException, match=told):
        write(bodies, **{"url": url} | options)
    assert len(queue) == 0


def test_path_is_refused_by_its_name(spark: SparkSession, url: str) -> None:
    reader = spark.read.format("reliableq").options(url=url, queue="q")
    assert "'path'" in refused(lambda: reader.load("q"))


def test_options_are_needed(spark: SparkSession, url: str) -> None:
    assert "'url' is missing" in refused(lambda: spark.read.format("reliableq").option("queue", "q").load())
    assert "'queue' is missing" in refused(lambda: spark.read.format("reliableq").option("url", url).load())


@pytest.mark.parametrize(
    "schema",
    [
        "value BINARY",
        SCHEMA,
    ],
)
def test_schema_of_the_user_is_refused(spark: SparkSession, url: str, schema: str) -> None:
    reader = spark.read.format("reliableq").options(url=url, queue="q").schema(schema)
    assert "a schema was given (" in refused(lambda: reader.load().collect())


def test_memory_is_refused(read: Read) -> None:
    assert "Spark has many" in refused(lambda: read(url="memory:x").collect())


def test_url_that_names_nothing_is_refused(read: Read) -> None:
    assert "cannot connect to 'ftp://x'" in refused(lambda: read(url="ftp://x").collect())


def test_overwrite_is_refused(bodies: DataFrame, url: str, queue: reliableq.Queue) -> None:
    kept = queue.push(b"kept")
    assert "a queue can't be overwritten" in refused(lambda: write(bodies, url, "overwrite"))
    assert [message.id for message in queue.inspect()] == [kept]


@pytest.mark.parametrize("mode", ["error", "ignore"])
def test_other_modes_are_refused(bodies: DataFrame, url: str, queue: reliableq.Queue, mode: str) -> None:
    assert "append" in refused(lambda: write(bodies, url, mode)).lower()
    assert len(queue) == 0


def test_partitions_and_states_are_for_reading(bodies: DataFrame, url: str, queue: reliableq.Queue) -> None:
    assert "'partitions' is for reading" in refused(lambda: write(bodies, url, partitions="2"))
    assert "'state' is for reading" in refused(lambda: write(bodies, url, state="all"))
    assert len(queue) == 0


def test_streams_are_refused(spark: SparkSession, url: str, queue: reliableq.Queue, tmp_path: Path) -> None:
    options = {"url": url, "queue": "q"}
    place = {"checkpointLocation": str(tmp_path)}
    told = "a queue can't be a stream yet"

    def read() -> None:
        stream = spark.readStream.format("reliableq").options(**options).load().writeStream.format("noop")
        stream.options(**place).start().awaitTermination(60)

    def write() -> None:
        stream = spark.readStream.format("rate").load().selectExpr("CAST(value AS STRING) AS value").writeStream
        stream.format("reliableq").options(**options, **place).start().awaitTermination(60)

    assert told in refused(read)
    assert told in refused(write)
    assert len(queue) == 0


@pytest.mark.parametrize(
    ("schema", "row", "told"),
    [
        ("value BINARY, colour STRING, size INT", (b"a", "red", 1), "a queue has no column 'colour', 'size'; expected"),
        ("Value BINARY", (b"a",), "a queue has no column 'Value'"),
        ("delay INT", (1,), "the frame has no column 'value'"),
        ("value INT", (1,), "the column 'value' is INT; expected BINARY or STRING"),
        ("value ARRAY<BINARY>", ([b"a"],), "the column 'value' is ARRAY<BINARY>"),
        ("value STRING, delay STRING", ("a", "1"), "the column 'delay' is STRING; expected seconds as a number, or"),
        ("value STRING, at DOUBLE", ("a", 1.0), "the column 'at' is DOUBLE; expected TIMESTAMP"),
        ("value STRING, at TIMESTAMP_NTZ", ("a", None), "the column 'at' is TIMESTAMP_NTZ; expected TIMESTAMP"),
        ("value STRING, ttl BOOLEAN", ("a", True), "the column 'ttl' is BOOLEAN; expected seconds"),
        ("value STRING, retries DOUBLE", ("a", 1.0), "the column 'retries' is DOUBLE; expected INT or another whole"),
        ("value STRING, front INT", ("a", 1), "the column 'front' is INT; expected BOOLEAN"),
        ("value STRING, priority STRING", ("a", "1"), "the column 'priority' is STRING; expected INT"),
        ("value STRING, headers STRING", ("a", "x"), "the column 'headers' is STRING; expected MAP, or ARRAY<STRUCT"),
        ("value STRING, headers MAP<STRING, INT>", ("a", {}), "the column 'headers' is MAP<STRING,INT>"),
        ("value STRING, headers ARRAY<STRUCT<key: STRING, value: STRING>>", ("a", []), "the column 'headers' is ARRAY"),
        ("value STRING, token INT", ("a", 1), "the column 'token' is INT; expected BINARY or STRING"),
        ("value STRING, delay INT, delay INT", ("a", 1, 1), "delay"),
    ],
)
def test_frame_has_bodies_and_how_they_are_delivered(
    spark: SparkSession, url: str, queue: reliableq.Queue, schema: str, row: tuple[Any, ...], told: str
) -> None:
    assert told in refused(lambda: write(spark.createDataFrame([row], schema), url))
    assert len(queue) == 0


def test_password_is_not_shown(read: Read, url: str, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither by an error, nor by a plan."""
    assert "secret" not in refused(lambda: read(url="redis://ada:secret@127.0.0.1:1/0").collect())
    # The user `default` needs no password, and so takes any.
    read(url=url.replace("//", "//default:secret@")).explain(extended=True)
    printed = capsys.readouterr().out
    assert "reliableq" in printed
    assert "secret" not in printed


def test_missing_spark_names_the_extra() -> None:
    program = (
        "import sys; sys.modules['pyspark'] = None\n"
        "import reliableq\n"
        "try: import pyspark_reliableq\n"
        "except reliableq.MissingPackage as error: print(error.remedy)"
    )
    printed = subprocess.check_output([sys.executable, "-c", program], text=True)
    assert printed == "pip install 'reliableq[spark]'\n"
