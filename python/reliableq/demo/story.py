"""The life of a message, told on a queue in memory. It checks itself as it goes."""

import sys
import threading
import time

import reliableq
from reliableq import Message, Queue
from reliableq.demo.telling import Steps, expect

PATIENCE = 0.2
"""Seconds after which the story holds a consumer for dead."""


class Story:
    """Tells what happens to one queue, with its two lists after each step."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        self._steps = Steps()

    def tell(self, text: str, waiting: list[str], delivered: list[str]) -> None:
        """Tells a step and shows the lists, which must be as given."""
        self._steps.tell(text)
        shown = [self._show(pending=False), self._show(pending=True)]
        for name, bodies in zip(("waiting", "delivered"), shown, strict=True):
            print(f"     {name:>9} | {'  '.join(f'[{body}]' for body in bodies) or '-'}")
        expect(shown == [waiting, delivered], f"expected {waiting} to wait and {delivered} to be delivered")

    def _show(self, pending: bool) -> list[str]:
        messages = self._queue.inspect(0, 10, pending=pending)
        return [_again(message) for message in messages]


def _again(message: Message) -> str:
    body = message.body.decode()
    return body if message.deliveries < 2 else f"{body}, delivery {message.deliveries}"


def take(queue: Queue) -> Message:
    """Pops a message that must be there."""
    message = queue.pop(timeout=5)
    if message is None:
        sys.exit("reliableq.demo: this is not as told: no message came")
    return message


def take_and_die(queue: Queue) -> Message:
    """A consumer in a thread of its own, which ends before it has acknowledged its message."""
    taken: list[Message] = []
    bob = threading.Thread(target=lambda: taken.append(take(queue)), name="Bob")
    bob.start()
    bob.join()
    expect(len(taken) == 1, "Bob took a message")
    return taken[0]


def main() -> None:
    """Tells the story; ends the process with an error when it does not go as told."""
    print("The life of a message. A queue is two lists: messages that wait to be")
    print("delivered, and messages delivered whose consumer is not done yet.")
    with reliableq.connect("memory:") as rq:
        queue = rq.queue("emails")
        story = Story(queue)
        work_goes_well(queue, story)
        consumer_dies(queue, story)
        queue_ends(queue, story)
    print("\nEvery message was done, though a consumer died on the way.")


def work_goes_well(queue: Queue, story: Story) -> None:
    """Push, pop, ack."""
    queue.push_many([b"to Ada", b"to Bea", b"to Cleo"])
    story.tell("PUSH. A producer pushes three messages.", ["to Ada", "to Bea", "to Cleo"], [])
    message = take(queue)
    text = "POP. Ann takes the oldest. It is not gone: it moves to the other list."
    story.tell(text, ["to Bea", "to Cleo"], ["to Ada"])
    expect(message.ack(), "Ann's ack let go of her message")
    story.tell("ACK. Ann is done and says so. Now the message is gone.", ["to Bea", "to Cleo"], [])


def consumer_dies(queue: Queue, story: Story) -> None:
    """A message whose consumer died is delivered again."""
    lost = take_and_die(queue)
    story.tell("Bob takes the next, and dies before he is done. Nothing is lost.", ["to Cleo"], ["to Bea"])
    expect(queue.recover(count=10, elapsed=60) == [], "nothing is a minute old")
    text = "RECOVER, messages delivered a minute ago: none. Bob may still be at work."
    story.tell(text, ["to Cleo"], ["to Bea"])
    time.sleep(PATIENCE)
    recovered = queue.recover(count=10, elapsed=PATIENCE)
    expect([(m.id, m.deliveries) for m in recovered] == [(lost.id, 2)], "Bob's message was recovered")
    text = f"RECOVER, {PATIENCE} seconds: Ann takes over what Bob left. The queue counts deliveries."
    story.tell(text, ["to Cleo"], ["to Bea, delivery 2"])
    expect(recovered[0].ack(), "Ann's ack let go of Bob's message")
    expect(not lost.ack(), "an ack that comes too late does nothing")
    text = "ACK, by Ann. Had Bob come back to acknowledge it too, he would be told that he is late."
    story.tell(text, ["to Cleo"], [])


def queue_ends(queue: Queue, story: Story) -> None:
    """A queue that holds nothing is no more."""
    info = queue.info()
    expect(info is not None and (info["sent"], info["received"], info["returned"]) == (3, 3, 1), "the counters agree")
    expect(take(queue).ack(), "the last message was acknowledged")
    expect(queue.info() is None and len(queue) == 0, "the queue ended")
    story.tell("POP and ACK of the last message. A queue that holds nothing ends.", [], [])
