"""Hands files to an executor or to threads of the core. Collects the results on the calling thread."""

from __future__ import annotations

import errno
import functools
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from queue import SimpleQueue
from typing import TypeAlias

from sealane._bulk.batches import Failures, Task, operation_of, prepare, run
from sealane._bulk.pairs import Pair
from sealane._native import PARALLEL_FILE_LEN

Batch: TypeAlias = Sequence[Pair]
Note: TypeAlias = Callable[[Batch, Failures], None]

BATCH_FILES = 64
"""Largest number of files in a batch, which share the cost of handing a batch over."""
MAX_IN_FLIGHT = 256
"""Largest number of batches that are handed over at once: enough for the threads of a large cluster."""


def cut(pairs: Iterable[Pair]) -> Iterator[Batch]:
    """Yields batches of up to ``BATCH_FILES`` files with ``PARALLEL_FILE_LEN`` bytes, or one large file."""
    batch: list[Pair] = []
    size = 0
    for pair in pairs:
        if pair.size >= PARALLEL_FILE_LEN:
            yield [pair]
            continue
        if len(batch) == BATCH_FILES or size + pair.size > PARALLEL_FILE_LEN:
            yield batch
            batch, size = [], 0
        batch.append(pair)
        size += pair.size
    if batch:
        yield batch


def check(executor: Executor | None, task: Task, manifest: str | None, finished: str | None) -> None:
    """Checks in a worker that the key is available and opens the target ``finished`` of the manifest. Raises
    the error.

    A worker that vanished raises nothing here: then each file has the error.
    """
    finished = None if finished is None else _absolute(os.getcwd(), finished)
    if executor is None:
        error = prepare(task, manifest, finished)
    else:
        future = executor.submit(prepare, task, manifest, finished)
        try:
            error = future.result()
        except (BrokenExecutor, CancelledError):
            return
        except BaseException:
            future.cancel()
            raise
    if error is not None:
        raise error


def schedule(
    task: Task, pairs: Sequence[Pair], root: str | None, note: Note, tell: Callable[[], None]
) -> None:
    """Processes files on threads of the core. Follows no link below ``root``. Calls ``note`` and ``tell`` as
    ``work`` does.
    """
    ended: list[tuple[int, Exception | None]] = []
    stopped = False

    def note_all() -> None:
        # Removed after it was noted: Ctrl-C may come in between.
        while ended:
            index, error = ended[-1]
            note([pairs[index]], {} if error is None else {0: error})
            ended.pop()

    def listen(results: list[tuple[int, Exception | None]]) -> None:
        nonlocal stopped
        ended.extend(results)
        note_all()
        if not stopped:
            stopped = True  # If this raises, files that end later are noted without a call.
            tell()
            stopped = False

    try:
        operation = operation_of(task)
        operation.schedule(list(pairs), task.verify, task.durable, BATCH_FILES, listen, root, task.preserve)
    finally:
        note_all()


def work(
    executor: Executor, task: Task, batches: Iterable[Batch], note: Note, tell: Callable[[], None]
) -> None:
    """Calls ``note`` with the result of each batch, then ``tell``, on this thread. An exception of ``tell``,
    or Ctrl-C, ends the work: batches that have not begun are cancelled; the others are awaited and noted.
    """
    # Workers may have another current folder. Paths are not normalised: after a link to a folder, ".." is its
    # parent.
    here = os.getcwd()
    unnoted: dict[int, Batch] = {}
    running: dict[int, Future[Failures]] = {}
    outcomes: dict[int, Failures] = {}
    ended: SimpleQueue[int] = SimpleQueue()

    def end(number: int, batch: Batch, future: Future[Failures]) -> None:
        outcomes[number] = _outcome(future, batch)
        # Dask runs a batch again, and writes its files again, if a worker is lost while a future for its
        # result exists.
        del running[number]
        ended.put(number)

    def hand_over(number: int, batch: Batch) -> None:
        files = [(_absolute(here, pair.source), _absolute(here, pair.target)) for pair in batch]
        future = executor.submit(run, task, files)
        unnoted[number] = batch
        running[number] = future
        future.add_done_callback(functools.partial(end, number, batch))

    def collect() -> None:
        number = ended.get()
        note(unnoted[number], outcomes[number])
        del unnoted[number], outcomes[number]

    try:
        for number, batch in enumerate(batches):
            while len(unnoted) >= MAX_IN_FLIGHT:
                collect()
                tell()
            try:
                hand_over(number, batch)
            except (RuntimeError, OSError) as error:
                # An executor raises this if its pool is broken or was shut down.
                note(batch, _lost(error, batch))
                tell()
        while unnoted:
            collect()
            tell()
    except BaseException:
        # If no future is running, the executor does not report that, as Dask's. Cancelling would also drop
        # batches that are running, and they would finish unnoticed.
        futures = list(running.values())
        if any(future.running() for future in futures):
            for future in futures:
                future.cancel()
        while unnoted.keys() - outcomes.keys():
            ended.get()
        # Not only those taken from `ended` here: Ctrl-C may have come after a number was taken from it and
        # before its batch was noted.
        for number, batch in unnoted.items():
            note(batch, outcomes[number])
        raise


def _absolute(here: str, path: str) -> str:
    # Most paths are absolute, and joining takes longer than the check.
    return path if not path or os.path.isabs(path) else os.path.join(here, path)


def _outcome(future: Future[Failures], batch: Batch) -> Failures:
    error = CancelledError() if future.cancelled() else future.exception()
    return future.result() if error is None else _lost(error, batch)


def _lost(error: BaseException, batch: Batch) -> Failures:
    """Returns errors for files that a failed executor lost. Dask's exception is known by its name."""
    vanished = isinstance(error, BrokenExecutor | CancelledError) or type(error).__name__ == "KilledWorker"
    why = "the worker vanished" if vanished else f"the worker failed: {type(error).__name__}: {error}"
    failures: Failures = {}
    for index, pair in enumerate(batch):
        failures[index] = ChildProcessError(errno.ECHILD, why, pair.source)
        failures[index].__cause__ = error
    return failures
