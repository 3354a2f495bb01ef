"""What DUMP gives and a dump.rdb holds, taken apart far enough to damage it on purpose."""

import struct
from functools import cache

MODULE_VALUE = 7
"""The RDB type of a module's value."""


@cache
def _table() -> tuple[int, ...]:
    polynomial = 0x95AC9329AC4BC9B5  # Jones, reflected
    table = []
    for byte in range(256):
        remainder = byte
        for _ in range(8):
            remainder = (remainder >> 1) ^ (polynomial if remainder & 1 else 0)
        table.append(remainder)
    return tuple(table)


def crc64(data: bytes) -> int:
    """Redis's checksum."""
    table = _table()
    remainder = 0
    for byte in data:
        remainder = table[(remainder ^ byte) & 255] ^ (remainder >> 8)
    return remainder


def with_checksum(data: bytes) -> bytes:
    """Appends the checksum, as at the end of a DUMP and of an RDB file."""
    return data + struct.pack("<Q", crc64(data))


def value_of(dump: bytes) -> bytes:
    """The value inside a DUMP: its type, the module type's ID and the module's own bytes."""
    body, checksum = dump[:-8], dump[-8:]
    assert struct.pack("<Q", crc64(body)) == checksum, "not a DUMP payload"
    return body[:-2]


def dump_of(value: bytes, version: int = 10) -> bytes:
    """A payload that RESTORE takes for undamaged; every supported server reads version 10."""
    return with_checksum(value + struct.pack("<H", version))


HEADER = 10
"""Bytes of a module's value before the module's own: the type, a length byte and a 64-bit ID."""


def with_encoding_version(value: bytes, version: int) -> bytes:
    """The same value, said to be written in another version of the type's encoding."""
    assert value[0] == MODULE_VALUE and value[1] == 0x81, "not a module's value"
    (identity,) = struct.unpack(">Q", value[2:HEADER])
    identity = (identity & ~0x3FF) | version
    return value[:2] + struct.pack(">Q", identity) + value[HEADER:]


def encoding_version(value: bytes) -> int:
    """The version of the type's encoding that a value was written in."""
    (identity,) = struct.unpack(">Q", value[2:HEADER])
    return int(identity & 0x3FF)
