"""Appends the rows of a frame to a queue, from the executors.

At least once: a task that fails has pushed some of its rows, and Spark may run it again, all of them. Those with a
token are stored once even so.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import pyarrow
from pyspark import TaskContext
from pyspark.sql.datasource import DataSourceArrowWriter, WriterCommitMessage

from reliableq import Queue
from reliableq.errors import InvalidArgument
from reliableq.spark.columns import BODY, COLUMNS, Row, read_rows, refusal
from reliableq.spark.place import Place


class Writer(DataSourceArrowWriter):
    """Pushes rows in batches as they come, each in its task."""

    def __init__(self, place: Place, queue: str) -> None:
        self._place = place
        self._queue = queue

    def write(self, iterator: Iterator[pyarrow.RecordBatch]) -> WriterCommitMessage:
        """Pushes the rows of one task, in their order. A batch with a row that is refused is not pushed."""
        done = 0
        with self._place.open() as rq:
            queue = rq.queue(self._queue)
            for batch in iterator:
                _push(queue, batch, done)
                done += batch.num_rows
        return WriterCommitMessage()


def _push(queue: Queue, batch: pyarrow.RecordBatch, done: int) -> None:
    column = batch.column(BODY)
    if column.null_count:
        place = _place(done + column.is_null().index(True).as_py())
        remedy = f'leave it out, as in frame.where("{BODY} IS NOT NULL")'
        raise InvalidArgument(f"{place} is null, which no message can be", remedy)
    bodies = COLUMNS[BODY].read(column)
    if batch.num_columns == 1:
        queue.push_many(bodies)
        return
    rows = list(read_rows(batch))
    if refused := refusal(rows):
        number, error = refused
        raise InvalidArgument(f"{_place(done + number)} is refused: {error.cause}", error.remedy) from error
    for row, together in _runs(rows, bodies):
        if row.token is None:
            queue.push_many(together, **row.options())
        else:
            queue.push(together[0], **row.options())


def _runs(rows: Sequence[Row], bodies: Sequence[bytes]) -> Iterator[tuple[Row, list[bytes]]]:
    """Bodies that are pushed together, since their rows say the same; one with a token alone. Those whose order counts
    keep it."""
    open: dict[tuple[Any, ...], tuple[Row, list[bytes]]] = {}
    for row, body in zip(rows, bodies, strict=True):
        lane = row.lane()
        run = open.get(lane)
        if run is not None and run[0] == row and row.token is None:
            run[1].append(body)
            continue
        if run is not None:
            yield run
        open[lane] = row, [body]
    yield from open.values()


def _place(number: int) -> str:
    context = TaskContext.get()
    task = "a task" if context is None else f"partition {context.partitionId()}"
    return f"row {number} of {task} (counted from 0)"
