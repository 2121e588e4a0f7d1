"""Encrypted files open for writing. A file appears under its name complete, or never."""

from __future__ import annotations

import codecs
import contextlib
import io
import os
import shutil
import sys
import tempfile
import weakref
from functools import partial
from typing import IO, TYPE_CHECKING, Any

from fsspec.compression import compr
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractFileSystem

from sealane._error_paths import about, asking
from sealane._open import EncryptedWriter, WritableFile
from sealane.exceptions import ForkedError, escaped
from sealane.fs._abilities import is_object_store
from sealane.fs._store import Store, filesystem_of
from sealane.fs._transfer import send

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import EncryptWith

IN_MEMORY = 8 << 20
"""Encrypted bytes buffered and sent in one request when the file is complete."""
PART = 16 << 20
"""Part size in bytes of a longer upload, unless ``block_size`` is given. S3 requires 5 MiB."""


def make_parents(target: Any, path: str) -> None:
    """Makes the folders above a local file. Object stores need none.

    ``LocalFileSystem(auto_mkdir=False)`` makes none. By default, folders are made.
    """
    if target.storage_options.get("auto_mkdir", True) and (folder := os.path.dirname(path)):
        os.makedirs(folder, exist_ok=True)


class WrittenFile(WritableFile):
    """An encrypted file open for writing; it appears when complete.

    It appears under its name when it is closed or when its transaction ends. An exception that
    leaves the file's ``with`` block, or a wrapper's, discards it.
    """

    def __init__(
        self,
        fs: Any,
        path: str,
        encryption: EncryptWith,
        upload: Upload | None,
        *,
        exclusive: bool,
        autocommit: bool,
    ) -> None:
        super().__init__(path)
        self.fs, self.path = fs, path
        self.mode = "xb" if exclusive else "wb"
        self._upload = upload
        self._autocommit = autocommit
        # An upload's exclusive creation happens at its end.
        self._encrypted = EncryptedWriter(
            upload or path,  # type: ignore[arg-type]
            encryption,
            exclusive=exclusive and upload is None,
        )

    @property
    def size(self) -> int:
        """Number of plaintext bytes written so far."""
        return self._position

    def write(self, data: Buffer, /) -> int:
        """Encrypts ``data`` and returns its length in bytes. A failed write discards the file."""
        with self._lock:
            self._check()
            try:
                with about(self.path):
                    written = self._encrypted.write(data)
            except (TypeError, ValueError, ForkedError):
                raise  # Nothing was written.
            except BaseException:
                self._discard()
                raise
            self._position += written
            return written

    def close(self) -> None:
        """Completes the file. Outside a transaction it gets its name now."""
        with self._lock:
            if self.closed:
                return
            if self._is_lost():
                self._discard()
            elif self._autocommit:
                self._commit()
            else:
                # The encrypted data waits for the end of the transaction.
                super().close()

    def commit(self) -> None:
        """Gives the completed file its name and makes it readable."""
        with self._lock:
            self._commit()

    def _commit(self) -> None:
        if self._encrypted.closed:
            raise ValueError(f"{escaped(self.path)}: the file is already committed, or was lost by a failure")
        try:
            with about(self.path):
                self._encrypted._end()
                if self._upload is not None:
                    self._upload.commit()
        finally:
            self._discard()
        self.fs.invalidate_cache(self.path)

    def discard(self) -> None:
        """Closes the file and removes uncommitted data."""
        with self._lock:
            self._discard()

    def _discard(self) -> None:
        try:
            self._encrypted.discard()
            if self._upload is not None:
                self._upload.discard()
        finally:
            super().close()


def compressed(file: Any, compression: str | None, mode: str) -> Any:
    """Returns a (de)compressing file object over ``file`` that closes it at the end.

    The compression classes do not close the file, and an unclosed file never appears.
    """
    if compression is None:
        return file
    outer = compr[compression](file, mode=mode[0])
    if type(outer).__dictoffset__ == 0:
        # zstandard: its objects take no attributes.
        outer = (io.BufferedReader if "r" in mode else io.BufferedWriter)(outer)
    finish = outer.close

    def close() -> None:
        if getattr(outer, "_finalizing", False) and "r" not in mode:
            file.discard()  # The object was dropped unclosed.
        try:
            finish()
        except BaseException:
            if "r" not in mode:
                file.discard()
            raise
        file.close()

    def discard() -> None:
        file._dropped = True
        with contextlib.suppress(Exception):
            close()

    outer.close, outer.discard = close, discard
    if "r" not in mode:
        outer._dealloc_warn = file._dealloc_warn  # A text wrapper was dropped unclosed.
    return outer


