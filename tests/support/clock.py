"""A server's wall clock in the hands of a test."""

import mmap
import struct
import subprocess
import time
from pathlib import Path

SOURCE = Path(__file__).with_name("clock.c")

HOUR = 3600 * 1000
"""Milliseconds."""

BASE = 1_900_000_000_000
"""A time to stop a clock at (in 2030): later than any that a test machine shows by itself."""


def build_shim(folder: Path) -> Path:
    """Compiles the library that a server preloads."""
    library = folder / "clock.so"
    command = ["cc", "-O1", "-Wall", "-Werror", "-shared", "-fPIC", "-o", str(library), str(SOURCE)]
    subprocess.run(command, check=True, capture_output=True, text=True)
    return library


class Clock:
    """The clock of the servers that are started with it; times are milliseconds."""

    def __init__(self, shim: Path, path: Path) -> None:
        path.write_bytes(bytes(16))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 16)
        self._environment = {"LD_PRELOAD": str(shim), "RELIABLEQ_CLOCK": str(path)}

    @property
    def environment(self) -> dict[str, str]:
        """What a server needs in its environment to see this clock."""
        return dict(self._environment)

    def stand_at(self, milliseconds: int) -> None:
        """Stops the clock at a time."""
        self._memory[8:16] = struct.pack("=q", milliseconds * 1000)

    def shift(self, milliseconds: int) -> None:
        """Lets the clock run, ahead of the true time (or behind it)."""
        self._memory[0:8] = struct.pack("=q", milliseconds * 1000)
        self._memory[8:16] = bytes(8)


def true_time() -> int:
    """Milliseconds of this machine's own clock."""
    return time.time_ns() // 1_000_000
