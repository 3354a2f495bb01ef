"""`reliableq spark-archive`."""

import zipfile
from pathlib import Path

from reliableq.spark.archive import FOLDER

from tests.cli.program import Program


def test_makes_the_archive_and_prints_its_settings(tmp_path: Path) -> None:
    program = Program(folder=tmp_path)
    ended = program("spark-archive", "to-executors.zip")
    assert (ended.code, ended.error) == (0, "")
    settings = dict(line.split("=", 1) for line in ended.lines)
    assert settings["spark.archives"] == f"{tmp_path}/to-executors.zip#{FOLDER}"
    assert "PYSPARK_PYTHON" in settings
    assert "reliableq/__init__.py" in zipfile.ZipFile(tmp_path / "to-executors.zip").namelist()
    ended = program("spark-archive", "to-executors.zip", "--json")
    assert ended.json == {"path": f"{tmp_path}/to-executors.zip", "settings": settings}


def test_a_wrong_destination_is_one_line(tmp_path: Path) -> None:
    program = Program(folder=tmp_path)
    for destination in ("archive.tar", "no-such-folder/archive.zip", "."):
        ended = program("spark-archive", destination)
        assert (ended.code, ended.output) == (2, b"") and ended.complaint
