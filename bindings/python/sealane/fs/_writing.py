"""Writing: a file gets its name when it is whole, or never."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import secrets
import sys
import tempfile
from typing import IO, TYPE_CHECKING, Any

from fsspec.implementations.memory import MemoryFileSystem

from sealane._about import about
from sealane._native import EncryptWith
from sealane._open import EncryptedWriter

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane.fs._filesystem import SealaneFileSystem

IN_MEMORY = 8 << 20
"""Sealed bytes that are kept until the file is whole and then sent in one request."""
PART = 16 << 20
"""Bytes of a part of a longer upload, unless ``block_size`` says otherwise. S3 wants at least 5 MiB."""

OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "memory"})
"""Protocols under which an object appears whole, and whose files wait for ``commit`` if they are told to."""


class WrittenFile(EncryptedWriter):
    """A file in the making. It gets its name when it is closed, or when its transaction ends.

    Closed while an exception is on its way that was not there when it was opened, it is discarded, and raises
    that exception: fsspec's own context managers, and many a library's, do not tell a file that its block
    failed.
    """

    def __init__(
        self,
        fs: SealaneFileSystem,
        path: str,
        lock: EncryptWith,
        upload: Upload | NewFile | None,
        *,
        autocommit: bool,
    ) -> None:
        self._upload = upload
        self._autocommit = autocommit
        self._before = sys.exception()
        with about(path):
            target = upload.place if isinstance(upload, NewFile) else upload or path
            super().__init__(target, lock)  # type: ignore[arg-type]
        self.fs, self.path, self.name = fs, path, path

    @property
    def size(self) -> int:
        """Bytes of plaintext so far."""
        return self._position

    def write(self, data: Buffer, /) -> int:
        """Encrypts all of ``data``; returns its length in bytes. After a failure the file is lost."""
        try:
            with about(self.path):
                return super().write(data)
        except (TypeError, ValueError):
            raise  # A misuse: nothing was written.
        except BaseException:
            self.discard()
            raise

    def close(self) -> None:
        """Writes the end of the file. Outside of a transaction the file gets its name now."""
        with self._lock:
            if self.closed:
                return
            flying = sys.exception()
            if flying is not None and flying is not self._before:
                self.discard()
                # Whoever is being told of it anyway sees no difference. Somebody else, who caught it and
                # went on to close the file, is told that there is none.
                raise flying
            if self._autocommit:
                self.commit()
            else:
                # Only marks it: what was written so far waits for the transaction's end.
                io.RawIOBase.close(self)

    def commit(self) -> None:
        """Gives the file its name."""
        with self._lock:
            if self._making is None:
                raise ValueError(f"{self.path}: was committed before, or lost by an earlier failure")
            try:
                with about(self.path):
                    self._making.finish(self._durable)
                    if self._upload is not None:
                        self._upload.commit()
                self._making = None
            finally:
                self.discard()
            self.fs.invalidate_cache(self.path)

    def discard(self) -> None:
        """Throws away what was not committed."""
        with self._lock:
            making, self._making = self._making, None
            try:
                if making is not None:
                    making.discard()
                    if self._upload is not None:
                        self._upload.discard()
            finally:
                self._forget()


class NewFile:
    """A file on this machine's disk that must not replace another: no second name is given that is taken."""

    def __init__(self, path: str) -> None:
        self._path = path
        self.place = neighbour(path)
        """Where it is written."""

    def commit(self) -> None:
        """It is there, whole."""
        try:
            os.link(self.place, self._path)
        except FileExistsError:
            raise FileExistsError(errno.EEXIST, "is there already", self._path) from None
        finally:
            os.unlink(self.place)

    def discard(self) -> None:
        """It never was: without ``commit`` the core does not give it its first name either."""


def neighbour(path: str) -> str:
    """A name beside ``path`` that nobody has."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name[:48]}.{secrets.token_hex(8)}.part"


class Upload:
    """Sealed bytes on their way to a file of another filesystem, which gets them at ``commit``.

    Up to ``IN_MEMORY`` bytes are sent at the end. More go to an object store as parts of an upload that is
    completed at the end; to any other filesystem from a temporary file, under a name that is changed then.
    """

    def __init__(
        self, fs: Any, path: str, block_size: int | None, *, exclusive: bool, **options: Any
    ) -> None:
        self._fs, self._path, self._exclusive = fs, path, exclusive
        self._part = block_size or PART
        self._options = options
        self._whole = whole = bool(OBJECT_STORES.intersection(_protocols(fs)))
        self._most = sys.maxsize if isinstance(fs, MemoryFileSystem) else IN_MEMORY
        self._buffer: bytearray = bytearray()
        self._begin = self._begin_parts if whole else self._begin_temporary
        self._rest: IO[bytes] | None = None

    def write(self, data: bytes) -> int:
        """Takes all of it."""
        if self._rest is None and len(self._buffer) + len(data) <= self._most:
            self._buffer += data
        else:
            if self._rest is None:
                self._rest = self._begin()
                self._rest.write(bytes(self._buffer))
                self._buffer = bytearray()
            self._rest.write(data)
        return len(data)

    def flush(self) -> None:
        """Nothing is sent before its time."""

    def commit(self) -> None:
        """The file is there, whole."""
        mode = "create" if self._exclusive else "overwrite"
        if self._rest is None and self._whole:
            self._fs.pipe_file(self._path, bytes(self._buffer), mode=mode)
        elif self._whole:
            assert self._rest is not None
            self._rest.close()
            self._rest.commit()  # type: ignore[attr-defined]
        else:
            self._commit_renamed()
        self._rest = None

    def discard(self) -> None:
        """The file never was."""
        rest, self._rest = self._rest, None
        self._buffer = bytearray()
        if rest is None:
            return
        if not self._whole:
            rest.close()
            return
        # Closed first, so that its destructor does not go on with the upload.
        rest.closed = True  # type: ignore[misc]
        rest.discard()  # type: ignore[attr-defined]

    def _begin_parts(self) -> IO[bytes]:
        # Not `open`, which would add it to a transaction of the other filesystem's.
        file = self._fs._open(
            self._path,
            mode="xb" if self._exclusive else "wb",
            block_size=self._part,
            autocommit=False,
            cache_options=None,
            **self._options,
        )
        return file  # type: ignore[no-any-return]

    def _begin_temporary(self) -> IO[bytes]:
        return tempfile.TemporaryFile()

    def _commit_renamed(self) -> None:
        if self._exclusive and self._fs.exists(self._path):
            raise FileExistsError(f"{self._path}: is there already")
        interim = neighbour(self._path)
        try:
            if self._rest is None:
                self._fs.pipe_file(interim, bytes(self._buffer))
            else:
                self._rest.seek(0)
                with self._fs.open(interim, "wb") as file:
                    while piece := self._rest.read(PART):
                        file.write(piece)
                self._rest.close()
            self._fs.mv(interim, self._path)
        except BaseException:
            with contextlib.suppress(Exception):
                self._fs.rm_file(interim)
            raise


def _protocols(fs: Any) -> tuple[str, ...]:
    return (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)


__all__ = ["Upload", "WrittenFile"]
