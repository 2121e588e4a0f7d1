"""A bulk call: its keys and its executor's workers.

A worker may be a thread of this process, another process, or a process on another machine. A call's
description may be pickled, logged and shown on a dashboard, so it contains no secret. A key travels
as a reference, and each worker process resolves it once per call. A key given as bytes stays in the
calling process, and only workers in that process find it.

A reused worker process keeps its last call's key until it works for another call or ends, because
nobody tells it that a call has ended.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import functools
import os
import pathlib
import pickle
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import BrokenExecutor, CancelledError, Executor, Future
from queue import SimpleQueue
from typing import TYPE_CHECKING, Literal, TypeAlias, TypeVar

from sealane._endpoints import name_of, patterns
from sealane._error_paths import named
from sealane._native import DecryptWith, EncryptWith, Job, Keyring, Operation, check_key
from sealane._reference import check as check_reference
from sealane._reference import fingerprint_at, identity, is_pinned, is_reference, resolve
from sealane.exceptions import SealaneError, escaped

if TYPE_CHECKING:
    from sealane._endpoints import Buffer, FileKey, Identities, Path, Recipients
    from sealane._native import Key

    _Identity: TypeAlias = str | Key | os.PathLike[str]
    _Verb: TypeAlias = Literal["encrypt", "decrypt", "verify", "rotate"]

Files: TypeAlias = list[tuple[str, str]]
"""Absolute paths of sources and targets. To verify, targets are ""."""

Failures: TypeAlias = dict[int, Exception]
"""The errors of a batch, by file index."""

Progress: TypeAlias = Callable[[int, int], object]

_Answer = TypeVar("_Answer")

BATCH_FILES = 64
"""Maximum number of files in a batch; they share the cost of the handover."""
MAX_IN_FLIGHT = 256
"""Maximum number of batches handed over at once: enough for the threads of a large cluster."""


@dataclasses.dataclass(frozen=True)
class Task:
    """The description of a bulk call as sent to the workers."""

    call: str
    """Identifier of the call."""
    verb: _Verb
    key: str | None
    """A reference."""
    recipients: tuple[str, ...] | None
    identities: tuple[str | pathlib.Path, ...] | None
    """References and paths of identity files."""
    context: bytes
    format: str | None
    verify: bool
    durable: bool
    root: str | None = None
    """The target folder of a tree, an absolute path. Links below it are not followed."""
    preserve: bool | Literal["all"] = False
    """Whether the targets of a tree get the attributes of their sources."""

    def operation(
        self, key: FileKey | None, recipients: Recipients | None, identities: Identities | None
    ) -> Operation:
        """Returns the operation on each file. Raises as ``encrypt_file`` and ``decrypt_file``."""
        if self.verb == "rotate":
            if not isinstance(key, Keyring):
                raise TypeError(f"expected a keyring, sealane.keys.Keyring, found {type(key).__name__}")
            return Operation.rotate(key, self.context)
        if self.verb == "encrypt":
            lock = EncryptWith(key, recipients, None, self.context, self.format)
            return Operation.encrypt(lock)
        unlock = DecryptWith(key, identities, None, self.context, self.format)
        return Operation.decrypt(unlock) if self.verb == "decrypt" else Operation.verify(unlock)


_guard = threading.Lock()
_operations: dict[str, Operation] = {}
"""The operations of running calls, by call identifier. They contain keys."""
_calls_here: set[str] = set()


def _forget() -> None:
    """Clears the state in a forked child, which must inherit neither keys nor a held lock."""
    global _guard
    _guard = threading.Lock()
    _operations.clear()
    _calls_here.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextlib.contextmanager
def calling(task: Task, operation: Operation | None) -> Iterator[None]:
    """Makes ``operation``, or one resolved here by a worker, available until the call ends."""
    with _guard:
        _calls_here.add(task.call)
        if operation is not None:
            _operations[task.call] = operation
    try:
        yield
    finally:
        with _guard:
            _calls_here.discard(task.call)
            _operations.pop(task.call, None)


def operation_of(task: Task) -> Operation:
    """Returns the operation of a call. The first caller in a process resolves the references."""
    with _guard:
        if (operation := _operations.get(task.call)) is None:
            operation = _resolved(task)
            for call in _operations.keys() - _calls_here:
                del _operations[call]
            _operations[task.call] = operation
        return operation


def _resolved(task: Task) -> Operation:
    if task.key is None and task.recipients is None and task.identities is None:
        raise TypeError(
            "keys do not travel, and this executor works in other processes: "
            'give a reference, such as key="env:NAME"; see sealane.keys.resolve'
        )
    key = None if task.key is None else resolve(task.key)
    identities = None if task.identities is None else _here(task.identities)
    return task.operation(key, task.recipients, identities)


def prepare(task: Task, manifest: str | None, finished: str | None) -> None:
    """Resolves the key and checks that it opens ``finished``."""
    operation = operation_of(task)
    if manifest is not None and finished is not None:
        operation.check_finished(manifest, finished)


def answer(question: Callable[..., _Answer], *arguments: object) -> _Answer | Exception:
    """Returns a worker's answer to a question, or its error."""
    try:
        return question(*arguments)
    except Exception as error:
        return _portable(error, None)


