"""The command `reliableq` as a program of its own."""

import fcntl
import json
import os
import pty
import subprocess
import sys
import termios
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

PROGRAM = str(Path(sys.executable).with_name("reliableq"))


@dataclass(frozen=True)
class Ended:
    """What a program left."""

    code: int
    output: bytes
    error: str

    @property
    def lines(self) -> list[str]:
        """The output, as lines of text."""
        return self.output.decode().splitlines()

    @property
    def json(self) -> Any:
        """The output, which is one JSON document."""
        return json.loads(self.output)

    @property
    def complaint(self) -> str:
        """What it said was wrong: one line, and no traceback."""
        (line,) = self.error.splitlines()
        assert line.startswith("reliableq: "), line
        return line


class Program:
    """Runs the command with a URL in its environment."""

    def __init__(self, url: str | None = None, folder: Path | None = None) -> None:
        self.folder = folder
        self.environment = {name: value for name, value in os.environ.items() if name != "RELIABLEQ_URL"}
        if url is not None:
            self.environment["RELIABLEQ_URL"] = url

    def __call__(self, *arguments: str | bytes | Path, stdin: bytes = b"") -> Ended:
        done = subprocess.run(
            [PROGRAM, *arguments], input=stdin, capture_output=True, env=self.environment, cwd=self.folder
        )
        return Ended(done.returncode, done.stdout, done.stderr.decode())

    def start(self, *arguments: str, stderr: int = subprocess.PIPE) -> "subprocess.Popen[bytes]":
        """Starts it, with its input and output as pipes."""
        return subprocess.Popen(
            [PROGRAM, *arguments],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=stderr,
            env=self.environment,
            cwd=self.folder,
        )

    def shell(self, line: str) -> Ended:
        """Runs a line of a shell, in which `reliableq` is the command."""
        environment = self.environment | {"PATH": f"{Path(PROGRAM).parent}:{os.environ['PATH']}"}
        done = subprocess.run(["bash", "-c", line], capture_output=True, env=environment, cwd=self.folder)
        return Ended(done.returncode, done.stdout, done.stderr.decode())

    def at_terminal(self, *arguments: str | Path, stdin: bytes = b"") -> Ended:
        """Runs it with output and errors on a terminal of 100 columns; both are in the output."""
        process, master = self._on_terminal(arguments, subprocess.PIPE)
        assert process.stdin is not None
        process.stdin.write(stdin)
        process.stdin.close()
        shown = _read(master)
        os.close(master)
        return Ended(process.wait(), shown, "")

    def typing(self, *arguments: str, after: bytes, keys: bytes) -> Ended:
        """The same with a keyboard, whose keys are pressed when it has shown something."""
        process, master = self._on_terminal(arguments, None)
        shown = b""
        while after not in shown:
            shown += os.read(master, 1 << 16)
        os.write(master, keys)
        shown += _read(master)
        os.close(master)
        return Ended(process.wait(), shown, "")

    def _on_terminal(self, arguments: Sequence[str | Path], stdin: int | None) -> tuple["subprocess.Popen[bytes]", int]:
        master, terminal = pty.openpty()
        process = subprocess.Popen(
            [PROGRAM, *arguments],
            stdin=terminal if stdin is None else stdin,
            stdout=terminal,
            stderr=terminal,
            env=self.environment | {"COLUMNS": "100", "LINES": "25", "TERM": "xterm"},
            cwd=self.folder,
            start_new_session=True,
            preexec_fn=partial(fcntl.ioctl, 1, termios.TIOCSCTTY, 0),  # so that Ctrl-C of its keyboard is for it
        )
        os.close(terminal)
        return process, master


def _read(master: int) -> bytes:
    """All that is written to a terminal until nobody holds it any more, which Linux tells by an error."""
    shown = b""
    while True:
        try:
            data = os.read(master, 1 << 16)
        except OSError:
            return shown
        if not data:
            return shown
        shown += data
