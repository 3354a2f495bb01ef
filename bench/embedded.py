"""The embedded queue through its public API: in memory beside a hand-written deque and dict, in a file beside writes.

Everything runs in this process. A figure is the best of several runs that alternate with its peer's, in microseconds a
message for push, pop and ack together.
"""

from __future__ import annotations

import os
import statistics
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable, Iterator
from pathlib import Path

import reliableq

from bench.plan import Plan
from bench.result import Row, progress

BATCH = 100
SIZE = 100  # bytes of a body
LEASE = 30.0

Run = Callable[[int], None]
"""Works on so many messages."""


class Handmade:
    """What a user would write by hand: messages in a deque, delivered ones in a dict, with ID and deadline."""

    def __init__(self) -> None:
        self._waiting: deque[tuple[int, bytes]] = deque()
        self._delivered: dict[int, tuple[bytes, float]] = {}
        self._last = 0

    def push(self, body: bytes) -> int:
        self._last += 1
        self._waiting.append((self._last, body))
        return self._last

    def pop(self) -> tuple[int, bytes] | None:
        if not self._waiting:
            return None
        id, body = self._waiting.popleft()
        self._delivered[id] = (body, time.monotonic() + LEASE)
        return id, body

    def ack(self, id: int) -> bool:
        return self._delivered.pop(id, None) is not None


def measure(plan: Plan) -> Iterator[Row]:
    """All figures of the embedded queue."""
    count = 20_000 if plan.quick else 200_000
    runs = 5 if plan.quick else 15
    yield from _memory(count, runs)
    yield from _busy(count, runs)
    yield from _file(count // 4, runs)


def _memory(count: int, runs: int) -> Iterator[Row]:
    handmade, body = Handmade(), b"x" * SIZE

    def by_hand(count: int) -> None:
        for _ in range(count):
            handmade.push(body)
            taken = handmade.pop()
            assert taken is not None
            handmade.ack(taken[0])

    with reliableq.connect("memory:") as rq:
        queue = rq.queue("bench")
        one_by_one = {"reliableq": _cycle(queue), "deque + dict": by_hand}
        yield from _rows("one by one", "us CPU", _alternate(one_by_one, count, runs, time.process_time))
        batches = {"reliableq": _batches(queue)}
        yield from _rows("batches of 100", "us CPU", _alternate(batches, count, runs, time.process_time))


def _cycle(queue: reliableq.Queue) -> Run:
    body = b"x" * SIZE

    def run(count: int) -> None:
        for _ in range(count):
            queue.push(body)
            message = queue.pop()
            assert message is not None
            message.ack()

    return run


def _batches(queue: reliableq.Queue) -> Run:
    bodies = [b"x" * SIZE] * BATCH

    def run(count: int) -> None:
        for _ in range(count // BATCH):
            queue.push_many(bodies)
            queue.ack(queue.pop_many(BATCH))

    return run


def _busy(count: int, runs: int) -> Iterator[Row]:
    """Alone, and beside a Python thread that never waits: wall time, since what costs is waiting for the GIL."""
    stop = threading.Event()

    def spin() -> None:
        while not stop.is_set():
            sum(range(100))

    with reliableq.connect("memory:") as rq:
        run = _cycle(rq.queue("bench"))
        times: dict[str, list[float]] = {"alone": [], "beside a busy thread": []}
        for _ in range(runs):
            times["alone"].append(_timed(run, count, time.perf_counter))
            stop.clear()
            thread = threading.Thread(target=spin)
            thread.start()
            times["beside a busy thread"].append(_timed(run, count, time.perf_counter))
            stop.set()
            thread.join()
    for what, each in times.items():
        yield Row("embedded", "reliableq", what, "us wall", min(each), size=SIZE, median=statistics.median(each))


def _file(count: int, runs: int) -> Iterator[Row]:
    """One by one under sync=os, beside write() of the same bytes."""
    with tempfile.TemporaryDirectory(prefix="reliableq-bench-") as folder:
        path = Path(folder, "bench.rq")
        with reliableq.connect(f"file:{path}?sync=os") as rq:
            queue = rq.queue("bench")
            sizes = _written(queue, path)
            with open(Path(folder, "bare"), "wb", buffering=0) as bare:
                peers = {"reliableq": _cycle(queue), "write()": _writes(bare.fileno(), sizes)}
                yield from _rows("file, one by one", "us CPU", _alternate(peers, count, runs, time.process_time))


def _written(queue: reliableq.Queue, path: Path) -> list[int]:
    """How many bytes each call of a cycle writes."""

    def length() -> int:
        return sum(file.stat().st_size for file in path.glob("log-*"))

    _cycle(queue)(100)
    before, sizes = length(), []
    queue.push(b"x" * SIZE)
    sizes.append(length() - before)
    message = queue.pop()
    assert message is not None
    sizes.append(length() - before - sum(sizes))
    message.ack()
    sizes.append(length() - before - sum(sizes))
    return sizes


def _writes(file: int, sizes: list[int]) -> Run:
    parts = [b"x" * size for size in sizes]

    def run(count: int) -> None:
        for _ in range(count):
            for part in parts:
                os.write(file, part)
        os.ftruncate(file, 0)
        os.lseek(file, 0, os.SEEK_SET)

    return run


def _alternate(peers: dict[str, Run], count: int, runs: int, clock: Callable[[], float]) -> dict[str, list[float]]:
    times: dict[str, list[float]] = {peer: [] for peer in peers}
    for _ in range(runs):
        for peer, run in peers.items():
            times[peer].append(_timed(run, count, clock))
    return times


def _timed(run: Run, count: int, clock: Callable[[], float]) -> float:
    began = clock()
    run(count)
    return (clock() - began) / count * 1e6


def _rows(mode: str, unit: str, times: dict[str, list[float]]) -> Iterator[Row]:
    for peer, each in times.items():
        progress(f"embedded, {mode}, {peer}: {min(each):.2f} {unit}")
        yield Row("embedded", peer, "cycle", unit, min(each), mode=mode, size=SIZE, median=statistics.median(each))
