"""Processes that push, pop and acknowledge until they are killed, and write down what they were answered.

Run as a program, this is their parent: it forks them, since a Python that starts anew takes far longer than they live.
It has no threads and opens no file itself.
"""

import os
import random
import sys
import time
import traceback
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import reliableq

PARENT = """
from tests.file.workers import breed
breed(asked, say)
"""


class Line(NamedTuple):
    """What a worker wrote down. `done` is when it was answered, or 0 of a call that was never answered."""

    what: str
    id: str
    body: bytes
    begun: float
    done: float


def breed(asked: object, say: object) -> None:
    """Forks a worker for each line, and tells its number; a line with a number alone waits for its end."""
    import reliableq.backends.redis  # noqa: F401 # before the fork, so that it is there at once

    assert callable(asked) and callable(say)
    while True:
        words = asked().split(" ", 2)
        if len(words) == 1:
            _, status = os.waitpid(int(words[0]), 0)
            say(os.waitstatus_to_exitcode(status))
            continue
        child = os.fork()
        if child == 0:
            os.close(0)
            os._exit(_live(words[0], Path(words[1]), words[2]))
        say(child)


def _live(name: str, log: Path, url: str) -> int:
    """Works for ever; returns only when something went wrong, which a worker that lives must never see."""
    try:
        _Worker(name, log, url).work()
    except BaseException:
        log.with_suffix(".error").write_text(traceback.format_exc())
    return 1


class _Worker:
    def __init__(self, name: str, log: Path, url: str) -> None:
        self._name = name
        self._log = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        self._choose = random.Random(name)
        self._pushed = 0
        self._held: list[reliableq.Message] = []
        self._queue = reliableq.connect(url).queue("q")

    def work(self) -> None:
        while True:
            self._choose.choice((self._push, self._pop, self._acknowledge))()

    def _push(self) -> None:
        bodies = [self._body() for _ in range(self._choose.choice((1, 1, 1, 5)))]
        begun = self._begin("push", [("-", body) for body in bodies])
        ids = [self._queue.push(bodies[0])] if len(bodies) == 1 else self._queue.push_many(bodies)
        self._end("push", list(zip(ids, bodies, strict=True)), begun)

    def _body(self) -> bytes:
        self._pushed += 1
        filling = "." * self._choose.choice((0, 0, 100, 20_000))
        return f"{self._name}/{self._pushed}/{filling}".encode()

    def _pop(self) -> None:
        if len(self._held) > 50:
            return
        count, timeout = self._choose.choice(((1, 0), (3, 0.01), (5, 0.05)))
        begun = self._begin("pop", [])
        messages = self._queue.pop_many(count, timeout)
        self._end("pop", [(message.id, message.body) for message in messages], begun)
        self._held += messages

    def _acknowledge(self) -> None:
        self._choose.shuffle(self._held)
        chosen = [self._held.pop() for _ in range(min(len(self._held), self._choose.choice((1, 3))))]
        if not chosen:
            return
        rows = [(message.id, message.body) for message in chosen]
        begun = self._begin("ack", rows)
        done = [chosen[0].id] if len(chosen) == 1 and chosen[0].ack() else self._queue.ack(chosen)
        assert done == [message.id for message in chosen], "an acknowledgement of what nobody else can have was refused"
        self._end("ack", rows, begun)

    def _begin(self, what: str, rows: list[tuple[str, bytes]]) -> float:
        begun = time.monotonic()
        self._write(what, rows, begun, 0)
        return begun

    def _end(self, what: str, rows: list[tuple[str, bytes]], begun: float) -> None:
        self._write(what, rows, begun, time.monotonic())

    def _write(self, what: str, rows: list[tuple[str, bytes]], begun: float, done: float) -> None:
        text = "".join(f"{what} {id} {body.decode()} {begun!r} {done!r}\n" for id, body in rows)
        assert os.write(self._log, text.encode()) == len(text)


def lines(log: Path) -> Iterator[Line]:
    """What a worker wrote down. It may have been killed within its last line."""
    for line in log.read_text().splitlines(keepends=True):
        if line.endswith("\n"):
            what, id, body, begun, done = line.split()
            yield Line(what, id, body.encode(), float(begun), float(done))


if __name__ == "__main__":
    sys.exit("this is run by tests/file/test_kills.py")
