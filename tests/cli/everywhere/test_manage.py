"""`reliableq dead`, `scheduled`, `pause`, `resume`, `setup`, `flush` and `consumers`."""

import re

import pytest
import reliableq

from tests.cli.program import Program

TIME = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@pytest.fixture
def letters(queue: reliableq.Queue) -> list[str]:
    """Dead letters."""
    ids = queue.push_many([b"a", b"b\n"])
    for message in queue.pop_many(2, consumer="c"):
        message.nack(dead=True, reason="no\tink")
    return ids


def test_dead_letters_with_all_about_them(program: Program, letters: list[str]) -> None:
    ended = program("dead", "list", "q")
    assert ended.code == 0
    first, second = ended.lines
    assert re.fullmatch(rf"{letters[0]}\t{TIME}\t1\t1\tno\\tink\tc\ta", first)
    assert second.endswith("\tc\tb\\n")
    (shown,) = program("dead", "list", "q", "--json", "--start", "1").json
    assert (shown["id"], shown["state"], shown["reason"]) == (letters[1], "dead", "no\tink")
    assert (shown["deliveries"], shown["failures"], shown["consumer"]) == (1, 1, "c")
    assert re.fullmatch(TIME, shown["died"])
    assert program("dead", "list", "q", "--raw", "--count", "1").output == b"a\n"
    assert program("dead", "list", "other").code == 1
    table = program.at_terminal("dead", "list", "q").output.decode()
    assert "s ago" in table and r"no\tink" in table
    assert program.at_terminal("dead", "list", "other").lines == ["reliableq: no dead letter of other"]


def test_what_is_asked_for_by_id_is_told_with_its_state(
    program: Program, queue: reliableq.Queue, letters: list[str]
) -> None:
    later = queue.push(b"later", delay=3600)
    dead, scheduled, waiting = program("get", "q", letters[1], later, queue.push(b"now"), "--json").json
    assert (dead["reason"], dead["consumer"], dead["failures"], dead["due"]) == ("no\tink", "c", 1, None)
    assert re.fullmatch(TIME, dead["died"]) and re.fullmatch(TIME, dead["last_delivery"])
    assert re.fullmatch(TIME, scheduled["due"]) and scheduled["died"] is None
    assert (waiting["state"], waiting["due"], waiting["reason"]) == ("waiting", None, None)
    table = program.at_terminal("get", "q", letters[0], later).output.decode()
    assert r"reason: no\tink" in table and "due in" in table


def test_redrive(program: Program, queue: reliableq.Queue, letters: list[str]) -> None:
    ended = program("dead", "redrive", "q", letters[1], "1-1")
    assert (ended.code, ended.lines) == (0, [letters[1]]) and "1-1" in ended.complaint
    listed = program("dead", "list", "q").output
    ended = program("dead", "redrive", "q", "--json", stdin=listed)
    assert ended.json == {"redriven": [letters[0]], "missing": []}
    assert program("dead", "redrive", "q", "--all").code == 1
    assert [message.id for message in queue.inspect()] == [letters[1], letters[0]]


def test_redrive_so_many_or_all(program: Program, letters: list[str]) -> None:
    assert program("dead", "redrive", "q", "--count", "1").lines == letters[:1]
    assert program("dead", "redrive", "q", "--all", "--json").json == {"redriven": letters[1:], "missing": []}


def test_redrive_of_nothing_in_particular(program: Program, letters: list[str]) -> None:
    ended = program.typing("dead", "redrive", "q", after=b"--help", keys=b"")
    assert ended.code == 2 and b"--all" in ended.output


def test_purge(program: Program, queue: reliableq.Queue, letters: list[str]) -> None:
    queue.push(b"c")
    ended = program("dead", "purge", "q")
    assert ended.code == 2 and "Remove 2 dead letters of q? Nobody can be asked here: give --yes" in ended.complaint
    assert len(queue.dead()) == 2
    assert program("dead", "purge", "q", "--yes").lines == ["q: removed 2 dead letters"]
    ended = program("dead", "purge", "q", "--json")
    assert (ended.code, ended.json) == (1, {"queue": "q", "removed": 0})
    assert (len(queue.dead()), len(queue)) == (0, 1)


@pytest.mark.parametrize(("answer", "code", "left"), [(b"y\n", 0, 0), (b"n\n", 1, 2), (b"\n", 1, 2)])
def test_purge_asks(
    program: Program, queue: reliableq.Queue, letters: list[str], answer: bytes, code: int, left: int
) -> None:
    ended = program.typing("dead", "purge", "q", after=b"Remove 2 dead letters of q? [y/N]", keys=answer)
    assert (ended.code, len(queue.dead())) == (code, left)


