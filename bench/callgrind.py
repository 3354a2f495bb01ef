"""Counting user-space instructions with valgrind's callgrind.

The server starts without instrumentation, so that start-up and filling a queue are fast and not in
the figures. Every lap asks the running server for a dump, which also sets the counters to zero.
"""

from __future__ import annotations

import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path

from bench.environment import Environment, tool
from bench.server import Server

# One turn of the server's own housekeeping a second: it would be counted among the messages.
QUIET = ("--hz", "1")
OUTPUT = "callgrind.out"


class CallgrindServer(Server):
    """A private server under callgrind, not counting until `CallgrindMeter` is made."""

    def __init__(self, environment: Environment, *, module: bool, options: Sequence[str]) -> None:
        valgrind = tool("valgrind", "valgrind")
        tool("vgdb", "valgrind")
        super().__init__(
            environment,
            module=module,
            options=[*QUIET, *options],
            wrapper=[
                valgrind,
                "--tool=callgrind",
                "--instr-atstart=no",
                "--trace-children=yes",  # the server may be started by a script
                f"--callgrind-out-file={OUTPUT}",
            ],
        )


class CallgrindMeter:
    """Instructions per lap; keeps the profile of each lap until the server ends."""

    def __init__(self, server: CallgrindServer) -> None:
        self._server = server
        self._dumps = 0
        self._ask("instrumentation", "on")
        self._ask("zero")

    def lap(self) -> float:
        """Instructions since the last lap."""
        self._ask("dump")
        self._dumps += 1
        text = self._profile(self._dumps).read_text()
        total = re.search(r"^totals: (\d+)$", text, re.MULTILINE)
        if total is None:
            raise RuntimeError("callgrind wrote no totals")
        return float(total[1])

    def keep(self, lap: int, path: Path) -> None:
        """Copy the profile of a lap, counted from 1, to where it survives the server."""
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(self._profile(lap), path)

    def _profile(self, lap: int) -> Path:
        return self._server.directory / f"{OUTPUT}.{lap}"

    def _ask(self, *words: str) -> None:
        command = ["vgdb", f"--pid={self._server.pid}", *words]
        subprocess.run(command, check=True, capture_output=True, timeout=120)
