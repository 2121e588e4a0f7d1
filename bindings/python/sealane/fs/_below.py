"""Calls of the other filesystem, which holds the encrypted files.

The operations of ``sealane.fs`` are written once, as coroutines. They reach the other filesystem, threads and
memory only through an object of this module, which decides how a call is made:

==============  ===============================================================================
``Direct``      in the thread of the caller; a coroutine never waits, so ``finished`` runs it
``Awaited``     the other filesystem is asynchronous: its coroutines are awaited on its event loop
``Threaded``    the other filesystem is synchronous: its methods run in threads, and are awaited
==============  ===============================================================================

With the last two, ciphers and local files are processed in threads, and a budget bounds the memory of all
transfers that are in progress.
"""

from __future__ import annotations

import asyncio
import collections
import contextlib
import contextvars
import inspect
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, Final, Protocol, TypeVar

from fsspec.asyn import AsyncFileSystem, _get_batch_size
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.spec import AbstractFileSystem

T = TypeVar("T")

BUDGET: Final = 40 << 20
"""Number of encrypted bytes that the transfers of one filesystem hold at a time."""
REST: Final = 32 << 20
"""Number of bytes in addition, for what follows the beginning of long files.

A transfer asks for them while it holds a part of the first budget, so they cannot be of the same budget: all
transfers would wait for each other.
"""
INLINE: Final = 64 << 10
"""Largest number of bytes that are encrypted or decrypted on the event loop.

This takes some tens of microseconds, which is less than handing the work to a thread takes.
"""
THREADS: Final = 4 + (os.cpu_count() or 1)


class Below(Protocol):
    """A way to call the other filesystem."""

    fs: Any
    concurrent: bool
    """Whether several calls can be in progress at a time."""

    async def call(self, name: str, *args: Any, **options: Any) -> Any:
        """Calls the method ``name`` of the other filesystem, for example ``"cat_file"``."""

    async def compute(self, work: Callable[..., T], *args: Any, size: int | None = None) -> T:
        """Returns ``work(*args)``, which uses a processor, a local file or a blocking call.

        With ``size``, it only processes this number of bytes in memory.
        """

    async def together(self, works: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T | Exception]:
        """Returns the result or the exception of each coroutine."""

    async def result_of(self, other: Waited) -> None:
        """Waits until another caller has finished."""

    def reserve(self, size: int) -> contextlib.AbstractAsyncContextManager[Share]:
        """Waits until ``size`` bytes of the budget are free, and holds them until the block ends."""

    def reserve_rest(self, size: int) -> contextlib.AbstractAsyncContextManager[Share]:
        """Waits until ``size`` bytes of the budget for the rest of long files are free, and holds them."""


def finished(work: Coroutine[Any, Any, T]) -> T:
    """Returns the result of a coroutine that uses ``Direct``, and therefore never waits."""
    try:
        work.send(None)
    except StopIteration as end:
        return end.value  # type: ignore[no-any-return]
    work.close()
    raise RuntimeError("a coroutine that should call in place has waited")


async def outcome_of(work: Coroutine[Any, Any, T]) -> Callable[[], T]:
    """Returns a function that returns the result of a coroutine, or raises its exception.

    A future between threads raises a copy of a TimeoutError, which contains no path.
    """
    try:
        result = await work
    except Exception as error:
        failure = error
    else:
        return lambda: result

    def fail() -> T:
        raise failure

    return fail


def is_asynchronous(fs: Any) -> bool:
    """Returns whether the coroutines of a filesystem can be awaited."""
    if isinstance(fs, DirFileSystem):
        return is_asynchronous(fs.fs)  # Its own coroutines call those of the filesystem below it.
    # The class itself, because the caches of fsspec have all attributes of the filesystem below them.
    return issubclass(type(fs), AsyncFileSystem) and bool(fs.async_impl)


def synchronous_view(fs: Any) -> Any:
    """Returns a filesystem with the same files whose synchronous methods can be called from any thread."""
    if isinstance(fs, AsyncFileSystemWrapper):
        return fs.sync_fs  # The wrapper has no file objects.
    if not getattr(fs, "asynchronous", False):
        return fs
    return _recreated(fs, asynchronous=False)