def run(task: Task, files: Files) -> Failures:
    """Processes one batch and returns the errors of the failed files."""
    try:
        operation = operation_of(task)
    except Exception as missing:
        return {index: _portable(missing, source) for index, (source, _) in enumerate(files)}
    failures: Failures = {}
    for index, error in enumerate(operation.run(files, task.durable, task.root, task.preserve)):
        if error is not None:
            failures[index] = _portable(error, files[index][0])
    if task.verify:
        written = [index for index in range(len(files)) if index not in failures]
        targets = [files[index][1] for index in written]
        for index, error in zip(written, operation.read_back(targets), strict=True):
            if error is not None:
                failures[index] = _portable(error, files[index][1])
    return failures


def _portable(error: BaseException, path: str | None) -> Exception:
    """Returns ``error`` with its path. An exception that does not survive pickling is replaced by
    its text, because an exception that cannot be unpickled breaks a process pool.
    """
    if not isinstance(error, Exception):
        error = SealaneError(f"stopped by {type(error).__name__}")
    try:
        error = error if path is None else named(error, path)
        pickle.loads(pickle.dumps(error))
    except Exception:
        replacement = SealaneError(f"{type(error).__name__}: {error}")
        return replacement if path is None else named(replacement, path)
    return error


def _pinned(executor: Executor, task: Task) -> Task:
    """Returns the task with the fingerprint of its key, so that no worker believes another key.

    A worker finds the key, and the file of known keys on this machine decides about it.
    """
    if task.key is None or is_pinned(task.key):
        return task
    if (found := _ask(executor, fingerprint_at, task.key)) is None:
        # Another worker could trust another key.
        text = "the worker vanished before it found the key; try again, or give its fingerprint"
        raise ChildProcessError(errno.ECHILD, text, task.key)
    place, fingerprint = found
    check_key(fingerprint, place, None)
    return dataclasses.replace(task, key=f"{task.key}#{fingerprint}")


def _ask(executor: Executor, question: Callable[..., _Answer], *arguments: object) -> _Answer | None:
    """Returns a worker's answer, or raises it, if it is an exception.

    A vanished worker is None here: each of its files gets the error.
    """
    future: Future[_Answer | Exception] = executor.submit(answer, question, *arguments)
    try:
        found = future.result()
    except (BrokenExecutor, CancelledError):
        return None
    except BaseException:
        future.cancel()
        raise
    if isinstance(found, Exception):
        raise found
    return found


