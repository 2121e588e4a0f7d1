"""Encrypted files open for reading: local ones by the core, others by few range requests."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

from fsspec.spec import AbstractBufferedFile
from fsspec.utils import merge_offset_ranges

from sealane._error_paths import about, asking, of_file
from sealane._native import CHUNK_LEN, HEADER_LEN, DecryptWith, Ranges, Reader, sealed_len, sealed_range
from sealane._open import EncryptedReader, seek_target
from sealane.exceptions import SealaneError
from sealane.fs._opening import Opened, plain_entry
from sealane.fs._store import Store, checked, complete, ranges_of, value_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

_Fetched: TypeAlias = tuple[int, int, Any]
"""Start, end and bytes of a range of an encrypted file, or the exception of its request."""
Keyed: TypeAlias = Mapping[str, DecryptWith | Exception]
"""Each file's decryption keys, or the exception from finding them."""

MAX_GAP = 64 << 10
"""Largest gap in bytes between two ranges fetched as one: a second request costs more."""
MAX_JOINED = 1 << 20
"""Longest range in bytes to which a cached end of file is appended.

For longer ranges, the copy takes longer than fetching and decrypting the end again: scanning all
columns of Parquet files on S3 took 6 to 9 % longer.
"""
MAX_BLOCK = 16 << 20
"""Longest merged range in bytes, so that several requests can be in flight."""


def read_range(file: Any, start: int | None, end: int | None) -> bytes:
    """Returns a range of an open file's plaintext. Negative numbers count from the end."""
    begin, stop, _ = slice(start, end).indices(file.size)
    file.seek(begin)
    return file.read(max(0, stop - begin))  # type: ignore[no-any-return]


class LocalFile(EncryptedReader):
    """An encrypted file on a local disk."""

    blocksize = 1 << 20

    def __init__(self, fs: Any, path: str, decryption: DecryptWith | Reader, file: Any = None) -> None:
        super().__init__(path if file is None else file, decryption)
        self.fs, self.path = fs, path
        self._options: dict[str, Any] = {}

    def read(self, size: int | None = -1, /) -> bytes:
        """Reads like ``sealane.EncryptedReader.read``."""
        try:
            return super().read(size)
        except SealaneError:
            with about(self.path):
                raise

    def readinto(self, buffer: Buffer, /) -> int:
        """Reads like ``sealane.EncryptedReader.readinto``."""
        try:
            return super().readinto(buffer)
        except SealaneError:
            with about(self.path):
                raise

    @property
    def details(self) -> dict[str, Any]:
        """The result of ``fs.info`` for this file, with the verified size."""
        return {**plain_entry(self.fs.store.files.info(self.path)), "size": self.size}

    @property
    def closed(self) -> bool:
        """Whether the file is closed. fsspec's caches assign True after they close a file."""
        return super().closed

    @closed.setter
    def closed(self, value: bool) -> None:
        pass

    _fetch_range = read_range  # The caches of fsspec read files by this method.

    def info(self) -> dict[str, Any]:
        """Returns the result of ``fs.info`` for this file."""
        return self.details

    def __reduce__(self) -> Any:
        # The filesystem pickles a key reference, not the key.
        return _reopen, (self.fs, self.path, self.tell(), self._options)


def _reopen(fs: Any, path: str, position: int, options: dict[str, Any]) -> Any:
    file = fs.open(path, "rb", **options)
    file.seek(position)
    return file


class FileOver(LocalFile):
    """An encrypted file over the other filesystem's file object, which takes any keyword."""

    _below: Any = None

    def __init__(self, fs: Any, path: str, decryption: DecryptWith, files: Any, **options: Any) -> None:
        with asking(path):
            self._below = files.open(path, "rb", **options)
        try:
            super().__init__(fs, path, decryption, self._below)
        except BaseException:
            self._below.close()
            raise
        self._options = options

    @property
    def details(self) -> dict[str, Any]:
        """The result of ``fs.info`` for this file, with the verified size."""
        found = getattr(self._below, "details", None) or self.fs.store.files.info(self.path)
        return {**plain_entry(found), "size": self.size}

    def close(self) -> None:
        """Closes the file and the file object below it."""
        super().close()
        if self._below is not None:
            self._below.close()


