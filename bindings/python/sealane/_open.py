"""``sealane.open``: file objects that decrypt on read and encrypt on write."""

from __future__ import annotations

import builtins
import contextlib
import errno
import io
import operator
import os
from typing import IO, TYPE_CHECKING, Any, Literal, overload

from sealane import _native
from sealane._endpoints import PIECE, binary_file, is_stream, path_of, read_piece
from sealane._frames import failing_blocks, forgetting
from sealane._native import DecryptWith, EncryptWith

if TYPE_CHECKING:
    from sealane._endpoints import Buffer, FileKey, Identities, PathOrFile, Recipients, Text

_PEEK = 4096
"""Maximum number of bytes ``peek`` returns, so that ``readline`` does not copy a whole chunk."""

MAX_POSITION = (1 << 63) - 1
"""Largest position a file object can seek to, as for other files."""

_closed = io.RawIOBase.closed.__get__
"""Whether a file object is closed. A subclass may have a slower property of that name."""


@overload
def open(
    file: PathOrFile,
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
    file: PathOrFile,
    mode: Literal["wb", "xb"],
    *,
    key: FileKey | None = None,
    recipients: Recipients | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    armor: bool = False,
    durable: bool = False,
) -> EncryptedWriter: ...
@overload
def open(
    file: PathOrFile,
    mode: Literal["rt", "wt", "xt"],
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
    encoding: str = "utf-8",
    errors: str | None = None,
    newline: str | None = None,
) -> io.TextIOWrapper: ...
@forgetting
def open(
    file: PathOrFile,
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
    encoding: str = "utf-8",
    errors: str | None = None,
    newline: str | None = None,
) -> EncryptedReader | EncryptedWriter | io.TextIOWrapper:
    """Opens an encrypted file as a file object of its plaintext.

    Reads have random access: ``seek`` and ``read`` decrypt and verify only the chunks they need.
    Writes are encrypted as they go.

    Pass exactly one of ``key``, ``recipients`` or ``identities``, and ``passphrase``.

    Parameters
    ----------
    file : str, os.PathLike or binary file object
        A str is always a path. A file object is not closed. A pipe, at a path or as a file object,
        is read once, from start to end.
    mode : str
        "rb" to read, "wb" to write, or "xb" to write a path that must not exist; "rt", "wt" and
        "xt" for text.
    key : bytes-like, sealane.keys.Key, sealane.keys.Keyring or str
        A random key of 16 or 32 bytes, never a password, or a reference such as "file:key.jwk".
    recipients : list of str or sealane.keys.PublicKey
        The public keys to encrypt to (writing only).
    identities : list of sealane.keys.Key, str or os.PathLike
        The private keys to try (reading only).
    passphrase : str or bytes
        A passphrase. Key derivation takes about one second and 256 MiB.
    context, format, armor, max_work_factor
        See ``encrypt_file`` and ``decrypt_file``.
    durable : bool
        Whether to wait until the content is on disk before the file gets its name (writing only).
    encoding, errors, newline
        See ``io.TextIOWrapper`` (text only).

    Returns
    -------
    EncryptedReader, EncryptedWriter or io.TextIOWrapper
        A written file appears at its path, complete, when the ``with`` block ends without an
        exception or ``close()`` is called. After an exception there is no file, and an existing
        file is unchanged.

    Notes
    -----
    A file being written cannot seek, so ``io.TextIOWrapper`` writes no byte order mark to it. For
    "utf-16", write ``codecs.BOM_UTF16`` first, or name the byte order, for example "utf-16-le".

    Raises
    ------
    AuthenticationError
        If the key or context is wrong, or the data was modified. ``read`` raises it too: a chunk is
        verified before its bytes are returned.
    NoMatchingKeyError
        If no identity matches a recipient of the file, or the passphrase is wrong.
    FormatError
        If the file is not an encrypted file of this format, or a recipient cannot be parsed.
    TruncatedError
        If the end of the file is missing.
    TypeError, ValueError
        If the arguments do not go together, as for ``encrypt_file`` and ``decrypt_file``.
    OSError
        If the file cannot be read or written. FileExistsError with mode "xb" if the path exists,
        now or when the new file is complete.

    Examples
    --------
    >>> key = sealane.keys.generate("aes-256")
    >>> with sealane.open("data.sealed", "wb", key=key) as file:
    ...     _ = file.write(b"one line\\n" * 1000)
    >>> with sealane.open("data.sealed", key=key) as file:
    ...     _ = file.seek(-5, 2)
    ...     file.read()
    b'line\\n'
    """
    is_text = mode in ("rt", "wt", "xt")
    if not is_text and (encoding, errors, newline) != ("utf-8", None, None):
        raise ValueError("encoding, errors and newline are for the modes 'rt', 'wt' and 'xt'")
    opened: EncryptedReader | EncryptedWriter
    if mode in ("rb", "rt"):
        if recipients is not None or armor:
            raise TypeError("recipients and armor are for the modes 'wb' and 'xb'; give identities to read")
        decryption = DecryptWith(key, identities, passphrase, context, format, max_work_factor)
        if (name := path_of(file)) is not None and is_stream(name):
            opened = SequentialReader(name, builtins.open(name, "rb", buffering=0), decryption)  # noqa: SIM115
        elif name is None and not getattr(binary_file(file), "seekable", lambda: True)():
            opened = SequentialReader(file, file, decryption)  # type: ignore[arg-type]
        else:
            opened = EncryptedReader(file, decryption)
    elif is_text or mode in ("wb", "xb"):
        if identities is not None or max_work_factor is not None:
            raise TypeError("identities and max_work_factor are for mode 'rb'; give recipients to write")
        encryption = EncryptWith(key, recipients, passphrase, context, format, armor)
        opened = EncryptedWriter(file, encryption, durable=durable, exclusive=mode[0] == "x")
    else:
        raise ValueError(f"mode must be 'rb', 'wb', 'xb', 'rt', 'wt' or 'xt', not {mode!r}")
    if is_text:
        return TextFile(opened, encoding=encoding, errors=errors, newline=newline)
    return opened