def _work(executor: Executor, task: Task, job: Job, progress: Progress | None) -> None:
    """Processes the batches of a job. Records each result and calls ``progress`` on this thread. If
    ``progress`` raises, or on Ctrl-C, the work ends: pending batches are cancelled; running ones
    are awaited and recorded.
    """
    unrecorded: dict[int, list[int]] = {}
    running: dict[int, Future[Failures]] = {}
    outcomes: dict[int, Failures] = {}
    ended: SimpleQueue[int] = SimpleQueue()
    told = 0

    def end(number: int, files: Files, future: Future[Failures]) -> None:
        error = CancelledError() if future.cancelled() else future.exception()
        outcomes[number] = future.result() if error is None else _lost(error, files)
        # Dask reruns a batch, and rewrites its files, if it loses a worker while a future for the
        # result exists.
        del running[number]
        ended.put(number)

    def hand_over(number: int, batch: list[int], files: Files) -> None:
        future = executor.submit(run, task, files)
        unrecorded[number] = batch
        running[number] = future
        future.add_done_callback(functools.partial(end, number, files))

    def collect() -> None:
        number = ended.get()
        job.record(unrecorded[number], outcomes[number])
        del unrecorded[number], outcomes[number]
        tell()

    def tell() -> None:
        nonlocal told
        told, total = job.progress()
        if progress is not None:
            progress(told, total)

    try:
        for number, (batch, files) in enumerate(iter(job.next_batch, None)):
            while len(unrecorded) >= MAX_IN_FLIGHT:
                collect()
            try:
                hand_over(number, batch, files)
            except (RuntimeError, OSError) as error:
                # Raised by an executor with a broken or closed pool.
                job.record(batch, _lost(error, files))
                tell()
        while unrecorded:
            collect()
        if job.progress()[0] != told:
            tell()
    except BaseException:
        # If no future is running, the executor does not report it, as with Dask. Cancelling would
        # also drop running batches, and they would finish unrecorded.
        futures = list(running.values())
        if any(future.running() for future in futures):
            for future in futures:
                future.cancel()
        while unrecorded.keys() - outcomes.keys():
            ended.get()
        # Not only those taken from `ended` here: Ctrl-C may have come between taking a number from
        # it and recording the batch.
        for number, batch in unrecorded.items():
            job.record(batch, outcomes[number])
        raise


def _lost(error: BaseException, files: Files) -> Failures:
    """Returns errors for files lost by a failed executor. Dask's is recognised by name."""
    vanished = isinstance(error, BrokenExecutor | CancelledError) or type(error).__name__ == "KilledWorker"
    why = "the worker vanished" if vanished else f"the worker failed: {type(error).__name__}: {error}"
    failures: Failures = {}
    for index, (source, _) in enumerate(files):
        failures[index] = ChildProcessError(errno.ECHILD, why, source)
        failures[index].__cause__ = error
    return failures


