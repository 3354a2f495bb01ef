"""`reliableq serve`."""

import json
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
import redis
import reliableq
from reliableq.cli import module_path

from tests.cli.program import Ended, Program
from tests.support.client import Client, CommandError
from tests.support.server import free_port, server_command
from tests.support.wait import DEADLINE, wait_until

Serve = Callable[..., "subprocess.Popen[bytes]"]


@pytest.fixture(scope="session")
def no_server(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with programs, but no server: only what the scripts that tools/servers makes call."""
    folder = tmp_path_factory.mktemp("programs")
    readlink = shutil.which("readlink")
    assert readlink is not None
    (folder / "readlink").symlink_to(readlink)
    return folder


@pytest.fixture
def program(tmp_path: Path, no_server: Path) -> Program:
    """With no server on its PATH and no URL; where a module is built, it is in the package."""
    assert module_path.MODULE.is_file(), "run `make build`"
    program = Program(folder=tmp_path)
    program.environment["PATH"] = f"{tmp_path}:{no_server}"
    return program


@pytest.fixture
def serve(program: Program) -> Iterator[Serve]:
    """Starts it, with the server of the tests."""
    with ExitStack() as started:

        def start(*arguments: str) -> "subprocess.Popen[bytes]":
            command = ["serve", "--server", server_command()[0], *arguments]
            process = started.enter_context(program.start(*command, stderr=subprocess.DEVNULL))
            started.callback(process.kill)
            return process

        yield start


def answers(port: int) -> bool:
    try:
        with Client(port) as client:
            return bool(client.call("PING"))
    except (redis.ConnectionError, CommandError):
        return False


def serve_on(serve: Serve, port: int) -> "subprocess.Popen[bytes]":
    process = serve("--url", f"redis://localhost:{port}")
    wait_until("the server answers", lambda: answers(port))
    return process


def end(process: "subprocess.Popen[bytes]", how: signal.Signals = signal.SIGTERM) -> int:
    process.send_signal(how)
    return process.wait(DEADLINE)


def refused(program: Program, *arguments: str) -> Ended:
    """What it says when it does not start; nothing is made then."""
    ended = program("serve", *arguments)
    assert ended.output == b"" and ended.complaint
    assert program.folder and not list(program.folder.iterdir())
    return ended


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM])
def test_a_server_with_the_module(serve: Serve, program: Program, how: signal.Signals) -> None:
    port = free_port()
    process = serve_on(serve, port)
    assert process.stdout
    assert process.stdout.readline().startswith(f"serving redis://localhost:{port}, data in".encode())
    assert program("--url", f"redis://localhost:{port}", "push", "q", "a").code == 0
    assert end(process, how) == 0
    assert process.stdout.read() == b""


def test_each_port_has_its_own_data_which_stay(serve: Serve, program: Program) -> None:
    ports = [free_port(), free_port()]
    processes = [serve_on(serve, port) for port in ports]
    for port in ports:
        assert program("--url", f"redis://localhost:{port}", "push", "q", str(port)).code == 0
    for process in processes:
        end(process)
    for port in ports:
        serve_on(serve, port)
        assert program("--url", f"redis://localhost:{port}", "pop", "q", "--raw").output == b"%d\n" % port


def test_json_tells_where_and_who(serve: Serve, tmp_path: Path) -> None:
    port = free_port()
    data = tmp_path / "data"
    process = serve("--url", f"redis://127.0.0.1:{port}", "--json", "--data", str(data))
    assert process.stdout
    assert json.loads(process.stdout.readline()) == {
        "url": f"redis://127.0.0.1:{port}",
        "pid": process.pid,
        "program": server_command()[0],
        "data": str(data),
    }
    wait_until("the server answers", lambda: answers(port))
    assert (data / "appendonlydir").is_dir()


def test_a_unix_socket_and_settings(serve: Serve, program: Program, tmp_path: Path) -> None:
    path = tmp_path / "s"
    serve("--url", f"unix://{path}", "--", "--maxmemory", "123456789")
    wait_until("the socket is there", path.exists)
    with reliableq.connect(f"unix://{path}") as rq:
        rq.queue("q").push(b"a")
    with redis.Redis(unix_socket_path=str(path)) as client:
        assert client.config_get("maxmemory") == {"maxmemory": "123456789"}


def test_the_number_of_a_database_may_stand_in_the_url(serve: Serve, program: Program) -> None:
    url = f"redis://localhost:{(port := free_port())}/3"
    serve("--url", url)
    wait_until("the server answers", lambda: answers(port))
    assert program("--url", url, "push", "q", "a").code == 0


@pytest.mark.parametrize("port", ["0", "-1", "65536", "99999999999999999999", "7.5", "x", "a[0]"])
def test_what_is_no_port_is_refused(program: Program, port: str) -> None:
    assert refused(program, "--url", f"redis://localhost:{port}").code == 2


@pytest.mark.parametrize(
    "url",
    [
        "redis://example.com",
        "rediss://localhost",
        "redis://user:secret@localhost",
        "redis://user:secret@[::1",
        "redis://localhost/x",
        "redis://localhost/16",
        "redis://localhost/1/2",
        "redis://localhost?db=1",
        "unix://",
        "memory:",
        "nowhere",
    ],
)
def test_what_can_not_be_served_is_refused(program: Program, url: str) -> None:
    ended = refused(program, "--url", url)
    assert ended.code == 2 and "secret" not in ended.error


def test_a_port_in_use_is_refused(program: Program) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        ended = refused(program, "--url", f"redis://127.0.0.1:{port}")
    assert ended.code == 4 and f"port {port} can't be had" in ended.complaint and "--url" in ended.complaint


def test_a_missing_server_is_named_with_the_remedy(program: Program) -> None:
    url = f"redis://localhost:{free_port()}"
    ended = refused(program, "--url", url)
    assert ended.code == 4 and "valkey-server" in ended.complaint and "--server" in ended.complaint
    assert "no-such-server not found" in refused(program, "--url", url, "--server", "no-such-server").complaint


def test_a_server_on_the_path_is_found(program: Program, serve: Serve, tmp_path: Path) -> None:
    port = free_port()
    script = tmp_path / "valkey-server"
    script.write_text(f'#!{shutil.which("sh")}\nexec {server_command()[0]} "$@"\n')
    script.chmod(0o755)
    program.environment["PATH"] += f":{Path(shutil.which('env') or '').parent}"
    with program.start("serve", "--url", f"redis://localhost:{port}", stderr=subprocess.DEVNULL) as process:
        try:
            wait_until("the server answers", lambda: answers(port))
        finally:
            process.kill()
