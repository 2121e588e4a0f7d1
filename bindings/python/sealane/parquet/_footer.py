"""Reads and verifies the footer of an encrypted Parquet file.

The native module parses it. A plaintext footer (``PAR1``) of an encrypted file is signed: the
signature is the nonce and the tag of its encryption, as the Parquet format's Encryption.md says.
"""

from __future__ import annotations

import dataclasses
import hmac
import os
from collections.abc import Callable
from typing import IO, Final

from sealane._native import Aead, parquet_footer
from sealane.exceptions import AuthenticationError, FormatError

MAX_FOOTER: Final = 64 << 20
"""Longest footer in bytes to read."""
_NONCE, _TAG = 12, 16


@dataclasses.dataclass(frozen=True)
class Footer:
    """A footer that was verified."""

    start: int
    """Its position in the file."""
    content: bytes
    """All bytes from there to the end of the file."""
    signed: bool
    """Whether it is a plaintext footer with a signature."""
    key: bytes | None
    """How the writer stored the data key of the footer."""
    columns: list[tuple[str, str, bytes | None]]
    """Path, kind of key ("clear", "footer" or "own") and how the writer stored that key."""


def read_footer(file: IO[bytes], cipher: Callable[[bytes | None], Aead]) -> Footer:
    """Returns a file's footer. ``cipher`` returns the footer's cipher for its stored key."""
    size = file.seek(0, os.SEEK_END)
    if size < 12:
        raise FormatError(f"expected a Parquet file, found {size} bytes")
    ending = read_at(file, size - 8, 8)
    length, magic = int.from_bytes(ending[:4], "little"), ending[4:]
    if magic not in (b"PARE", b"PAR1"):
        raise FormatError("expected a Parquet file, found another ending")
    if not 0 < length <= min(size - 8, MAX_FOOTER):
        raise FormatError(f"the file has {size} bytes, and claims a footer of {length}")
    start = size - 8 - length
    footer = read_at(file, start, length)
    algorithm, stored, columns, end = parquet_footer(footer, magic == b"PARE")
    if algorithm is None:
        raise FormatError("expected an encrypted Parquet file, found a plaintext one, which is not encrypted")
    aad, unauthenticated = algorithm
    if unauthenticated:
        raise FormatError("the pages of the file are not authenticated (AES_GCM_CTR_V1); use AES_GCM_V1")
    module = footer[end:]
    if magic == b"PAR1" and len(module) != _NONCE + _TAG:
        raise FormatError("the plaintext footer has no signature")
    if magic == b"PARE" and (
        len(module) < 4 + _NONCE + _TAG or int.from_bytes(module[:4], "little") != len(module) - 4
    ):
        raise FormatError("the encrypted footer has another length than it claims")
    aead = cipher(stored)
    try:
        if magic == b"PARE":
            columns = parquet_footer(aead.decrypt(module[4:16], module[16:], aad), False)[2]
            genuine = True
        else:
            tag = aead.encrypt(module[:_NONCE], footer[:end], aad)[-_TAG:]
            genuine = hmac.compare_digest(tag, module[_NONCE:])
    except AuthenticationError:
        genuine = False
    if not genuine:
        raise AuthenticationError(
            "the footer was changed or is under another key, or the file has an AAD prefix of its own"
        )
    return Footer(start, footer + ending, magic == b"PAR1", stored, columns)


def read_at(file: IO[bytes], position: int, length: int) -> bytes:
    """Returns ``length`` bytes from a position."""
    file.seek(position)
    found = b""
    while piece := file.read(length - len(found)):
        found = found + piece if found else piece
    if len(found) < length:
        raise FormatError("the file became shorter while it was read")
    return found
