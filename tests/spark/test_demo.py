"""The pipeline that `make demo` shows, with Spark."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pyarrow.parquet
import reliableq
from reliableq.demo import orders

from tests.support.java import make_home

PNG = b"\x89PNG\r\n\x1a\n"


def run(folder: Path, java_home: str) -> "subprocess.CompletedProcess[str]":
    """Runs it as a user does, in a process of its own: Spark's first session in a process is all there is of it."""
    command = [sys.executable, "-m", "reliableq.demo", "pipeline"]
    environment = os.environ | {"JAVA_HOME": java_home}
    return subprocess.run(command, cwd=folder, env=environment, check=True, capture_output=True, text=True)


def test_pipeline_goes_through_spark(tmp_path: Path, java_home: str) -> None:
    done = run(tmp_path, java_home)
    assert done.stderr == ""  # Spark says much, in a file of its own
    assert all(word in done.stdout for word in ("PUSH", "POP", "READ", "WRITE", "nothing was lost"))
    assert "totals | 84 waiting, 0 delivered" in done.stdout
    assert [path.name for path in tmp_path.iterdir()] == ["demo-output"]
    output = tmp_path / "demo-output"
    assert (output / "orders.png").read_bytes().startswith(PNG)
    expected = [total._asdict() for total in orders.totals(orders.bodies())]
    rows = pyarrow.parquet.read_table(output / "totals.parquet").to_pylist()
    assert sorted(rows, key=lambda row: (row["product"], row["hour"])) == expected
    with reliableq.connect(f"file:{output / 'shop.rq'}") as rq:
        pushed = [json.loads(message.body) for message in rq.queue("totals").range()]
        assert sorted(pushed, key=lambda row: (row["product"], row["hour"])) == expected
        info = rq.queue("orders").info()
        assert info is not None and (info["waiting"], info["delivered"], info["received"]) == (4_800, 200, 200)


def test_spark_that_does_not_start_is_left_out_with_the_reason(tmp_path: Path) -> None:
    home = make_home(tmp_path / "home", "17.0.1")
    text = " ".join(run(tmp_path, str(home)).stdout.split())
    assert "Spark is left out: it did not start" in text and "demo-output/spark.log" in text
    assert "READ, without Spark" in text and "nothing was lost" in text
