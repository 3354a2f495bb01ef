"""The archive for Spark's executors: what is in it, and what is refused."""

import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
import redis
import reliableq
from reliableq.spark import archive


def test_same_files_give_the_same_archive(tmp_path: Path) -> None:
    first, second = (archive.build(tmp_path / name) for name in ("first.zip", "second.zip"))
    assert first.path.read_bytes() == second.path.read_bytes()


def test_archive_holds_the_running_package_and_redis_py(tmp_path: Path) -> None:
    """Without what only servers and this very Python need."""
    with zipfile.ZipFile(archive.build(tmp_path / "x.zip").path) as made:
        names = set(made.namelist())
        assert made.read("reliableq/__init__.py") == Path(reliableq.__file__).read_bytes()
        assert made.read("redis/__init__.py") == Path(redis.__file__).read_bytes()
    assert any(name.startswith("reliableq/_native.") and name.endswith(".so") for name in names)
    assert "reliableq/librq_module.so" not in names
    assert not [name for name in names if "__pycache__" in name or name.startswith(("/", ".."))]


def test_unpacked_archive_is_enough_for_a_bare_python(tmp_path: Path) -> None:
    made = archive.build(tmp_path / "x.zip")
    with zipfile.ZipFile(made.path) as content:
        content.extractall(tmp_path / "unpacked")
    program = "import sys; sys.path[:0] = ['unpacked']; import reliableq, redis, reliableq.backends.redis;" + (
        "reliableq.connect('redis://localhost'); print(reliableq.__file__, redis.__file__, reliableq._native.__file__)"
    )
    # -S: without site-packages, in which both are installed.
    printed = subprocess.check_output([sys.executable, "-I", "-S", "-c", program], cwd=tmp_path, text=True)
    assert all(Path(tmp_path, file).is_relative_to(tmp_path / "unpacked") for file in printed.split())


def test_settings_name_the_archive_its_folder_and_this_python(tmp_path: Path) -> None:
    made = archive.build(tmp_path / "x.zip")
    assert made.path == tmp_path / "x.zip"
    assert made.settings == {
        "spark.archives": f"{tmp_path}/x.zip#{archive.FOLDER}",
        "spark.executorEnv.PYTHONPATH": archive.FOLDER,
        "PYSPARK_PYTHON": sys.executable,
    }


def test_relative_destination_is_named_in_full(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert archive.build(Path("x.zip")).settings["spark.archives"].startswith(f"{tmp_path}/x.zip#")


def test_older_archive_is_replaced_whole(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    path.write_bytes(b"old")
    assert zipfile.is_zipfile(archive.build(path).path)
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("name", "told"), [("x.whl", ".zip"), ("a#b.zip", "#"), ("a b.zip", "' '"), ("a,b.zip", ","), ("no/x.zip", "no")]
)
def test_destination_that_spark_cannot_use_is_refused(tmp_path: Path, name: str, told: str) -> None:
    with pytest.raises(reliableq.InvalidArgument, match=told):
        archive.build(tmp_path / name)
    assert list(tmp_path.iterdir()) == []
