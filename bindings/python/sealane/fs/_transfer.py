"""Whole files: their plaintext in memory, and transfers to and from local files.

A file's size is a claim, so we ask an object store for the beginning of the object. A shorter
response is the whole object: a single request. Other servers may not support ranges, so we ask them
for the size first, and without a size for the whole file.
"""

from __future__ import annotations

import io
import os
import tempfile
from collections.abc import Callable, Coroutine
from functools import partial
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from fsspec.callbacks import Callback

from sealane import _native
from sealane._endpoints import finishing
from sealane._error_paths import about
from sealane._native import DecryptWith, EncryptWith, Writer, plain_len
from sealane.exceptions import SealaneError, TruncatedError
from sealane.fs._abilities import is_object_store
from sealane.fs._budget import Share
from sealane.fs._store import Store, truncated

if TYPE_CHECKING:
    from typing_extensions import Buffer

T = TypeVar("T")

FIRST = 4 << 20
"""Most bytes of an object in the first request."""
STEP = 8 << 20
"""Bytes in each later request."""
IN_FLIGHT = 4
"""Number of later requests in flight for one file."""
WHOLE = 16 << 20
"""Longest plaintext in bytes encrypted in memory and sent in one request."""

Progress: TypeAlias = Callable[[int, int | None], None]


async def read_whole(store: Store, path: str, decryption: DecryptWith) -> bytes:
    """Returns the verified plaintext of a file."""
    out = io.BytesIO()

    def begin() -> Writer:
        out.seek(0)
        out.truncate()
        return Writer.decrypt(out, decryption)

    async def read(share: Share, first: bytes | None) -> bytes:
        if first is not None and len(first) < share.size:
            share.shrink(len(first))
            return await store.compute(_native.decrypt_bytes, first, decryption, size=len(first))
        await _read_rest(store, path, first, begin, lambda _done, _total: None)
        return out.getvalue()

    with about(path):
        if store.awaited and store.whole:
            return await _with_beginning(store, path, read)
        async with store.budget.reserve(await store.expected(path, FIRST)):
            # One request is a consistent view of a file that others replace.
            data = await store.fetch_all(path)
            return await store.compute(_native.decrypt_bytes, data, decryption, size=len(data))


async def read_to(store: Store, path: str, out: Any, decryption: DecryptWith, callback: Callback) -> None:
    """Decrypts a file to a local path or a file object.

    A local file appears complete and verified, or not at all.
    """
    progress = progress_of(callback)

    def begin() -> Writer:
        return Writer.decrypt(out, decryption)

    async def read(share: Share, first: bytes | None) -> None:
        if first is not None and len(first) < share.size:
            share.shrink(2 * len(first))
            # Opening an existing file can block, for example a pipe.
            new = isinstance(out, str) and not os.path.lexists(out)
            await store.compute(_decrypt_at_once, begin, first, size=store.quick(len(first)) if new else None)
            progress(plain_len(len(first)), plain_len(len(first)))
            return
        if isinstance(out, str):
            await _read_rest(store, path, first, begin, progress)
            return
        # Only one attempt: a file object cannot be rewritten.
        decryptor = await store.compute(_started_with, begin, first)
        try:
            size = (await store.info(path))["size"]
            await _decrypt_rest(store, path, size, decryptor, len(first or b""), progress)
        finally:
            # A cancelled task has waited for its thread, so nothing else uses the decryptor.
            decryptor.discard()

    with about(path):
        if store.whole:
            await _with_beginning(store, path, read)
            return
        async with store.budget.reserve(FIRST) as share:
            await read(share, None)


async def _with_beginning(
    store: Store, path: str, read: Callable[[Share, bytes | None], Coroutine[Any, Any, T]]
) -> T:
    """Returns ``read``'s result for the memory reserved and an object's first bytes.

    Fewer bytes than reserved are the whole object. More than expected cost another request. There
    are no bytes if the request must be repeated without range.
    """
    size = await store.expected(path, FIRST)
    while True:
        async with store.budget.reserve(size) as share:
            first = await _beginning(store, path, size)
            if first is None or len(first) < size or size == FIRST:
                return await read(share, first)
        size = min(4 * size, FIRST)


async def _read_rest(
    store: Store, path: str, first: bytes | None, begin: Callable[[], Writer], progress: Progress
) -> None:
    """Decrypts a file, whose first bytes may be known."""
    attempts = [] if first is None else [await store.compute(_started_with, begin, first)]

    async def work(info: dict[str, Any]) -> None:
        done, decryptor = (FIRST, attempts.pop()) if attempts else (0, await store.compute(begin))
        try:
            await _decrypt_rest(store, path, info["size"], decryptor, done, progress)
        finally:
            decryptor.discard()

    try:
        await store.with_info(path, work)
    finally:
        for unused in attempts:
            unused.discard()


