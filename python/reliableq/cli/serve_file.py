"""The endpoint of a file: a process that owns it, so that others need not."""

import os
import signal
import socket
import time
from contextlib import closing

import click

from reliableq._native import Embedded
from reliableq.backends.file import Options, naming, read_url
from reliableq.cli import exits, show
from reliableq.cli.exits import Failure

PAUSE = 0.05
"""Seconds between two attempts to own the file."""


def run(url: str, as_json: bool) -> None:
    """Owns the file until SIGINT or SIGTERM, and closes it then."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    try:
        with closing(_own(*read_url(url.removeprefix("file:")))):
            if as_json:
                show.document({"url": url, "pid": os.getpid()})
            else:
                show.line(f"serving {url}; Ctrl-C ends it")
            _wait_for_signal()
    except KeyboardInterrupt:
        return


def _own(path: str, options: Options) -> Embedded:
    """Opens the file as its owner. One that merely does something short with it is waited for."""
    if not options.owner or options.uuid:
        raise click.UsageError("whoever serves a file owns it, whichever it is: leave out owner= and uuid=")
    end, told = time.monotonic() + options.timeout, False
    while (owned := _owned(path, options)) is None:
        if not told:
            exits.tell(f"another process owns {path}; waiting up to {options.timeout:g} s for it to end")
            told = True
        if time.monotonic() >= end:
            raise Failure(f"another process still owns {path}, and answers others as this one would; end it first")
        time.sleep(PAUSE)
    if owned.torn:
        exits.tell(f"{path} ended in a write that was cut short; cut off: {owned.torn}")
    return owned


def _owned(path: str, options: Options) -> Embedded | None:
    with naming(path):
        return Embedded.file(os.path.abspath(path), options.sync, os.urandom(16))


def _wait_for_signal() -> None:
    """Waits through a socket that each signal writes to: one that comes just before the wait is not missed."""
    reading, writing = socket.socketpair()
    with reading, writing:
        writing.setblocking(False)
        before = signal.set_wakeup_fd(writing.fileno())
        try:
            reading.recv(1)
        finally:
            signal.set_wakeup_fd(before)
