"""Keys that are pressed while something is shown."""

import os
import select
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def read() -> Iterator[None]:
    """Gives keys as they are pressed, unseen, where there is a keyboard."""
    if not sys.stdin.isatty():
        yield
        return
    import termios
    import tty

    terminal = sys.stdin.fileno()
    before = termios.tcgetattr(terminal)
    tty.setcbreak(terminal)  # Ctrl-C stays what it is
    try:
        yield
    finally:
        termios.tcsetattr(terminal, termios.TCSADRAIN, before)


def pressed(wanted: bytes, seconds: float) -> bool:
    """Waits so long, or until one of these keys is pressed; tells whether one was."""
    end = time.monotonic() + seconds
    while (left := end - time.monotonic()) > 0:
        if not sys.stdin.isatty():
            time.sleep(left)
        elif select.select([sys.stdin], [], [], left)[0]:
            found = os.read(sys.stdin.fileno(), 64)
            if not found or any(key in wanted for key in found):
                return True
    return False
