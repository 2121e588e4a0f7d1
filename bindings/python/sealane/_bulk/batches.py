"""The description of a bulk call that workers get, and the functions that they run.

A worker may be a thread of this process, another process, or a process on another machine. The description
may be pickled, logged and shown on a dashboard, so it contains no secret. A key travels as a reference, and
each worker process resolves it once per call. A key that was given as bytes stays in the process of the call,
where only workers of that process find it.

A worker process that is reused keeps the key of its last call until it works for another call or ends,
because it is not told that a call has ended.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
import pickle
import threading
from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal, TypeAlias

from sealane._error_paths import named
from sealane._native import DecryptWith, EncryptWith, Keyring, Operation
from sealane._reference import identity, resolve
from sealane.exceptions import SealaneError

if TYPE_CHECKING:
    from sealane._native import _FileKey as FileKey
    from sealane._native import _Identities as Identities
    from sealane._native import _Recipients as Recipients

    _Verb: TypeAlias = Literal["encrypt", "decrypt", "verify", "rotate"]

Files: TypeAlias = list[tuple[str, str]]
"""Absolute paths of sources and targets. The targets are "" for files to be verified."""

Failures: TypeAlias = dict[int, Exception]
"""The errors of a batch, by the index of the file."""


@dataclasses.dataclass(frozen=True)
class Task:
    """The description of a bulk call, as it is sent to the workers."""

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
    """The target folder of a tree, an absolute path. No link is followed below it."""
    preserve: bool = False
    """Whether the targets of a tree get the attributes of their sources."""

    def operation(
        self, key: FileKey | None, recipients: Recipients | None, identities: Identities | None
    ) -> Operation:
        """Returns the operation on each file. Raises as ``encrypt_file`` and ``decrypt_file`` do."""
        if self.verb == "rotate":
            if not isinstance(key, Keyring):
                raise TypeError(f"expected a keyring, sealane.keys.Keyring, found {type(key).__name__}")
            return Operation.rotate(key, self.context)
        if self.verb == "encrypt":
            return Operation.encrypt(
                EncryptWith(key=key, recipients=recipients, context=self.context, format=self.format)
            )
        unlock = DecryptWith(key=key, identities=identities, context=self.context, format=self.format)
        return Operation.decrypt(unlock) if self.verb == "decrypt" else Operation.verify(unlock)


_guard = threading.Lock()
_operations: dict[str, Operation] = {}
"""The operations of running calls, which contain keys, by the identifier of the call."""
_calls_here: set[str] = set()


def _forget() -> None:
    """Clears the state in a forked child, which must inherit neither keys nor a lock that is held."""
    global _guard
    _guard = threading.Lock()
    _operations.clear()
    _calls_here.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextlib.contextmanager
def calling(task: Task, operation: Operation | None) -> Iterator[None]:
    """Makes ``operation``, or the one that a worker resolves here, available until the call ends."""
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
    if task.identities is None:
        return task.operation(key, task.recipients, None)
    return task.operation(key, None, [identity(i) if isinstance(i, str) else i for i in task.identities])


def prepare(task: Task, manifest: str | None, finished: str | None) -> Exception | None:
    """Resolves the key and checks that it opens ``finished``, a target of the manifest. Returns the error."""
    try:
        operation = operation_of(task)
        if manifest is not None and finished is not None:
            operation.check_finished(manifest, finished)
    except Exception as error:
        return _portable(error, None)
    return None


def run(task: Task, files: Files) -> Failures:
    """Processes the files of one batch and returns the errors of those that failed."""
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
    """Returns ``error`` with the path it is about. An exception that does not survive pickling is replaced by
    its text, because a process pool breaks on an exception that cannot be unpickled.
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
