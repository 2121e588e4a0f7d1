"""Reading: local files at the speed of the core, others by few ranges."""

from __future__ import annotations

import errno
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from fsspec.spec import AbstractBufferedFile
from fsspec.utils import merge_offset_ranges

from sealane._about import about
from sealane._native import CHUNK_LEN, HEADER_LEN, DecryptWith, Ranges, plain_len, sealed_range
from sealane._open import EncryptedReader
from sealane.exceptions import SealaneError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane.fs._filesystem import SealaneFileSystem

SMALL = 256 << 10
"""A file of at most this many bytes is fetched at once when it is opened: one request instead of two."""
TAIL = 64 << 10
"""Bytes of plaintext at the end that come with opening. Parquet's readers begin there."""
MAX_GAP = 64 << 10
"""Bytes between two ranges that are fetched with them: a request costs more."""
MAX_BLOCK = 16 << 20
"""Ranges are merged up to this many bytes, so that several requests can be under way."""


class LocalFile(EncryptedReader):
    """A file on this machine's disk."""

    blocksize = 1 << 20

    def __init__(self, fs: SealaneFileSystem, path: str, unlock: DecryptWith) -> None:
        with about(path):
            super().__init__(path, unlock)
        self.fs, self.path = fs, path

    def read(self, size: int | None = -1, /) -> bytes:
        """As ``sealane.open``'s."""
        try:
            return super().read(size)
        except SealaneError:
            with about(self.path):
                raise

    def readinto(self, buffer: Buffer, /) -> int:
        """As ``sealane.open``'s."""
        try:
            return super().readinto(buffer)
        except SealaneError:
            with about(self.path):
                raise

    @property
    def details(self) -> dict[str, Any]:
        """What ``fs.info`` says."""
        return self.fs.info(self.path)

    def info(self) -> dict[str, Any]:
        """What ``fs.info`` says."""
        return self.details

    def __reduce__(self) -> Any:
        # The filesystem travels with a reference, so the key does not.
        return _reopen, (self.fs, self.path, self.tell())


def _reopen(fs: SealaneFileSystem, path: str, position: int) -> Any:
    file = fs.open(path, "rb")
    file.seek(position)
    return file


