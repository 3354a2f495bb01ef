"""Other processes that a test talks to by lines, stops and kills."""

import os
import select
import signal
import socket
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from tests.support.wait import DEADLINE, wait_until

PROLOGUE = """
import sys
import reliableq

def say(*words):
    print(*words, flush=True)

def asked():
    "The next line that the test tells; ends the process when the test has no more."
    line = sys.stdin.readline()
    if not line:
        raise SystemExit
    return line.rstrip("\\n")

"""

OPEN = """
rq = reliableq.connect(sys.argv[1])
queue = rq.queue("q")
say("ready")
"""
"""Opens the place that is the first argument."""

KEEP = (
    OPEN
    + """
sys.stdin.read()
rq.close()
"""
)
"""Keeps it open until the test lets go."""


class Process:
    """A Python process. What it writes to its standard error is shown with a failed test."""

    def __init__(self, program: str, *arguments: str) -> None:
        command = [sys.executable, "-c", PROLOGUE + program, *arguments]
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._told = b""

    @property
    def id(self) -> int:
        return self._process.pid

    @property
    def running(self) -> bool:
        return self._process.poll() is None

    def hear(self, deadline: float = DEADLINE) -> str:
        """The next line that it says; the empty text when it has ended."""
        assert self._process.stdout is not None
        end = time.monotonic() + deadline
        while b"\n" not in self._told:
            ready, _, _ = select.select([self._process.stdout], [], [], max(0, end - time.monotonic()))
            assert ready, f"nothing heard within {deadline} s"
            part = os.read(self._process.stdout.fileno(), 1 << 16)
            if not part:
                return ""
            self._told += part
        line, _, self._told = self._told.partition(b"\n")
        return line.decode()

    def expect(self, line: str) -> None:
        """Waits until it says this, and nothing else before."""
        assert self.hear() == line

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        self._process.stdin.write(line.encode() + b"\n")
        self._process.stdin.flush()

    def ask(self, line: str) -> str:
        """Tells it something, and returns what it says to that."""
        self.tell(line)
        return self.hear()

    def signal(self, number: signal.Signals) -> None:
        self._process.send_signal(number)

    def stop(self) -> None:
        """Stops it, as Ctrl-Z does; SIGCONT lets it go on."""
        self.signal(signal.SIGSTOP)
        wait_until(
            "it stands still", lambda: Path(f"/proc/{self.id}/stat").read_text().rpartition(")")[2].split()[0] == "T"
        )

    def kill(self) -> None:
        """Ends it without a warning."""
        self._process.kill()
        self._process.wait(DEADLINE)
        self._close()

    def end(self, code: int = 0) -> None:
        """Lets it end by itself, and looks how it did."""
        assert self._process.stdin is not None
        self._process.stdin.close()
        assert self._process.wait(DEADLINE) == code
        self._close()

    def _close(self) -> None:
        for pipe in (self._process.stdin, self._process.stdout):
            assert pipe is not None
            with suppress(BrokenPipeError):  # what was told to it, and not yet read
                pipe.close()


KEEPER = """
while True:
    with reliableq.connect(asked()):
        say("open")
        asked()
    say("closed")
"""


class Keeper:
    """A process that owns one file after the other, so that this one is a client."""

    def __init__(self) -> None:
        self._process = Process(KEEPER)
        self._url: str | None = None

    def open(self, url: str) -> None:
        """Owns a file, in place of the one before."""
        self.close()
        assert self._process.ask(url) == "open"
        self._url = url

    def close(self) -> None:
        if self._url is not None:
            assert self._process.ask("close") == "closed"
            self._url = None

    def kill(self) -> None:
        """Is killed, and comes again."""
        url, self._url = self._url, None
        self._process.kill()
        self._process = Process(KEEPER)
        if url is not None:
            self.open(url)

    def end(self) -> None:
        self.close()
        self._process.end()


@contextmanager
def process(program: str, *arguments: str) -> Iterator[Process]:
    """A process that is killed at the end, where it still runs."""
    started = Process(program, *arguments)
    try:
        yield started
    finally:
        if started.running:
            started.kill()


@contextmanager
def owner(url: str) -> Iterator[Process]:
    """A process that has opened a place, and does nothing."""
    with process(KEEP, url) as started:
        started.expect("ready")
        yield started


def owner_of(path: Path) -> int | None:
    """The process that listens on the socket of a file, if there is one at the moment."""
    with socket.socket(socket.AF_UNIX) as probe:
        try:
            probe.connect(str(path / "socket"))
        except OSError:
            return None
        (process, _, _) = struct.unpack("3i", probe.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, 12))
        return int(process)
