"""`reliableq push`."""

import pytest
import reliableq

from tests.cli.program import Program
from tests.support.wait import wait_until


def bodies(queue: reliableq.Queue) -> list[bytes]:
    return [message.body for message in queue.inspect(0, 1 << 20)]


def test_arguments_are_bodies_and_ids_are_printed(program: Program, queue: reliableq.Queue) -> None:
    ended = program("push", "q", "a", "ä", "", b"\xff\xfe")
    assert (ended.code, ended.error) == (0, "")
    assert ended.lines == [message.id for message in queue.inspect()]
    assert bodies(queue) == [b"a", "ä".encode(), b"", b"\xff\xfe"]


def test_json_is_an_array_of_ids(program: Program, queue: reliableq.Queue) -> None:
    ended = program("push", "q", "a", "b", "--json")
    assert ended.code == 0
    assert ended.json == [message.id for message in queue.inspect()]


def test_a_body_that_looks_like_an_option_comes_after_two_dashes(program: Program, queue: reliableq.Queue) -> None:
    assert program("push", "q", "--", "--json", "-").code == 0
    assert bodies(queue) == [b"--json", b"-"]


@pytest.mark.parametrize(
    ("stdin", "pushed"),
    [
        (b"a\nb\n", [b"a", b"b"]),
        (b"a\nb", [b"a", b"b"]),
        (b"\n\na\n", [b"", b"", b"a"]),
        (b"a\r\n\xff\x00\n", [b"a\r", b"\xff\x00"]),
        (b"x" * 200_000 + b"\nshort", [b"x" * 200_000, b"short"]),
        ("ä\u2028b\x0c\n".encode(), ["ä\u2028b\x0c".encode()]),
    ],
)
def test_lines_are_bodies(program: Program, queue: reliableq.Queue, stdin: bytes, pushed: list[bytes]) -> None:
    ended = program("push", "q", stdin=stdin)
    assert (ended.code, len(ended.lines)) == (0, len(pushed))
    assert bodies(queue) == pushed


def test_whole_input_is_one_body(program: Program, queue: reliableq.Queue) -> None:
    assert program("push", "q", "--whole", stdin=b"a\n\xff\n").code == 0
    assert bodies(queue) == [b"a\n\xff\n"]


def test_many_lines(program: Program, queue: reliableq.Queue) -> None:
    lines = [b"%d" % number for number in range(20_000)]
    ended = program("push", "q", "--json", stdin=b"\n".join(lines))
    assert ended.code == 0
    assert len(ended.json) == len(set(ended.json)) == 20_000
    assert bodies(queue) == lines


def test_no_line_pushes_nothing_and_ends_with_1(program: Program, queue: reliableq.Queue) -> None:
    assert program("push", "q").code == 1
    assert program("push", "q", "--json").json == []
    assert len(queue) == 0


def test_lines_are_pushed_as_they_come(program: Program, queue: reliableq.Queue) -> None:
    with program.start("push", "q") as process:
        assert process.stdin and process.stdout
        for count, line in enumerate((b"first\n", b"second\n"), 1):
            process.stdin.write(line)
            process.stdin.flush()
            assert process.stdout.readline().endswith(b"\n")
            wait_until("the line is pushed", lambda: len(queue) == count)  # noqa: B023
        process.stdin.close()
    assert process.returncode == 0


def test_people_get_a_sentence(program: Program, queue: reliableq.Queue) -> None:
    one = program.at_terminal("push", "q", "a")
    assert one.lines == [f"pushed {queue.inspect()[0].id} to q"]
    many = program.at_terminal("push", "q", stdin=b"a\n" * 1500)
    assert many.code == 0
    assert "pushed 1,500 messages to q" in many.lines[-1]
    assert len(queue) == 1501


def test_a_name_that_is_no_text_is_refused(program: Program) -> None:
    ended = program("push", b"\xff", "a")
    assert ended.code == 2 and "can't be encoded" in ended.complaint


def whole(queue: reliableq.Queue) -> list[reliableq.Message]:
    return [message for message in queue.get([message.id for message in queue.inspect(0, 100)]) if message]


def test_options_of_each_message(program: Program, queue: reliableq.Queue) -> None:
    program("push", "q", "low")
    program("push", "q", "--front", "first")
    program(
        "push", "q", "--priority", "3", "--header", "a=1", "--header", b"a==\xff", "--retries", "0", stdin=b"x\ny\n"
    )
    x, y, first, low = whole(queue)
    assert [message.body for message in (x, y, first, low)] == [b"x", b"y", b"first", b"low"]
    assert (x.priority, y.priority, first.priority) == (3, 3, 0)
    assert x.headers.raw == y.headers.raw == ((b"a", b"1"), (b"a", b"=\xff"))
    x = queue.pop()  # type: ignore[assignment]
    x.nack()
    assert [message.id for message in queue.dead()] == [x.id]


def test_later(program: Program, queue: reliableq.Queue) -> None:
    program("push", "q", "a", "--delay", "2h")
    program("push", "q", "b", "--at", "2100-01-01T00:00:00Z")
    program("push", "q", "c", "--at", "4102444801")
    a, b, c = queue.scheduled()
    assert a.due is not None and a.enqueued is not None and abs((a.due - a.enqueued).total_seconds() - 7200) < 0.01
    assert b.due is not None and abs(b.due.timestamp() - 4102444800) < 5
    assert c.due is not None and c.due > b.due


def test_time_to_live(program: Program, queue: reliableq.Queue) -> None:
    program("push", "q", "a", "--ttl", "10ms")
    wait_until("it is gone", lambda: len(queue) == 0)


def test_a_token_is_stored_once(program: Program, queue: reliableq.Queue) -> None:
    first = program("push", "q", "a", "--token", "t").lines
    assert program("push", "q", "b", "--token", "t").lines == first
    assert program("push", "q", "--whole", "--token", "t", stdin=b"c").lines == first
    ended = program("push", "q", "a", "--token", "t", "--unique")
    assert (ended.code, ended.output) == (1, b"")
    assert "without --unique" in ended.complaint and "push()" not in ended.complaint
    assert bodies(queue) == [b"a"]


def test_what_a_queue_refuses_ends_with_4(program: Program, queue: reliableq.Queue) -> None:
    queue.setup(maxlen=1)
    ended = program("push", "q", "a", "b")
    assert (ended.code, ended.output) == (4, b"") and "reliableq setup" in ended.complaint
    queue.pause("push")
    ended = program("push", "q", "a")
    assert ended.code == 4 and "`reliableq resume QUEUE push`" in ended.complaint
    assert len(queue) == 0