class RemoteFile(AbstractBufferedFile):  # type: ignore[misc]
    """A file that is fetched by ranges.

    When it is opened, its header and its end come in one go and are verified, so the size can be believed.
    What is fetched afterwards is whole chunks; the read-ahead ends with one.
    """

    DEFAULT_BLOCK_SIZE = 4 << 20

    def __init__(
        self,
        fs: SealaneFileSystem,
        path: str,
        unlock: DecryptWith,
        cache_type: str = "readahead",
        **options: Any,
    ) -> None:
        begun = _begin(fs.fs, path, unlock)
        self._ranges, self._held_from, self._held = begun.ranges, begun.held_from, begun.held
        self._exact = cache_type != "readahead"
        options.pop("size", None)
        super().__init__(fs, path, "rb", cache_type=cache_type, size=begun.size, **options)

    def _fetch_range(self, start: int, end: int) -> bytes:
        """The plaintext from ``start`` to ``end``; for the read-ahead, on to the end of the chunk."""
        held = self._held[max(start - self._held_from, 0) : max(end - self._held_from, 0)]
        end = min(end, self._held_from)
        if start >= end:
            return held
        if not self._exact:
            end = min(-(-end // CHUNK_LEN) * CHUNK_LEN, self._held_from)
        with about(self.path):
            (sealed,) = _fetch(self.fs.fs, [self.path], [sealed_range(start, end)])
            plain = self._ranges.open(start, end, sealed)
        return plain + held if held else plain


@dataclass(frozen=True)
class _Begun:
    """What is known of a file after its header and its end were verified."""

    ranges: Ranges
    size: int
    held_from: int
    held: bytes


def _begin(target: Any, path: str, unlock: DecryptWith) -> _Begun:
    with about(path):
        size = _size(target, path)
        try:
            return _begin_with(target, path, unlock, size)
        except SealaneError:
            # Many a filesystem remembers listings: look again, whether it is another file by now.
            target.invalidate_cache(path)
            if (now := _size(target, path)) == size:
                raise
            return _begin_with(target, path, unlock, now)


def _size(target: Any, path: str) -> int:
    info = target.info(path)
    if info["type"] == "directory":
        raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
    if info["size"] is None:
        raise OSError(errno.ESPIPE, "The server does not tell the size", path)
    return int(info["size"])


def _begin_with(target: Any, path: str, unlock: DecryptWith, size: int) -> _Begun:
    plain = plain_len(size)
    held_from = 0 if size <= SMALL else max(plain - TAIL, 0) // CHUNK_LEN * CHUNK_LEN
    tail, _ = sealed_range(held_from, held_from)
    spans = [(0, size)] if held_from == 0 else [(0, HEADER_LEN), (tail, size)]
    header, *rest = _fetch(target, [path] * len(spans), spans)
    ranges = Ranges(header[:HEADER_LEN], unlock)
    sealed = memoryview(rest[0] if rest else header)[0 if rest else HEADER_LEN :]
    # One byte more than there is, so that the last chunk is among them even where it is empty.
    held = ranges.open(held_from, plain + 1, sealed)
    return _Begun(ranges, plain, held_from, held)


def _fetch(target: Any, paths: list[str], spans: Sequence[tuple[int, int]]) -> list[bytes]:
    """What the files have at these places; less where they end."""
    starts, ends = [start for start, _ in spans], [end for _, end in spans]
    found = target.cat_ranges(paths, starts, ends, on_error="raise")
    for path, (start, end), data in zip(paths, spans, found, strict=True):
        if len(data) > end - start:
            raise OSError(errno.EIO, "The server sent more than the range that was asked for", path)
    return [bytes(data) for data in found]


@dataclass(frozen=True)
class Wanted:
    """A range of the plaintext of a file, both ends counted from its beginning."""

    path: str
    start: int
    end: int


def open_ranges(fs: SealaneFileSystem, wanted: Sequence[Wanted]) -> list[bytes | Exception]:
    """Opens ranges of any files, which are fetched in one go; an exception where that fails."""
    if fs.local:
        return _local_ranges(fs, wanted)
    spans = [(path, 0, HEADER_LEN) for path in dict.fromkeys(one.path for one in wanted)]
    spans += [(one.path, *sealed_range(one.start, one.end)) for one in wanted]
    paths, starts, ends = merge_offset_ranges(
        *(list(column) for column in zip(*spans, strict=True)), max_gap=MAX_GAP, max_block=MAX_BLOCK
    )
    found = fs.fs.cat_ranges(paths, starts, ends, on_error="return")
    pieces: dict[str, list[_Piece]] = {}
    for path, start, end, data in zip(paths, starts, ends, found, strict=True):
        pieces.setdefault(path, []).append(_Piece(start, end, data))
    headers: dict[str, Ranges | Exception] = {}
    return [_open_one(fs, one, pieces[one.path], headers) for one in wanted]


@dataclass(frozen=True)
class _Piece:
    """What was fetched."""

    start: int
    end: int
    data: bytes | Exception


def _open_one(
    fs: SealaneFileSystem, one: Wanted, pieces: list[_Piece], headers: dict[str, Ranges | Exception]
) -> bytes | Exception:
    try:
        with about(one.path):
            if one.path not in headers:
                headers[one.path] = _header(fs, one.path, pieces)
            if isinstance(ranges := headers[one.path], Exception):
                raise ranges
            return ranges.open(one.start, one.end, _cut(pieces, *sealed_range(one.start, one.end)))
    except Exception as error:
        return error


def _header(fs: SealaneFileSystem, path: str, pieces: list[_Piece]) -> Ranges | Exception:
    try:
        return Ranges(_cut(pieces, 0, HEADER_LEN), fs.keys.unlock(path))
    except Exception as error:
        return error


def _cut(pieces: list[_Piece], start: int, end: int) -> memoryview:
    piece = next(piece for piece in pieces if piece.start <= start and end <= piece.end)
    if isinstance(piece.data, Exception):
        raise piece.data
    if len(piece.data) > piece.end - piece.start:
        raise OSError(errno.EIO, "The server sent more than the range that was asked for")
    return memoryview(piece.data)[start - piece.start : end - piece.start]


def _local_ranges(fs: SealaneFileSystem, wanted: Sequence[Wanted]) -> list[bytes | Exception]:
    """A file is opened once, however many ranges of it are wanted."""
    files: dict[str, LocalFile | Exception] = {}
    out: list[bytes | Exception] = []
    try:
        for one in wanted:
            try:
                if one.path not in files:
                    files[one.path] = LocalFile(fs, one.path, fs.keys.unlock(one.path))
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


__all__ = ["LocalFile", "RemoteFile", "Wanted", "open_ranges"]