def asynchronous_view(fs: Any) -> Any:
    """Returns a filesystem with the same files whose coroutines run on the event loop of the caller."""
    return fs if fs.asynchronous else _recreated(fs, asynchronous=True)


def _recreated(fs: Any, *, asynchronous: bool) -> Any:
    options = {name: value for name, value in fs.storage_options.items() if name != "loop"}
    if isinstance(fs, DirFileSystem):
        below = _recreated(fs.fs, asynchronous=asynchronous) if is_asynchronous(fs.fs) else fs.fs
        return DirFileSystem(fs.path, fs=below, asynchronous=asynchronous)
    return type(fs)(*fs.storage_args, **{**options, "asynchronous": asynchronous})


class Waited:
    """The end of something that other threads and tasks wait for."""

    def __init__(self) -> None:
        self.future: Future[None] = Future()

    def done(self) -> None:
        """Wakes all callers that wait."""
        self.future.set_result(None)


class Share:
    """A part of the budget that a transfer holds."""

    def __init__(self, budget: Budget | None, size: int) -> None:
        self._budget, self.size = budget, size

    def shrink(self, size: int) -> None:
        """Returns all but ``size`` bytes."""
        if self._budget is not None and size < self.size:
            self._budget.give(self.size - size)
            self.size = size


class Budget:
    """A number of bytes that the coroutines of one event loop share, in the order of their requests."""

    def __init__(self, total: int) -> None:
        self._total = self._free = total
        self._waiting: collections.deque[tuple[int, asyncio.Future[None]]] = collections.deque()

    @contextlib.asynccontextmanager
    async def reserve(self, size: int) -> AsyncIterator[Share]:
        """Waits until ``size`` bytes are free. A larger transfer than the budget takes all of it."""
        size = min(size, self._total)
        await self._take(size)
        share = Share(self, size)
        try:
            yield share
        finally:
            self.give(share.size)

    async def _take(self, size: int) -> None:
        if not self._waiting and size <= self._free:
            self._free -= size
            return
        future = asyncio.get_running_loop().create_future()
        self._waiting.append((size, future))
        try:
            await future
        except BaseException:
            if future.done() and not future.cancelled():
                self.give(size)  # It was granted and cancelled at the same time.
            else:
                self._waiting.remove((size, future))
                self.give(0)
            raise

    def give(self, size: int) -> None:
        """Returns bytes to the budget."""
        self._free += size
        while self._waiting and (self._waiting[0][0] <= self._free or self._waiting[0][1].done()):
            size, future = self._waiting[0]
            if future.done():
                return  # It was cancelled and removes itself.
            self._waiting.popleft()
            self._free -= size
            future.set_result(None)


class Direct:
    """Calls in the thread of the caller, one after the other."""

    concurrent = False

    def __init__(self, fs: Any) -> None:
        self.fs = fs

    async def call(self, name: str, *args: Any, **options: Any) -> Any:
        """Calls a method of the other filesystem."""
        return getattr(self.fs, name)(*args, **options)

    async def compute(self, work: Callable[..., T], *args: Any, size: int | None = None) -> T:
        """Returns ``work(*args)``."""
        return work(*args)

    async def together(self, works: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T | Exception]:
        """Returns the result or the exception of each coroutine."""
        found: list[T | Exception] = []
        for work in works:
            try:
                found.append(await work())
            except Exception as error:
                found.append(error)
        return found

    async def result_of(self, other: Waited) -> None:
        """Waits until another thread has finished."""
        other.future.result()

    @contextlib.asynccontextmanager
    async def reserve(self, size: int) -> AsyncIterator[Share]:
        """Holds nothing: there is one transfer at a time."""
        yield Share(None, size)

    reserve_rest = reserve


