"""Hands batches to an executor, and waits for what comes of them."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future, wait
from queue import SimpleQueue
from typing import TypeAlias

from sealane._bulk.batches import LARGE, Task, prepare, run
from sealane._bulk.pairs import Pair

Batch: TypeAlias = Sequence[Pair]
Failures: TypeAlias = dict[int, Exception]
"""By the places of the files in their batch."""

MANY = 64
"""Files of a batch, among which it divides what an executor takes to hand one over."""
IN_FLIGHT = 256
"""Batches that are handed over at once: enough for every thread of a large cluster, few for a scheduler."""


def cut(pairs: Iterable[Pair]) -> Iterator[Batch]:
    """Batches: at most ``MANY`` small files of ``LARGE`` bytes together, or one large file."""
    batch: list[Pair] = []
    size = 0
    for pair in pairs:
        if pair.size >= LARGE:
            yield [pair]
            continue
        if len(batch) == MANY or size + pair.size > LARGE:
            yield batch
            batch, size = [], 0
        batch.append(pair)
        size += pair.size
    if batch:
        yield batch


def ready(executor: Executor, task: Task, opens: str | None) -> None:
    """Lets a worker find the key, and try it on the encrypted file ``opens``. Raises what went wrong there.

    That a worker vanished is not told: then every file will.
    """
    future = executor.submit(prepare, task, None if opens is None else os.path.join(os.getcwd(), opens))
    try:
        error = future.result()
    except (BrokenExecutor, CancelledError):
        return
    except BaseException:
        future.cancel()
        raise
    if error is not None:
        raise error


def work(
    executor: Executor,
    task: Task,
    batches: Iterable[Batch],
    note: Callable[[Batch, Failures], None],
    tell: Callable[[], None],
) -> None:
    """Calls ``note`` with what came of each batch, then ``tell``, here. What ``tell`` raises, or Ctrl-C, ends
    it: batches that have not begun never do, the others are awaited and noted.
    """
    # Workers may stand elsewhere. Paths are not normalised: after a link to a folder, ".." is another one.
    here = os.getcwd()
    pending: dict[Future[Failures], Batch] = {}
    ended: SimpleQueue[Future[Failures]] = SimpleQueue()

    def collect() -> None:
        future = ended.get()
        note(pending[future], _outcome(future, pending[future]))
        del pending[future]

    try:
        for batch in batches:
            while len(pending) >= IN_FLIGHT:
                collect()
                tell()
            try:
                files = [(_absolute(here, pair.source), _absolute(here, pair.target)) for pair in batch]
                future = executor.submit(run, task, files)
            except (RuntimeError, OSError) as error:
                # A broken pool, or one that was shut down, says so here.
                note(batch, _lost(error, batch))
                tell()
            else:
                pending[future] = batch
                future.add_done_callback(ended.put)
        while pending:
            collect()
            tell()
    except BaseException:
        # Where no future says that it runs, the executor does not tell (Dask's): to cancel would be to forget
        # those that run as well, and they would finish behind the caller's back.
        tells = any(future.running() for future in pending)
        # Not by `ended`: Ctrl-C may have come when an end was taken from it and not yet noted.
        wait([future for future in pending if not (tells and future.cancel())])
        for future, batch in pending.items():
            note(batch, _outcome(future, batch))
        raise


def _absolute(here: str, path: str) -> str:
    # Most are, and to join them takes longer than to look.
    return path if not path or os.path.isabs(path) else os.path.join(here, path)


def _outcome(future: Future[Failures], batch: Batch) -> Failures:
    error = CancelledError() if future.cancelled() else future.exception()
    return future.result() if error is None else _lost(error, batch)


def _lost(error: BaseException, batch: Batch) -> Failures:
    """The executor failed, so nobody knows about these files. Dask's answer is known by its name."""
    vanished = isinstance(error, BrokenExecutor | CancelledError) or type(error).__name__ == "KilledWorker"
    why = "the worker vanished" if vanished else f"the worker failed: {type(error).__name__}: {error}"
    failed: Failures = {}
    for place, pair in enumerate(batch):
        failed[place] = ChildProcessError(errno.ECHILD, why, pair.source)
        failed[place].__cause__ = error
    return failed
