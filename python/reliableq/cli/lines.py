"""Lines of standard input, as bytes, as soon as they come and without holding more of them than needed."""

import sys
from collections.abc import Iterator
from io import BufferedReader
from typing import cast

SIZE = 1 << 16
"""Bytes read at a time; a pipe gives what it has."""


def batches() -> Iterator[list[bytes]]:
    """The lines that each read completes, without their newlines. What follows the last newline is a line, too."""
    stream = cast(BufferedReader, sys.stdin.buffer)
    begun: list[bytes] = []
    while data := stream.read1(SIZE):
        *complete, rest = data.split(b"\n")
        if complete:
            complete[0] = b"".join([*begun, complete[0]])
            begun = []
            yield complete
        if rest:
            begun.append(rest)
    if begun:
        yield [b"".join(begun)]