def seek_target(offset: int, whence: int, position: int, size: int) -> int:
    """Returns the position that ``seek`` moves to in a file of ``size`` bytes.

    A position before the start raises EINVAL like a file, and ValueError like an object in memory:
    ``io.UnsupportedOperation`` is both.
    """
    offset, whence = operator.index(offset), operator.index(whence)
    origin = {os.SEEK_SET: 0, os.SEEK_CUR: position, os.SEEK_END: size}.get(whence)
    if origin is None:
        raise ValueError(f"whence must be 0, 1 or 2, not {whence!r}")
    target = origin + offset
    if not 0 <= target <= MAX_POSITION:
        raise io.UnsupportedOperation(errno.EINVAL, f"position must be from 0 to 2**63 - 1, not {target}")
    return target


class _EncryptedFile(io.RawIOBase):
    """The methods shared by EncryptedReader and EncryptedWriter."""

    mode: str
    _readable = _seekable = False

    def __init__(self, file: PathOrFile) -> None:
        super().__init__()
        path = self._path = path_of(file)
        if path is not None:
            self.name: Any = path
        elif (name := getattr(file, "name", None)) is not None:
            self.name = name
        # A signal handler that uses the same file in the middle of a call gets ReentrantCallError.
        self._lock = _native.CallLock()
        self._position = 0

    def __repr__(self) -> str:
        return f"<sealane.{type(self).__name__} name={getattr(self, 'name', None)!r} mode={self.mode!r}>"

    def __reduce__(self) -> Any:
        raise TypeError("an encrypted file is never pickled or copied: it holds a key")

    def readable(self) -> bool:
        self._check()
        return self._readable

    def writable(self) -> bool:
        self._check()
        return not self._readable

    def seekable(self) -> bool:
        self._check()
        return self._seekable

    def tell(self) -> int:
        self._check()
        return self._position

    def _check(self) -> None:
        if _closed(self):
            raise ValueError("I/O operation on closed file")


