"""The endpoint of a file: a process that owns it, so that others need not."""

import os
import signal
import socket

import reliableq
from reliableq.cli import show


def run(url: str, as_json: bool) -> None:
    """Owns the file until SIGINT or SIGTERM, and closes it then."""
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # ends as Ctrl-C does
    try:
        with reliableq.connect(url):
            if as_json:
                show.document({"url": url, "pid": os.getpid()})
            else:
                show.line(f"serving {url}; Ctrl-C ends it")
            _wait_for_signal()
    except KeyboardInterrupt:
        return


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
