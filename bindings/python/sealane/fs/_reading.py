"""Encrypted files that are being read: local files through the core, others with few range requests."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

from fsspec.spec import AbstractBufferedFile
from fsspec.utils import merge_offset_ranges

from sealane._about import about, asking, of_file
from sealane._native import CHUNK_LEN, HEADER_LEN, DecryptWith, Ranges, sealed_len, sealed_range
from sealane._open import EncryptedReader, seek_target
from sealane.exceptions import SealaneError
from sealane.fs._below import Below, Direct, finished
from sealane.fs._claims import checked, complete, fetch, plain_entry, ranges_of
from sealane.fs._opened import Opened, open_verified

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane.fs._interface import Filesystem

MAX_GAP = 64 << 10
"""Largest gap in bytes between two ranges that are fetched as one: a second request costs more."""
MAX_JOINED = 1 << 20
"""Largest range in bytes to which the end of the file is appended, if that is known from opening the file.

For longer ranges, the copy takes longer than fetching and decrypting the end again: a scan of all columns of
Parquet files on S3 took 6 to 9 % longer.
"""
MAX_BLOCK = 16 << 20
"""Largest merged range in bytes, so that several requests can be in flight."""


def open_for_reading(
    fs: Filesystem,
    path: str,
    *,
    block_size: int | None = None,
    cache_options: dict[str, Any] | None = None,
    **options: Any,
) -> LocalFile | RemoteFile:
    """Opens an encrypted file and verifies its header and its end before the first read."""
    decryption = finished(fs.keys.decryption(Direct(fs.files), path))
    if fs.local:
        return LocalFile(fs, path, decryption)
    block_size = block_size or getattr(fs.files, "default_block_size", None)
    return RemoteFile(fs, path, decryption, block_size=block_size, cache_options=cache_options, **options)


class LocalFile(EncryptedReader):
    """An encrypted file on a disk of this machine."""

    blocksize = 1 << 20

    def __init__(self, fs: Filesystem, path: str, decryption: DecryptWith) -> None:
        with about(path):
            super().__init__(path, decryption)
        self.fs, self.path = fs, path

    def read(self, size: int | None = -1, /) -> bytes:
        """Reads as ``sealane.EncryptedReader.read`` does."""
        try:
            return super().read(size)
        except SealaneError:
            with about(self.path):
                raise

    def readinto(self, buffer: Buffer, /) -> int:
        """Reads as ``sealane.EncryptedReader.readinto`` does."""
        try:
            return super().readinto(buffer)
        except SealaneError:
            with about(self.path):
                raise

    @property
    def details(self) -> dict[str, Any]:
        """The result of ``fs.info`` for this file, with the verified size."""
        return {**plain_entry(self.fs.files.info(self.path)), "size": self.size}

    @property
    def closed(self) -> bool:
        """Whether the file is closed. The caches of fsspec assign True after they have closed a file."""
        return super().closed

    @closed.setter
    def closed(self, value: bool) -> None:
        pass

    def _fetch_range(self, start: int, end: int) -> bytes:
        """Returns the plaintext from ``start`` to ``end``. The caches of fsspec read files by this method."""
        self.seek(start)
        return self.read(end - start)

    def info(self) -> dict[str, Any]:
        """Returns the result of ``fs.info`` for this file."""
        return self.details

    def __reduce__(self) -> Any:
        # The filesystem is pickled with a key reference, so the key is not pickled.
        return _reopen, (self.fs, self.path, self.tell())


def _reopen(fs: Filesystem, path: str, position: int) -> Any:
    file = fs.open(path, "rb")
    file.seek(position)
    return file


class RemoteFile(AbstractBufferedFile):  # type: ignore[misc]
    """An encrypted file on another filesystem, which is fetched in ranges of bytes.

    Opening it fetches and verifies the header and the end of the file together, so the size is verified.
    Later requests fetch whole chunks, and the read-ahead ends at the end of a chunk.
    """

    DEFAULT_BLOCK_SIZE = 4 << 20
    loc: int
    _details: dict[str, Any] | None

    def __init__(
        self,
        fs: Filesystem,
        path: str,
        decryption: DecryptWith,
        cache_type: str = "readahead",
        **options: Any,
    ) -> None:
        self._below = Direct(fs.files)
        opened = fs.ahead.take(path, decryption)
        if opened is None:
            opened = finished(open_verified(self._below, path, decryption, fs.headers))
            fs.ahead.opened(path, decryption, opened)
        self._opened = opened
        self._exact = cache_type != "readahead"
        options.pop("size", None)
        super().__init__(fs, path, "rb", cache_type=cache_type, size=opened.size, **options)

    def _fetch_range(self, start: int, end: int) -> bytes:
        """Returns the plaintext from ``start`` to ``end``, or to the end of the chunk for the read-ahead."""
        if not self._exact and start < self._opened.tail_start:
            end = max(end, min(-(-end // CHUNK_LEN) * CHUNK_LEN, self._opened.tail_start))
        return finished(read_opened(self._below, self.path, self._opened, start, end))

    @property
    def details(self) -> dict[str, Any]:
        """The result of ``fs.info`` for this file, with the verified size."""
        if self._details is None:
            self._details = {**plain_entry(self.fs.files.info(self.path)), "size": self.size}
        return self._details

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves as ``sealane.EncryptedReader.seek`` does."""
        self._check()
        self.loc = seek_target(offset, whence, self.loc, self.size)
        return self.loc

    def readable(self) -> bool:
        """Returns True."""
        self._check()
        return True

    def writable(self) -> bool:
        """Returns False."""
        self._check()
        return False

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")


