"""Encrypted files that are being written. A file appears under its name complete, or never."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

from sealane._about import about
from sealane._open import EncryptedWriter, WritableFile
from sealane.exceptions import ForkedError
from sealane.fs._below import Direct, finished
from sealane.fs._upload import Upload

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import EncryptWith
    from sealane.fs._interface import Filesystem


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
    encryption = finished(fs.keys.encryption(Direct(fs.files), path))
    upload = None
    if fs.local:
        make_parents(fs.fs, path)
    else:
        upload = Upload(fs.files, path, block_size, exclusive=exclusive, **options)
    return WrittenFile(fs, path, encryption, upload, exclusive=exclusive, autocommit=autocommit)


def make_parents(target: Any, path: str) -> None:
    """Makes the folders above a local file, as none need to be made in an object store.

    ``LocalFileSystem(auto_mkdir=False)`` makes none. Without that option, its default, folders are made.
    """
    if target.storage_options.get("auto_mkdir", True) and (folder := os.path.dirname(path)):
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
        self.mode = "xb" if exclusive else "wb"
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
