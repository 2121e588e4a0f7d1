"""sealane for programs with an event loop (asyncio).

The work runs in threads, so the event loop continues: no call blocks it for more than a
millisecond. Parameters, results and errors are as for the functions of the same name in
``sealane``::

    await sealane.aio.encrypt_file("data.csv", "data.csv.sealed", key=key)

    async with sealane.aio.open("data.csv.sealed", key=key) as file:
        await file.seek(1_000_000)
        part = await file.read(100)

You can cancel a task at any time. ``CancelledError`` is raised once the thread has stopped, so
nothing is written afterwards, and a file appears complete or not at all.
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Generator
from functools import partial
from typing import TYPE_CHECKING, Any, Final, TypeVar

from sealane import _file, _native, _open
from sealane._endpoints import PathOrFile, Progress
from sealane._frames import forgetting

if TYPE_CHECKING:
    from typing_extensions import Buffer

__all__ = ["Aead", "AsyncFile", "decrypt", "decrypt_file", "encrypt", "encrypt_file", "open", "verify_file"]

T = TypeVar("T")

INLINE: Final = 32 << 10
"""Longest message in bytes processed on the event loop: faster than handing it to a thread."""


@forgetting
async def encrypt_file(
    src: PathOrFile, dst: PathOrFile, *, progress: Progress | None = None, **options: Any
) -> None:
    """Encrypts the file ``src`` to the file ``dst`` like ``sealane.encrypt_file``.

    Parameters
    ----------
    src, dst : str, os.PathLike or binary file object
        As for ``sealane.encrypt_file``. A file object is used from another thread.
    progress : callable(done, total), optional
        Called on the event loop. If it raises, the call is cancelled and raises the exception.
    **options
        The other options of ``sealane.encrypt_file``: ``key``, ``recipients``, ``passphrase`` and
        so on. By default, ``threads`` leaves one core to the event loop.

    Raises
    ------
    SealaneError, OSError, TypeError, ValueError
        As for ``sealane.encrypt_file``.

    Examples
    --------
    >>> await sealane.aio.encrypt_file("data.csv", "data.csv.sealed", key=key)
    """
    await _cancellable(partial(_file.encrypt_file, src, dst), progress, options)


@forgetting
async def decrypt_file(
    src: PathOrFile, dst: PathOrFile, *, progress: Progress | None = None, **options: Any
) -> None:
    """Decrypts the file ``src`` to the file ``dst`` like ``sealane.decrypt_file``.

    The parameters are as for ``encrypt_file`` here, with the options of ``sealane.decrypt_file``.

    Raises
    ------
    SealaneError, OSError, TypeError, ValueError
        As for ``sealane.decrypt_file``.

    Examples
    --------
    >>> await sealane.aio.decrypt_file("backup.sealed", "copy.csv", key=key)
    """
    await _cancellable(partial(_file.decrypt_file, src, dst), progress, options)


@forgetting
async def verify_file(src: PathOrFile, *, progress: Progress | None = None, **options: Any) -> None:
    """Verifies a whole file without writing its plaintext, like ``sealane.verify_file``.

    Parameters
    ----------
    src, progress, **options
        As for ``sealane.verify_file``.

    Raises
    ------
    SealaneError, OSError, TypeError, ValueError
        As for ``sealane.verify_file``.

    Examples
    --------
    >>> await sealane.aio.verify_file("backup.sealed", key=key)
    """
    await _cancellable(partial(_file.verify_file, src), progress, options)


@forgetting
async def encrypt(data: Buffer, **options: Any) -> bytes:
    """Encrypts bytes as a file, like ``sealane.encrypt``, with its ``options``.

    Examples
    --------
    >>> encrypted = await sealane.aio.encrypt(bytes(100_000_000), key=key)
    """
    return await _in_thread(lambda: _file.encrypt(data, **options))


@forgetting
async def decrypt(data: Buffer, **options: Any) -> bytes:
    """Decrypts the bytes of an encrypted file, like ``sealane.decrypt``, with its ``options``.

    Examples
    --------
    >>> await sealane.aio.decrypt(await sealane.aio.encrypt(b"data", key=key), key=key)
    b'data'
    """
    return await _in_thread(lambda: _file.decrypt(data, **options))


@forgetting
def open(file: PathOrFile, mode: str = "rb", **options: Any) -> Opening:
    """Opens an encrypted file like ``sealane.open``. Await the result or use it in ``async with``.

    Parameters
    ----------
    file, mode, **options
        As for ``sealane.open``: "rb" to read, "wb" or "xb" to write. Text is a ValueError.

    Returns
    -------
    AsyncFile
        A written file appears when the block ends without an exception, or after ``await
        file.close()``.

    Examples
    --------
    >>> async with sealane.aio.open("data.sealed", "wb", key=key) as file:
    ...     _ = await file.write(b"one line\\n")
    """
    if "t" in mode:
        raise ValueError(f"mode must be 'rb', 'wb' or 'xb', not {mode!r}: encode and decode text yourself")
    return Opening(lambda: _open.open(file, mode, **options))  # type: ignore[call-overload]


class Opening:
    """A file about to be opened: ``await`` it, or use it in ``async with``."""

    def __init__(self, work: Callable[[], Any]) -> None:
        self._work = work
        self._file: AsyncFile | None = None

    def __await__(self) -> Generator[Any, None, AsyncFile]:
        return self._opened().__await__()

    async def __aenter__(self) -> AsyncFile:
        self._file = await self._opened()
        return self._file

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        assert self._file is not None
        await self._file.__aexit__(kind, error, trace)

    @forgetting
    async def _opened(self) -> AsyncFile:
        return AsyncFile(await _in_thread(self._work, undo=_drop))


class AsyncFile:
    """An encrypted file with awaitable methods, which mean the same as those of ``EncryptedReader``
    and ``EncryptedWriter``. Calls of several tasks run one at a time.

    Examples
    --------
    >>> async with sealane.aio.open("backup.sealed", key=key) as file:
    ...     _ = await file.seek(-5, os.SEEK_END)
    ...     await file.read()
    b'line\\n'
    """

    def __init__(self, file: Any) -> None:
        self._file = file
        self._lock = asyncio.Lock()

    def __repr__(self) -> str:
        return f"<sealane.aio.AsyncFile of {self._file!r}>"

    @property
    def closed(self) -> bool:
        """Whether the file is closed."""
        return bool(self._file.closed)

    @property
    def size(self) -> int:
        """Number of plaintext bytes of a file open for reading."""
        return int(self._file.size)

    def tell(self) -> int:
        """Returns the position in the plaintext, in bytes."""
        return int(self._file.tell())

    async def read(self, size: int = -1) -> bytes:
        """Reads and verifies ``size`` bytes, or everything up to the end of the file."""
        return bytes(await self._call(self._file.read, size))

    async def readinto(self, buffer: Buffer) -> int:
        """Reads and verifies bytes into a writable buffer and returns their number."""
        return int(await self._call(self._file.readinto, buffer))

    async def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Moves to another position in a file open for reading and returns it.

        ``offset`` is in bytes from the start, the position or the end of the plaintext, depending
        on ``whence``: ``os.SEEK_SET``, ``os.SEEK_CUR`` or ``os.SEEK_END``.
        """
        return int(await self._call(self._file.seek, offset, whence))

    async def write(self, data: Buffer) -> int:
        """Encrypts ``data`` and returns its length in bytes.

        A write that fails or is cancelled discards the file.
        """
        try:
            return int(await self._call(self._file.write, data))
        except asyncio.CancelledError:
            # The bytes may have been written, unknown to the caller.
            await self.discard()
            raise

    async def close(self) -> None:
        """Closes the file. A written file appears, complete."""
        await self._call(self._file.close)

    async def discard(self) -> None:
        """Closes the file. A file being written is removed; an existing one is unchanged."""
        await self._call(getattr(self._file, "discard", self._file.close))

    async def __aenter__(self) -> AsyncFile:
        return self

    async def __aexit__(self, kind: object, error: object, trace: object) -> None:
        await (self.close() if kind is None else self.discard())

    async def _call(self, work: Callable[..., T], *args: Any) -> T:
        async with self._lock:
            return await _in_thread(lambda: work(*args))


