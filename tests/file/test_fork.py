"""Processes that fork: the child of an owner or of a client is a client."""

import multiprocessing
import os

import pytest
import reliableq

from tests.file.children import push, push_to
from tests.support.process import OPEN, process
from tests.support.wait import DEADLINE

CHILD = (
    OPEN
    + """
import os

def in_child(act):
    child = os.fork()
    if child == 0:
        try:
            act()
        except BaseException as error:
            say(type(error).__name__, error)
            os._exit(1)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
"""
)


def run(program: str, url: str) -> None:
    with process(CHILD + program, url) as started:
        started.expect("ready")
        started.expect("done")
        started.end()


def test_parent_and_child_see_the_same_queues(url: str) -> None:
    run(
        """
queue.push(b"parent")
held = queue.pop()

def act():
    assert held.ack()
    assert len(queue) == 0
    ids = [queue.push(b"child"), *queue.push_many([b"a", b"b"])]
    assert [message.id for message in rq.queue("q").range()] == ids
    assert queue.pop(timeout=5).body == b"child"
    rq.close()

in_child(act)
assert held.ack() is False
assert [message.body for message in queue.range()] == [b"child", b"a", b"b"]
assert queue.push(b"again") and len(queue) == 4
in_child(lambda: in_child(lambda: queue.push(b"grandchild")))
assert len(queue) == 5
say("done")
""",
        url,
    )


def test_a_fork_while_threads_push_and_wait(url: str) -> None:
    """A child must not wait for locks of threads that it does not have."""
    run(
        """
import threading
stop, pushed = threading.Event(), []

def work(number):
    count = 0
    while not stop.is_set():
        queue.push(b"parent")
        count += 1
        rq.queue(f"empty {number}").pop(timeout=0.001)
        other = reliableq.connect(sys.argv[1])
        other.queue("q").push(b"parent")
        other.close()
        count += 1
    pushed.append(count)

threads = [threading.Thread(target=work, args=(number,)) for number in range(3)]
for thread in threads: thread.start()
for number in range(10):
    def act():
        queue.push(b"child %d" % number)
        with reliableq.connect(sys.argv[1]) as own:
            assert own.queue("q").push(b"own %d" % number)
    in_child(act)
stop.set()
for thread in threads: thread.join()
found = [message.body for message in queue.range(count=1 << 30)]
assert found.count(b"parent") == sum(pushed)
rest = sorted(body for body in found if body != b"parent")
assert rest == sorted([b"child %d" % n for n in range(10)] + [b"own %d" % n for n in range(10)])
say("done")
""",
        url,
    )


def test_a_queue_in_memory_is_its_processs() -> None:
    run(
        """
def act():
    for call in (lambda: queue.push(b"b"), queue.pop, lambda: queue.pop(timeout=1), lambda: len(queue), held.ack,
                 lambda: rq.queue("new").push(b"c"), rq.names):
        try:
            call()
        except reliableq.Forked as error:
            assert "connect after forking" in error.remedy
        else:
            raise AssertionError("a call on the parent's memory went through")
    rq.close()
    assert reliableq.connect("memory:").queue("q").push(b"own")

queue.push(b"a")
held = queue.pop()
in_child(act)
assert held.ack() and len(queue) == 0
say("done")
""",
        "memory:",
    )


@pytest.mark.parametrize("method", ["fork", "spawn", "forkserver"])
def test_multiprocessing(url: str, method: str) -> None:
    context = multiprocessing.get_context(method)
    with reliableq.connect(url) as rq:
        queue = rq.queue("q")
        queue.push(b"parent")
        children = [context.Process(target=push, args=(url, b"child")) for _ in range(2)]  # type: ignore[attr-defined]
        if method == "fork":
            children.append(context.Process(target=push_to, args=(queue, b"child")))  # type: ignore[attr-defined]
        for child in children:
            child.start()
        for child in children:
            child.join(DEADLINE)
            assert child.exitcode == 0
        assert [message.body for message in queue.range()] == [b"parent"] + [b"child"] * len(children)
        assert os.getpid() != children[0].pid
