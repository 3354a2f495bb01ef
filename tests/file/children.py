"""What children of multiprocessing do."""

import reliableq


def push(url: str, body: bytes) -> None:
    """Opens the file for itself."""
    with reliableq.connect(url) as rq:
        rq.queue("q").push(body)


def push_to(queue: reliableq.Queue, body: bytes) -> None:
    """Uses what it inherited."""
    queue.push(body)
