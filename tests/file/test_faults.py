"""Files that are damaged, disks that are full, and what this user may not do."""

import logging
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
import reliableq
from reliableq import Corrupt, Failed, _native

from tests.support.process import PROLOGUE


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A file with five messages, as a process that was killed leaves it."""
    with reliableq.connect(f"file:{tmp_path}/live.rq?sync=os") as rq:
        for number in range(5):
            rq.queue("q").push(b"message %d" % number * 10)
        ignored = shutil.ignore_patterns("socket")
        return Path(shutil.copytree(tmp_path / "live.rq", tmp_path / "jobs.rq", ignore=ignored))


def bodies(path: Path) -> list[bytes]:
    with reliableq.connect(f"file:{path}") as rq:
        return [message.body for message in rq.queue("q").range()]


def log_of(path: Path) -> Path:
    (log,) = path.glob("log-*")
    return log


def test_a_torn_tail_is_cut_and_told(path: Path, caplog: pytest.LogCaptureFixture) -> None:
    log = log_of(path)
    os.truncate(log, log.stat().st_size - 1)
    with caplog.at_level(logging.WARNING, "reliableq"):
        assert bodies(path) == [b"message %d" % number * 10 for number in range(4)]
    (record,) = caplog.records
    assert record.name == "reliableq" and log.name in record.getMessage() and str(path) in record.getMessage()
    caplog.clear()
    assert len(bodies(path)) == 4 and caplog.records == []


def test_a_damaged_file_is_refused_and_repaired(path: Path, tmp_path: Path) -> None:
    log = log_of(path)
    data = bytearray(log.read_bytes())
    offset = data.index(b"message 1") + 3
    data[offset] ^= 1
    log.write_bytes(data)
    for _ in range(2):
        with pytest.raises(Corrupt, match=rf"{log.name}.*\b\d+\b.*reliableq repair"):
            reliableq.connect(f"file:{path}")
    assert log.read_bytes() == data
    repaired = _native.repair(str(path), str(tmp_path / "saved.rq"), bytes(16))
    assert (repaired["queues"], repaired["messages"]) == (1, 4)
    (loss,) = repaired["losses"]
    assert loss["file"] == log.name and loss["offset"] <= offset < loss["offset"] + loss["bytes"]
    assert log.read_bytes() == data
    assert bodies(tmp_path / "saved.rq") == [b"message %d" % number * 10 for number in (0, 2, 3, 4)]


def test_what_is_no_file_of_queues(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    (tmp_path / "folder" / "notes.txt").write_text("mine")
    (tmp_path / "plain").write_text("mine")
    for name in ("folder", "plain", "missing/jobs.rq"):
        with pytest.raises((Failed, reliableq.Missing)) as caught:
            reliableq.connect(f"file:{tmp_path}/{name}")
        assert caught.value.remedy
    assert sorted(each.name for each in tmp_path.rglob("*")) == ["folder", "notes.txt", "plain"]


FULL = """
import os
folder = sys.argv[1]
rq = reliableq.connect(f"file:{folder}/jobs.rq?sync=always")
queue = rq.queue("q")
ids = [queue.push(b"small")]
with open(f"{folder}/ballast", "wb") as ballast:
    ballast.write(bytes(100_000))
refusals = 0
while refusals < 3:
    try:
        ids.append(queue.push(bytes(20_000)))
    except reliableq.Full as error:
        refusals += 1
        assert error.remedy
assert [message.id for message in queue.range()] == ids, "a refused push left a trace"
os.unlink(f"{folder}/ballast")
ids.append(queue.push(b"room again"))
rq.close()
rq = reliableq.connect(f"file:{folder}/jobs.rq")
assert [message.id for message in rq.queue("q").range()] == ids
assert rq.queue("q").ack(rq.queue("q").pop_many(1000)) == ids
rq.close()
"""


def test_a_full_disk_refuses_and_goes_on(tmp_path: Path) -> None:
    """On a small file system of its own, which only the child sees."""
    mount = 'mount -t tmpfs -o size=512k none "$1" && exec "${@:2}"'
    command = ["unshare", "--map-root-user", "--mount", "bash", "-c", mount, "bash", str(tmp_path)]
    subprocess.run([*command, sys.executable, "-c", PROLOGUE + FULL, str(tmp_path)], check=True, timeout=60)


DENIED = """
import os
import reliableq.backends.redis, reliableq.backends.file
folder = sys.argv[1]
with reliableq.connect(f"file:{folder}/jobs.rq") as rq:
    rq.queue("q").push(b"a")
os.mkdir(f"{folder}/closed")
if os.getuid() == 0:
    for place, _, files in os.walk(folder):
        for each in (place, *(f"{place}/{name}" for name in files)):
            os.chown(each, 65534, 65534)
    os.setgid(65534)
    os.setuid(65534)

def refused(path):
    try:
        reliableq.connect(f"file:{path}?timeout=0.2")
    except reliableq.Failed as error:
        return "read and write" in error.remedy
    return False

os.chmod(f"{folder}/closed", 0o500)
assert refused(f"{folder}/closed/jobs.rq")
(log,) = [name for name in os.listdir(f"{folder}/jobs.rq") if name.startswith("log-")]
for name in (log, "lock", "identity"):
    os.chmod(f"{folder}/jobs.rq/{name}", 0)
    assert refused(f"{folder}/jobs.rq"), name
    os.chmod(f"{folder}/jobs.rq/{name}", 0o600)
os.chmod(f"{folder}/jobs.rq", 0o500)
try:
    reliableq.connect(f"file:{folder}/jobs.rq?timeout=0.2")
except reliableq.Failed as error:
    assert error.remedy
else:
    raise AssertionError("a read-only directory was opened")
os.chmod(f"{folder}/jobs.rq", 0o700)
with reliableq.connect(f"file:{folder}/jobs.rq") as rq:
    assert rq.queue("q").pop().body == b"a"
"""


def test_missing_rights_are_told() -> None:
    with tempfile.TemporaryDirectory() as folder:  # one that another user may enter
        subprocess.run([sys.executable, "-c", PROLOGUE + DENIED, folder], check=True, timeout=60)
