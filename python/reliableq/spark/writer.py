"""Appends the rows of a frame to a queue, from the executors.

At least once: a task that fails has pushed some of its rows, and Spark may run it again, all of them.
"""

from collections.abc import Iterator

import pyarrow
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage
from pyspark.sql.types import BinaryType, StringType, StructType

from reliableq.errors import InvalidArgument
from reliableq.spark.place import Place

COLUMN = "value"

EXPECTED = f'expected exactly one column, {COLUMN!r}, of BINARY or STRING: frame.select("{COLUMN}")'


def check_columns(schema: StructType) -> None:
    """Refuses a frame that holds anything but the bodies of messages."""
    others = [name for name in schema.fieldNames() if name != COLUMN]
    if others:
        raise InvalidArgument(f"a queue has no column {', '.join(map(repr, others))}", EXPECTED)
    if not schema.fieldNames():
        raise InvalidArgument("the frame has no columns", EXPECTED)
    if len(schema) != 1:
        raise InvalidArgument(f"the frame has {len(schema)} columns {COLUMN!r}", EXPECTED)
    kind = schema[0].dataType
    if not isinstance(kind, BinaryType | StringType):
        raise InvalidArgument(f"the column {COLUMN!r} is {kind.simpleString().upper()}", EXPECTED)


class Writer(DataSourceArrowWriter):
    """Pushes rows in batches as they come, each in its task."""

    def __init__(self, place: Place, queue: str) -> None:
        self._place = place
        self._queue = queue

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> WriterCommitMessage:
        """Pushes the rows of one task, in their order."""
        done = 0
        with self._place.open() as rq:
            queue = rq.queue(self._queue)
            for batch in iterator:
                bodies = batch.column(0)
                if bodies.null_count:
                    raise _null(done + bodies.is_null().index(True).as_py())
                # Text becomes its UTF-8, which is how Arrow keeps it.
                queue.push_many(bodies.cast(pyarrow.large_binary()).to_pylist())
                done += len(bodies)
        return WriterCommitMessage()


def _null(row: int) -> InvalidArgument:
    context = TaskContext.get()
    task = "a task" if context is None else f"partition {context.partitionId()}"
    cause = f"row {row} of {task} (counted from 0) is null, which no message can be"
    return InvalidArgument(cause, f'leave it out, as in frame.where("{COLUMN} IS NOT NULL")')