async def read_opened(below: Below, path: str, opened: Opened, start: int, end: int) -> bytes:
    """Returns the plaintext from ``start`` to ``end``, which must not be past the end of the file."""
    tail = b""
    if end - start <= MAX_JOINED or start >= opened.tail_start:
        tail = opened.tail[max(start - opened.tail_start, 0) : max(end - opened.tail_start, 0)]
        end = min(end, opened.tail_start)
        if start >= end:
            return tail
    sealed_start, sealed_end = sealed_range(start, end)
    sealed_end = min(sealed_end, sealed_len(opened.size))
    with about(path):
        (sealed,) = await fetch(below, path, [(sealed_start, sealed_end)])
        whole = complete(sealed, sealed_end - sealed_start, path)
        plain = await below.compute(opened.ranges.open, start, end, whole, size=len(whole))
    return plain + tail if tail else plain


@dataclass(frozen=True)
class PlainRange:
    """A range of the plaintext of a file, both ends counted from its beginning."""

    path: str
    start: int
    end: int


async def read_ranges(below: Below, fs: Filesystem, ranges: Sequence[PlainRange]) -> list[bytes | Exception]:
    """Reads ranges of files, which are fetched together. A range that fails becomes its exception."""
    paths = list(dict.fromkeys(one.path for one in ranges))
    found_keys = await below.together([partial(fs.keys.decryption, below, path) for path in paths])
    keys = dict(zip(paths, found_keys, strict=True))
    if fs.local:
        return await below.compute(_read_local_ranges, fs, ranges, keys)
    spans = [(path, 0, HEADER_LEN) for path in paths]
    spans += [(one.path, *sealed_range(one.start, one.end)) for one in ranges]
    paths, starts, ends = merge_offset_ranges(
        *(list(column) for column in zip(*spans, strict=True)), max_gap=MAX_GAP, max_block=MAX_BLOCK
    )
    try:
        found = await below.call("cat_ranges", paths, starts, ends, on_error="return")
        found = ranges_of(found, len(paths))
    except Exception as error:
        found = [of_file(error, path) for path in paths]
    fetched: dict[str, list[_Fetched]] = {}
    for path, start, end, data in zip(paths, starts, ends, found, strict=True):
        fetched.setdefault(path, []).append(_Fetched(start, end, data))
    headers: dict[str, Ranges | Exception] = {}

    def decrypt_ranges() -> list[bytes | Exception]:
        return [_decrypt_range(keys, one, fetched[one.path], headers) for one in ranges]

    return await below.compute(decrypt_ranges, size=sum(end - start for _, start, end in spans))


@dataclass(frozen=True)
class _Fetched:
    """A byte range of an encrypted file, or the exception of its request."""

    start: int
    end: int
    data: Any


def _decrypt_range(
    keys: dict[str, DecryptWith | Exception],
    one: PlainRange,
    fetched: list[_Fetched],
    headers: dict[str, Ranges | Exception],
) -> bytes | Exception:
    try:
        if one.path not in headers:
            headers[one.path] = _header(keys, one.path, fetched)
        if isinstance(header := headers[one.path], Exception):
            raise header
        with about(one.path):
            return header.open(one.start, one.end, _cut(fetched, one.path, *sealed_range(one.start, one.end)))
    except Exception as error:
        return error


def _header(
    keys: dict[str, DecryptWith | Exception], path: str, fetched: list[_Fetched]
) -> Ranges | Exception:
    try:
        if isinstance(key := keys[path], Exception):
            raise key
        with about(path):
            return Ranges(_cut(fetched, path, 0, HEADER_LEN), key)
    except Exception as error:
        return error


def _cut(fetched: list[_Fetched], path: str, start: int, end: int) -> memoryview:
    piece = next(piece for piece in fetched if piece.start <= start and end <= piece.end)
    with asking(path):
        data = checked(piece.data, piece.end - piece.start, path)
    return memoryview(data)[start - piece.start : end - piece.start]


def _read_local_ranges(
    fs: Filesystem, ranges: Sequence[PlainRange], keys: dict[str, DecryptWith | Exception]
) -> list[bytes | Exception]:
    """Reads ranges of local files. Each file is opened once, however many ranges it has."""
    files: dict[str, LocalFile | Exception] = {}
    out: list[bytes | Exception] = []
    try:
        for one in ranges:
            try:
                if one.path not in files:
                    if isinstance(key := keys[one.path], Exception):
                        raise key
                    files[one.path] = LocalFile(fs, one.path, key)
                file = files[one.path]
                if isinstance(file, Exception):
                    raise file
                file.seek(one.start)
                out.append(file.read(one.end - one.start))
            except Exception as error:
                files.setdefault(one.path, error)
                out.append(error)
    finally:
        for file in files.values():
            if isinstance(file, LocalFile):
                file.close()
    return out
