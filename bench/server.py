"""A private server: free loopback port, directory of its own, gone with its files afterwards."""

from __future__ import annotations

import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self

from bench.connection import Connection
from bench.environment import Environment

START_SECONDS = 60.0


class Server:
    """A running server process. Use it as a context."""

    def __init__(
        self,
        environment: Environment,
        *,
        module: bool,
        options: Sequence[str] = (),
        wrapper: Sequence[str] = (),
        variables: Mapping[str, str] | None = None,
    ) -> None:
        self.directory = Path(tempfile.mkdtemp(prefix="reliableq-bench-"))
        self.port = _free_port()
        command = [*wrapper, *environment.server]
        command += ["--port", str(self.port), "--bind", "127.0.0.1", "--save", ""]
        command += ["--dir", str(self.directory), "--daemonize", "no", *options]
        if module:
            assert environment.module is not None
            command += ["--loadmodule", str(environment.module.resolve())]
        self._log = self.directory / "log"
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(
                command,
                cwd=self.directory,
                stdout=log,
                stderr=log,
                env={**os.environ, **(variables or {})},
            )
        self.pid = self._process.pid

    def __enter__(self) -> Self:
        try:
            self._wait_until_ready()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self._process.kill()
        self._process.wait()
        shutil.rmtree(self.directory, ignore_errors=True)

    def _wait_until_ready(self) -> None:
        deadline = time.monotonic() + START_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            try:
                with Connection(self.port) as connection:
                    if connection.command("PING") == b"PONG":
                        return
            except OSError:
                time.sleep(0.01)
        raise RuntimeError(f"the server did not start: {self._log.read_text()[-800:]}")

    def cpu_ns(self) -> int:
        """CPU time of every live thread so far, by the kernel's own account."""
        total = 0
        for task in Path(f"/proc/{self.pid}/task").iterdir():
            try:
                total += int((task / "schedstat").read_text().split()[0])
            except FileNotFoundError:
                continue
        return total

    def info(self, connection: Connection, section: str, field: str) -> int:
        """One number from INFO."""
        text = connection.command("INFO", section)
        assert isinstance(text, bytes)
        for line in text.decode().splitlines():
            name, _, value = line.partition(":")
            if name == field:
                return int(value)
        raise KeyError(field)


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
