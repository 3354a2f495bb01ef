"""One Spark for all tests that can share it, since its first query takes seconds."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pyspark.sql import DataFrame, SparkSession

from tests.support.server import ROOT

Read = Callable[..., DataFrame]


@pytest.fixture(scope="session")
def java_home() -> str:
    return subprocess.check_output([ROOT / "tools" / "java"], text=True).strip()


@pytest.fixture(scope="session")
def spark_directory(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The working directory that the shared Spark was started in."""
    return tmp_path_factory.mktemp("spark")


@pytest.fixture(scope="session")
def spark(java_home: str, spark_directory: Path) -> Iterator[SparkSession]:
    """Spark in one process, with two threads."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", java_home)
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        patch.setenv("SPARK_LOCAL_IP", "127.0.0.1")
        patch.chdir(spark_directory)
        settings = {
            "spark.ui.enabled": "false",
            "spark.ui.showConsoleProgress": "false",
            "spark.sql.shuffle.partitions": "2",
            "spark.sql.session.timeZone": "UTC",
        }
        builder = SparkSession.builder.master("local[2]")
        for name, value in settings.items():
            builder = builder.config(name, value)
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    yield session
    session.stop()


@pytest.fixture
def read(spark: SparkSession, url: str) -> Read:
    """Makes a frame of the queue `q`."""

    def read(**options: str | int) -> DataFrame:
        return spark.read.format("reliableq").options(**{"url": url, "queue": "q"} | options).load()

    return read
