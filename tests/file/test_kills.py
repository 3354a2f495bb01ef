"""kill -9 of owners and of clients, at any moment.

Four processes push, pop and acknowledge under `?sync=always`. Each writes down what it was answered, after it was
answered; what was under way when it was killed may have happened or not. Whoever is not killed sees no error.
"""

import os
import random
import signal
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest
import reliableq

from tests.file.workers import PARENT, Line, lines
from tests.support.effort import EFFORT, effort
from tests.support.empty import is_empty
from tests.support.process import Process, owner_of, process
from tests.support.wait import wait_until

WORKERS = 4
KILLS = effort(200)


class Workers:
    """The workers of one file: as many as there should be, in place of each that is killed another."""

    def __init__(self, parent: Process, folder: Path, seed: int) -> None:
        self._parent = parent
        self._folder = folder
        self.choose = random.Random(seed)
        self.url = f"file:{folder}/kills.rq?sync=always&timeout=30"
        self.alive: list[int] = []
        self.logs: list[Path] = []
        self.owners_killed = 0
        for _ in range(WORKERS):
            self.start()

    def start(self) -> None:
        name = f"worker-{len(self.logs)}"
        self.logs.append(self._folder / name)
        self.alive.append(int(self._parent.ask(f"{name} {self.logs[-1]} {self.url}")))

    def kill_one(self) -> None:
        """Kills one of them, in every other case the owner."""
        owner = owner_of(self._folder / "kills.rq")
        wanted = owner if owner in self.alive and self.choose.random() < 0.5 else self.choose.choice(self.alive)
        assert wanted is not None
        self.owners_killed += wanted == owner
        self.kill(wanted)

    def kill(self, worker: int) -> None:
        os.kill(worker, signal.SIGKILL)
        self.alive.remove(worker)
        code = int(self._parent.ask(str(worker)))
        assert code == -signal.SIGKILL, f"a worker ended by itself:\n{self.errors()}"

    def kill_all(self) -> None:
        for worker in list(self.alive):
            self.kill(worker)
        assert not self.errors()

    def errors(self) -> str:
        return "\n".join(path.read_text() for path in self._folder.glob("*.error"))

    def answered(self) -> int:
        return sum(log.stat().st_size for log in self.logs if log.exists())


@pytest.fixture
def workers(tmp_path: Path) -> Iterator[Workers]:
    with process(PARENT) as parent:
        workers = Workers(parent, tmp_path, seed=1 if EFFORT == 1 else random.randrange(1 << 32))
        yield workers
        for worker in workers.alive:
            os.kill(worker, signal.SIGKILL)


@pytest.mark.timeout(3600 if EFFORT > 1 else 300)
def test_nothing_is_lost_and_nothing_comes_twice(workers: Workers) -> None:
    wait_until("the workers work", lambda: workers.answered() > 10_000)
    for _ in range(KILLS):
        time.sleep(workers.choose.choice((0, 0.005, 0.02, 0.1)) * workers.choose.random())  # any moment will do
        workers.kill_one()
        workers.start()
    before = workers.answered()
    wait_until("those who are left go on", lambda: workers.answered() > before + 10_000)
    workers.kill_all()
    assert workers.owners_killed > KILLS // 10

    written = [line for log in workers.logs if log.exists() for line in lines(log)]
    with reliableq.connect(workers.url) as rq:
        queue = rq.queue("q")
        left = queue.recover(1 << 30, elapsed=0) + queue.pop_many(1 << 30)
        check(written, left)
        queue.ack(left)
        assert is_empty(queue)


def check(written: list[Line], left: list[reliableq.Message]) -> None:
    """Compares what was answered with what is left, and with itself."""
    answered = [line for line in written if line.done]
    pushed = {line.id: line.body for line in answered if line.what == "push"}
    acknowledged = {line.id: line.done for line in answered if line.what == "ack"}
    maybe_acknowledged = {line.id for line in written if line.what == "ack"}
    popped = [line for line in answered if line.what == "pop"]
    held = {message.id: message.body for message in left}
    assert len(pushed) > KILLS and len(acknowledged) > KILLS // 4

    lost = pushed.keys() - held.keys() - maybe_acknowledged
    assert not lost, f"pushed, answered and gone: {lost}"
    returned = acknowledged.keys() & held.keys()
    assert not returned, f"acknowledged, answered and there again: {returned}"
    again = [line.id for line in popped if line.begun > acknowledged.get(line.id, line.begun)]
    assert not again, f"acknowledged, answered and popped later: {again}"

    # Bodies are unique, so that one that was stored twice has two IDs.
    places = {*pushed.items(), *held.items(), *((line.id, line.body) for line in popped)}
    twice = [body for body, count in Counter(body for _, body in places).items() if count > 1]
    assert not twice, f"stored twice: {twice}"
    changed = [id for id, count in Counter(id for id, _ in places).items() if count > 1]
    assert not changed, f"IDs with two bodies: {changed}"
    unknown = {body for _, body in places} - {line.body for line in written if line.what == "push"}
    assert not unknown, f"never pushed: {unknown}"
    deliveries = Counter(line.id for line in popped)
    assert set(deliveries.values()) == {1}, "nobody recovered, and yet something was popped twice"
