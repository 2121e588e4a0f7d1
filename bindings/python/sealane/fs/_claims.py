"""Claims of another filesystem: sizes, types and byte ranges that a server reports.

A claim decides which bytes are requested, and nothing else. The size of a file is known when its last chunk
is verified, and its content when the chunks are. So a listing may be stale and a server may lie: the result
is the verified plaintext or an error.
"""

from __future__ import annotations

import errno
import operator
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

from sealane._about import asking
from sealane._native import plain_len
from sealane.exceptions import SealaneError, TruncatedError
from sealane.fs._below import Below

T = TypeVar("T")


@dataclass(frozen=True)
class Claim:
    """What the filesystem reports about a file."""

    size: int | None
    """The size in bytes; None if the filesystem reports none."""
    properties: dict[str, Any]
    """The result of ``info``, for example with the time of the last change."""


async def claim_of(below: Below, path: str) -> Claim:
    """Returns what the filesystem reports about a file."""
    with asking(path):
        info = await below.call("info", path)
        kind, claim = info.get("type"), info.get("size")
    if kind == "directory":
        raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
    if claim is None:
        return Claim(None, info)
    if (size := _file_size(claim)) is None:
        raise OSError(errno.EIO, f"The filesystem reports the size {claim!r}, which no file has", path)
    return Claim(size, info)


async def claimed_size(below: Below, path: str) -> int | None:
    """Returns the size in bytes that the filesystem reports for a file; None if it reports no size."""
    return (await claim_of(below, path)).size


async def with_claim(below: Below, path: str, work: Callable[[Claim], Coroutine[Any, Any, T]]) -> T:
    """Returns the result of ``work`` for what the filesystem reports about a file.

    Many filesystems cache listings. If ``work`` fails, the filesystem is asked again, and if the size has
    changed, ``work`` is called a second time.
    """
    claim = await claim_of(below, path)
    try:
        return await work(claim)
    except (FileNotFoundError, PermissionError):
        raise
    except (SealaneError, OSError):
        below.fs.invalidate_cache(path)
        if (now := await claim_of(below, path)).size == claim.size:
            raise
    return await work(now)


async def with_claimed_size(
    below: Below, path: str, work: Callable[[int | None], Coroutine[Any, Any, T]]
) -> T:
    """Returns the result of ``work(size)`` for the size that the filesystem reports, as ``with_claim``."""
    return await with_claim(below, path, lambda claim: work(claim.size))


async def fetch(below: Below, path: str, spans: Sequence[tuple[int, int]]) -> list[bytes]:
    """Fetches byte ranges of a file. A range can be shorter than requested, but never longer."""
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    with asking(path):
        found = await below.call("cat_ranges", [path] * len(spans), starts, ends, on_error="raise")
        found = ranges_of(found, len(spans))
        return [checked(data, end - start, path) for (start, end), data in zip(spans, found, strict=True)]


async def fetch_beginning(below: Below, path: str, length: int) -> bytes:
    """Fetches the first ``length`` bytes of a file in one request, or all of a shorter file."""
    with asking(path):
        return checked(await below.call("cat_file", path, start=0, end=length), length, path)


async def fetch_all(below: Below, path: str) -> bytes:
    """Fetches a whole file in one request."""
    with asking(path):
        return checked(await below.call("cat_file", path), None, path)


def ranges_of(found: Any, count: int) -> list[Any]:
    """Returns the results of ``cat_ranges``, of which there must be ``count``."""
    results = list(found)
    if len(results) != count:
        raise OSError(errno.EIO, f"The filesystem returned {len(results)} ranges instead of {count}")
    return results


def checked(data: Any, requested: int | None, path: str) -> bytes:
    """Returns the bytes of a request. Raises the exception of a failed request."""
    if isinstance(data, Exception):
        raise data
    if not isinstance(data, bytes | bytearray | memoryview):
        raise OSError(errno.EIO, f"The filesystem returned {type(data).__name__} instead of bytes", path)
    content = bytes(data)
    if requested is not None and len(content) > requested:
        text = f"The filesystem returned {len(content)} bytes instead of at most {requested}"
        raise OSError(errno.EIO, text, path)
    return content


def complete(data: bytes, requested: int, path: str) -> bytes:
    """Returns ``data``. Raises TruncatedError if it is shorter than a range that the file must have."""
    if len(data) < requested:
        raise truncated(path, len(data), requested)
    return data


def truncated(path: str, got: int, requested: int) -> TruncatedError:
    """Returns the error for a request that returned too few bytes."""
    return TruncatedError(f"{path}: the filesystem returned {got} of {requested} requested bytes")


def plain_entry(entry: dict[str, Any]) -> dict[str, Any]:
    """Returns the properties of a file with its plaintext size, if an encrypted file can have its size."""
    size = _file_size(entry.get("size"))
    if entry.get("type") != "file" or size is None:
        return entry
    try:
        plain = plain_len(size)
    except SealaneError:
        plain = size
    return {**entry, "size": plain, "sealed_size": size}


def _file_size(claim: Any) -> int | None:
    try:
        size = operator.index(claim)
    except TypeError:
        return None
    return size if 0 <= size < 1 << 63 else None
