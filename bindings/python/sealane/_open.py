"""``sealane.open``: encrypted files that are read and written like any other file."""

from __future__ import annotations

import builtins
import contextlib
import io
import operator
import os
import threading
from types import TracebackType
from typing import IO, TYPE_CHECKING, Any, Literal, overload

from sealane import _native
from sealane._native import DecryptWith, EncryptWith
from sealane._places import PIECE, binary, is_stream, path_of

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import _FileKey as FileKey
    from sealane._native import _Identities as Identities
    from sealane._native import _Recipients as Recipients
    from sealane._native import _Text as Text
    from sealane._places import Place

__all__ = ["EncryptedReader", "EncryptedWriter", "open"]

_PEEK = 4096
"""Bytes that ``peek`` shows at most, so that ``readline`` costs a short copy and not a chunk."""


@overload
def open(
    file: Place,
    mode: Literal["rb"] = "rb",
    *,
    key: FileKey | None = None,
    identities: Identities | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    max_work_factor: int | None = None,
) -> EncryptedReader: ...
@overload
def open(
    file: Place,
    mode: Literal["wb"],
    *,
    key: FileKey | None = None,
    recipients: Recipients | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    armor: bool = False,
    durable: bool = False,
) -> EncryptedWriter: ...
def open(
    file: Place,
    mode: str = "rb",
    *,
    key: FileKey | None = None,
    recipients: Recipients | None = None,
    identities: Identities | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    armor: bool = False,
    max_work_factor: int | None = None,
    durable: bool = False,
) -> EncryptedReader | EncryptedWriter:
    """Opens an encrypted file and returns a file object of its plaintext.

    ``file`` is a path or a binary file object, which is not closed. With mode "rb" it must be seekable;
    every byte read is verified, at any position. With mode "wb" a path gets its file, whole, when the
    ``with`` block ends cleanly or ``close()`` is called; an exception in the block or a forgotten object
    discards it. See ``encrypt_file`` for the other parameters of writing, ``decrypt_file`` for those of
    reading and for what is raised.
    """
    if mode == "rb":
        if recipients is not None or armor:
            raise TypeError("recipients and armor are for writing; identities read")
        unlock = DecryptWith(
            key=key,
            identities=identities,
            passphrase=passphrase,
            context=context,
            format=format,
            max_work_factor=max_work_factor,
        )
        return EncryptedReader(file, unlock)
    if mode == "wb":
        if identities is not None or max_work_factor is not None:
            raise TypeError("identities and max_work_factor are for reading; write for recipients")
        lock = EncryptWith(
            key=key, recipients=recipients, passphrase=passphrase, context=context, format=format, armor=armor
        )
        return EncryptedWriter(file, lock, durable=durable)
    raise ValueError(f"mode must be 'rb' or 'wb', not {mode!r}")


class _EncryptedFile(io.RawIOBase):
    """What reading and writing have in common."""

    mode: str

    def __init__(self, file: Place) -> None:
        super().__init__()
        self.name: Any = file if isinstance(file, str | os.PathLike) else getattr(file, "name", None)
        # Re-entrant: a signal handler may run in the middle of a call and use the same file.
        self._lock = threading.RLock()
        self._position = 0

    def __repr__(self) -> str:
        return f"<sealane.{type(self).__name__} name={self.name!r} mode={self.mode!r}>"

    def __reduce__(self) -> Any:
        raise TypeError("an encrypted file is never pickled or copied: it holds a key")

    def tell(self) -> int:
        self._check()
        return self._position

    def _check(self) -> None:
        if self.closed:
            raise ValueError("I/O operation on closed file")


