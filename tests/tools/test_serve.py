"""`make serve`, in a folder that stands for a clone."""

import shutil
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import redis

from tests.support.client import Client, CommandError
from tests.support.server import ROOT, free_port, module_path, server_command
from tests.support.wait import wait_until

Serve = Callable[[int], "subprocess.Popen[bytes]"]


@pytest.fixture
def clone(tmp_path: Path) -> Path:
    """The script, and a server for it."""
    tools = tmp_path / "tools"
    tools.mkdir()
    shutil.copy(ROOT / "tools" / "serve", tools)
    servers = tools / "servers"
    servers.write_text(f"#!/bin/sh\necho '{server_command()[0]}'\n")
    servers.chmod(0o755)
    return tmp_path


@pytest.fixture
def serve(clone: Path) -> Iterator[Serve]:
    """Starts servers, and returns when they answer."""
    with ExitStack() as started:

        def start(port: int) -> "subprocess.Popen[bytes]":
            command = [str(clone / "tools" / "serve"), str(port), str(module_path())]
            process = started.enter_context(subprocess.Popen(command, stdout=subprocess.DEVNULL))
            started.callback(process.kill)
            wait_until("the server answers", lambda: answers(port))
            return process

        yield start


def answers(port: int) -> bool:
    try:
        with Client(port) as client:
            return bool(client.call("PING"))
    except (redis.ConnectionError, CommandError):
        return False


def refused(clone: Path, port: str) -> str:
    """The one line that a refusal is. No module is needed for it, and nothing is made."""
    done = subprocess.run([clone / "tools" / "serve", port, "no-module"], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (1, "")
    assert not (clone / ".serve").exists()
    (line,) = done.stderr.splitlines()
    return line


@pytest.mark.parametrize("port", ["", "0", "-1", "65536", "99999999999999999999", "07000", "7000 ", "7.5", "x", "a[0]"])
def test_what_is_no_port_is_refused(clone: Path, port: str) -> None:
    line = refused(clone, port)
    assert f"'{port}' is no port" in line and "from 1 to 65535" in line


def test_a_port_in_use_is_refused(clone: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = refused(clone, str(port))
    assert f"port {port} is in use" in line and "PORT=" in line


def test_each_port_has_its_own_data(serve: Serve) -> None:
    ports = [free_port(), free_port()]
    processes = [serve(port) for port in ports]
    for port in ports:
        with Client(port) as client:
            client.call("RQ.PUSH", "q", f"of {port}")
    for process in processes:
        process.terminate()
        process.wait()
    for port in ports:
        serve(port)
        with Client(port) as client:
            assert [row[1] for row in client.call("RQ.INSPECT", "q", 0, 9)] == [f"of {port}".encode()]
