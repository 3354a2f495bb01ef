"""`reliableq top`."""

import json
import re
import signal

import pytest
import reliableq
from reliableq.cli.queues import Row
from reliableq.cli.rates import Meter, Rates

from tests.cli.program import Program
from tests.support.wait import DEADLINE


def row(name: str, sent: int, received: int, deleted: int) -> Row:
    info = dict.fromkeys(reliableq.Info.__annotations__, 0) | {"sent": sent, "received": received, "deleted": deleted}
    return Row(reliableq.Status(name, 1, 0, 0), info)  # type: ignore[arg-type]


def empty(name: str) -> Row:
    return Row(reliableq.Status(name, 0, 0, 0), None)


def test_rates_are_of_what_came_between_two_looks() -> None:
    meter = Meter()
    assert meter.measure([row("a", 100, 50, 10)], 10.0) == [None]
    assert meter.measure([row("a", 120, 60, 14)], 12.0) == [Rates(10, 5, 2)]
    assert meter.measure([row("a", 120, 60, 14), row("new", 4, 0, 0)], 14.0) == [Rates(0, 0, 0), Rates(1, 0, 0)]


def test_rates_of_queues_that_were_empty_or_began_anew() -> None:
    meter = Meter()
    assert meter.measure([row("a", 100, 100, 99), empty("b")], 0.0) == [None, None]
    assert meter.measure([empty("a"), empty("b")], 1.0) == [Rates(0, 0, 0)] * 2
    assert meter.measure([row("a", 120, 118, 117)], 2.0) == [Rates(10, 9, 9)]
    assert meter.measure([row("a", 3, 2, 1)], 3.0) == [Rates(3, 2, 1)]


@pytest.fixture
def filled(rq: reliableq.Connection) -> reliableq.Connection:
    emails = rq.queue("emails")
    emails.push_many([b"x"] * 1200)
    emails.pop_many(3, consumer="c")
    emails.push_many([b"y"] * 2, delay=60)
    rq.queue("b").push(b"x")
    rq.queue("b").pause()
    return rq


def test_once_prints_a_frame(program: Program, filled: reliableq.Connection) -> None:
    ended = program("top", "--once")
    assert (ended.code, ended.error) == (0, "")
    head, b, emails = ended.lines
    columns = ["queue", "waiting", "delivered", "scheduled", "dead", "consumers", "sent/s", "received/s", "acked/s"]
    assert head.split() == [*columns, "oldest"]
    assert re.fullmatch(r"b \(pop paused\) +1( +0){4}( +-){3} +\d+ s", b)
    assert re.fullmatch(r"emails +1,197 +3 +2 +0 +1( +-){3} +\d+ s", emails)
    assert len({len(line) for line in ended.lines}) == 1
    assert len(program("top", "--once", "emails").lines) == 2
    assert program("top", "--once", "--json", "emails").json[0]["sent_rate"] is None


def test_without_queues(program: Program, rq: reliableq.Connection) -> None:
    assert program("top", "--once").code == 0
    assert program("top", "--once", "--json").json == []


def test_frames_into_a_pipe_until_ctrl_c(program: Program, rq: reliableq.Connection) -> None:
    queue = rq.queue("q")
    queue.push(b"x")
    with program.start("top", "--json", "--interval", "100ms") as process:
        assert process.stdout
        (first,) = json.loads(process.stdout.readline())
        assert first["queue"] == "q" and first["sent_rate"] is None
        queue.push_many([b"x"] * 500)
        queue.ack(queue.pop_many(100))
        rates = {"sent_rate": 0, "received_rate": 0, "acked_rate": 0}
        while not all(rates.values()):
            (look,) = json.loads(process.stdout.readline())
            rates = {name: max(rate, look[name]) for name, rate in rates.items()}
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=DEADLINE)
    assert (process.returncode, error) == (0, b"")
    assert all(json.loads(line) for line in output.splitlines())


@pytest.mark.parametrize("key", [b"q", b"\x03"])
def test_people_see_it_live_until_q_or_ctrl_c(program: Program, filled: reliableq.Connection, key: bytes) -> None:
    ended = program.typing("top", "--interval", "50ms", after=b"q ends", keys=key)
    assert ended.code == 0
    shown = ended.output.decode()
    assert "1,197" in shown and "(pop paused)" in shown
    assert shown.rindex("\x1b[?1049h") < shown.rindex("\x1b[?1049l")  # another screen, and back


def test_a_place_that_can_not_be_reached_is_one_line(program: Program) -> None:
    ended = program("top", "--url", "redis://127.0.0.1:1")
    assert ended.code == 3 and "no answer" in ended.complaint
