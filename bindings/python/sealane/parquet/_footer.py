"""Reads how an encrypted Parquet file stores its data keys.

A file ends with a footer, its length and four characters. With ``PARE``, the footer is a cleartext
structure (``FileCryptoMetaData``) and the encrypted file metadata. With ``PAR1``, the metadata is
cleartext and signed. Both are structures in the compact protocol of Apache Thrift. The Parquet
format's Encryption.md describes the modules.

All lengths are claims of the file, checked before memory is used.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable
from typing import IO, Any

from sealane._native import Aead
from sealane.exceptions import AuthenticationError, FormatError

MAX_FOOTER = 64 << 20
"""Longest footer in bytes to read."""
_MAX_DEPTH = 32
_NONCE, _TAG = 12, 16


@dataclasses.dataclass(frozen=True)
class Metadata:
    """A file's data keys, as stored."""

    footer: bytes
    columns: dict[str, bytes]
    """By column path in the schema, such as ``a.b.c``."""


def read_metadata(file: IO[bytes], footer_key: Callable[[bytes], bytes]) -> Metadata:
    """Returns a file's key metadata. ``footer_key`` returns the data key for its stored form."""
    size = file.seek(0, os.SEEK_END)
    if size < 12:
        raise FormatError(f"expected a Parquet file, found {size} bytes")
    file.seek(-8, os.SEEK_END)
    ending = file.read(8)
    length, magic = int.from_bytes(ending[:4], "little"), ending[4:]
    if magic not in (b"PARE", b"PAR1"):
        raise FormatError("expected a Parquet file, found another ending")
    if not 0 < length <= min(size - 8, MAX_FOOTER):
        raise FormatError(f"the file has {size} bytes, and claims a footer of {length}")
    file.seek(-8 - length, os.SEEK_END)
    footer = file.read(length)
    if len(footer) < length:
        raise FormatError("the file became shorter while it was read")
    start, end = _structure(footer, 0, 0)
    if magic == b"PAR1":
        if 8 not in start:
            raise FormatError("the file is not encrypted")
        return Metadata(_bytes(start.get(9)), _column_keys(start))
    stored = _bytes(start.get(2))
    module = footer[end:]
    if len(module) < 4 + _NONCE + _TAG or int.from_bytes(module[:4], "little") != len(module) - 4:
        raise FormatError("the encrypted footer has another length than it claims")
    key = footer_key(stored)
    if len(key) not in (16, 24, 32):
        raise FormatError(f"expected a data key of 16, 24 or 32 bytes, found {len(key)}")
    if len(key) == 24:
        raise FormatError("data keys of 24 bytes are not supported; write the file with 16 or 32")
    try:
        opened = Aead(f"aes-{8 * len(key)}-gcm", key).decrypt(module[4:16], module[16:], _footer_aad(start))
    except AuthenticationError as error:
        raise AuthenticationError(
            "the footer was changed, or the file has an AAD prefix of its own"
        ) from error
    return Metadata(stored, _column_keys(_structure(opened, 0, 0)[0]))


def _footer_aad(crypto: dict[int, Any]) -> bytes:
    """Returns the footer module's associated data: prefix, the file's unique part, and type 0."""
    algorithm = crypto.get(1)
    if not isinstance(algorithm, dict) or len(algorithm) != 1:
        raise FormatError("the file names no encryption algorithm")
    (parameters,) = algorithm.values()
    if not isinstance(parameters, dict):
        raise FormatError("the encryption algorithm has no parameters")
    return _bytes(parameters.get(1, b"")) + _bytes(parameters.get(2)) + b"\0"


def _column_keys(metadata: dict[int, Any]) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    for group in _list(metadata.get(4, [])):
        for chunk in _list(group.get(1, [])) if isinstance(group, dict) else []:
            crypto = chunk.get(8) if isinstance(chunk, dict) else None
            own = crypto.get(2) if isinstance(crypto, dict) else None
            if isinstance(own, dict):
                path = ".".join(_bytes(part).decode(errors="replace") for part in _list(own.get(1)))
                found[path] = _bytes(own.get(2))
    return found


def _list(value: Any) -> list[Any]:
    if not isinstance(value, list):
        raise FormatError("the footer has another structure than that of a Parquet file")
    return value


def _bytes(value: Any) -> bytes:
    if not isinstance(value, bytes):
        raise FormatError("the file does not store how its keys are found; give the keys themselves")
    return value


def _structure(data: bytes, at: int, depth: int) -> tuple[dict[int, Any], int]:
    """Returns a structure's fields by number, and the position after it."""
    if depth > _MAX_DEPTH:
        raise FormatError("the footer is nested too deeply")
    fields: dict[int, Any] = {}
    number = 0
    while True:
        head = _byte(data, at)
        at += 1
        if head == 0:
            return fields, at
        if head >> 4:
            number += head >> 4
        else:
            number, at = _integer(data, at)
        fields[number], at = _value(data, at, head & 15, depth)


def _value(data: bytes, at: int, kind: int, depth: int) -> tuple[Any, int]:
    match kind:
        case 1 | 2:
            return kind == 1, at
        case 3:
            return _byte(data, at), at + 1
        case 4 | 5 | 6:
            return _integer(data, at)
        case 7:
            return None, at + 8
        case 8:
            length, at = _varint(data, at)
            if length > len(data) - at:
                raise FormatError("the footer ends in the middle of a value")
            return data[at : at + length], at + length
        case 9 | 10:
            head = _byte(data, at)
            count, at = (head >> 4, at + 1) if head >> 4 != 15 else _varint(data, at + 1)
            values = []
            for _ in range(count):
                if head & 15 in (1, 2):
                    value, at = _byte(data, at) == 1, at + 1
                else:
                    value, at = _value(data, at, head & 15, depth + 1)
                values.append(value)
            return values, at
        case 12:
            return _structure(data, at, depth + 1)
    raise FormatError(f"the footer has a value of the unknown kind {kind}")


def _integer(data: bytes, at: int) -> tuple[int, int]:
    value, at = _varint(data, at)
    return (value >> 1) ^ -(value & 1), at


def _varint(data: bytes, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 70, 7):
        part = _byte(data, at)
        at += 1
        value |= (part & 127) << shift
        if part < 128:
            return value, at
    raise FormatError("the footer has a number that is too long")


def _byte(data: bytes, at: int) -> int:
    if at >= len(data):
        raise FormatError("the footer ends in the middle of a value")
    return data[at]