class Call:
    """A bulk call. Creating it checks the keys. Raises the errors of ``encrypt_many``."""

    def __init__(
        self,
        verb: _Verb,
        key: FileKey | str | None,
        recipients: Recipients | None,
        identities: Identities | None,
        context: Buffer,
        format: str | None,
        verify: bool = False,
        durable: bool = False,
    ) -> None:
        given, word = (recipients, "recipients") if verb == "encrypt" else (identities, "identities")
        if (key is None) == (given is None):
            raise TypeError(f"give either key or {word}")
        if isinstance(given, str):
            raise TypeError(f"{word} must be a list, not one str")
        if verify and key is None:
            raise TypeError("verify=True needs a key: only the recipients can read their files")
        if isinstance(key, str):
            if not is_reference(key):
                # Not shown: it may be the key itself, or a password.
                raise ValueError('a key that is a str must be a reference, such as "env:NAME" or "file:PATH"')
            check_reference(key)
        public = None if recipients is None else list(recipients)
        private = None if identities is None else list(identities)
        self._task = Task(
            call=os.urandom(16).hex(),
            verb=verb,
            key=key if isinstance(key, str) else None,
            recipients=None if public is None else tuple(str(one) for one in public),
            identities=None if private is None else _references(private),
            context=memoryview(context).tobytes(),
            format=format,
            verify=verify,
            durable=durable,
        )
        self._operation: Operation | None = None
        self._manifest: str | None = None
        self._dry_run = False
        if not isinstance(key, str) and self._task.identities is None:
            self._operation = self._task.operation(key, public, None if private is None else _here(private))

    def pairs(self, pairs: Iterable[tuple[Path, Path]], manifest: Path | None) -> Job:
        """Returns the job over pairs of files. Raises TypeError for other elements."""
        self._manifest = None if manifest is None else name_of(manifest)
        return Job.pairs(
            [(name_of(source), name_of(target)) for source, target in pairs],
            batch=BATCH_FILES,
            removes_suffix=self._task.verb == "decrypt",
            manifest=self._manifest,
            verify=self._task.verify,
            durable=self._task.durable,
        )

    def tree(
        self,
        src: Path,
        dst: Path | None = None,
        suffix: str = "",
        manifest: Path | None = None,
        excluded: tuple[Iterable[str], Path | None] = ((), None),
        preserve: bool | Literal["all"] = False,
        names: FileKey | str | None = None,
        delete: bool | Literal["all"] = False,
        dry_run: bool = False,
        keeps_names: bool = False,
    ) -> Job:
        """Returns the job over the files of a folder.

        ``excluded`` has the patterns of excluded files, and the file with more of them.
        """
        self._dry_run = dry_run
        self._manifest = None if manifest is None else name_of(manifest)
        target = None if dst is None else name_of(dst)
        if target is not None:
            root = os.path.join(os.getcwd(), target)
            self._task = dataclasses.replace(self._task, root=root, preserve=preserve)
        return Job.tree(
            name_of(src),
            target,
            batch=BATCH_FILES,
            suffix=suffix,
            removes_suffix=self._task.verb in ("decrypt", "verify"),
            in_place=self._task.verb == "rotate",
            manifest=self._manifest,
            verify=self._task.verify,
            durable=self._task.durable,
            exclude=_patterns(*excluded),
            preserve=preserve,
            names=_name_key(names),
            delete=delete,
            dry_run=dry_run,
            keeps_names=keeps_names,
        )

    def run(self, job: Job, executor: Executor | None, progress: Progress | None) -> None:
        """Processes all files, or only counts them. Raises the errors of ``encrypt_many``."""
        task = self._task
        with calling(task, self._operation):
            if executor is None:
                job.run(operation_of(task), progress)
                return
            task = _pinned(executor, task)
            _ask(executor, prepare, task, None, None)
            finished = job.plan()
            if finished is not None:
                _ask(executor, prepare, task, self._manifest, os.path.join(os.getcwd(), finished))
            operation = operation_of(task) if job.finish_needs_operation() else None
            job.start(operation)
            if not self._dry_run:
                _work(executor, task, job, progress)
            job.finish(operation)


def _references(identities: Sequence[_Identity]) -> tuple[str | pathlib.Path, ...] | None:
    """Returns references and paths for other processes; None if any identity is a key."""
    found: list[str | pathlib.Path] = []
    for one in identities:
        if isinstance(one, os.PathLike):
            found.append(pathlib.Path(os.getcwd(), os.fsdecode(one)))
        elif isinstance(one, str) and is_reference(one):
            found.append(one)
        else:
            return None
    return tuple(found)


def _here(identities: Sequence[_Identity]) -> list[_Identity]:
    return [identity(one) if isinstance(one, str) and is_reference(one) else one for one in identities]


def _patterns(exclude: Iterable[str], exclude_from: Path | None) -> list[str]:
    """Returns the patterns of excluded files; those from the file come last."""
    found = patterns(exclude)
    if exclude_from is not None:
        try:
            with open(name := name_of(exclude_from), encoding="utf-8") as file:
                found += file.read().split("\n")  # `splitlines` would split at more characters.
        except UnicodeDecodeError:
            raise ValueError(f"{escaped(name)}: expected patterns in UTF-8, found other bytes") from None
    return found


def _name_key(names: FileKey | str | None) -> FileKey | None:
    """Returns the key for encrypted names. Raises ValueError for a str that is not a reference."""
    if not isinstance(names, str):
        return names
    if not is_reference(names):
        # Not shown: it may be the key itself.
        raise ValueError('encrypt_names that is a str must be a reference, such as "env:NAME" or "file:PATH"')
    return resolve(names)
