"""The store: the other filesystem, with the encrypted files, and what it reports.

Coroutines of an asynchronous filesystem are awaited. Methods of a synchronous one run in threads.
We do not use fsspec's ``AsyncFileSystemWrapper``, because it takes the threads of the event loop,
which also look up host names. If all of them waited for a cache over S3, its request would never be
sent.

What a server reports (sizes, types, byte ranges) decides only which bytes we request. A file's size
is known when its last chunk is verified, and its content when the chunks are. So a listing may be
stale and a server may lie: the result is the verified plaintext or an error.
"""

from __future__ import annotations

import asyncio
import contextlib
import contextvars
import errno
import inspect
import operator
import os
import posixpath
import secrets
import threading
from collections.abc import Callable, Coroutine, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Final, TypeVar

from fsspec.asyn import _get_batch_size, get_loop
from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from sealane._endpoints import not_regular
from sealane._error_paths import asking, is_missing
from sealane._native import check_target
from sealane.exceptions import SealaneError, TruncatedError
from sealane.fs._abilities import (
    has_magic_of,
    in_mode,
    innermost,
    is_asynchronous,
    moves_itself,
    renames,
    replaces_whole,
    takes_threads,
    without_folder,
)
from sealane.fs._budget import Budget
from sealane.fs._chained import keeps_place, split_version
from sealane.fs._thread_loop import ThreadLoop

T = TypeVar("T")

BUDGET: Final = 40 << 20
"""Encrypted bytes that a filesystem's transfers hold at a time."""
REST: Final = 32 << 20
"""Additional bytes, for the rest of long files.

A transfer asks for them while it holds part of the first budget. From the same budget, all
transfers would wait for each other.
"""
LEAST: Final = 4 << 10
"""Bytes that a transfer reserves at least: 10,000 transfers at once stay within the budget."""
MAX_SIZES: Final = 1 << 16
"""Number of file sizes that a filesystem remembers before it forgets all of them."""
INLINE: Final = 64 << 10
"""Maximum number of bytes encrypted or decrypted on the event loop.

This takes some tens of microseconds, less than handing the work to a thread.
"""
THREADS: Final = 4 + (os.cpu_count() or 1)

QUESTIONS: Final = ("exists", "info", "isdir", "isfile", "lexists")


