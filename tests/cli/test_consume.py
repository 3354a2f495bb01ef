"""`reliableq pop`, `ack`, `recover` and `inspect`."""

import base64
import json
import re
from datetime import datetime

import pytest
import reliableq

from tests.cli.program import Program
from tests.support.wait import DEADLINE, wait_until

STYLE = re.compile(r"\x1b\[[\d;]*m")
TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")


def test_pop_prints_id_and_body(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b", b"c"])
    assert program("pop", "q").lines == [f"{ids[0]}\ta"]
    assert program("pop", "q", "--count", "9").lines == [f"{ids[1]}\tb", f"{ids[2]}\tc"]
    assert [message.id for message in queue.inspect(pending=True)] == ids


@pytest.mark.parametrize(
    ("body", "shown"),
    [
        (b"a\nb\tc\r\\", r"a\nb\tc\r\\"),
        ("ä 漢".encode(), "ä 漢"),
        (b"\xff\x00", r"\xff\x00"),
        ("\x1b[31m\u2028".encode(), r"\x1b[31m\xe2\x80\xa8"),
        (b"", ""),
    ],
)
def test_a_body_is_one_line_whatever_it_holds(
    program: Program, queue: reliableq.Queue, body: bytes, shown: str
) -> None:
    id = queue.push(body)
    assert program("pop", "q").output.decode() == f"{id}\t{shown}\n"


def test_pop_of_nothing_ends_with_1(program: Program) -> None:
    ended = program("pop", "q")
    assert (ended.code, ended.output, ended.error) == (1, b"", "")
    ended = program("pop", "q", "--json", "--timeout", "0.01")
    assert (ended.code, ended.json) == (1, [])


def test_json_tells_all_of_a_message(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many(["ä\n".encode(), b"\xff"])
    (waiting, _) = program("inspect", "q", "--json").json
    assert waiting["state"] == "waiting" and waiting["deliveries"] == 0 and waiting["last_delivery"] is None
    first, second = program("pop", "q", "--count", "2", "--json").json
    described = {"queue", "id", "state", "deliveries", "enqueued", "last_delivery", "body"}
    described |= {
        "receipt",
        "failures",
        "priority",
        "deadline",
        "due",
        "died",
        "reason",
        "consumer",
        "token",
        "headers",
    }
    assert set(first) == described
    assert (first["receipt"], first["failures"], first["priority"]) == (f"{ids[0]}@1", 0, 0)
    assert (first["due"], first["died"], first["token"], first["headers"]) == (None, None, None, [])
    assert TIME.fullmatch(first["deadline"])
    assert (first["queue"], first["id"], first["state"], first["deliveries"]) == ("q", ids[0], "delivered", 1)
    assert first["body"] == "ä\n"
    assert TIME.fullmatch(first["enqueued"]) and TIME.fullmatch(first["last_delivery"])
    assert "body" not in second and base64.b64decode(second["body_base64"]) == b"\xff"


def test_raw_is_the_bodies_alone(program: Program, queue: reliableq.Queue) -> None:
    queue.push_many([b"\xff\\", b"b"])
    assert program("inspect", "q", "--raw").output == b"\xff\\\nb\n"
    assert program("pop", "q", "--raw", "--count", "2").output == b"\xff\\\nb\n"
    assert program("recover", "q", "--elapsed", "0", "--raw").output == b"\xff\\\nb\n"


def test_what_can_not_be_printed_as_asked_is_not_taken(program: Program, queue: reliableq.Queue) -> None:
    queue.push(b"a")
    assert program("pop", "q", "--raw", "--json").code == 2
    assert len(queue.inspect()) == 1


def test_json_tells_what_came_with_the_push(program: Program, queue: reliableq.Queue) -> None:
    headers = [(b"trace", b"1"), (b"trace", b"\xff")]
    queue.push(b"a", priority=7, headers=headers, token=b"\xfe")
    (popped,) = program("pop", "q", "--json", "--consumer", "c").json
    assert (popped["priority"], popped["consumer"]) == (7, "c")
    assert popped["headers"] == [{"name": "trace", "value": "1"}, {"name": "trace", "value_base64": "/w=="}]
    assert popped["token_base64"] == "/g==" and "token" not in popped
    for command in (["inspect", "q", "--pending"], ["get", "q", popped["id"]]):
        assert program(*command, "--json").json == [popped]


def test_receipts_in_place_of_ids(program: Program, queue: reliableq.Queue) -> None:
    id = queue.push(b"a")
    assert program("pop", "q", "--receipt").lines == [f"{id}@1\ta"]
    assert program("recover", "q", "--elapsed", "0", "--receipt").lines == [f"{id}@2\ta"]
    assert program("ack", "q", stdin=f"{id}@1\ta\n".encode()).code == 1
    ended = program("ack", "q", f"{id}@2", "--json")
    assert ended.json == {"acknowledged": [id], "missing": []}


def test_lease_and_consumer(program: Program, queue: reliableq.Queue) -> None:
    queue.push_many([b"a", b"b"])
    (first,) = program("pop", "q", "--lease", "1h", "--consumer", "c", "--json").json
    (second,) = program("pop", "q", "--lease", "0", "--json").json
    taken, end = (datetime.fromisoformat(first[field]) for field in ("last_delivery", "deadline"))
    assert (end - taken).total_seconds() == 3600 and second["deadline"] is None
    assert (first["consumer"], second["consumer"]) == ("c", None)


def test_what_is_not_acknowledged_returns(program: Program, queue: reliableq.Queue) -> None:
    id = queue.push(b"a")
    assert program("pop", "q", "--lease", "20ms").code == 0
    (again,) = program("pop", "q", "--timeout", "30s", "--json").json
    assert (again["id"], again["deliveries"], again["failures"]) == (id, 2, 1)


def test_no_ack_leaves_nothing(program: Program, queue: reliableq.Queue) -> None:
    queue.push(b"a")
    assert program("pop", "q", "--no-ack", "--raw").output == b"a\n"
    assert len(queue) == 0


def test_max_bytes_gives_at_least_one(program: Program, queue: reliableq.Queue) -> None:
    queue.push_many([b"x" * 10] * 3)
    assert len(program("pop", "q", "-n", "3", "--max-bytes", "1").lines) == 1
    assert len(program("pop", "q", "-n", "3", "--max-bytes", "20").lines) == 2


def test_what_was_not_begun_counts_no_failure(program: Program, queue: reliableq.Queue) -> None:
    id, other = queue.push_many([b"a", b"b"])
    program("pop", "q", "-n", "2", "--prefetch", "--lease", "0")
    assert program("extend", "q", "20ms", "--start", id).lines == [id]
    assert program("extend", "q", "20ms", other).lines == [other]
    wait_until("both return", lambda: len(queue.inspect()) == 2)
    assert [message["failures"] for message in program("get", "q", id, other, "--json").json] == [1, 0]


def test_pop_with_ack_lets_go(program: Program, queue: reliableq.Queue) -> None:
    queue.push_many([b"a", b"b"])
    assert program("pop", "q", "--ack", "--raw").output == b"a\n"
    assert len(queue) == 1


def test_pop_waits(program: Program, queue: reliableq.Queue) -> None:
    with program.start("pop", "q", "--timeout", "forever") as process:
        id = queue.push(b"a")
        assert process.communicate(timeout=DEADLINE)[0].decode() == f"{id}\ta\n"
    assert process.returncode == 0


def test_ack_by_argument(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b", b"c"])
    queue.pop_many(2)
    ended = program("ack", "q", *ids)
    assert (ended.code, ended.lines) == (0, ids[:2])
    assert ids[2] in ended.complaint
    ended = program("ack", "q", *ids)
    assert (ended.code, ended.output) == (1, b"")


def test_ack_in_json(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b"])
    queue.pop()
    ended = program("ack", "q", *ids, "--json")
    assert (ended.code, ended.error) == (0, "")
    assert ended.json == {"acknowledged": [ids[0]], "missing": [ids[1]]}
    ended = program("ack", "q", "--json")
    assert (ended.code, ended.json) == (1, {"acknowledged": [], "missing": []})


def test_ack_in_json_tells_what_was_done_before_an_error(program: Program, queue: reliableq.Queue) -> None:
    id = queue.push(b"a")
    queue.pop()
    with program.start("ack", "q", "--json") as process:
        assert process.stdin and process.stdout and process.stderr
        process.stdin.write(f"{id}\n".encode())
        process.stdin.flush()
        wait_until("the first is acknowledged", lambda: len(queue) == 0)
        process.stdin.write(b"what\n")
        process.stdin.close()
        assert json.loads(process.stdout.read()) == {"acknowledged": [id], "missing": []}
        assert b"no message ID" in process.stderr.read()
    assert process.returncode == 2


def test_ack_by_lines(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b"])
    queue.pop_many(2)
    ended = program("ack", "q", stdin=f"{ids[0]}\n\n{ids[1]}\tbody of it\n".encode())
    assert (ended.code, ended.lines) == (0, ids)
    assert len(queue) == 0


def test_what_is_no_id_is_refused(program: Program, queue: reliableq.Queue) -> None:
    id = queue.push(b"a")
    queue.pop()
    for stdin in (b"what\n", b"\xff\n"):
        ended = program("ack", "q", stdin=f"{id}\n".encode() + stdin)
        assert (ended.code, ended.output) == (2, b"")
        assert "no message ID" in ended.complaint
    assert len(queue) == 1


def test_ack_by_token(program: Program, queue: reliableq.Queue) -> None:
    queue.push(b"a", token="t")
    assert program("ack", "q", "--token", "t").code == 1
    queue.pop()
    ended = program("ack", "q", "--token", "t", "--token", "other", "--json")
    assert (ended.code, ended.json) == (0, {"acknowledged": ["t"], "missing": ["other"]})
    assert len(queue) == 0


def test_recover_of_a_consumer(program: Program, queue: reliableq.Queue) -> None:
    queue.push_many([b"a", b"b"])
    program("pop", "q", "--consumer", "c")
    program("pop", "q", "--consumer", "d")
    options = ["--from", "d", "--consumer", "d", "--lease", "1h", "--json"]
    (again,) = program("recover", "q", "--elapsed", "0", *options).json
    assert (again["body"], again["consumer"], again["failures"]) == ("b", "d", 1)


def test_recover(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b"])
    queue.pop_many(2)
    assert program("recover", "q", "--elapsed", "60").code == 1
    (first,) = program("recover", "q", "--elapsed", "0", "--count", "1", "--json").json
    assert (first["id"], first["deliveries"]) == (ids[0], 2)
    assert program("recover", "q", "--elapsed", "0", "--ack").code == 0
    assert len(queue) == 0


def test_peek(program: Program, queue: reliableq.Queue) -> None:
    assert program("peek", "q").code == 1
    ids = queue.push_many([b"a", b"b"])
    assert program("peek", "q").lines == program("peek", "q").lines == [f"{ids[0]}\ta"]
    assert program("peek", "q", "--back", "--raw").output == b"b\n"
    assert [message["id"] for message in program("peek", "q", "--json").json] == ids[:1]
    assert len(queue.inspect()) == 2


def test_inspect(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b", b"c", b"d"])
    queue.pop()
    assert program("inspect", "q", "--start", "1").lines == [f"{ids[2]}\tc", f"{ids[3]}\td"]
    assert program("inspect", "q", "--start", "-1").lines == [f"{ids[3]}\td"]
    assert program("inspect", "q", "--count", "1").lines == [f"{ids[1]}\tb"]
    assert program("inspect", "q", "--pending").lines == [f"{ids[0]}\ta"]
    assert program("inspect", "q", "--state", "delivered", "--idle", "0").lines == [f"{ids[0]}\ta"]
    assert program("inspect", "q", "--pending", "--idle", "1h").code == 1
    assert program("inspect", "q", "--pending", "--consumer", "c").code == 1
    assert program("inspect", "q", "--first", f"({ids[1]}", "--last", ids[2]).lines == [f"{ids[2]}\tc"]
    assert program("inspect", "other").code == 1
    assert len(queue.inspect()) == 3


def test_inspect_tells_all_of_it(program: Program, queue: reliableq.Queue) -> None:
    queue.push(b"a", priority=3, headers={"trace": "1"})
    queue.pop().nack()  # type: ignore[union-attr]
    (shown,) = program("inspect", "q", "--json").json
    assert (shown["deliveries"], shown["failures"], shown["priority"]) == (1, 1, 3)
    assert shown["headers"] == [{"name": "trace", "value": "1"}]


def test_get(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b"])
    queue.pop()
    ended = program("get", "q", *ids, "1-1")
    assert (ended.code, ended.lines) == (0, [f"{ids[0]}\ta", f"{ids[1]}\tb"]) and "1-1" in ended.complaint
    first, missing = program("get", "q", ids[0], "1-1", "--json").json
    assert first["state"] == "delivered" and missing is None
    assert program("get", "q", "--raw", stdin=f"{ids[1]}\tb".encode()).output == b"b\n"
    assert program("get", "q", "1-1").code == 1


def test_people_get_a_table(program: Program, queue: reliableq.Queue) -> None:
    queue.push_many([b"[bold]a\x1b[0m", b"x" * 500])
    shown = STYLE.sub("", program.at_terminal("inspect", "q").output.decode())
    for id in (message.id for message in queue.inspect()):
        assert id in shown
    assert "deliveries" in shown and r"[bold]a\x1b[0m" in shown
    assert "xxx…" in shown and max(map(len, shown.splitlines())) <= 100
    assert "priority" not in shown and "headers" not in shown and "lease" not in shown
    queue.push(b"c", priority=9, headers={"trace": "[1]"})
    shown = STYLE.sub("", program.at_terminal("pop", "q", "--consumer", "me").output.decode())
    for part in ("@1", "lease ends in 30 s", "priority 9", "trace=[1]", "consumer me"):
        assert part in " ".join(shown.split())
    nothing = program.at_terminal("pop", "other")
    assert (nothing.code, nothing.lines) == (1, ["reliableq: no message of other"])