class Aead:
    """Messages like ``sealane.Aead``, with awaitable methods where messages can be large.

    Messages up to 32 KiB are processed immediately, longer ones in a thread.

    Parameters
    ----------
    *args, **options
        A ``sealane.Aead``, or the arguments for one.

    Examples
    --------
    >>> aead = sealane.aio.Aead("aes-256-gcm", key)
    >>> sealed = await aead.seal(bytes(100_000_000), aad=b"header")
    """

    @forgetting
    def __init__(self, *args: Any, **options: Any) -> None:
        if len(args) == 1 and isinstance(args[0], _native.Aead) and not options:
            self._aead: _native.Aead = args[0]
        else:
            self._aead = _native.Aead(*args, **options)

    def __repr__(self) -> str:
        return f"<sealane.aio.Aead of {self._aead!r}>"

    @property
    def aead(self) -> _native.Aead:
        """The underlying object, for its other methods and attributes."""
        return self._aead

    async def seal(self, plaintext: Buffer, aad: Buffer | None = b"") -> bytes:
        """Encrypts a message under a fresh random nonce, like ``sealane.Aead.seal``."""
        return await self._call(self._aead.seal, plaintext, plaintext, aad)

    async def open(self, sealed: Buffer, aad: Buffer | None = b"") -> bytes:
        """Verifies and decrypts a message, like ``sealane.Aead.open``."""
        return await self._call(self._aead.open, sealed, sealed, aad)

    async def encrypt(self, nonce: Buffer, data: Buffer, aad: Buffer | None) -> bytes:
        """Encrypts a message under the given nonce, like ``sealane.Aead.encrypt``."""
        return await self._call(self._aead.encrypt, data, nonce, data, aad)

    async def decrypt(self, nonce: Buffer, data: Buffer, aad: Buffer | None) -> bytes:
        """Verifies and decrypts a message under the given nonce, like ``sealane.Aead.decrypt``."""
        return await self._call(self._aead.decrypt, data, nonce, data, aad)

    async def _call(self, work: Callable[..., bytes], message: Any, *args: Any) -> bytes:
        # The associated data costs time as well.
        if _length(message) + _length(args[-1] or b"") <= INLINE:
            return work(*args)
        return await _in_thread(lambda: work(*args))


