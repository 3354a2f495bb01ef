"""`reliableq status`."""

import reliableq

from tests.cli.program import Program
from tests.support.client import Client


def test_a_line_for_each_queue_as_okq_shows_them(program: Program, rq: reliableq.Connection) -> None:
    rq.queue("bar").push_many([b"x"] * 1200)
    rq.queue("bar").pop_many(2, consumer="c")
    rq.queue("a\n").push(b"x")
    assert program("status").lines == [
        r"a\n  total: 1     processing: 0  consumers: 0",
        "bar  total: 1200  processing: 2  consumers: 1",
    ]


def test_scheduled_dead_and_paused_are_told_where_there_are_any(program: Program, rq: reliableq.Connection) -> None:
    rq.queue("a").push(b"x", delay=60)
    rq.queue("b").push(b"x")
    rq.queue("b").pop().nack(dead=True)  # type: ignore[union-attr]
    rq.queue("b").push(b"x")
    rq.queue("b").pause()
    assert program("status").lines == [
        "a  total: 1  processing: 0  consumers: 0  scheduled: 1  dead: 0  paused: none",
        "b  total: 1  processing: 0  consumers: 0  scheduled: 0  dead: 1  paused: pop",
    ]


def test_queues_by_name(program: Program, rq: reliableq.Connection, client: Client) -> None:
    rq.queue("a").push(b"x")
    ended = program("status", "other", "a")
    assert ended.code == 0
    assert ended.lines == [
        "other  total: 0  processing: 0  consumers: 0",
        "a      total: 1  processing: 0  consumers: 0",
    ]
    assert program("status", "other").code == 1
    assert client.call("EXISTS", "other") == 0


def test_json_has_the_numbers(program: Program, rq: reliableq.Connection) -> None:
    rq.queue("a").push(b"x")
    ended = program("status", "--json", "a", "other")
    full, empty = ended.json
    assert (full["queue"], full["waiting"], full["total"], full["paused"]) == ("a", 1, 1, "none")
    assert set(full) == {"queue", "total", "processing"} | set(reliableq.Info.__annotations__)
    assert empty == {"queue": "other", "total": 0, "processing": 0, "consumers": 0, "waiting": 0, "delivered": 0}


def test_a_queue_without_messages_that_is_kept(program: Program, rq: reliableq.Connection) -> None:
    rq.queue("a").pause("all")
    rq.queue("b", maxlen=5)
    ended = program("status")
    assert (ended.code, ended.lines) == (
        1,
        [
            "a  total: 0  processing: 0  consumers: 0  paused: all",
            "b  total: 0  processing: 0  consumers: 0  paused: none",
        ],
    )
    (described,) = program("status", "a", "--json").json
    assert (described["paused"], described["sent"], described["first_id"]) == ("all", 0, "0-0")
    table = program("top", "--once", "a").lines[1]
    assert table.startswith("a (all paused)") and table.endswith(" -")


def test_who_waits_is_counted(program: Program, client: Client, rq: reliableq.Connection) -> None:
    client.call("RQ.REGISTER", "q")
    assert program("status").lines == ["q  total: 0  processing: 0  consumers: 1"]
    assert program("status").code == 1


def test_no_queue_at_all_ends_with_1(program: Program) -> None:
    ended = program("status")
    assert (ended.code, ended.output) == (1, b"") and "no queue" in ended.complaint
    ended = program("status", "--json")
    assert ended.json == []


def test_people_get_the_same_lines(program: Program, rq: reliableq.Connection) -> None:
    rq.queue("emails").push(b"x")
    shown = program.at_terminal("status", "emails", "other")
    assert (shown.code, shown.lines) == (0, program("status", "emails", "other").lines)
