"""The queues that are compared: which commands each is made of, and what their replies look like.

A command is written as words; a last word `{payload}` or `{id}` stands for the messages it carries:
one in the single form, all of the batch in the batched form. A reply is a regular expression that
matches once per message (or once per command) and captures, where there is one, the message's ID as
the bulk string that the next command sends. `{body}` in it stands for a payload of the right size.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

BATCH = 100

ID = rb"(\$\d+\r\n\d+-\d+\r\n)"
INTEGER = rb":\d+\r\n"
HEADS = rb"(?:\*\d+\r\n)*"

Words = tuple[str | bytes, ...]


@dataclass(frozen=True)
class Step:
    """One command of a message's life."""

    single: str
    batch: str | None
    reply: bytes
    reply_per_message: bool = True


@dataclass(frozen=True)
class Peer:
    """A queue made of commands. `acks` has two steps where letting go takes two commands."""

    name: str
    push: Step
    pop: Step
    acks: tuple[Step, ...]
    setup: Callable[[int], list[Words]]
    length: str | None
    recover: Step | None = None
    blocking_pop: str | None = None
    needs_module: bool = False
    # The floor hands out no IDs; its acks carry made-up ones of the usual length.
    invents_ids: bool = False


ROWS = HEADS + rb"\$1\r\nq\r\n" + ID + rb"{body}"

RELIABLEQ = Peer(
    name="reliableq",
    push=Step("RQ.PUSH q {payload}", "RQ.PUSH q {payload}", HEADS + ID),
    pop=Step("RQ.POP q", f"RQ.POP COUNT {BATCH} KEYS 1 q", ROWS),
    acks=(Step("RQ.ACK q {id}", "RQ.ACK q {id}", HEADS + ID),),
    recover=Step("RQ.RECOVER q 1 0", f"RQ.RECOVER q {BATCH} 0", ROWS),
    blocking_pop="RQ.POP BLOCK 0 q",
    setup=lambda size: [],
    length="RQ.LEN q",
    needs_module=True,
)

STREAMS = Peer(
    name="streams",
    push=Step("XADD q * p {payload}", None, ID),
    pop=Step(
        "XREADGROUP GROUP g c COUNT 1 STREAMS q >",
        f"XREADGROUP GROUP g c COUNT {BATCH} STREAMS q >",
        rb"(?:\*1\r\n\*2\r\n\$1\r\nq\r\n)?" + HEADS + ID + rb"\*2\r\n\$1\r\np\r\n{body}",
    ),
    acks=(
        Step("XACK q g {id}", "XACK q g {id}", INTEGER, reply_per_message=False),
        Step("XDEL q {id}", "XDEL q {id}", INTEGER, reply_per_message=False),
    ),
    blocking_pop="XREADGROUP GROUP g c COUNT 1 BLOCK 0 STREAMS q >",
    setup=lambda size: [("XGROUP", "CREATE", "q", "g", "0", "MKSTREAM")],
    length="XLEN q",
)

# LREM from the tail finds the oldest message at once: the best case of a list.
LISTS = Peer(
    name="lists",
    push=Step("LPUSH q {payload}", "LPUSH q {payload}", INTEGER, reply_per_message=False),
    pop=Step("LMOVE q w RIGHT LEFT", None, rb"({body})"),
    acks=(Step("LREM w -1 {id}", None, INTEGER, reply_per_message=False),),
    blocking_pop="BLMOVE q w RIGHT LEFT 0",
    setup=lambda size: [],
    length="LLEN w",
)

# No queue at all: parse the same bytes and reply with the same bytes.
FLOOR = Peer(
    name="floor",
    push=Step("SET k {payload}", "EXISTS {payload}", rb"\+OK\r\n|:\d+\r\n", False),
    pop=Step("GET k", f"LRANGE l 0 {BATCH - 1}", HEADS + rb"{body}"),
    acks=(Step("PING", "EXISTS {id}", rb"\+PONG\r\n|:\d+\r\n", False),),
    setup=lambda size: [("RPUSH", "l", *[b"x" * size] * BATCH), ("SET", "k", b"x" * size)],
    length=None,
    invents_ids=True,
)

PEERS = (RELIABLEQ, STREAMS, LISTS, FLOOR)
QUEUES = (RELIABLEQ, STREAMS, LISTS)
