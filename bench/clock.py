"""A wall clock for the server that the benchmark can move: see clock.c."""

from __future__ import annotations

import mmap
import shutil
import struct
import subprocess
import tempfile
import time
from pathlib import Path

from bench.environment import tool

SOURCE = Path(__file__).with_name("clock.c")
STATE = struct.Struct("=qqq")  # now_ns, step_ns, readings: struct clock_state
NS_PER_MS = 1_000_000


class SteppingClock:
    """A compiled shim and its shared state. Use it as a context."""

    def __init__(self) -> None:
        compiler = tool("cc", "gcc")
        self._directory = Path(tempfile.mkdtemp(prefix="reliableq-clock-"))
        self._shim = self._directory / "clock.so"
        self._file = self._directory / "state"
        command = [compiler, "-O2", "-shared", "-fPIC", "-o", str(self._shim), str(SOURCE)]
        subprocess.run(command, check=True)
        self._file.write_bytes(STATE.pack(time.time_ns(), 0, 0))
        with self._file.open("r+b") as file:
            self._state = mmap.mmap(file.fileno(), STATE.size)

    def __enter__(self) -> SteppingClock:
        return self

    def __exit__(self, *_: object) -> None:
        self._state.close()
        shutil.rmtree(self._directory, ignore_errors=True)

    @property
    def variables(self) -> dict[str, str]:
        """What a server needs in its environment to read this clock."""
        return {"LD_PRELOAD": str(self._shim), "RELIABLEQ_CLOCK": str(self._file)}

    def readings(self) -> int:
        """How often the wall clock was read so far."""
        count: int = STATE.unpack(self._state[:])[2]
        return count

    def step(self, nanoseconds: int) -> None:
        """Let every further reading move the clock by this much."""
        self._state[8:16] = struct.pack("=q", nanoseconds)
