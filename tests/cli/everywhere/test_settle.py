"""`reliableq nack`, `extend`, `claim`, `forward` and `delete`."""

from datetime import UTC, datetime

import reliableq

from tests.cli.program import Program


def test_nack_returns(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b"])
    queue.pop()
    ended = program("nack", "q", *ids)
    assert (ended.code, ended.lines) == (0, ids[:1]) and ids[1] in ended.complaint
    assert [message.id for message in queue.inspect()] == ids
    assert program("nack", "q", *ids).code == 1


def test_nack_by_lines_and_receipt(program: Program, queue: reliableq.Queue) -> None:
    id = queue.push(b"a")
    popped = program("pop", "q", "--receipt").output
    ended = program("nack", "q", "--json", stdin=popped)
    assert (ended.code, ended.json) == (0, {"returned": [id], "missing": []})
    queue.pop()
    ended = program("nack", "q", "--json", stdin=popped)
    assert (ended.code, ended.json) == (1, {"returned": [], "missing": [f"{id}@1"]})


def test_nack_with_a_delay_or_in_silence(program: Program, queue: reliableq.Queue) -> None:
    later, silent = queue.push_many([b"a", b"b"])
    queue.pop_many(2)
    assert program("nack", "q", later, "--delay", "1h").lines == [later]
    assert program("nack", "q", silent, "--silent").lines == [silent]
    assert [message.id for message in queue.scheduled()] == [later]
    assert [message.failures for message in queue.get([later, silent]) if message] == [1, 0]


def test_nack_buries_with_a_reason(program: Program, queue: reliableq.Queue) -> None:
    id = queue.push(b"a")
    queue.pop()
    assert program("nack", "q", id, "--dead", "--reason", "no ink").lines == [id]
    (letter,) = queue.dead()
    assert (letter.id, letter.reason) == (id, "no ink")


def test_extend(program: Program, queue: reliableq.Queue) -> None:
    id = queue.push(b"a")
    queue.pop()
    assert program("extend", "q", "2h", id).lines == [id]
    (held,) = [message for message in queue.get([id]) if message]
    assert held.deadline and 7000 < (held.deadline - datetime.now(UTC)).total_seconds() <= 7201
    ended = program("extend", "q", "0", f"{id}@1", "1-1", "--json")
    assert ended.json == {"extended": [id], "missing": ["1-1"]}
    ended = program("extend", "q", "1h", f"{id}@2")
    assert ended.code == 1 and "not held" in ended.complaint


def test_claim(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b"])
    queue.pop(consumer="c")
    ended = program("claim", "q", "d", *ids, "--idle", "1h")
    assert (ended.code, ended.output) == (1, b"") and f"not for so long: {ids[0]}, {ids[1]}" in ended.complaint
    (taken,) = program("claim", "q", "d", *ids, "--lease", "1h", "--json").json
    assert (taken["id"], taken["consumer"], taken["deliveries"], taken["failures"]) == (ids[0], "d", 2, 0)
    assert program("claim", "q", "d", "--receipt", "--ack", stdin=ids[0].encode()).lines == [f"{ids[0]}@3\ta"]
    assert len(queue) == 1


def test_forward(program: Program, rq: reliableq.Connection, queue: reliableq.Queue) -> None:
    id = queue.push(b"order")
    queue.pop()
    ended = program("forward", "q", "next", "--id", f"{id}@1", "one", "two")
    assert (ended.code, ended.lines) == (0, [message.id for message in rq.queue("next").inspect()])
    assert len(queue) == 0
    ended = program("forward", "q", "next", "--id", id, stdin=b"three\n")
    assert (ended.code, ended.output) == (1, b"") and ended.complaint
    ended = program("forward", "q", "next", "--id", id, "three", "--json")
    assert (ended.code, ended.json) == (1, []) and ended.complaint
    assert len(rq.queue("next")) == 2


def test_forward_of_lines_or_of_the_whole_input(
    program: Program, rq: reliableq.Connection, queue: reliableq.Queue
) -> None:
    ids = queue.push_many([b"a", b"b"])
    queue.pop_many(2)
    assert len(program("forward", "q", "next", "--id", ids[0], "--json", stdin=b"1\n2\n").json) == 2
    assert program("forward", "q", "next", "--id", ids[1], "--whole", stdin=b"3\n4\n").code == 0
    assert [message.body for message in rq.queue("next").inspect()] == [b"1", b"2", b"3\n4\n"]


def test_delete(program: Program, queue: reliableq.Queue) -> None:
    ids = queue.push_many([b"a", b"b"])
    queue.pop()
    ended = program("delete", "q", *ids, "1-1", "--json")
    assert (ended.code, ended.json) == (0, {"deleted": ids, "missing": ["1-1"]})
    ended = program("delete", "q", *ids)
    assert ended.code == 1 and "not there" in ended.complaint