class EncryptedReader(_EncryptedFile):
    """A seekable binary file object of an encrypted file's plaintext. ``sealane.open`` creates it.

    Several threads may share an object; their calls run one at a time.
    """

    mode = "rb"
    _readable = _seekable = True

    def __init__(self, file: PathOrFile, decryption: DecryptWith | _native.Reader) -> None:
        super().__init__(file)
        if isinstance(decryption, DecryptWith):
            source = binary_file(file) if self._path is None else self._path
            decryption = _native.Reader(source, decryption)
        self._native = decryption

    @property
    def size(self) -> int:
        """Number of plaintext bytes, verified when the file is opened."""
        self._check()
        return self._native.size

    def read(self, size: int | None = -1, /) -> bytes:
        """Reads ``size`` bytes, or fewer at the end; None or a negative number reads all."""
        size = -1 if size is None else operator.index(size)
        with self._lock:
            self._check()
            if size < 0:
                size = max(0, self._native.size - self._position)
            data = self._native.read_at(self._position, size)
            self._position += len(data)
            return data

    def read1(self, size: int | None = -1, /) -> bytes:
        """Like ``read``, but returns at most 1 MiB per call."""
        size = -1 if size is None else operator.index(size)
        return self.read(PIECE if size < 0 else min(size, PIECE))

    def readall(self) -> bytes:
        """Reads from the position to the end of the file and returns the plaintext."""
        return self.read()

    def readinto(self, buffer: Buffer, /) -> int:
        """Fills ``buffer`` and returns the number of bytes, smaller only at the end of the file."""
        with self._lock:
            self._check()
            n = self._native.readinto_at(self._position, buffer)
            self._position += n
            return n

    def readinto1(self, buffer: Buffer, /) -> int:
        """Like ``readinto``, but reads at most 1 MiB per call."""
        return self.readinto(memoryview(buffer).cast("B")[:PIECE])

    def write(self, data: Buffer, /) -> int:
        """Raises ``io.UnsupportedOperation``: the file is open for reading, so ``data`` is refused."""
        raise io.UnsupportedOperation("not writable")

    def peek(self, size: int = 0, /) -> bytes:
        """Returns some of the next bytes without moving; empty only at the end of the file.

        As in ``io.BufferedReader``, their number does not depend on ``size``.
        """
        with self._lock:
            self._check()
            return self._native.read_at(self._position, _PEEK)

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Moves to a position in the plaintext and returns it.

        ``whence`` is the reference point of ``offset``: 0 for the start, 1 for the current
        position, 2 for the end.
        """
        with self._lock:
            self._check()
            # Most calls pass a position, so neither the function nor the size is needed.
            if whence != os.SEEK_SET or type(offset) is not int or not 0 <= offset <= MAX_POSITION:
                offset = seek_target(offset, whence, self._position, self._native.size)
            self._position = offset
            return offset


class SequentialReader(EncryptedReader):
    """Reads the plaintext of a pipe from start to end.

    A chunk is verified before its bytes are returned, the end of the file before ``b""`` is.
    """

    _seekable = False

    def __init__(self, file: PathOrFile, source: IO[bytes], decryption: DecryptWith) -> None:
        _EncryptedFile.__init__(self, file)
        self._owns_source = source is not file
        self._source = source
        self._plain = bytearray()
        self._chunks = io.BytesIO()
        self._decryptor: _native.Writer | None = _native.Writer.decrypt(self._chunks, decryption)

    @property
    def size(self) -> int:
        """Raises ``io.UnsupportedOperation``: the size of a pipe is unknown."""
        raise io.UnsupportedOperation("a pipe has no size")

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        """Raises ``io.UnsupportedOperation``."""
        raise io.UnsupportedOperation("a pipe cannot seek")

    def _fill(self, size: int) -> None:
        """Decrypts until ``size`` bytes are there, or all if it is negative."""
        self._check()
        while self._decryptor is not None and (size < 0 or len(self._plain) < size):
            if piece := read_piece(self._source):
                self._decryptor.write(piece)
            else:
                self._decryptor.finish(False)
                self._decryptor = None
            self._plain += self._chunks.getvalue()
            self._chunks.seek(0)
            self._chunks.truncate()

    def read(self, size: int | None = -1, /) -> bytes:
        """Reads ``size`` bytes, or fewer at the end; None or a negative number reads all."""
        size = -1 if size is None else operator.index(size)
        with self._lock:
            self._fill(size)
            data = bytes(self._plain if size < 0 else self._plain[:size])
            del self._plain[: len(data)]
            self._position += len(data)
            return data

    def readinto(self, buffer: Buffer, /) -> int:
        """Fills ``buffer`` and returns the number of bytes, smaller only at the end of the file."""
        view = memoryview(buffer).cast("B")
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)

    def peek(self, size: int = 0, /) -> bytes:
        """Returns some of the next bytes without moving; empty only at the end of the file."""
        with self._lock:
            self._fill(1)
            return bytes(self._plain[:_PEEK])

    def close(self) -> None:
        """Closes the file object, and a pipe that it has opened."""
        if self._owns_source:
            self._source.close()
        super().close()


class WritableFile(_EncryptedFile):
    """File objects that are complete after a clean exit and discarded otherwise."""

    mode = "wb"

    def __init__(self, file: PathOrFile) -> None:
        super().__init__(file)
        self._failing_at_open = failing_blocks()
        self._dropped = False

    def _is_lost(self) -> bool:
        """Returns whether ``close`` is called for a failed block or a dropped wrapper of this file.

        Wrappers such as ``io.TextIOWrapper`` and fsspec's ``OpenFile`` close a file in the same way
        whether their block failed or not.
        """
        return self._dropped or any(block not in self._failing_at_open for block in failing_blocks(own=True))

    def _dealloc_warn(self, source: object) -> None:
        # Python's wrappers call this method before their finalizer closes the file.
        self._dropped = True

    def readinto(self, buffer: Buffer, /) -> int:
        """Always raises an error: a file open for writing cannot be read."""
        raise io.UnsupportedOperation("not readable")

    def discard(self) -> None:
        """Closes the file object and discards its content."""
        raise NotImplementedError

    def __exit__(self, kind: object, error: object, traceback: object, /) -> None:
        if kind is None:
            self._failing_at_open = failing_blocks()  # Blocks around this one, which has not failed.
            self.close()
        else:
            self.discard()

    def __del__(self) -> None:
        # The base class would call `close` and so complete an unfinished file.
        with contextlib.suppress(Exception):
            self.discard()


class TextFile(io.TextIOWrapper):
    """Text over an encrypted file. An exception that leaves its ``with`` block discards the file."""

    def __exit__(self, kind: object, error: object, traceback: object, /) -> None:
        if kind is not None and not self.closed and self.writable():
            self.buffer.discard()  # type: ignore[attr-defined]
        self.close()


class EncryptedWriter(WritableFile):
    """A binary file object that encrypts what you write to it. ``sealane.open`` creates it.

    The file is complete when the ``with`` block ends without an exception or ``close()`` is called.
    Otherwise a path has no file; a file object lacks the end of the file, so readers raise
    TruncatedError. ``close()`` completes the file also while an exception is handled; it discards
    the file if an exception leaves the block of a wrapper, such as a ``TextIOWrapper``. In a forked
    child, calls raise ForkedError; the parent can continue.
    """

    def __init__(
        self, file: PathOrFile, encryption: EncryptWith, *, durable: bool = False, exclusive: bool = False
    ) -> None:
        super().__init__(file)
        self._durable = durable
        self._owned: IO[bytes] | None = None
        self._writer: _native.Writer | None = None
        self.mode = "xb" if exclusive else "wb"
        name = self._path
        target: str | IO[bytes]
        if name is None:
            target = binary_file(file)
        elif is_stream(name):
            if exclusive:
                raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), name)
            target = self._owned = builtins.open(name, "wb", buffering=0)  # noqa: SIM115, closed by _end
        else:
            target = name
        try:
            self._writer = _native.Writer.encrypt(target, encryption, exclusive)
        except BaseException:
            if self._owned is not None:
                self._owned.close()
            raise

    def write(self, data: Buffer, /) -> int:
        """Encrypts ``data`` and returns its length in bytes."""
        with self._lock:
            self._check()
            assert self._writer is not None
            n = self._writer.write(data)
            self._position += n
            return n

    def close(self) -> None:
        """Writes the end of the file and gives the file its name."""
        with self._lock:
            self._end(discarded=self._is_lost())

    def discard(self) -> None:
        """Closes the file object and discards its content."""
        with self._lock:
            self._end(discarded=True)

    def _end(self, *, discarded: bool = False) -> None:
        if self.closed:
            return
        try:
            if self._writer is not None and discarded:
                self._writer.discard()
            elif self._writer is not None:
                self._writer.finish(self._durable)
        finally:
            self._writer = None
            super().close()
            if self._owned is not None:
                self._owned.close()