def write_byte_order_mark(file: io.TextIOWrapper) -> None:
    """Writes an encoding's byte order mark. TextIOWrapper writes it only to seekable files."""
    name = codecs.lookup(file.encoding).name
    file.buffer.write({"utf-16": codecs.BOM_UTF16, "utf-32": codecs.BOM_UTF32}.get(name, b""))


class Upload:
    """Encrypted bytes for a file on another filesystem. It appears at ``commit``.

    Up to ``IN_MEMORY`` bytes are sent in one request. A longer file goes to an object store as a
    multipart upload that ``commit`` completes. Other filesystems get it from a local temporary
    file, under a temporary name that is then changed.
    """

    def __init__(
        self, store: Store, path: str, block_size: int | None = None, *, exclusive: bool, **options: Any
    ) -> None:
        self._store, self._fs, self._path, self._exclusive = store, store.files, path, exclusive
        self._options = options if block_size is None else {"block_size": block_size, **options}
        store.check_writes(path)
        if exclusive:
            # Fail now rather than after writing all data. The end of the upload checks again.
            store.run(store.refuse_existing(path))
        self._atomic = is_object_store(self._fs)
        self._max_buffered = sys.maxsize if isinstance(self._fs, MemoryFileSystem) else IN_MEMORY
        self._buffer: bytearray = bytearray()
        self._spilled: IO[bytes] | None = None
        _UPLOADS.add(self)
        kind = type(self._fs)
        # File objects of these filesystems would take the data and write nothing.
        self._has_files = not (
            kind._open is AbstractFileSystem._open and kind.open is AbstractFileSystem.open
        )
        if self._options and self._has_files and self._max_buffered == IN_MEMORY:
            # The file object takes the options, or refuses them before anything is written.
            self.write_through(b"")

    def write(self, data: bytes) -> int:
        """Takes all of ``data`` and returns its length in bytes."""
        if self._spilled is None and len(self._buffer) + len(data) <= self._max_buffered:
            self._buffer += data
        else:
            self.write_through(data)
        return len(data)

    def write_through(self, data: bytes) -> None:
        """Sends or spills what is buffered, and ``data``."""
        with asking(self._path):
            if self._spilled is None:
                if not self._has_files:
                    text = (
                        f"{type(self._fs).__name__} has no file objects, which long files are written through"
                    )
                    raise NotImplementedError(text)
                self._spilled = self._open_spill()
                self._spilled.write(bytes(self._buffer))
                self._buffer = bytearray()
            self._spilled.write(data)

    def flush(self) -> None:
        """Does nothing: buffered bytes are sent when the buffer is full or at ``commit``."""

    def commit(self) -> None:
        """Completes the file under its name."""
        if self._spilled is None:
            data = bytes(self._buffer)
            work = send(self._store, self._path, data, exclusive=self._exclusive, **self._options)
            self._store.run(work)
        elif self._atomic:
            with asking(self._path):
                self._spilled.close()
                self._spilled.commit()  # type: ignore[attr-defined]
        else:
            self._commit_by_renaming(self._spilled)
        self._spilled = None

    def discard(self) -> None:
        """Removes the encrypted data that is written but not committed."""
        spilled = self._spilled
        self.abandon()
        if spilled is not None and self._atomic:
            with asking(self._path):
                spilled.discard()  # type: ignore[attr-defined]
        elif spilled is not None:
            spilled.close()

    def abandon(self) -> None:
        """Drops the upload in a forked child without a request: it belongs to the parent."""
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
            autocommit=False,
            **({"block_size": PART, "cache_options": None} | self._options),
        )
        return file  # type: ignore[no-any-return]

    def _commit_by_renaming(self, spilled: IO[bytes]) -> None:
        def write(temporary: str) -> None:
            with asking(self._path), self._fs.open(temporary, "wb", **self._options) as file:
                spilled.seek(0)
                shutil.copyfileobj(spilled, file, PART)
            spilled.close()

        async def in_thread(temporary: str) -> None:
            await self._store.blocking(partial(write, temporary))

        async def commit() -> None:
            if self._exclusive:
                await self._store.refuse_existing(self._path)
            await self._store.replace(self._path, in_thread)

        self._store.run(commit())


def upload_to(url: str) -> Upload:
    """Returns a new file at a URL, for the program."""
    fs, path = filesystem_of(url, {})
    store = Store(fs)
    store.check_name(path)
    return Upload(store, path, exclusive=False)


_UPLOADS: weakref.WeakSet[Upload] = weakref.WeakSet()
"""This process's uploads."""


def _abandon_uploads() -> None:
    for upload in list(_UPLOADS):
        upload.abandon()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_abandon_uploads)
