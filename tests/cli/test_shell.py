"""The command among others: pipes, broken ones, and Ctrl-C."""

import signal

import pytest
import reliableq

from tests.cli.program import Program
from tests.support.client import Client
from tests.support.wait import DEADLINE, wait_until


def test_push_pop_ack_by_pipes(program: Program, queue: reliableq.Queue) -> None:
    ended = program.shell(
        r"""
        set -o pipefail
        printf 'one\ntwo\n\377\n' | reliableq push q | wc -l
        reliableq pop q --count 10 | tee taken | reliableq ack q > done
        cut -f1 taken | diff - done && cut -f2 taken
        reliableq pop q; echo $?
        """
    )
    assert (ended.code, ended.error) == (0, "")
    assert ended.lines == ["3", "one", "two", r"\xff", "1"]
    assert len(queue) == 0


def test_raw_bodies_go_from_queue_to_queue(program: Program, rq: reliableq.Connection, queue: reliableq.Queue) -> None:
    bodies = [b"%d\xff" % number for number in range(3000)]
    queue.push_many(bodies)
    ended = program.shell("set -o pipefail; reliableq pop q -n 5000 --raw --ack | reliableq push other >/dev/null")
    assert (ended.code, ended.error) == (0, "")
    assert len(queue) == 0
    assert [message.body for message in rq.queue("other").inspect(0, 5000)] == bodies


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_a_broken_pipe_is_quiet_and_acknowledges_nothing(
    program: Program, queue: reliableq.Queue, unbuffered: str
) -> None:
    program.environment["PYTHONUNBUFFERED"] = unbuffered
    queue.push_many([b"x" * 1000] * 1000)  # far more than a pipe holds
    ended = program.shell("reliableq pop q -n 1000 --ack | head -n 1 | cut -c1-5; echo ${PIPESTATUS[0]}")
    assert ended.lines[1:] == ["141"] and ended.error == ""
    assert len(queue) == 1000


def test_a_broken_pipe_of_help_is_quiet(program: Program) -> None:
    with program.start("--help") as process:
        assert process.stdout is not None
        process.stdout.close()
        assert process.stderr is not None and process.stderr.read() == b""
    assert process.returncode == 141


def test_a_full_disk_for_the_output_is_one_line(program: Program, queue: reliableq.Queue) -> None:
    queue.push(b"a")
    ended = program.shell("reliableq pop q --ack > /dev/full")
    assert ended.code == 4 and "No space left" in ended.complaint
    assert len(queue) == 1


def test_closed_streams_are_as_good_as_empty_ones(program: Program, queue: reliableq.Queue) -> None:
    assert program.shell("reliableq push q a >&-").code == 0
    assert program.shell("reliableq push q <&-").code == 1
    assert program.shell("reliableq pop 2>&-").code == 2
    assert len(queue) == 1


def test_ctrl_c_ends_a_wait_with_130_and_takes_nothing(
    program: Program, queue: reliableq.Queue, client: Client
) -> None:
    with program.start("pop", "q", "--timeout", "forever") as process:
        wait_until("it waits", lambda: b"blocked_clients:1" in client.call("INFO", "clients"))
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=DEADLINE)
    assert (process.returncode, output, error) == (130, b"", b"")
    queue.push(b"a")
    assert len(queue.inspect()) == 1


def test_ctrl_c_ends_a_push_from_a_pipe(program: Program, queue: reliableq.Queue) -> None:
    with program.start("push", "q") as process:
        assert process.stdin and process.stdout
        process.stdin.write(b"a\nbegun")
        process.stdin.flush()
        assert process.stdout.readline()
        process.send_signal(signal.SIGINT)
        output, error = process.communicate(timeout=DEADLINE)
    assert (process.returncode, output, error) == (130, b"", b"")
    assert [message.body for message in queue.inspect()] == [b"a"]
