"""docs/spark.md: its program prints what it shows, and it names every option and column."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from reliableq.spark.archive import build
from reliableq.spark.options import NAMES
from reliableq.spark.source import SCHEMA

from tests.support.server import ROOT

PAGE = (ROOT / "docs" / "spark.md").read_text()


def test_program_prints_what_the_page_shows(
    spark: SparkSession, spark_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (found,) = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    program, shown = found
    monkeypatch.chdir(spark_directory)
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        exec(program, {"__name__": "page"})
    assert printed.getvalue() == shown


def test_every_option_column_and_setting_is_told(tmp_path: Path) -> None:
    for option in NAMES:
        assert f"| `{option}` |" in PAGE
    for column, kind in re.findall(r"(\w+) (\w+)", SCHEMA):
        assert f"| `{column}` | {kind} |" in PAGE
    for setting in build(tmp_path / "x.zip").settings:
        assert f"| `{setting}`" in PAGE
