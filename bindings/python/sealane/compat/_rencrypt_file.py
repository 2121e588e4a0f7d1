"""Decrypts files of REncrypt's ``encrypt_file`` of May 2024, which existed for two days.

The file has no header. Each chunk of 131072 plaintext bytes, and the shorter rest at the end, is a
separate message, numbered from 0. REncrypt set the file length to ``size + (size // 131072 + 1) *
28`` before it wrote the chunks. So if the size is a multiple of 131072 (such as 0), the file ends
with 28 zero bytes. REncrypt took them for a chunk and could not decrypt the file. No complete file
ends with a full chunk.
"""

from __future__ import annotations

import operator
import os
import stat
from collections.abc import Callable
from typing import IO, TYPE_CHECKING

from sealane._endpoints import staged
from sealane._error_paths import about
from sealane.exceptions import FormatError, TruncatedError, escaped

if TYPE_CHECKING:
    from sealane._endpoints import Path

CHUNK = 131072
OVERHEAD = 28
SEALED = CHUNK + OVERHEAD


def decrypt_old_file(
    src: Path, dst: Path, open_chunk: Callable[[bytearray, int, int], int], plaintext_len: int | None
) -> None:
    """Decrypts the file ``src`` to the file ``dst``.

    ``open_chunk(buffer, message_len, index)`` decrypts one message in place and returns the length
    of its plaintext.
    """
    source, target = os.fsdecode(src), os.fsdecode(dst)
    with about(source):
        # Checked before opening, because opening a pipe would wait for its writer.
        if not stat.S_ISREG(os.stat(source).st_mode):
            raise ValueError(f"expected a regular file, found another kind of file: {escaped(source)}")
        with open(source, "rb", buffering=0) as file:
            known = os.fstat(file.fileno())
            full, rest = chunk_layout(known.st_size)
            check_length(CHUNK * full + rest, plaintext_len)
            check_target(target, known)
            with staged(target) as sink:
                buffer = bytearray(SEALED)
                for index in range(full + (rest > 0)):
                    need = SEALED if index < full else rest + OVERHEAD
                    fill(file, buffer, need)
                    opened = open_chunk(buffer, need, index)
                    sink.write(memoryview(buffer)[:opened])
                if rest == 0:
                    fill(file, buffer, OVERHEAD)
                    if any(buffer[:OVERHEAD]):
                        raise TruncatedError("the end of the file is missing: it ends with a full chunk")


def chunk_layout(file_len: int) -> tuple[int, int]:
    """Returns the number of full chunks and of plaintext bytes after them.

    Raises TruncatedError for an impossible length.
    """
    full, rest = divmod(file_len, SEALED)
    if rest < OVERHEAD:
        raise TruncatedError(f"the end of the file is missing: no complete file has {file_len} bytes")
    return full, rest - OVERHEAD


def check_length(found: int, plaintext_len: int | None) -> None:
    """Raises TruncatedError or FormatError if the plaintext length is not the expected one."""
    if plaintext_len is None:
        return
    expected = operator.index(plaintext_len)
    if found != expected:
        kind = TruncatedError if found < expected else FormatError
        raise kind(f"the file holds {found} bytes of plaintext, expected {expected}")


def fill(file: IO[bytes], buffer: bytearray, need: int) -> None:
    """Reads ``need`` bytes from the file into the start of ``buffer``."""
    done = 0
    with memoryview(buffer) as view:
        while done < need:
            with view[done:need] as rest:
                if not (n := file.readinto(rest)):  # type: ignore[attr-defined]
                    raise TruncatedError("the file was truncated while it was read")
            done += n


def check_target(target: str, source: os.stat_result) -> None:
    """Raises ValueError if the target is the source, or exists and is not a regular file."""
    try:
        replaced = os.stat(target)
    except FileNotFoundError:
        return
    if os.path.samestat(source, replaced):
        raise ValueError(f"source and destination are the same file: {escaped(target)}")
    if not stat.S_ISREG(replaced.st_mode):
        raise ValueError(f"expected a regular file, found another kind of file: {escaped(target)}")
