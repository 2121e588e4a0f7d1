"""Encrypted files that are being written. A file appears under its name complete, or never."""

from __future__ import annotations

import contextlib
import os
import secrets
import sys
import tempfile
import weakref
from typing import IO, TYPE_CHECKING, Any

from fsspec.implementations.memory import MemoryFileSystem

from sealane._about import about
from sealane._open import EncryptedWriter, WritableFile
from sealane.exceptions import ForkedError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import EncryptWith
    from sealane.fs._interface import Filesystem

IN_MEMORY = 8 << 20
"""Number of encrypted bytes that are buffered and sent in one request when the file is complete."""
PART = 16 << 20
"""Size in bytes of a part of a longer upload, unless ``block_size`` is given. S3 requires at least 5 MiB."""

OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "memory"})
"""Protocols whose objects appear complete, and whose files support ``autocommit=False`` and ``commit``."""


def open_for_writing(
    fs: Filesystem,
    path: str,
    *,
    exclusive: bool,
    block_size: int | None,
    autocommit: bool,
    **options: Any,
) -> WrittenFile:
    """Opens a new file for writing; with ``exclusive``, no file may exist under its name."""
    encryption = fs.keys.encryption(path)
    upload = None
    if fs.local:
        make_parents(path)
    else:
        upload = Upload(fs.fs, path, block_size, exclusive=exclusive, **options)
    return WrittenFile(fs, path, encryption, upload, exclusive=exclusive, autocommit=autocommit)


def make_parents(path: str) -> None:
    """Makes the folders above a local file, as none need to be made in an object store."""
    if folder := os.path.dirname(path):
        os.makedirs(folder, exist_ok=True)


class WrittenFile(WritableFile):
    """An encrypted file that is being written and that appears when it is complete.

    It appears under its name when it is closed, or when its transaction ends. A file that is closed while an
    exception propagates is discarded, and ``close`` raises that exception: the context managers of fsspec and
    of many libraries close a file without telling it that the block failed.
    """

    def __init__(
        self,
        fs: Filesystem,
        path: str,
        encryption: EncryptWith,
        upload: Upload | None,
        *,
        exclusive: bool,
        autocommit: bool,
    ) -> None:
        super().__init__(path)
        self.fs, self.path = fs, path
        self._upload = upload
        self._autocommit = autocommit
        self._exception_at_open = sys.exception()
        with about(path):
            # The exclusive creation of an upload happens at its end.
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
        """Completes the file. Outside of a transaction it gets its name now."""
        with self._lock:
            if self.closed:
                return
            propagating = sys.exception()
            if propagating is not None and (
                propagating is not self._exception_at_open or self._in_failing_block()
            ):
                self._discard()
                # This changes nothing for a caller that the exception reaches anyway. A caller that caught it
                # and goes on to close the file learns that there is no file.
                raise propagating
            if self._autocommit:
                self._commit()
            else:
                # The encrypted data waits for the end of the transaction.
                super().close()

    def commit(self) -> None:
        """Gives the completed file its name, under which it can then be read."""
        with self._lock:
            self._commit()

    def _commit(self) -> None:
        if self._encrypted.closed:
            raise ValueError(f"{self.path}: the file is already committed, or was lost by a failure")
        try:
            with about(self.path):
                self._encrypted.close()
                if self._upload is not None:
                    self._upload.commit()
        finally:
            self._discard()
        self.fs.invalidate_cache(self.path)

    def discard(self) -> None:
        """Closes the file and removes what is not committed."""
        with self._lock:
            self._discard()

    def _discard(self) -> None:
        try:
            self._encrypted.discard()
            if self._upload is not None:
                self._upload.discard()
        finally:
            super().close()


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
        self._atomic = bool(OBJECT_STORES.intersection(_protocols(fs)))
        self._max_buffered = sys.maxsize if isinstance(fs, MemoryFileSystem) else IN_MEMORY
        self._buffer: bytearray = bytearray()
        self._spilled: IO[bytes] | None = None
        _UPLOADS.add(self)

    def write(self, data: bytes) -> int:
        """Takes all of ``data`` and returns its length in bytes."""
        if self._spilled is None and len(self._buffer) + len(data) <= self._max_buffered:
            self._buffer += data
        else:
            if self._spilled is None:
                self._spilled = self._open_spill()
                self._spilled.write(bytes(self._buffer))
                self._buffer = bytearray()
            self._spilled.write(data)
        return len(data)

    def flush(self) -> None:
        """Does nothing: buffered bytes are sent when the buffer is full, or at ``commit``."""

    def commit(self) -> None:
        """Completes the file under its name."""
        if not self._atomic:
            self._commit_by_renaming()
        elif self._spilled is None:
            mode = "create" if self._exclusive else "overwrite"
            self._fs.pipe_file(self._path, bytes(self._buffer), mode=mode)
        else:
            self._spilled.close()
            self._spilled.commit()  # type: ignore[attr-defined]
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

    def _commit_by_renaming(self) -> None:
        if self._exclusive and self._fs.exists(self._path):
            raise FileExistsError(f"{self._path}: the file exists")
        folder, slash, name = self._path.rpartition("/")
        temporary = f"{folder}{slash}.{name[:48]}.{secrets.token_hex(8)}.part"
        try:
            if self._spilled is None:
                self._fs.pipe_file(temporary, bytes(self._buffer))
            else:
                self._spilled.seek(0)
                with self._fs.open(temporary, "wb") as file:
                    while piece := self._spilled.read(PART):
                        file.write(piece)
                self._spilled.close()
            self._fs.mv(temporary, self._path)
        except BaseException:
            with contextlib.suppress(Exception):
                self._fs.rm_file(temporary)
            raise


_UPLOADS: weakref.WeakSet[Upload] = weakref.WeakSet()
"""The uploads of this process that exist."""


def _abandon_uploads() -> None:
    for upload in list(_UPLOADS):
        upload.abandon()


os.register_at_fork(after_in_child=_abandon_uploads)


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


__all__ = ["Upload", "WrittenFile", "make_parents", "open_for_writing"]
