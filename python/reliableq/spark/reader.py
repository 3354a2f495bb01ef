"""A snapshot of a queue, read in parts. Nothing is consumed."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil

import pyarrow
from pyspark.sql.datasource import DataSourceReader, InputPartition

from reliableq import Info, Message
from reliableq.spark.options import Options
from reliableq.spark.place import Place

SCHEMA = pyarrow.schema(
    {
        "id": pyarrow.string(),
        "value": pyarrow.binary(),
        "enqueued_at": pyarrow.timestamp("us", "UTC"),
        "deliveries": pyarrow.int64(),
        "state": pyarrow.string(),
        "queue": pyarrow.string(),
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
            if info is None:
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
        first = partition.first
        with self._place.open() as rq:
            queue = rq.queue(self._options.queue)
            while messages := queue.range(first, partition.last, count=ROWS):
                yield _batch(messages)
                first = f"({messages[-1].id}"


def _parts(info: Info) -> int:
    messages = info["waiting"] + info["delivered"]
    return min(max(ceil(messages / PART_MESSAGES), ceil(info["memory"] / PART_BYTES)), MOST_PARTS)


def _order(id: str) -> tuple[int, int]:
    milliseconds, _, sequence = id.partition("-")
    return int(milliseconds), int(sequence)


def _batch(messages: list[Message]) -> pyarrow.RecordBatch:
    rows = [(m.id, m.body, m.enqueued, m.deliveries, m.state, m.queue) for m in messages]
    return pyarrow.RecordBatch.from_arrays(
        [pyarrow.array(column, field.type) for column, field in zip(zip(*rows, strict=True), SCHEMA, strict=True)],
        schema=SCHEMA,
    )