def _length(data: Any) -> int:
    if isinstance(data, bytes | bytearray):
        return len(data)
    try:
        return memoryview(data).nbytes
    except TypeError:
        return 0  # The call itself raises the error.


class _Stopped(Exception):
    """The caller was cancelled."""


async def _cancellable(work: Callable[..., None], progress: Progress | None, options: dict[str, Any]) -> None:
    """Runs ``work`` in a thread. A cancellation or an error of ``progress`` stops it."""
    # One core is left to the event loop.
    options.setdefault("threads", max(1, min(8, (os.cpu_count() or 1) - 1)))
    loop = asyncio.get_running_loop()
    stop = threading.Event()
    failures: list[BaseException] = []

    def show(done: int, total: int | None) -> None:
        assert progress is not None
        if not stop.is_set():
            try:
                progress(done, total)
            except BaseException as error:
                failures.append(error)
                stop.set()

    def report(done: int, total: int | None) -> None:
        if stop.is_set():
            raise _Stopped
        if progress is not None:
            loop.call_soon_threadsafe(show, done, total)

    try:
        await _in_thread(partial(work, progress=report, **options), stop=stop)
    except _Stopped:
        if failures:
            raise failures[0] from None
        raise asyncio.CancelledError from None
    if progress is not None:
        await asyncio.sleep(0)  # The last report, which is on its way.
    if failures:
        raise failures[0]


async def _in_thread(
    work: Callable[[], T], *, stop: threading.Event | None = None, undo: Callable[[T], None] | None = None
) -> T:
    """Returns ``work()``. A cancellation waits for the thread and undoes the result."""
    running = asyncio.ensure_future(asyncio.to_thread(_caught, work))
    cancelled: BaseException | None = None
    while not running.done():
        try:
            await asyncio.shield(running)
        except asyncio.CancelledError as error:
            cancelled = error
            if stop is not None:
                stop.set()
    result, failure = running.result()
    if cancelled is not None:
        if undo is not None and failure is None:
            await asyncio.shield(asyncio.to_thread(undo, result))
        raise cancelled
    if failure is not None:
        raise failure
    return result  # type: ignore[no-any-return]


def _caught(work: Callable[[], Any]) -> tuple[Any, BaseException | None]:
    """Returns the result or the exception. A future cannot hold a StopIteration."""
    try:
        return work(), None
    except BaseException as error:
        return None, error


def _drop(file: Any) -> None:
    getattr(file, "discard", file.close)()
