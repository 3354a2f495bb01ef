"""`reliableq status`."""

import re

import reliableq

from tests.cli.program import Program
from tests.support.client import Client


def test_a_line_for_each_queue(program: Program, rq: reliableq.Connection) -> None:
    rq.queue("b").push_many([b"x"] * 1200)
    rq.queue("b").pop()
    rq.queue("a\n").push(b"x")
    first, second = program("status").lines
    assert re.fullmatch(r"a\\n: 1 waiting, 0 delivered, oldest \d+ s, .* B", first)
    assert re.fullmatch(r"b: 1,199 waiting, 1 delivered, oldest \d+ s, .* KiB", second)


def test_queues_by_name(program: Program, rq: reliableq.Connection, client: Client) -> None:
    rq.queue("a").push(b"x")
    ended = program("status", "a", "other")
    assert ended.code == 0
    assert [line.partition(",")[0] for line in ended.lines] == ["a: 1 waiting", "other: empty"]
    assert program("status", "other").code == 1
    assert client.call("EXISTS", "other") == 0


def test_json_has_the_numbers(program: Program, rq: reliableq.Connection) -> None:
    rq.queue("a").push(b"x")
    ended = program("status", "--json", "a", "other")
    full, empty = ended.json
    assert full["queue"] == "a" and full["waiting"] == 1
    assert set(full) == {"queue"} | set(reliableq.Info.__annotations__)
    assert empty == {"queue": "other", "waiting": 0, "delivered": 0}


def test_no_queue_at_all_ends_with_1(program: Program) -> None:
    ended = program("status")
    assert (ended.code, ended.output) == (1, b"") and "no queue" in ended.complaint
    ended = program("status", "--json")
    assert ended.json == []


def test_people_get_a_table(program: Program, rq: reliableq.Connection) -> None:
    rq.queue("emails").push(b"x")
    shown = program.at_terminal("status", "emails", "other")
    assert shown.code == 0
    assert re.search(r"emails +1 +0 ", shown.output.decode()) and re.search(r"other +0 +0 +-", shown.output.decode())