class Store:
    """The filesystem with the encrypted files, with cipher threads and a memory budget.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        The filesystem. Its coroutines belong to its event loop; for a synchronous filesystem, to
        fsspec's or the caller's.
    """

    def __init__(self, fs: Any) -> None:
        self.fs = fs
        self.files = in_mode(fs, asynchronous=False)
        """The same filesystem for blocking calls, such as those of its file objects."""
        self.parallel = takes_threads(fs)
        # A wrapper's coroutines would call its filesystem from several threads.
        self.awaited = is_asynchronous(fs) and self.parallel
        self._glob = has_magic_of(fs)
        self.in_memory = type(without_folder(fs)) is MemoryFileSystem
        self.on_disk = type(without_folder(fs)) is LocalFileSystem
        self._reports_renames = type(innermost(fs)) is LocalFileSystem
        """Whether the filesystem reports each rename that it did not do."""
        self.whole = replaces_whole(fs)
        """Whether one request reads or replaces an object."""
        self.sizes: dict[str, int] = {}
        """Sizes of encrypted files as last listed, written or read. Any of them may be wrong."""
        self._start()

    def _start(self) -> None:
        self._process = os.getpid()
        # What a filesystem in memory holds is in memory anyway, and its threads share no loop.
        unlimited = 1 << 63 if self.in_memory else 0
        self.budget, self.rest = Budget(unlimited or BUDGET), Budget(unlimited or REST)
        self._transfers = 0
        self._loops = threading.local()
        self._executors: dict[tuple[bool, bool], ThreadPoolExecutor] = {}

    @property
    def loop(self) -> asyncio.AbstractEventLoop:
        """The event loop, which runs in its own thread."""
        if self._process != os.getpid() and not self.awaited:
            self._start()  # The threads of the parent do not exist in a forked child.
        return self.fs.loop if self.awaited else get_loop()  # type: ignore[no-any-return]

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        """Returns a coroutine's result. An exception in the caller, such as Ctrl-C, cancels it.

        fsspec's function continues after Ctrl-C, and its TimeoutError names no path.
        """
        if self.in_memory and asyncio._get_running_loop() is None:
            return _result(self._run_here(_outcome(work)))
        try:
            loop = self.loop
            with contextlib.suppress(RuntimeError):
                if asyncio.get_running_loop() is loop:
                    raise NotImplementedError("a synchronous method cannot be called from the event loop")
            future = asyncio.run_coroutine_threadsafe(_outcome(work), loop)
        except BaseException:
            work.close()
            raise
        try:
            result = future.result()
        finally:
            future.cancel()
        return _result(result)

    def _run_here(self, work: Coroutine[Any, Any, T]) -> T:
        """Returns a coroutine's result. Nothing waits for a server, so this thread runs it."""
        if self._process != os.getpid():
            self._start()
        if not hasattr(self._loops, "own"):
            self._loops.own = ThreadLoop()
        return self._loops.own.result_of(work)  # type: ignore[no-any-return]

    async def call(
        self,
        name: str,
        path: Any,
        *args: Any,
        of: str | None = None,
        check: Callable[[Any], Any] | None = None,
        **options: Any,
    ) -> Any:
        """Calls the method ``name``, such as ``"cat_file"``. Every error names the path.

        Parameters
        ----------
        of : str, optional
            Another path for the errors.
        check : callable, optional
            A function that turns the method's return value into the result, or raises an error.
        """
        method = getattr(self.fs, f"_{name}", None) if self.awaited else None
        with asking(of or shown_path(path), server=not (self.in_memory or self.on_disk)):
            if method is not None and inspect.iscoroutinefunction(method):
                found = await method(path, *args, **options)
            else:
                work = getattr(self.files, name)
                # What never waits needs no thread: it would take longer than the call.
                if self.in_memory or (self.on_disk and name in QUESTIONS):
                    found = work(path, *args, **options)
                else:
                    found = await self.blocking(partial(work, path, *args, **options))
            return found if check is None else check(found)

    async def blocking(self, work: Callable[[], T]) -> T:
        """Runs a blocking call of the filesystem in a thread."""
        return await self.compute(work, alone=not self.parallel)

    async def compute(
        self,
        work: Callable[..., T],
        *args: Any,
        size: int | None = None,
        waits: bool = False,
        alone: bool = False,
    ) -> T:
        """Runs ``work(*args)`` in a thread, for processor time, a local file or a blocking call.

        Parameters
        ----------
        size : int, optional
            The number of bytes, if the work only processes memory. A small number needs no thread.
        waits : bool
            Whether the work itself uses the store. It gets its own threads, because all others
            might be waiting for it.
        alone : bool
            Whether to wait for all other such work.
        """
        if size is not None and size <= INLINE:
            return work(*args)
        if (kind := (waits, alone)) not in self._executors:
            threads = 1 if alone else THREADS
            self._executors[kind] = ThreadPoolExecutor(threads, thread_name_prefix="sealane.fs")
        context = contextvars.copy_context()
        running: asyncio.Future[T | _Failure] = asyncio.get_running_loop().run_in_executor(
            self._executors[kind], lambda: _caught(context.run, work, *args)
        )
        cancelled: BaseException | None = None
        while not running.done():
            try:
                await asyncio.shield(running)
            except asyncio.CancelledError as error:
                # The thread still uses objects that the caller is about to release.
                cancelled = error
        if cancelled is not None:
            raise cancelled
        result = running.result()
        if isinstance(result, _Failure) and not isinstance(result.error, Exception | asyncio.CancelledError):
            # KeyboardInterrupt or SystemExit would end the event loop, and others wait on it.
            text = f"{type(result.error).__name__} was raised in a thread"
            raise RuntimeError(text) from result.error
        return _result(result)

    def quick(self, size: int) -> int | None:
        """Returns ``size`` for `compute` if the event loop is ours and may access a local file."""
        return size if self.awaited and not self.fs.asynchronous else None

    def is_pattern(self, path: str) -> bool:
        """Returns whether the filesystem's own ``glob`` takes a path for a pattern."""
        return bool(self._glob(path))

    def check_keywords(self, name: str, options: dict[str, Any]) -> None:
        """Raises TypeError if a method of the filesystem does not take the keywords."""
        method = getattr(self.fs, f"_{name}" if self.awaited else name)
        inspect.signature(method).bind_partial(**options)

    def check_name(self, path: str, source: str = "") -> None:
        """Raises ValueError for a name that would change, or is in a folder that describes itself."""
        fs, whole, name = split_version(self.fs, path)
        if isinstance(fs, LocalFileSystem):
            try:
                check_target(whole)
            except ValueError:
                if not (source and keeps_place(split_version(self.fs, source)[1], whole)):
                    raise
        # On a server, to look for a description would take a request.
        if posixpath.basename(whole) == ".sealane" != posixpath.basename(source):
            raise ValueError(f"{path}: it may have the only copy of a folder's keys; choose another name")
        if name.strip("/") != whole.strip("/"):
            raise ValueError(f"{path}: {type(self.fs).__name__} would write {name!r}; choose another name")
        self.check_writes(path)

    def check_writes(self, path: str) -> None:
        """Raises NotImplementedError if no complete file can appear under a name."""
        if not (self.whole or renames(self.files)):
            text = f"{type(self.fs).__name__} cannot rename files, so an incomplete one could stay"
            raise NotImplementedError(f"{path}: {text}")

    async def together(
        self, works: Sequence[Callable[[], Coroutine[Any, Any, T]]], batch_size: int | None = None
    ) -> list[T | Exception]:
        """Returns each coroutine's result or exception. As many run at a time as fsspec allows."""
        limit = batch_size or self.fs.__dict__.get("batch_size") or _get_batch_size(nofiles=True)
        free = asyncio.Semaphore(limit if limit > 0 else max(len(works), 1))

        async def one(work: Callable[[], Coroutine[Any, Any, T]]) -> T | Exception:
            async with free:
                try:
                    return await work()
                except Exception as error:
                    return error

        if len(works) == 1:
            return [await one(works[0])]
        tasks = [asyncio.ensure_future(one(work)) for work in works]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    # What the filesystem reports, and what it returns

    async def info(self, path: str) -> dict[str, Any]:
        """Returns a file's reported properties. ``size`` is None or plausible."""

        def check(info: Any) -> dict[str, Any]:
            kind, reported = info.get("type"), info.get("size")
            if kind == "directory":
                raise IsADirectoryError(errno.EISDIR, "Is a directory", path)
            size = file_size(reported)
            if reported is not None and size is None:
                text = f"The filesystem reports the size {reported!r}, which no file has"
                raise OSError(errno.EIO, text, path)
            self.remember([(path, size)])
            return {**info, "size": size}

        found: dict[str, Any] = await self.call("info", path, check=check)
        return found if found["size"] is not None else check(found | {"size": await self.size(path)})

    async def size(self, path: str) -> int | None:
        """Returns a file's size. A cache's properties are those of a listing, which may have none."""
        found: int | None = await self.call("size", path, check=file_size)
        return found

    async def with_info(self, path: str, work: Callable[[dict[str, Any]], Coroutine[Any, Any, T]]) -> T:
        """Returns ``work``'s result for a file's reported properties.

        Many filesystems cache listings. If ``work`` fails, we ask the filesystem again and, if the
        size changed, call ``work`` a second time.
        """
        info = await self.info(path)
        try:
            return await work(info)
        except (FileNotFoundError, PermissionError):
            raise
        except (SealaneError, OSError):
            self.fs.invalidate_cache(path)
            if (now := await self.info(path))["size"] == info["size"]:
                raise
        return await work(now)

    def remember(self, files: Iterable[tuple[str, int | None]]) -> None:
        """Remembers sizes, so that the next request reserves no more memory than it needs."""
        if len(self.sizes) >= MAX_SIZES:
            self.sizes.clear()
        self.sizes.update((path, size) for path, size in files if size is not None)

    @contextlib.contextmanager
    def counted(self) -> Iterator[None]:
        """Counts a transfer, also while it waits for its key."""
        self._transfers += 1
        try:
            yield
        finally:
            self._transfers -= 1

    async def expected(self, path: str, most: int) -> int:
        """Returns the number of bytes to ask for first, for which the caller reserves memory.

        A known size and one byte: a response without this byte is the whole file. Without a known
        size, all transfers that run get equal shares of the budget, so that none has to wait.
        """
        if not self.in_memory:
            await asyncio.sleep(0)  # Transfers of the same call start now and are counted.
        share = max(self.budget.total // self._transfers, LEAST)
        return min(self.sizes.get(path, share - 1) + 1, most)

    async def fetch(self, path: str, spans: Sequence[tuple[int, int]]) -> list[bytes]:
        """Fetches byte ranges of a file. A range can be shorter than requested, never longer."""
        starts, ends = [start for start, _ in spans], [end for _, end in spans]

        def check(found: Any) -> list[bytes]:
            pairs = zip(spans, ranges_of(found, len(spans)), strict=True)
            return [checked(data, end - start, path) for (start, end), data in pairs]

        paths = [path] * len(spans)
        fetched: list[bytes] = await self.call(
            "cat_ranges", paths, starts, ends, on_error="raise", check=check
        )
        return fetched

    async def fetch_all(self, path: str) -> bytes:
        """Fetches a whole file in one request."""
        return checked(await self.call("cat_file", path), None, path)

    async def fetch_beginning(self, path: str, length: int) -> bytes:
        """Fetches the first ``length`` bytes of a file in one request, or all of a shorter file."""
        return checked(await self.call("cat_file", path, start=0, end=length), length, path)

    async def refuse_existing(self, path: str) -> None:
        """Raises FileExistsError if ``path`` exists. Drops cached listings first."""
        self._forget_listing(path)
        if await self.kind(path) is not None:
            raise FileExistsError(errno.EEXIST, os.strerror(errno.EEXIST), path)

    async def kind(self, path: str, *, of: str | None = None, **options: Any) -> str | None:
        """Returns ``"file"``, ``"directory"`` or another type, or None if nothing has the path.

        fsspec's ``exists`` says no after any error; an existing file would then be replaced.
        """
        try:
            return await self.call("info", path, of=of, check=_type_of, **options)  # type: ignore[no-any-return]
        except OSError as error:
            if not is_missing(error):
                raise
            return None

    def _forget_listing(self, path: str) -> None:
        self.fs.invalidate_cache(path)
        self.fs.invalidate_cache(self.fs._parent(path))  # FTP caches listings by folder.

    async def rename(self, source: str, target: str, *, of: str | None = None, **options: Any) -> None:
        """Renames one file, and replaces another one.

        Without its own call for this, fsspec copies what its patterns and listings find and removes
        the source. A file that the server lists as a folder would be removed without a copy.
        """
        if not moves_itself(self.fs):
            await self.call("cp_file", source, target, of=of, **options)
            await self.call("rm_file", source, of=of)
            return
        shown = of or target
        self._forget_listing(target)
        kind = await self.kind(target, of=of)
        if kind == "directory":  # A local disk and HDFS would move the file into it.
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), shown)
        if kind == "other":
            raise not_regular(shown)
        await self.call("mv", source, target, of=of, **options)
        if self._reports_renames:
            return
        self._forget_listing(source)
        if await self.call("exists", source, of=of):
            # WebHDFS reports a refusal in the response's body, which fsspec does not read.
            text = f"{type(self.fs).__name__} did not rename {source!r} to this name"
            raise OSError(errno.EIO, text, shown)

    async def replace(self, path: str, write: Callable[[str], Coroutine[Any, Any, object]]) -> None:
        """Calls ``write`` with a temporary name, and renames what it wrote to ``path``."""
        temporary = temporary_name(path)
        try:
            await write(temporary)
            await self.rename(temporary, path, of=path)
        except BaseException as error:
            with contextlib.suppress(Exception):
                await self.call("rm_file", temporary)
            if isinstance(error, OSError) and str(error.filename).endswith(temporary):
                error.filename = path
            raise

    async def copy(self, source: str, target: str, **options: Any) -> None:
        """Copies one file as it is. If files can be renamed, the copy appears complete."""
        copy = partial(self.call, "cp_file", source, **options)
        if self.whole or not moves_itself(self.fs):
            await copy(target)
        else:
            await self.replace(target, copy)


