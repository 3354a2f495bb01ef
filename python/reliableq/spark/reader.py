"""A snapshot of a queue, read in parts. Nothing is consumed."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Any

import pyarrow
from pyspark.sql.datasource import DataSourceReader, InputPartition

from reliableq import Headers, Info, Message, Queue
from reliableq.spark.options import Options
from reliableq.spark.place import Place
from reliableq.types import holds_messages

TIME = pyarrow.timestamp("us", "UTC")

SCHEMA = pyarrow.schema(
    {
        "id": pyarrow.string(),
        "value": pyarrow.binary(),
        "enqueued_at": TIME,
        "deliveries": pyarrow.int64(),
        "state": pyarrow.string(),
        "queue": pyarrow.string(),
        "priority": pyarrow.int32(),
        "token": pyarrow.binary(),
        "headers": pyarrow.list_(pyarrow.struct({"name": pyarrow.string(), "value": pyarrow.binary()})),
        "failures": pyarrow.int64(),
        "consumer": pyarrow.string(),
        "last_delivery": TIME,
        "deadline": TIME,
        "due": TIME,
        "died": TIME,
        "reason": pyarrow.string(),
    }
)
"""The source's schema in Arrow's terms. Spark compares it with its own."""

ROWS = 2_000
"""So many messages are asked for at a time: few enough that a server's other clients don't wait."""

PART_MESSAGES = 50_000
PART_BYTES = 32 << 20
"""A part is to hold about so much, unless the user says how many there are to be."""

MOST_PARTS = 200
"""And so many are enough, also for a queue that is larger."""

MOST_LISTED = 20_000
"""Of so many scheduled messages, or dead ones, a server finds some by their IDs without letting its other clients wait:
it goes through all of them, in less than 10 milliseconds."""

LISTED_BYTES = 8 << 20
"""And so many bytes of bodies it is asked for at a time, about."""


@dataclass
class Range(InputPartition):
    """A part of a queue, by the bounds of its IDs as Queue.range() takes them."""

    first: str | None
    last: str


class Reader(DataSourceReader):
    """Plans the parts in the driver's process, and reads each in an executor's."""

    def __init__(self, place: Place, options: Options) -> None:
        self._place = place
        self._options = options

    def partitions(self) -> list[InputPartition]:
        """The parts: together, all up to the last ID there is now. What is pushed later is not read."""
        with self._place.open() as rq:
            queue = rq.queue(self._options.queue)
            info = queue.info()
            if info is None or not holds_messages(info):
                return []
            last = info["last_id"]
            cuts = queue.split(self._options.partitions or _parts(info))
        # Those beyond were pushed after the first question.
        cuts = [cut for cut in cuts if _order(cut) <= _order(last)]
        firsts = [None, *cuts]
        lasts = [*(f"({cut}" for cut in cuts), last]
        return [Range(*bounds) for bounds in zip(firsts, lasts, strict=True)]

    def read(self, partition: InputPartition) -> Iterator[pyarrow.RecordBatch]:
        """Reads a part. What was acknowledged since it was planned may be missing; nothing is read twice."""
        if not isinstance(partition, Range):
            return  # Spark's own, where there was none to plan
        first, states = partition.first, self._options.states
        with self._place.open() as rq:
            queue = rq.queue(self._options.queue)
            details = Details(queue)
            while messages := queue.range(first, partition.last, count=ROWS):
                wanted = [message for message in messages if states is None or message.state in states]
                if wanted:
                    yield _batch(wanted, details.of(wanted))
                first = f"({messages[-1].id}"


class Details:
    """What a range of IDs does not tell of scheduled and dead messages: times, the reason, the last consumer."""

    def __init__(self, queue: Queue) -> None:
        self._queue = queue
        info = queue.info()
        counts = {"scheduled": info["scheduled"], "dead": info["dead_letters"]} if info else {}
        self._told = [state for state, count in counts.items() if count <= MOST_LISTED]

    def of(self, messages: Sequence[Message]) -> Mapping[str, Message]:
        """Those of messages, by ID, as far as they are to be had."""
        found: dict[str, Message] = {}
        for state in self._told:
            for part in _bounded([message for message in messages if message.state == state]):
                first, last = part[0].id, part[-1].id
                listed = self._queue.inspect(0, ROWS, state=state, first=first, last=last)
                found |= {message.id: message for message in listed}
        return found


def _bounded(messages: Sequence[Message]) -> Iterator[Sequence[Message]]:
    """Messages in parts of about so many bytes as a server is asked for at a time."""
    start = size = 0
    for position, message in enumerate(messages, 1):
        size += len(message.body)
        if size >= LISTED_BYTES or position == len(messages):
            yield messages[start:position]
            start, size = position, 0


def _parts(info: Info) -> int:
    messages = info["waiting"] + info["delivered"] + info["scheduled"] + info["dead_letters"]
    return min(max(ceil(messages / PART_MESSAGES), ceil(info["memory"] / PART_BYTES)), MOST_PARTS)


def _order(id: str) -> tuple[int, int]:
    milliseconds, _, sequence = id.partition("-")
    return int(milliseconds), int(sequence)


def _batch(messages: Sequence[Message], details: Mapping[str, Message]) -> pyarrow.RecordBatch:
    rows = [_row(message, details.get(message.id, message)) for message in messages]
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(column, field.type) for column, field in zip(zip(*rows, strict=True), SCHEMA, strict=True)],
        schema=SCHEMA,
    )


def _row(message: Message, listed: Message) -> tuple[Any, ...]:
    """A row, of a message and of what a list tells of it beside."""
    if listed.state != message.state:
        listed = message  # it went on meanwhile
    return (
        message.id,
        message.body,
        message.enqueued,
        message.deliveries,
        message.state,
        message.queue,
        message.priority,
        message.token,
        _headers(message.headers),
        message.failures,
        _text(message.consumer or listed.consumer),
        message.last_delivery,
        message.deadline,
        message.due or listed.due,
        message.died or listed.died,
        _text(message.reason or listed.reason),
    )


def _headers(headers: Headers) -> list[tuple[str, bytes]]:
    return [(name.decode(errors="replace"), value) for name, value in headers.raw]


def _text(text: str | None) -> str | None:
    """A text as Arrow takes it: what stands for bytes that are no UTF-8 becomes a sign for such."""
    return text if text is None or text.isascii() else text.encode(errors="surrogateescape").decode(errors="replace")
