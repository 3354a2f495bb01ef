"""What comes after close()."""

from collections.abc import Callable

import pytest
from reliableq import Closed, Connection, Queue


@pytest.mark.parametrize(
    "call",
    [
        lambda queue: queue.push(b"a"),
        lambda queue: queue.push_many([b"a"]),
        lambda queue: queue.pop(),
        lambda queue: queue.pop(timeout=None),
        lambda queue: queue.pop_many(1),
        lambda queue: queue.ack("1-1"),
        lambda queue: queue.recover(elapsed=0),
        lambda queue: queue.inspect(),
        lambda queue: queue.range(),
        lambda queue: queue.split(2),
        lambda queue: queue.info(),
        lambda queue: queue.dump(),
        len,
    ],
)
def test_a_closed_connection_says_so(rq: Connection, call: Callable[[Queue], object]) -> None:
    queue = rq.queue("q")
    rq.close()
    rq.close()
    with pytest.raises(Closed, match="connect again"):
        call(queue)


def test_with_closes(rq: Connection) -> None:
    with rq as same:
        assert same is rq
        queue = rq.queue("q")
        queue.push(b"a")
        message = queue.pop()
    assert message is not None
    with pytest.raises(Closed):
        message.ack()