def temporary_name(path: str) -> str:
    """Returns a new name in the folder of ``path`` for an incomplete file."""
    folder, slash, name = path.rpartition("/")
    return f"{folder}{slash}.{name[:48]}.{secrets.token_hex(8)}.part"


def _type_of(info: dict[str, Any]) -> str:
    return str(info.get("type"))


def shown_path(path: Any) -> str:
    """Returns the path for an error: a file's, or the first of several."""
    if not isinstance(path, list):
        return str(path)
    names = list(dict.fromkeys(path))
    return "".join(names[:1]) + (f" and {len(names) - 1} more" if len(names) > 1 else "")


def ranges_of(found: Any, count: int) -> list[Any]:
    """Returns the ``count`` results of ``cat_ranges``."""
    results = list(found)
    if len(results) != count:
        raise OSError(errno.EIO, f"The filesystem returned {len(results)} ranges instead of {count}")
    return results


def filesystem_of(url: str, options: Mapping[str, Any]) -> tuple[Any, str]:
    """Returns the filesystem and the path of a URL.

    Raises ValueError for a name with "::". fsspec takes what follows for another filesystem, which
    most filesystems ignore, so that a file with a shorter name would be opened.
    """
    fs, path = url_to_fs(url, **options)
    below = fs
    for _ in range(os.fspath(url).count("::")):
        if (below := getattr(below, "fs", None)) is None:
            raise ValueError(
                f"{url}: fsspec would take {path!r}, and what follows '::' for another filesystem"
            )
    return fs, path


