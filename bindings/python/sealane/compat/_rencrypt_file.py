"""The files that REncrypt's ``encrypt_file`` wrote, in the two days of May 2024 that it existed.

There is no header. Each 131072 bytes of plaintext, and what is left of it at the end, are a message of
their own, numbered from 0; they follow each other. The file was made as long as
``size + (size // 131072 + 1) * 28`` before it was filled. So behind a last chunk that is full, or none, come
28 zero bytes, which REncrypt itself took for a chunk and could not decrypt. No file that it finished ends
with a full chunk.
"""

from __future__ import annotations

import contextlib
import operator
import os
import secrets
import stat
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING

from sealane._about import about
from sealane.exceptions import FormatError, TruncatedError

if TYPE_CHECKING:
    from sealane._places import Path

CHUNK = 131072
OVERHEAD = 28
SEALED = CHUNK + OVERHEAD


def decrypt_old_file(
    src: Path, dst: Path, open_chunk: Callable[[bytearray, int, int], int], plaintext_len: int | None
) -> None:
    """``open_chunk(buffer, message_len, index)`` decrypts in place and returns the plaintext's length."""
    source, target = os.fsdecode(src), os.path.realpath(os.fsdecode(dst))
    with about(source):
        # Before it is opened: a pipe would wait for its writer.
        if not stat.S_ISREG(os.stat(source).st_mode):
            raise ValueError(f"not a regular file: {source}")
        with open(source, "rb", buffering=0) as file:
            known = os.fstat(file.fileno())
            full, rest = shape(known.st_size)
            expect(CHUNK * full + rest, plaintext_len)
            with staged(target, known) as sink:
                buffer = bytearray(SEALED)
                for index in range(full + (rest > 0)):
                    need = SEALED if index < full else rest + OVERHEAD
                    fill(file, buffer, need)
                    opened = open_chunk(buffer, need, index)
                    with about(target):
                        sink.write(memoryview(buffer)[:opened])
                if rest == 0:
                    fill(file, buffer, OVERHEAD)
                    if any(buffer[:OVERHEAD]):
                        raise TruncatedError("the file ends with a full chunk and not as a whole one does")


def shape(file_len: int) -> tuple[int, int]:
    """Full chunks, and bytes of plaintext behind them. TruncatedError for a length that no whole file has."""
    full, rest = divmod(file_len, SEALED)
    if rest < OVERHEAD:
        raise TruncatedError("the file was cut")
    return full, rest - OVERHEAD


def expect(found: int, plaintext_len: int | None) -> None:
    if plaintext_len is None:
        return
    wanted = operator.index(plaintext_len)
    if found < wanted:
        raise TruncatedError(f"the file holds {found} bytes of {wanted}")
    if found > wanted:
        raise FormatError(f"the file holds {found} bytes, more than {wanted}")


def fill(file: IO[bytes], buffer: bytearray, need: int) -> None:
    """Reads exactly ``need`` bytes to the start of ``buffer``."""
    done = 0
    with memoryview(buffer) as view:
        while done < need:
            with view[done:need] as room:
                if not (n := file.readinto(room)):  # type: ignore[attr-defined]
                    raise TruncatedError("the file was cut while it was read")
            done += n


@contextlib.contextmanager
def staged(target: str, source: os.stat_result) -> Iterator[IO[bytes]]:
    """A neighbour of ``target``, which takes its name when the block ends cleanly, and is gone otherwise."""
    replaced: os.stat_result | None = None
    with contextlib.suppress(FileNotFoundError):
        replaced = os.stat(target)
    if replaced is not None:
        if os.path.samestat(source, replaced):
            raise ValueError(f"source and destination are the same file: {target}")
        if not stat.S_ISREG(replaced.st_mode):
            raise ValueError(f"not a regular file: {target}")
    folder, name = os.path.split(target)
    interim = os.path.join(folder, f".{name[:48]}.{secrets.token_hex(8)}.part")
    try:
        with open(interim, "xb") as file:
            if replaced is not None:
                os.chmod(interim, replaced.st_mode & 0o777)
            yield file
            with about(target):
                file.flush()
        os.replace(interim, target)
    except BaseException:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(interim)
        raise
