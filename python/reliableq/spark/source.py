"""The source as Spark sees it: `format("reliableq")`.

Spark makes this object, and asks it for readers and writers, in processes of its own beside the driver. It travels
between them pickled.
"""

from collections.abc import Mapping
from importlib.util import find_spec
from typing import TYPE_CHECKING, NoReturn

from reliableq.errors import InvalidArgument, MissingPackage
from reliableq.spark.options import parse
from reliableq.spark.place import locate

try:
    from pyspark.sql.datasource import DataSource
except ImportError as error:
    cause = "the package pyspark is not installed, or older than 4.0"
    raise MissingPackage(cause, "pip install 'reliableq[spark]'") from error

if TYPE_CHECKING:
    from pyspark.sql.types import StructType

    from reliableq.spark.reader import Reader
    from reliableq.spark.writer import Writer

COLUMNS = {
    "id": "STRING",
    "value": "BINARY",
    "enqueued_at": "TIMESTAMP",
    "deliveries": "BIGINT",
    "state": "STRING",
    "queue": "STRING",
    "priority": "INT",
    "token": "BINARY",
    "headers": "ARRAY<STRUCT<name: STRING, value: BINARY>>",
    "failures": "BIGINT",
    "consumer": "STRING",
    "last_delivery": "TIMESTAMP",
    "deadline": "TIMESTAMP",
    "due": "TIMESTAMP",
    "died": "TIMESTAMP",
    "reason": "STRING",
}
"""Those of a snapshot, and their types."""

SCHEMA = ", ".join(f"{name} {kind}" for name, kind in COLUMNS.items())


def check_packages() -> None:
    """Refuses at once where what executors need is missing: without it Spark only tells that a worker has died."""
    for name in ("pyarrow", "pandas"):
        if find_spec(name) is None:
            raise MissingPackage(f"the package {name} is not installed", "pip install 'reliableq[spark]'")


class Source(DataSource):
    """A queue: read as a snapshot, or appended to. Wrong options are refused here, before anything is planned."""

    def __init__(self, options: Mapping[str, str]) -> None:
        self._options = parse(options)
        check_packages()
        self._asked = False

    @classmethod
    def name(cls) -> str:
        """What a user gives to format()."""
        return "reliableq"

    def schema(self) -> str:
        """The columns of a snapshot. Spark does not ask when a user gave others."""
        self._asked = True
        return SCHEMA

    def reader(self, schema: "StructType") -> "Reader":
        """Reads a snapshot of the queue."""
        if not self._asked:
            cause = f"a schema was given ({', '.join(schema.fieldNames())})"
            raise InvalidArgument(cause, f"leave out schema(): a queue's columns are always {SCHEMA}")
        from reliableq.spark.reader import Reader

        return Reader(locate(self._options.url), self._options)

    def writer(self, schema: "StructType", overwrite: bool) -> "Writer":
        """Appends to the queue."""
        from reliableq.spark.columns import check_columns
        from reliableq.spark.writer import Writer

        if overwrite:
            remedy = 'use mode("append"); a queue empties when its messages are acknowledged'
            raise InvalidArgument("a queue can't be overwritten", remedy)
        if self._options.partitions is not None:
            raise InvalidArgument("the option 'partitions' is for reading", "use repartition() of the frame")
        if self._options.states is not None:
            raise InvalidArgument("the option 'state' is for reading", "leave it out")
        check_columns(schema)
        return Writer(locate(self._options.url), self._options.queue)

    def streamReader(self, schema: "StructType") -> NoReturn:  # noqa: N802
        """Refuses, since Spark's own text would not say why."""
        raise _no_stream()

    def streamWriter(self, schema: "StructType", overwrite: bool) -> NoReturn:  # noqa: N802
        """Refuses, likewise."""
        raise _no_stream()


def _no_stream() -> InvalidArgument:
    return InvalidArgument("a queue can't be a stream yet", "use read and write, which take a snapshot and append")