def value_of(result: T | Exception) -> T:
    """Returns a result of ``Store.together``, or raises it if it is an exception."""
    if isinstance(result, Exception):
        raise result
    return result


def checked(data: Any, requested: int | None, path: str) -> bytes:
    """Returns a request's bytes, or raises its exception."""
    if isinstance(data, Exception):
        raise data
    if not isinstance(data, bytes | bytearray | memoryview):
        raise OSError(errno.EIO, f"The filesystem returned {type(data).__name__} instead of bytes", path)
    content = bytes(data)
    if requested is not None and len(content) > requested:
        text = f"The filesystem returned {len(content)} bytes instead of at most {requested}"
        text += ": perhaps the server ignores byte ranges; read the whole file with cat_file or simplecache::"
        raise OSError(errno.EIO, text, path)
    return content


def complete(data: bytes, requested: int, path: str) -> bytes:
    """Returns ``data``. Raises TruncatedError if it is shorter than requested."""
    if len(data) < requested:
        raise truncated(path, len(data), requested)
    return data


def truncated(path: str, got: int, requested: int) -> TruncatedError:
    """Returns the error for a request that returned too few bytes."""
    return TruncatedError(f"{path}: the filesystem returned {got} of {requested} requested bytes")


def file_size(reported: Any) -> int | None:
    """Returns a reported size, or None if no file can have it."""
    try:
        size = operator.index(reported)
    except TypeError:
        return None
    return size if 0 <= size < 1 << 63 else None


class _Failure:
    """An exception as a result.

    A future cannot hold a StopIteration, and raises a copy of a TimeoutError, without the path.
    """

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _caught(work: Callable[..., T], *args: Any) -> T | _Failure:
    try:
        return work(*args)
    except BaseException as error:
        return _Failure(error)


async def _outcome(work: Coroutine[Any, Any, T]) -> T | _Failure:
    try:
        return await work
    except Exception as error:
        return _Failure(error)


def _result(found: T | _Failure) -> T:
    if isinstance(found, _Failure):
        raise found.error
    return found