class Threaded:
    """Runs the methods of a synchronous filesystem in threads."""

    concurrent = True

    def __init__(self, fs: Any) -> None:
        self.fs = fs
        self._budget, self._rest = Budget(BUDGET), Budget(REST)
        # Not the executor of the event loop, in which host names are looked up: a thread that waits for a
        # request would keep that request from being sent.
        self._executor: ThreadPoolExecutor | None = None

    async def call(self, name: str, *args: Any, **options: Any) -> Any:
        """Calls a method of the other filesystem in a thread."""
        return await self.compute(lambda: getattr(self.fs, name)(*args, **options))

    async def compute(self, work: Callable[..., T], *args: Any, size: int | None = None) -> T:
        """Returns ``work(*args)``, from a thread if it takes long."""
        if size is not None and size <= INLINE:
            return work(*args)
        if self._executor is None:
            self._executor = ThreadPoolExecutor(THREADS, thread_name_prefix="sealane.fs")
        context = contextvars.copy_context()
        running = asyncio.get_running_loop().run_in_executor(
            self._executor, lambda: _caught(context.run, work, *args)
        )
        cancelled: BaseException | None = None
        while not running.done():
            try:
                await asyncio.shield(running)
            except asyncio.CancelledError as error:
                # The thread still uses the objects that the caller is going to release.
                cancelled = error
        if cancelled is not None:
            raise cancelled
        result: T | _Failure = running.result()
        if not isinstance(result, _Failure):
            return result
        if isinstance(result.error, Exception | asyncio.CancelledError):
            raise result.error
        # KeyboardInterrupt or SystemExit would end the event loop, on which others wait.
        raise RuntimeError(f"{type(result.error).__name__} was raised in a thread") from result.error

    async def together(self, works: Sequence[Callable[[], Coroutine[Any, Any, T]]]) -> list[T | Exception]:
        """Returns the result or the exception of each coroutine. As many run at a time as fsspec allows."""
        limit = self.fs.__dict__.get("batch_size") or _get_batch_size(nofiles=True)
        free = asyncio.Semaphore(limit if limit > 0 else max(len(works), 1))

        async def one(work: Callable[[], Coroutine[Any, Any, T]]) -> T | Exception:
            async with free:
                try:
                    return await work()
                except Exception as error:
                    return error

        tasks = [asyncio.ensure_future(one(work)) for work in works]
        try:
            return list(await asyncio.gather(*tasks))
        except BaseException:
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)
            raise

    async def result_of(self, other: Waited) -> None:
        """Waits until another task or thread has finished."""
        await asyncio.shield(asyncio.wrap_future(other.future))

    def reserve(self, size: int) -> contextlib.AbstractAsyncContextManager[Share]:
        """Waits until ``size`` bytes of the budget are free, and holds them until the block ends."""
        return self._budget.reserve(size)

    def reserve_rest(self, size: int) -> contextlib.AbstractAsyncContextManager[Share]:
        """Waits until ``size`` bytes of the budget for the rest of long files are free, and holds them."""
        return self._rest.reserve(size)


class Awaited(Threaded):
    """Awaits the coroutines of an asynchronous filesystem."""

    async def call(self, name: str, *args: Any, **options: Any) -> Any:
        """Awaits the coroutine of a method. Few methods of a filesystem have none."""
        method = getattr(self.fs, f"_{name}", None)
        if inspect.iscoroutinefunction(method):
            return await method(*args, **options)
        if getattr(type(self.fs), name) is getattr(AbstractFileSystem, name):
            match name:
                case "mv":
                    return await self._move(*args, **options)
                case "lexists":
                    return await self.fs._exists(*args, **options)
                case "rmdir":
                    return None  # As in `AbstractFileSystem`: there are no folders to remove.
        return await self.compute(lambda: getattr(synchronous_view(self.fs), name)(*args, **options))

    async def _move(
        self, path1: str, path2: str, recursive: bool = False, maxdepth: int | None = None, **options: Any
    ) -> None:
        """Moves as ``AbstractFileSystem.mv`` does."""
        if path1 != path2:
            await self.fs._copy(path1, path2, recursive=recursive, maxdepth=maxdepth, on_error="raise")
            await self.fs._rm(path1, recursive=recursive)


class _Failure:
    """An exception as a result. A future cannot hold a StopIteration."""

    def __init__(self, error: BaseException) -> None:
        self.error = error


def _caught(work: Callable[..., T], *args: Any) -> T | _Failure:
    try:
        return work(*args)
    except BaseException as error:
        return _Failure(error)


def way_to(fs: Any) -> Threaded:
    """Returns the way to call a filesystem from an event loop."""
    return Awaited(fs) if is_asynchronous(fs) else Threaded(fs)
