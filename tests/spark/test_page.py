"""docs/spark.md: its programs print what it shows, and it names every option and column."""

import contextlib
import io
import re
from pathlib import Path

import pytest
from pyspark.sql import SparkSession
from reliableq.spark import columns
from reliableq.spark.archive import build
from reliableq.spark.options import NAMES
from reliableq.spark.source import COLUMNS

from tests.support.server import ROOT

PAGE = (ROOT / "docs" / "spark.md").read_text()


def test_programs_print_what_the_page_shows(
    spark: SparkSession, spark_directory: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In their order, as one."""
    found = re.findall(r"^```python\n(.*?)^```\n\n```text\n(.*?)^```$", PAGE, re.MULTILINE | re.DOTALL)
    assert len(found) == PAGE.count("```python")
    monkeypatch.chdir(spark_directory)
    names = {"__name__": "page"}
    for program, shown in found:
        with contextlib.redirect_stdout(io.StringIO()) as printed:
            exec(program, names)
        assert printed.getvalue() == shown


def test_every_option_column_and_setting_is_told(tmp_path: Path) -> None:
    for option in NAMES:
        assert f"| `{option}` |" in PAGE
    reading, writing = PAGE.split("## Writing")
    for column, kind in COLUMNS.items():
        assert f"| `{column}` | {kind} |" in reading
    for column in columns.COLUMNS:
        assert f"| `{column}` |" in writing
    for setting in build(tmp_path / "x.zip").settings:
        assert f"| `{setting}`" in PAGE