async def _beginning(store: Store, path: str, length: int) -> bytes | None:
    """Returns the beginning of an object; None if the request must be repeated without range."""
    try:
        first = await store.fetch_beginning(path, length)
    except (FileNotFoundError, PermissionError, IsADirectoryError):
        raise
    except OSError:
        return None  # For example, a range of an empty object is an error.
    store.remember([(path, len(first) if len(first) < length else None)])
    return first


def _started_with(begin: Callable[[], Writer], first: bytes | None) -> Writer:
    """Returns a decryptor that has decrypted the first bytes of a file, if they are known."""
    decryptor = begin()
    try:
        decryptor.write(first or b"")
    except BaseException:
        decryptor.discard()
        raise
    return decryptor


def _decrypt_at_once(begin: Callable[[], Writer], data: bytes) -> None:
    with finishing(begin()) as decryptor:
        decryptor.write(data)


async def _decrypt_rest(
    store: Store, path: str, size: int | None, decryptor: Writer, done: int, progress: Progress
) -> None:
    """Decrypts a file from byte ``done`` on. The file ends where its data ends, not at ``size``."""
    if size is None:
        async with store.rest.reserve(FIRST):
            data = await store.fetch_all(path)
            await store.compute(decryptor.write, data[done:])
            await store.compute(decryptor.finish, False)
        progress(plain_len(len(data)), plain_len(len(data)))
        return
    if size < done:
        raise TruncatedError(f"{path}: the filesystem reports {size} bytes, but has returned {done}")
    total = plain_len(size)
    progress(0, total)
    shorter: TruncatedError | None = None
    while done < size and shorter is None:
        window = range(done, min(done + IN_FLIGHT * STEP, size), STEP)
        spans = [(at, min(at + STEP, size)) for at in window]
        async with store.rest.reserve(spans[-1][1] - done):
            for (start, end), piece in zip(spans, await store.fetch(path, spans), strict=True):
                await store.compute(decryptor.write, piece)
                done += len(piece)
                progress(total * done // size, total)
                if len(piece) < end - start:
                    # This is the verified end. The server cannot prolong the loop.
                    shorter = truncated(path, len(piece), end - start)
                    break
    try:
        await store.compute(decryptor.finish, False)
    except SealaneError as error:
        if shorter is not None:
            raise shorter from error
        raise
    progress(plain_len(done), plain_len(done))


async def write_whole(
    store: Store,
    path: str,
    size: int,
    content: Callable[[], Buffer],
    encryption: EncryptWith,
    *,
    exclusive: bool,
    **options: Any,
) -> None:
    """Encrypts ``content()``, ``size`` bytes long, and writes it in one request."""

    def encrypted() -> bytes:
        return _native.encrypt_bytes(content(), encryption)

    with about(path):
        async with store.budget.reserve(2 * size):
            data = await store.compute(encrypted, size=store.quick(size))
            await send(store, path, data, exclusive=exclusive, **options)


async def put_with(
    store: Store,
    lpath: Any,
    path: str,
    encryption: EncryptWith,
    callback: Callback,
    exclusive: bool,
    options: dict[str, Any],
) -> None:
    """Encrypts a local file, and writes it with keywords for the other filesystem's ``put_file``."""
    if exclusive:
        await store.refuse_existing(path)
    with about(path), tempfile.TemporaryDirectory() as folder:
        sealed, progress = os.path.join(folder, "sealed"), progress_of(callback)
        await store.compute(_native.encrypt_path, os.fspath(lpath), sealed, encryption, None, progress, False)
        await send(store, path, sealed, exclusive=exclusive, by="put_file", **options)


async def send(
    store: Store, path: str, data: Any, *, exclusive: bool, by: str = "pipe_file", **options: Any
) -> None:
    """Writes a file in one request. It appears complete or not at all.

    ``data`` is its content, or the path of a local file if ``by`` is ``"put_file"``.
    """

    async def write(to: str, **options: Any) -> None:
        first, second = (data, to) if by == "put_file" else (to, data)
        await store.call(by, first, second, of=path, **options)

    # The methods of an unknown store tell how `pipe_file` writes, and nothing about `put_file`.
    if is_object_store(store.fs) or (store.whole and by == "pipe_file"):
        await write(path, mode="create" if exclusive else "overwrite", **options)
        return
    if exclusive:
        await store.refuse_existing(path)
    await store.replace(path, partial(write, **options))


class Grown(Exception):
    """A local file outgrew a single request while we read it."""


def content_of(path: Any) -> bytes:
    """Returns the content of a local file, at most ``WHOLE`` bytes."""
    with open(path, "rb", buffering=0) as file:
        data = file.read(WHOLE + 1)
        while data and len(data) <= WHOLE and (more := file.read(WHOLE + 1 - len(data))):
            data += more
    if len(data) > WHOLE:
        raise Grown
    return data


def progress_of(callback: Callback) -> Progress:
    def progress(done: int, total: int | None) -> None:
        if total is not None and callback.size != total:
            callback.set_size(total)
        callback.absolute_update(done)

    return progress
