"""A redis-server or valkey-server with the module, in place of this process."""

import os
import re
import shutil
import socket
from collections.abc import Sequence
from pathlib import Path
from typing import NoReturn
from urllib.parse import SplitResult, urlsplit

import click

from reliableq.backends.select import without_password
from reliableq.cli import show
from reliableq.cli.exits import Failure
from reliableq.cli.module_path import found as module

DEFAULT = "redis://127.0.0.1:6379"
PROGRAMS = ("redis-server", "valkey-server")
NUMBER = re.compile("/?|/([0-9]|1[0-5])")
"""Of a database: a server has these, and all of them are served."""
LOCAL = {"localhost": "127.0.0.1", "127.0.0.1": "127.0.0.1", "::1": "::1"}


def run(url: str, server: str | None, data: str | None, settings: Sequence[str], as_json: bool) -> NoReturn:
    """Becomes the server, so that signals and its exit code are its own."""
    address, name = _address(url)
    program = _program(server)
    folder = Path(data or f"reliableq-{name}").absolute()  # one for each, since servers destroy each other's files
    options = [*address, "--dir", str(folder), "--appendonly", "yes", "--loadmodule", str(module()), *settings]
    folder.mkdir(parents=True, exist_ok=True)
    if as_json:
        show.document({"url": url, "pid": os.getpid(), "program": program, "data": str(folder)})
    else:
        show.line(f"serving {url}, data in {folder}; Ctrl-C ends it")
    os.dup2(2, 1)  # its log
    os.execv(program, [program, *options])


def _address(url: str) -> tuple[list[str], str]:
    """Where the server listens, as its options, and a name for that."""
    parts = _parts(url)
    if parts.username or parts.password or parts.query or parts.fragment:
        raise click.UsageError("the URL to serve has no user, password or options: give them as SETTINGs of the server")
    if parts.scheme == "unix" and parts.path:
        return ["--port", "0", "--unixsocket", parts.path], Path(parts.path).name
    if parts.scheme != "redis" or not NUMBER.fullmatch(parts.path):
        expected = "file:PATH, redis://localhost:PORT, with or without /NUMBER from 0 to 15, or unix:///PATH"
        raise click.UsageError(f"can't serve {without_password(url)}; expected {expected}")
    host, port = _host(parts), _port(parts)
    _check_free(host, port)
    return ["--bind", host, "--port", str(port)], str(port)


def _parts(url: str) -> SplitResult:
    try:
        return urlsplit(url)
    except ValueError as error:
        raise click.UsageError(f"can't serve {without_password(url)}: {error}") from error


def _host(parts: SplitResult) -> str:
    if host := LOCAL.get(parts.hostname or ""):
        return host
    remedy = "use redis://localhost:PORT, and to listen elsewhere, too, the SETTING `-- --bind ADDRESS`"
    raise click.UsageError(f"can't serve at {parts.hostname}: {remedy}")


def _port(parts: SplitResult) -> int:
    try:
        port = 6379 if parts.port is None else parts.port
    except ValueError:
        port = 0
    if port == 0:
        raise click.UsageError(f"{parts.netloc} has no port that can be served; expected one from 1 to 65535")
    return port


def _check_free(host: str, port: int) -> None:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        socket.create_server((host, port), family=family).close()
    except OSError as error:
        cause = f"port {port} can't be had: {error.strerror}"
        raise Failure(f"{cause}; end what listens there, or name another: --url redis://localhost:7000") from error


def _program(server: str | None) -> str:
    for name in (server,) if server else PROGRAMS:
        if path := shutil.which(name):
            return path
    remedy = "install Redis or Valkey, or name the program with --server"
    raise Failure(f"{server or ' and '.join(PROGRAMS)} not found; {remedy}")