def test_scheduled(program: Program, queue: reliableq.Queue) -> None:
    assert program("scheduled", "q").code == 1
    late = queue.push(b"late", delay=3 * 3600 + 5)
    soon = queue.push(b"soon", delay=185)
    first, second = program("scheduled", "q").lines
    assert re.fullmatch(rf"{soon}\t{TIME}\tsoon", first) and re.fullmatch(rf"{late}\t{TIME}\tlate", second)
    (shown,) = program("scheduled", "q", "--json", "--count", "1").json
    assert (shown["id"], shown["state"]) == (soon, "scheduled") and re.fullmatch(TIME, shown["due"])
    assert program("scheduled", "q", "--raw", "--start", "1").output == b"late\n"
    table = program.at_terminal("scheduled", "q").output.decode()
    assert "in 3 min" in table and "in 3 h" in table


def test_pause_and_resume(program: Program, queue: reliableq.Queue) -> None:
    queue.push(b"a")
    assert program("pause", "q").lines == ["q: pops are paused"]
    assert program("pop", "q").code == 1
    assert program("pause", "q", "push", "--json").json == {"queue": "q", "paused": "push"}
    assert program("push", "q", "b").code == 4
    assert program("status", "q", "--json").json[0]["paused"] == "all"
    assert program("resume", "q", "push", "--json").json == {"queue": "q", "resumed": "push"}
    assert program("push", "q", "b").code == 0
    assert program("resume", "q").lines == ["q: pops go on"]
    assert program("pause", "q", "all").code == program("resume", "q", "all").code == 0
    assert program("pop", "q").code == 0


def test_setup_shows_the_settings(program: Program, queue: reliableq.Queue) -> None:
    ended = program("setup", "q")
    assert (ended.code, ended.output) == (1, b"") and "there is no queue q" in ended.complaint
    ended = program("setup", "q", "--json")
    assert (ended.code, ended.json) == (1, None)
    assert queue.setup() is None
    queue.push(b"a")
    lines = dict(line.split("\t") for line in program("setup", "q").lines)
    assert list(lines) == list(reliableq.Settings.__annotations__)
    assert (lines["lease"], lines["deliveries"], lines["backoff"], lines["dedup"]) == ("30s", "3", "0,1,0", "10m")
    shown = program("setup", "q", "--json").json
    assert (shown["lease"], shown["backoff"], shown["overflow"]) == (30, [0, 1, 0], "reject")
    table = program.at_terminal("setup", "q").output.decode()
    assert "30s" in table and "reject" in table and "returns after so long" in table


def test_setup_changes_settings(program: Program, queue: reliableq.Queue) -> None:
    given = {
        "lease": "5m", "deliveries": "7", "backoff": "1s,2,1m", "jitter": "10", "maxlen": "100", "maxbytes": "5000",
        "overflow": "drop", "dedup": "1h", "expired": "dead", "deadmax": "9", "deadttl": "1d", "inflight": "3",
    }  # fmt: skip
    options = [word for name, value in given.items() for word in (f"--{name}", value)]
    ended = program("setup", "q", *options)
    assert ended.code == 0
    assert dict(line.split("\t") for line in ended.lines) == given
    assert program("setup", "q").lines == ended.lines
    changed = program("setup", "q", "--lease", "0", "--json").json
    assert (changed["lease"], changed["deliveries"]) == (0, 7)
    settings = queue.setup()
    assert settings and (settings["lease"], settings["backoff"]) == (0, (1, 2, 60))


def test_flush(program: Program, queue: reliableq.Queue) -> None:
    queue.push_many([b"a", b"b", b"c"])
    queue.pop()
    ended = program("flush", "q")
    assert ended.code == 2 and "Remove 3 messages of q, 1 of them delivered?" in ended.complaint
    assert program.typing("flush", "q", after=b"[y/N]", keys=b"n\n").code == 1
    assert len(queue) == 3
    assert program("flush", "q", "--yes", "--json").json == {"queue": "q", "removed": 3}
    ended = program("flush", "q", "--yes")
    assert (ended.code, ended.lines) == (1, ["q: removed 0 messages"])
    queue.setup(maxlen=5)
    assert program("flush", "q").code == 1, "nothing to ask for, though it is there"
    assert len(queue) == 0


def test_consumers(program: Program, queue: reliableq.Queue) -> None:
    assert program("consumers", "q").code == 1
    queue.push_many([b"a", b"b", b"c"])
    queue.pop_many(2, consumer="worker 1")
    queue.pop(consumer="worker 2")
    first, second = program("consumers", "q").lines
    assert re.fullmatch(rf"worker 1\t2\t{TIME}", first) and second.startswith("worker 2\t1\t")
    shown = program("consumers", "q", "--json").json
    assert set(shown[0]) == {"name", "pending", "idle", "last_seen"} and shown[0]["pending"] == 2
    table = program.at_terminal("consumers", "q").output.decode()
    assert re.search(r"worker 1 +2 +\d+ s ago", table)
    assert program("consumers", "q", "--delete", "worker 1").lines == ["worker 1: returned 2 messages"]
    ended = program("consumers", "q", "--delete", "worker 1", "--json")
    assert (ended.code, ended.json) == (1, {"consumer": "worker 1", "returned": 0})
    assert len(queue.inspect()) == 2
