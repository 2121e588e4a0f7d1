"""Encrypted bytes that are sent to another filesystem and appear there as one complete file."""

from __future__ import annotations

import contextlib
import errno
import inspect
import os
import secrets
import sys
import tempfile
import weakref
from typing import IO, Any

from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractFileSystem

from sealane._about import asking
from sealane.fs._below import Below, Direct, finished

IN_MEMORY = 8 << 20
"""Number of encrypted bytes that are buffered and sent in one request when the file is complete."""
PART = 16 << 20
"""Size in bytes of a part of a longer upload, unless ``block_size`` is given. S3 requires at least 5 MiB."""

OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "memory"})
"""Protocols whose objects appear complete, and whose files support ``autocommit=False`` and ``commit``."""


def is_object_store(fs: Any) -> bool:
    """Returns whether a file of the filesystem appears complete, under exactly the name that was given."""
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)
    return not OBJECT_STORES.isdisjoint(protocols)


async def refuse_existing(below: Below, path: str) -> None:
    """Raises FileExistsError if there is a file at ``path``. Cached listings are dropped first."""
    below.fs.invalidate_cache(path)
    if await below.call("exists", path):
        raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)


def temporary_name(path: str) -> str:
    """Returns a new name in the folder of ``path``, for a file that is not complete yet."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name[:48]}.{secrets.token_hex(8)}.part"


def moves_itself(fs: Any) -> bool:
    """Returns whether a filesystem has a call of its own to move files."""
    while isinstance(fs, DirFileSystem):
        fs = fs.fs
    own = type(fs).mv is not AbstractFileSystem.mv
    return own or inspect.iscoroutinefunction(getattr(fs, "_mv", None))


async def rename(below: Below, source: str, target: str, **options: Any) -> None:
    """Gives one file another name.

    Without a call of its own for this, fsspec copies what its patterns and listings find, and removes the
    source. A file that the server lists as a folder would be removed without a copy.
    """
    if moves_itself(below.fs):
        await below.call("mv", source, target, **options)
    else:
        await below.call("cp_file", source, target, **options)
        await below.call("rm_file", source)


async def send(below: Below, path: str, data: bytes, *, exclusive: bool) -> None:
    """Writes a file in one request. It appears complete or not at all."""
    if is_object_store(below.fs):
        await below.call("pipe_file", path, data, mode="create" if exclusive else "overwrite")
        return
    if exclusive:
        await refuse_existing(below, path)
    temporary = temporary_name(path)
    try:
        await below.call("pipe_file", temporary, data)
        await rename(below, temporary, path)
    except BaseException:
        with contextlib.suppress(Exception):
            await below.call("rm_file", temporary)
        raise


class Upload:
    """Encrypted bytes for a file of another filesystem, which appears there at ``commit``.

    Up to ``IN_MEMORY`` bytes are sent in one request. A longer file goes to an object store as a multipart
    upload that ``commit`` completes. Any other filesystem gets it from a local temporary file, under a
    temporary name that is then changed.
    """

    def __init__(
        self, fs: Any, path: str, block_size: int | None, *, exclusive: bool, **options: Any
    ) -> None:
        self._fs, self._path, self._exclusive = fs, path, exclusive
        self._part = block_size or PART
        self._options = options
        if exclusive:
            # Found out now, and not after all of the data was written. The end of the upload checks it again.
            with asking(path):
                finished(refuse_existing(Direct(fs), path))
        self._atomic = is_object_store(fs)
        self._max_buffered = sys.maxsize if isinstance(fs, MemoryFileSystem) else IN_MEMORY
        self._buffer: bytearray = bytearray()
        self._spilled: IO[bytes] | None = None
        _UPLOADS.add(self)

    def write(self, data: bytes) -> int:
        """Takes all of ``data`` and returns its length in bytes."""
        if self._spilled is None and len(self._buffer) + len(data) <= self._max_buffered:
            self._buffer += data
        else:
            with asking(self._path):
                self._spill(data)
        return len(data)

    def _spill(self, data: bytes) -> None:
        if self._spilled is None:
            kind = type(self._fs)
            if kind._open is AbstractFileSystem._open and kind.open is AbstractFileSystem.open:
                # Its file objects would take the data and write nothing.
                text = f"{kind.__name__} has no file objects, which long files are written through"
                raise NotImplementedError(text)
            self._spilled = self._open_spill()
            self._spilled.write(bytes(self._buffer))
            self._buffer = bytearray()
        self._spilled.write(data)

    def flush(self) -> None:
        """Does nothing: buffered bytes are sent when the buffer is full, or at ``commit``."""

    def commit(self) -> None:
        """Completes the file under its name."""
        with asking(self._path):
            self._commit()

    def _commit(self) -> None:
        if self._spilled is None:
            below, data = Direct(self._fs), bytes(self._buffer)
            finished(send(below, self._path, data, exclusive=self._exclusive))
        elif self._atomic:
            self._spilled.close()
            self._spilled.commit()  # type: ignore[attr-defined]
        else:
            self._commit_by_renaming(self._spilled)
        self._spilled = None

    def discard(self) -> None:
        """Removes the encrypted data that is written but not committed."""
        spilled, self._spilled = self._spilled, None
        self._buffer = bytearray()
        if spilled is None:
            return
        if not self._atomic:
            spilled.close()
            return
        # Marked as closed first, so that its destructor does not go on with the upload.
        spilled.closed = True  # type: ignore[misc]
        spilled.discard()  # type: ignore[attr-defined]

    def abandon(self) -> None:
        """Drops the upload in a forked child, without a request: it belongs to the parent."""
        spilled, self._spilled = self._spilled, None
        self._buffer = bytearray()
        if spilled is not None and self._atomic:
            # Otherwise its destructor would complete the upload.
            spilled.closed = True  # type: ignore[misc]

    def _open_spill(self) -> IO[bytes]:
        if not self._atomic:
            return tempfile.TemporaryFile()
        # `open` would add the file to a running transaction of the other filesystem.
        file = self._fs._open(
            self._path,
            mode="xb" if self._exclusive else "wb",
            block_size=self._part,
            autocommit=False,
            cache_options=None,
            **self._options,
        )
        return file  # type: ignore[no-any-return]

    def _commit_by_renaming(self, spilled: IO[bytes]) -> None:
        if self._exclusive:
            finished(refuse_existing(Direct(self._fs), self._path))
        temporary = temporary_name(self._path)
        try:
            spilled.seek(0)
            with self._fs.open(temporary, "wb") as file:
                while piece := spilled.read(PART):
                    file.write(piece)
            spilled.close()
            finished(rename(Direct(self._fs), temporary, self._path))
        except BaseException:
            with contextlib.suppress(Exception):
                self._fs.rm_file(temporary)
            raise


_UPLOADS: weakref.WeakSet[Upload] = weakref.WeakSet()
"""The uploads of this process that exist."""


def _abandon_uploads() -> None:
    for upload in list(_UPLOADS):
        upload.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_uploads)