class RemoteFile(AbstractBufferedFile):  # type: ignore[misc]
    """An encrypted file on another filesystem, fetched in byte ranges.

    Opening fetches and verifies the header and the end of the file together, so the size is
    verified. Later requests fetch whole chunks, and the read-ahead stops at a chunk boundary.
    """

    DEFAULT_BLOCK_SIZE = 4 << 20
    loc: int
    _details: dict[str, Any] | None

    def __init__(
        self, fs: Any, path: str, store: Store, opened: Opened, cache_type: str = "readahead", **options: Any
    ) -> None:
        self._store, self._opened = store, opened
        self._exact = cache_type != "readahead"
        super().__init__(fs, path, "rb", cache_type=cache_type, size=opened.size, **options)

    def _fetch_range(self, start: int, end: int) -> bytes:
        """Returns plaintext from ``start`` to ``end``, or to the chunk's end for read-ahead."""
        if not self._exact and start < self._opened.tail_start:
            end = max(end, min(-(-end // CHUNK_LEN) * CHUNK_LEN, self._opened.tail_start))
        return self._store.run(read_opened(self._store, self.path, self._opened, start, end))

    @property
    def details(self) -> dict[str, Any]:
        """The result of ``fs.info`` for this file, with the verified size."""
        if self._details is None:
            self._details = {**plain_entry(self.fs.store.files.info(self.path)), "size": self.size}
        return self._details

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves like ``sealane.EncryptedReader.seek``."""
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


async def read_opened(store: Store, path: str, opened: Opened, start: int, end: int) -> bytes:
    """Returns the plaintext from ``start`` to ``end``, at most to the end of the file."""
    tail = b""
    if end - start <= MAX_JOINED or start >= opened.tail_start:
        tail = opened.tail[max(start - opened.tail_start, 0) : max(end - opened.tail_start, 0)]
        end = min(end, opened.tail_start)
        if start >= end:
            return tail
    sealed_start, sealed_end = sealed_range(start, end)
    sealed_end = min(sealed_end, sealed_len(opened.size))
    with about(path):
        (sealed,) = await store.fetch(path, [(sealed_start, sealed_end)])
        whole = complete(sealed, sealed_end - sealed_start, path)
        plain = await store.compute(opened.ranges.open, start, end, whole, size=len(whole))
    return plain + tail if tail else plain


@dataclass(frozen=True)
class PlainRange:
    """A plaintext range of a file; both ends count from the beginning."""

    path: str
    start: int
    end: int


async def read_ranges(
    store: Store,
    ranges: Sequence[PlainRange],
    keys: Keyed,
    max_gap: int | None = None,
    batch_size: int | None = None,
) -> list[bytes | Exception]:
    """Reads ranges of files, fetched together. A failed range becomes its exception."""
    options: dict[str, Any] = {} if batch_size is None else {"batch_size": batch_size}
    paths = list(keys)
    spans = [(path, 0, HEADER_LEN) for path in paths]
    spans += [(one.path, *sealed_range(one.start, one.end)) for one in ranges]
    paths, starts, ends = merge_offset_ranges(
        *(list(column) for column in zip(*spans, strict=True)),
        max_gap=MAX_GAP if max_gap is None else max_gap,
        max_block=MAX_BLOCK,
    )
    try:
        found = await store.call("cat_ranges", paths, starts, ends, on_error="return", **options)
        found = ranges_of(found, len(paths))
    except Exception as error:
        found = [of_file(error, path) for path in paths]
    fetched: dict[str, list[_Fetched]] = {}
    for path, start, end, data in zip(paths, starts, ends, found, strict=True):
        fetched.setdefault(path, []).append((start, end, data))
    headers: dict[str, Ranges | Exception] = {}

    def decrypt_ranges() -> list[bytes | Exception]:
        return [_decrypt_range(keys, one, fetched[one.path], headers) for one in ranges]

    return await store.compute(decrypt_ranges, size=sum(end - start for _, start, end in spans))


def _decrypt_range(
    keys: Keyed,
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


def _header(keys: Keyed, path: str, fetched: list[_Fetched]) -> Ranges | Exception:
    try:
        key = value_of(keys[path])
        with about(path):
            return Ranges(_cut(fetched, path, 0, HEADER_LEN), key)
    except Exception as error:
        return error


def _cut(fetched: list[_Fetched], path: str, start: int, end: int) -> memoryview:
    first, last, found = next(one for one in fetched if one[0] <= start and end <= one[1])
    with asking(path):
        data = checked(found, last - first, path)
    return memoryview(data)[start - first : end - first]
