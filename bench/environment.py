"""What this machine offers: the server, the module and the tools that some measures need."""

from __future__ import annotations

import os
import platform
import resource
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


class Missing(Exception):
    """Something that a measure cannot do without; the text says how to get it."""


@dataclass(frozen=True)
class Environment:
    """Where things are. `module` is None when it has not been built."""

    server: tuple[str, ...]
    server_version: str
    module: Path | None

    def describe(self) -> dict[str, str | int]:
        """Facts that a reader needs to compare two results."""
        return {
            "server": self.server_version,
            "module": "present" if self.module else "missing",
            "machine": platform.machine(),
            "system": platform.release(),
            "python": platform.python_version(),
            "processors": os.cpu_count() or 0,
        }


def discover() -> Environment:
    """Find the server and the module, or raise Missing when there is no server at all."""
    server = _server()
    output = subprocess.run([*server, "--version"], capture_output=True, text=True, check=True)
    module = Path(os.environ.get("RELIABLEQ_MODULE", ROOT / "target/release/librq_module.so"))
    return Environment(server, output.stdout.strip(), module if module.is_file() else None)


def _server() -> tuple[str, ...]:
    named = os.environ.get("RELIABLEQ_SERVER")
    if named:
        return tuple(shlex.split(named))
    tool = ROOT / "tools/servers"
    if os.access(tool, os.X_OK):
        found = subprocess.run([tool, "redis-7.0"], stdout=subprocess.PIPE, text=True, check=False)
        if found.returncode == 0 and found.stdout.strip():
            return tuple(shlex.split(found.stdout.strip().splitlines()[-1]))
    on_path = shutil.which("redis-server")
    if on_path is None:
        raise Missing("no redis-server: install the package redis-server or set RELIABLEQ_SERVER")
    return (on_path,)


def tool(name: str, package: str) -> str:
    """The path of a program, or Missing with the Debian package that holds it."""
    path = shutil.which(name)
    if path is None:
        raise Missing(f"{name} not found: install it with `apt-get install {package}`")
    return path


def raise_file_limit(wanted: int) -> int:
    """Allow `wanted` open files in this process and its children; returns what is allowed."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft >= wanted or soft == resource.RLIM_INFINITY:
        return soft
    ceiling = hard if hard != resource.RLIM_INFINITY else wanted
    for limits in ((wanted, max(wanted, ceiling)), (min(wanted, ceiling), hard)):
        try:
            resource.setrlimit(resource.RLIMIT_NOFILE, limits)
        except (ValueError, OSError):
            continue
        return limits[0]
    return soft
