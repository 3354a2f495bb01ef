"""An owner that has nothing to do."""

from pathlib import Path

import reliableq

from tests.support.process import OPEN, owner, process


def test_an_owner_that_changed_nothing_goes_on(tmp_path: Path) -> None:
    """Calls in vain planned a sync that found nothing to do, and was then due for ever, under the lock."""
    program = """
assert queue.pop() is None and queue.ack("1-1") is False and queue.recover(elapsed=0) == []
assert queue.pop(timeout=1.5) is None  # until the sync is due
assert queue.push(b"a") and queue.pop().ack()
say(len(queue))
"""
    with process(OPEN + program, f"file:{tmp_path}/idle.rq") as started:
        started.expect("ready")
        started.expect("0")
        started.end()


def test_an_owner_whose_clients_changed_nothing_goes_on(tmp_path: Path) -> None:
    url = f"file:{tmp_path}/idle.rq"
    with owner(url) as keeper, reliableq.connect(url) as rq:
        queue = rq.queue("q")
        for _ in range(2):
            assert queue.pop() is None and queue.ack("1-1") is False and queue.recover(elapsed=0) == []
            assert queue.pop(timeout=1.5) is None
            message = queue.push(b"a")
            assert queue.ack([message]) == [] and queue.ack(queue.pop_many(1)) == [message]
        rq.close()
        keeper.end()
