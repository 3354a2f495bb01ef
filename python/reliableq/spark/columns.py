"""The columns of a frame that is appended to a queue: bodies, and how each is to be delivered."""

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import pyarrow
from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    DataType,
    DayTimeIntervalType,
    IntegralType,
    MapType,
    NumericType,
    StringType,
    StructType,
    TimestampType,
)

from reliableq.arguments import check_word
from reliableq.errors import Error, InvalidArgument
from reliableq.options import read_delivery

BODY = "value"


class Column(NamedTuple):
    """A column that a frame may have."""

    expected: str
    """Its types, in words."""
    fits: Callable[[DataType], bool]
    """Whether it may have a type."""
    read: Callable[[pyarrow.Array], list[Any]]
    """Its values, as a push takes them."""
    otherwise: Any = None
    """What null stands for."""


class Row(NamedTuple):
    """How a message is to be delivered, as the columns say. Rows that say the same are equal."""

    delay: Any = None
    at: Any = None
    ttl: Any = None
    retries: int | None = None
    front: bool = False
    priority: int = 0
    headers: tuple[tuple[bytes, bytes], ...] | None = None
    token: bytes | None = None

    def check(self) -> None:
        """Refuses what a push would refuse."""
        *delivery, token = self
        read_delivery(*delivery)
        if token is not None and not check_word("token", token):
            raise InvalidArgument("token is empty", "give one of at least a byte, or null")

    def options(self) -> dict[str, Any]:
        """The arguments of a push: those that say anything."""
        return {name: value for name, value in self._asdict().items() if value != self._field_defaults[name]}

    def lane(self) -> tuple[Any, ...]:
        """Messages of one lane are delivered in the order in which they are pushed; there is none between lanes."""
        return self.delay, self.at, self.front, self.priority


def _is_bytes(kind: DataType) -> bool:
    return isinstance(kind, BinaryType | StringType)


def _is_time(kind: DataType) -> bool:
    return isinstance(kind, NumericType | DayTimeIntervalType)


def _is_headers(kind: DataType) -> bool:
    if isinstance(kind, MapType):
        return _is_bytes(kind.keyType) and _is_bytes(kind.valueType)
    if not isinstance(kind, ArrayType) or not isinstance(kind.elementType, StructType):
        return False
    fields = kind.elementType
    return sorted(fields.names) == ["name", "value"] and all(_is_bytes(field.dataType) for field in fields)


def _plain(values: pyarrow.Array) -> list[Any]:
    return list(values.to_pylist())


def _bytes(values: pyarrow.Array) -> list[bytes | None]:
    # Text becomes its UTF-8, which is how Arrow keeps it.
    return list(values.cast(pyarrow.large_binary()).to_pylist())


def _moments(values: pyarrow.Array) -> list[float | None]:
    """Unix seconds, also for years that Python's own times don't reach."""
    microseconds = values.cast(pyarrow.timestamp("us", "UTC")).cast(pyarrow.int64()).to_pylist()
    return [None if moment is None else moment / 1_000_000 for moment in microseconds]


def _headers(values: pyarrow.Array) -> list[tuple[tuple[Any, Any], ...] | None]:
    pairs: list[list[Any] | None] = values.to_pylist()
    return [tuple(map(_pair, row)) if row else None for row in pairs]


def _pair(entry: Any) -> tuple[Any, Any]:
    """A header: a pair of a map, or a struct of an array; one that is null has neither name nor value."""
    name, value = (entry["name"], entry["value"]) if isinstance(entry, dict) else entry or (None, None)
    return _encoded(name), _encoded(value)


def _encoded(text: Any) -> Any:
    return text.encode() if isinstance(text, str) else text


SECONDS = "seconds as a number, or INTERVAL DAY TO SECOND"
TEXT = "BINARY or STRING"
WHOLE = "INT or another whole number"

COLUMNS = {
    BODY: Column(TEXT, _is_bytes, _bytes),
    "delay": Column(SECONDS, _is_time, _plain),
    "at": Column("TIMESTAMP", lambda kind: isinstance(kind, TimestampType), _moments),
    "ttl": Column(SECONDS, _is_time, _plain),
    "retries": Column(WHOLE, lambda kind: isinstance(kind, IntegralType), _plain),
    "front": Column("BOOLEAN", lambda kind: isinstance(kind, BooleanType), _plain, False),
    "priority": Column(WHOLE, lambda kind: isinstance(kind, IntegralType), _plain, 0),
    "headers": Column(f"MAP, or ARRAY<STRUCT<name, value>>, of {TEXT}", _is_headers, _headers),
    "token": Column(TEXT, _is_bytes, _bytes),
}
"""Those that a frame may have; the body it must have."""

EXPECTED = f"expected {BODY!r}, and where wanted {', '.join(name for name in COLUMNS if name != BODY)}: frame.select()"


def check_columns(schema: StructType) -> None:
    """Refuses a frame that holds anything but the bodies of messages, and how they are to be delivered."""
    names = schema.fieldNames()
    if not names:
        raise InvalidArgument("the frame has no columns", EXPECTED)
    others = [name for name in names if name not in COLUMNS]
    if others:
        raise InvalidArgument(f"a queue has no column {', '.join(map(repr, others))}", EXPECTED)
    for name in names:
        if names.count(name) > 1:
            raise InvalidArgument(f"the frame has {names.count(name)} columns {name!r}", EXPECTED)
        kind = schema[name].dataType
        if not COLUMNS[name].fits(kind):
            remedy = f"expected {COLUMNS[name].expected}"
            raise InvalidArgument(f"the column {name!r} is {kind.simpleString().upper()}", remedy)
    if BODY not in names:
        raise InvalidArgument(f"the frame has no column {BODY!r}", EXPECTED)


def read_rows(batch: pyarrow.RecordBatch) -> Iterator[Row]:
    """What the columns beside the bodies say, row by row."""
    given = [(name, COLUMNS[name], batch.column(name)) for name in batch.schema.names if name != BODY]
    columns = {name: _without_null(column.read(values), column.otherwise) for name, column, values in given}
    told = (columns.get(name, [otherwise] * len(batch)) for name, otherwise in Row._field_defaults.items())
    return map(Row._make, zip(*told, strict=True))


def _without_null(values: list[Any], otherwise: Any) -> list[Any]:
    return values if otherwise is None else [otherwise if value is None else value for value in values]


def refusal(rows: list[Row]) -> tuple[int, Error] | None:
    """The first row that a push would refuse, and why. Those that say the same are looked at once."""
    seen: set[Row] = set()
    for number, row in enumerate(rows):
        if row not in seen:
            try:
                row.check()
            except Error as error:
                return number, error
            seen.add(row)
    return None