class EncryptedReader(_EncryptedFile):
    """The plaintext of an encrypted file, seekable; made by ``sealane.open``. Threads may share it."""

    mode = "rb"

    def __init__(self, file: Place, unlock: DecryptWith) -> None:
        super().__init__(file)
        name = path_of(file)
        if name is not None and is_stream(name):
            raise io.UnsupportedOperation(
                f"{name!r} cannot be read at any position; use sealane.decrypt_file"
            )
        self._native = _native.Reader(name if name is not None else binary(file), unlock)

    @property
    def size(self) -> int:
        """Bytes of plaintext. The end of the file was verified before this was believed."""
        self._check()
        return self._native.size

    def readable(self) -> bool:
        self._check()
        return True

    def seekable(self) -> bool:
        self._check()
        return True

    def read(self, size: int | None = -1, /) -> bytes:
        """Exactly ``size`` bytes, fewer at the end; where ``size`` is None or negative, all that is left."""
        with self._lock:
            self._check()
            if size is None or size < 0:
                size = max(0, self._native.size - self._position)
            data = self._native.read_at(self._position, size)
            self._position += len(data)
            return data

    def read1(self, size: int | None = -1, /) -> bytes:
        """The same as ``read``, but at most 1 MiB."""
        return self.read(PIECE if size is None or size < 0 else min(size, PIECE))

    def readall(self) -> bytes:
        """All that is left."""
        return self.read()

    def readinto(self, buffer: Buffer, /) -> int:
        """Fills ``buffer``, but at the end; returns the number of bytes."""
        with self._lock:
            self._check()
            n = self._native.readinto_at(self._position, buffer)
            self._position += n
            return n

    def write(self, data: Buffer, /) -> int:
        """Not for a file that is read."""
        raise io.UnsupportedOperation("not writable")

    def peek(self, size: int = 0, /) -> bytes:
        """Some bytes from here on, without moving; empty at the end only."""
        with self._lock:
            self._check()
            return self._native.read_at(self._position, _PEEK)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves to a byte of the plaintext, counted from the start, from here or from the end; returns it."""
        offset = operator.index(offset)
        with self._lock:
            self._check()
            if whence == os.SEEK_SET:
                position = offset
            elif whence == os.SEEK_CUR:
                position = self._position + offset
            elif whence == os.SEEK_END:
                position = self._native.size + offset
            else:
                raise ValueError(f"whence must be 0, 1 or 2, not {whence!r}")
            if not 0 <= position < 1 << 63:
                raise ValueError(f"no such position: {position}")
            self._position = position
            return position


class EncryptedWriter(_EncryptedFile):
    """An encrypted file in the making. Made by ``sealane.open``.

    It becomes a file when its ``with`` block ends cleanly or ``close()`` is called. Otherwise a path never
    gets one, and a file object is left without the end, so that no reader takes it for whole.
    """

    mode = "wb"

    def __init__(self, file: Place, lock: EncryptWith, *, durable: bool = False) -> None:
        super().__init__(file)
        self._durable = durable
        self._owned: IO[bytes] | None = None
        self._making: _native.Writer | None = None
        name = path_of(file)
        target: str | IO[bytes]
        if name is None:
            target = binary(file)
        elif is_stream(name):
            target = self._owned = builtins.open(name, "wb", buffering=0)  # noqa: SIM115, closed by _forget
        else:
            target = name
        try:
            self._making = _native.Writer(target, lock)
        except BaseException:
            if self._owned is not None:
                self._owned.close()
            raise

    def writable(self) -> bool:
        self._check()
        return True

    def write(self, data: Buffer, /) -> int:
        """Encrypts all of ``data``; returns its length in bytes."""
        with self._lock:
            n = self._native().write(data)
            self._position += n
            return n

    def readinto(self, buffer: Buffer, /) -> int:
        """Not for a file that is written."""
        raise io.UnsupportedOperation("not readable")

    def close(self) -> None:
        """Writes the end of the file; a path gets its file now."""
        with self._lock:
            if self.closed:
                return
            try:
                if self._making is not None:
                    self._making.finish(self._durable)
            finally:
                self._forget()

    def discard(self) -> None:
        """Closes, and throws away what was written."""
        with self._lock:
            if not self.closed:
                try:
                    if self._making is not None:
                        self._making.discard()
                finally:
                    self._forget()

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
        /,
    ) -> None:
        if kind is None:
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        # The base class would close, and so finish a file that nobody finished.
        with contextlib.suppress(Exception):
            self.discard()

    def _native(self) -> _native.Writer:
        self._check()
        assert self._making is not None
        return self._making

    def _forget(self) -> None:
        self._making = None
        super().close()
        if self._owned is not None:
            self._owned.close()
