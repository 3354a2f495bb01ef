"""A server's clocks in the hands of a test."""

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
    """The clocks of the servers that are started with it; times are milliseconds.

    Somebody may set the wall clock (`stand_at`, `shift`), while the monotonic clock runs on; or time may pass, or
    stand still, for both of them (`pass_by`, `stop`), which not every server can be made to believe."""

    def __init__(self, shim: Path, path: Path) -> None:
        path.write_bytes(bytes(32))
        with path.open("r+b") as file:
            self._memory = mmap.mmap(file.fileno(), 32)
        self._environment = {"LD_PRELOAD": str(shim), "RELIABLEQ_CLOCK": str(path)}

    @property
    def environment(self) -> dict[str, str]:
        """What a server needs in its environment to see this clock."""
        return dict(self._environment)

    def stand_at(self, milliseconds: int) -> None:
        """Stops the wall clock at a time."""
        self._set(1, milliseconds * 1000)

    def shift(self, milliseconds: int) -> None:
        """Lets the wall clock run, ahead of the true time (or behind it)."""
        self._set(0, milliseconds * 1000)
        self._set(1, 0)

    def stop(self, milliseconds: int) -> None:
        """Stops both clocks, the wall clock at a time."""
        self.stand_at(milliseconds)
        self._set(3, self._get(3) or time.monotonic_ns() // 1000 + self._get(2))

    def pass_by(self, milliseconds: int) -> None:
        """Lets so much time pass at once, for both clocks, whether they run or stand."""
        for place in range(4):
            if place % 2 == 0 or self._get(place):
                self._set(place, self._get(place) + milliseconds * 1000)

    def _get(self, place: int) -> int:
        return int(struct.unpack_from("=q", self._memory, place * 8)[0])

    def _set(self, place: int, microseconds: int) -> None:
        struct.pack_into("=q", self._memory, place * 8, microseconds)


def true_time() -> int:
    """Milliseconds of this machine's own clock."""
    return time.time_ns() // 1_000_000
