"""Ctrl-C at any moment, in an owner and in a client."""

import random
import signal
import time

import reliableq

from tests.support.effort import effort
from tests.support.process import OPEN, process

HAMMERED = (
    """
import signal
armed, stopped = 0, False

def interrupt(*_):
    "At most two for each round, so that one may come while the other is being dealt with."
    global armed
    if armed:
        armed -= 1
        raise KeyboardInterrupt

def stop(*_):
    global stopped
    stopped = True

signal.signal(signal.SIGINT, interrupt)
signal.signal(signal.SIGTERM, stop)
"""
    + OPEN
    + """
answered, interrupted, number = [], 0, 0
while not stopped:
    try:
        try:
            number += 1
            body = b"%d" % number
            armed = 2
            id = queue.push(body)
            message = queue.pop() if number % 3 == 0 else None
            armed = 0
            answered.append((id, body))
        except KeyboardInterrupt:
            interrupted += 1
            armed = 0
    except KeyboardInterrupt:
        pass
    armed = 0
signal.signal(signal.SIGINT, signal.SIG_IGN)
answered.append((queue.push(b"last"), b"last"))
held = [(message.id, message.body) for message in queue.range(count=1 << 30)]
assert set(answered) <= set(held), f"lost: {set(answered) - set(held)}"
assert len({body for _, body in held}) == len(held), "stored twice"
assert len(held) <= number + 1
say(interrupted)
"""
)


def test_interrupted_pushes_are_stored_once_or_not_at_all(url: str) -> None:
    choose = random.Random(1)
    with process(HAMMERED, url) as hammered:
        hammered.expect("ready")
        for _ in range(effort(500)):
            hammered.signal(signal.SIGINT)
            time.sleep(choose.choice((0.0001, 0.001, 0.003)) * choose.random())  # any moment will do
        hammered.signal(signal.SIGTERM)
        assert int(hammered.hear()) > 10
        hammered.end()


WAITING = """
import signal
signal.signal(signal.SIGINT, signal.default_int_handler)
rq = reliableq.connect(sys.argv[1])
queue = rq.queue("q")
while True:
    try:
        say("waits")
        queue.pop(timeout=None)
    except KeyboardInterrupt:
        say("interrupted")
    else:
        say("took something")
    asked()
    message = queue.pop()
    say(message.deliveries)
    assert message.ack()
    asked()
"""


def test_an_interrupted_wait_takes_nothing(url: str) -> None:
    choose = random.Random(1)
    with process(WAITING, url) as waiting:
        for _ in range(15):
            waiting.expect("waits")
            time.sleep(0.02 * choose.random())  # before it waits, and while it does
            waiting.signal(signal.SIGINT)
            waiting.expect("interrupted")
            with reliableq.connect(url) as rq:
                rq.queue("q").push(b"a")
                assert rq.queue("q").inspect(pending=True) == []
            assert waiting.ask("go on") == "1"
            waiting.tell("once more")
