"""The archive on clusters: the executors use the package that came with it."""

import json
import os
import shutil
import subprocess
import sys
import sysconfig
from collections.abc import Callable, Iterator
from importlib.metadata import distribution
from pathlib import Path

import pyspark
import pytest
import reliableq
from reliableq.spark import archive

from tests.support.server import free_port
from tests.support.wait import wait_until

HERE = Path(__file__).parent
SPARK = Path(pyspark.__file__).parent
NEEDED_BY_SPARK = ("numpy", "pandas", "pyarrow", "python-dateutil", "pytz", "tzdata")

BODIES = [str(number) for number in range(10)]


class Cluster:
    """A master that programs are given to, and what its executors have loaded."""

    def __init__(self, folder: Path, environment: dict[str, str]) -> None:
        self.master = "local-cluster[1,2,1024]"
        self.environment = environment
        self.notes = folder / "notes"
        self.notes.mkdir()
        self._folder = folder
        made = archive.build(folder / "reliableq.zip")
        self.settings = {name: value for name, value in made.settings.items() if name.startswith("spark.")} | {
            "spark.executorEnv.PYTHONPATH": made.settings["spark.executorEnv.PYTHONPATH"] + f":{HERE / 'witness'}",
            "spark.executorEnv.RELIABLEQ_WITNESS": str(self.notes),
            "spark.python.worker.reuse": "false",  # each task loads what it uses
            "spark.ui.enabled": "false",
            "spark.executor.memory": "512m",
            "spark.executor.cores": "2",
        }
        self.environment |= {name: value for name, value in made.settings.items() if not name.startswith("spark.")}

    def run(self, url: str) -> dict[str, list[str]]:
        """Runs the program, and returns what it printed."""
        program: list[str | Path] = [
            sys.executable,
            HERE / "driver.py",
            self.master,
            url,
            self.notes,
            json.dumps(self.settings),
        ]
        done = subprocess.run(program, cwd=self._folder, env=self.environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-6000:]
        result: dict[str, list[str]] = json.loads(done.stdout)
        return result


@pytest.fixture
def environment(java_home: str, tmp_path: Path) -> dict[str, str]:
    """That of the driver. Its Python directory comes first, and what Spark's processes leave goes elsewhere."""
    home = tmp_path / "spark"
    home.mkdir()
    for entry in SPARK.iterdir():
        (home / entry.name).symlink_to(entry)
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "PYSPARK", "SPARK"))}
    scripts = Path(sys.executable).parent
    return kept | {
        "JAVA_HOME": java_home,
        "SPARK_HOME": str(home),
        "SPARK_LOCAL_IP": "127.0.0.1",
        "PATH": f"{scripts}:{kept['PATH']}",
    }


@pytest.fixture
def cluster(tmp_path: Path, environment: dict[str, str]) -> Cluster:
    return Cluster(tmp_path, environment)


@pytest.fixture
def bare_python(tmp_path: Path) -> Path:
    """A directory with a Python that has what Spark needs, but neither this package nor redis-py."""
    folder = tmp_path / "bare"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", folder], check=True)
    home = Path(sysconfig.get_path("purelib", vars={"base": str(folder), "platbase": str(folder)}))
    for name in NEEDED_BY_SPARK:
        found = distribution(name)
        for top in {file.parts[0] for file in found.files or () if file.parts[0] not in ("..", "__pycache__")}:
            (home / top).symlink_to(Path(str(found.locate_file(top))))
    return folder / "bin"


StartService = Callable[..., None]


@pytest.fixture
def start_service(tmp_path: Path) -> Iterator[StartService]:
    """Starts a process of Spark's own, and waits until it says that it is ready."""
    started: list[subprocess.Popen[bytes]] = []

    def start(environment: dict[str, str], ready: str, kind: str, *arguments: str | Path) -> None:
        log = tmp_path / f"{kind}.log"
        command = [SPARK / "bin" / "spark-class", f"org.apache.spark.deploy.{kind.lower()}.{kind}", *arguments]
        with log.open("wb") as output:
            process = subprocess.Popen(command, env=environment, stdout=output, stderr=output, cwd=tmp_path)
        started.append(process)

        def is_ready() -> bool:
            assert process.poll() is None, log.read_text()
            return ready in log.read_text()

        wait_until(f"{kind} is ready", is_ready, deadline=60)

    yield start
    for process in reversed(started):
        process.terminate()
        process.wait(30)


def check_archive_is_used(cluster: Cluster, url: str, queue: reliableq.Queue) -> None:
    """Write and read do what they should, and each has loaded the extension that was unpacked, and no other."""
    result = cluster.run(url)
    assert sorted(message.body.decode() for message in queue.inspect(0, 100)) == BODIES
    assert result["rows"] == BODIES
    own = Path(str(reliableq._native.__file__))
    for loaded in (result["loaded by write"], result["loaded by read"]):
        assert loaded
        assert {path[-3:] for path in (Path(line).parts for line in loaded)} == {
            (archive.FOLDER, "reliableq", own.name)
        }


def test_local_cluster_uses_the_archive(cluster: Cluster, url: str, queue: reliableq.Queue) -> None:
    """Its executors see this very environment, too, so that only the file that was loaded tells."""
    check_archive_is_used(cluster, url, queue)


def test_standalone_worker_needs_nothing_but_the_archive(
    cluster: Cluster, bare_python: Path, start_service: StartService, url: str, queue: reliableq.Queue
) -> None:
    """A worker whose Python has never seen the package: each host finds its own `python3`."""
    for package in ("reliableq", "redis"):
        done = subprocess.run([bare_python / "python3", "-c", f"import {package}"], capture_output=True, text=True)
        assert "ModuleNotFoundError" in done.stderr
    port = str(free_port())
    cluster.master = f"spark://127.0.0.1:{port}"
    on_worker = cluster.environment | {"PATH": f"{bare_python}:{os.environ['PATH']}"}
    del on_worker["PYSPARK_PYTHON"]
    place = ("--host", "127.0.0.1", "--webui-port", "0")
    start_service(on_worker, "I have been elected leader", "Master", *place, "--port", port)
    resources = ("--cores", "2", "--memory", "1g", "--work-dir", bare_python.parent / "work")
    start_service(on_worker, "Successfully registered", "Worker", *place, *resources, cluster.master)
    cluster.environment["PYSPARK_PYTHON"] = "python3"
    assert shutil.which("python3", path=cluster.environment["PATH"]) != str(bare_python / "python3")
    check_archive_is_used(cluster, url, queue)
