"""What the workers of a bulk call are told, and what they do.

A worker may be a thread here, a process beside, or a process on another machine. What it is told may be
pickled, logged and shown on a dashboard, so no secret is in it: a key travels as a reference and is resolved
where it is used, once a call and process. A key that was given as bytes stays in the process of the call, and
only workers in that process find it.

A worker process that lives on keeps the key of its last call until it is told of another one, or ends: nobody
tells it that there will be no more.
"""

from __future__ import annotations

import contextlib
import dataclasses
import errno
import os
import pathlib
import pickle
import threading
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from sealane import _native
from sealane._about import named
from sealane._native import DecryptWith, EncryptWith
from sealane._places import is_stream
from sealane._reference import identity, resolve
from sealane.exceptions import SealaneError

if TYPE_CHECKING:
    from sealane._native import _FileKey as FileKey
    from sealane._native import _Identities as Identities
    from sealane._native import _Recipients as Recipients

    _Verb: TypeAlias = Literal["encrypt", "decrypt", "verify"]

Files: TypeAlias = list[tuple[str, str]]
"""Sources and targets, absolute. To be verified: sources, and ""."""

LARGE = 4 << 20
"""Bytes of a file that is a batch by itself, and of a batch of smaller ones."""


@dataclasses.dataclass(frozen=True)
class Task:
    """What is to be done with every file of a call."""

    call: str
    """A name by which workers know the call again."""
    verb: _Verb
    key: str | None
    """A reference."""
    recipients: tuple[str, ...] | None
    identities: tuple[str | pathlib.Path, ...] | None
    """References, and identity files."""
    context: bytes
    format: str | None
    threads: int
    """For one large file."""
    verify: bool
    durable: bool

    def keys(self, key: FileKey | None, recipients: Recipients | None, identities: Identities | None) -> Keys:
        """Raises TypeError and ValueError as ``encrypt_file`` and ``decrypt_file`` do."""
        lock = unlock = None
        if identities is None:
            lock = EncryptWith(key=key, recipients=recipients, context=self.context, format=self.format)
        if recipients is None:
            unlock = DecryptWith(
                key=key, identities=identities, context=self.context, format=self.format
            )
        return Keys(lock, unlock)


class Keys(NamedTuple):
    """What encrypts, and what opens again. Neither can be pickled."""

    lock: EncryptWith | None
    unlock: DecryptWith | None


_guard = threading.Lock()
_kept: dict[str, Keys] = {}
_calls_here: set[str] = set()


def _forget() -> None:
    """In a forked child. It gets no key that its parent held, nor a guard that another thread had."""
    global _guard
    _guard = threading.Lock()
    _kept.clear()
    _calls_here.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


@contextlib.contextmanager
def calling(task: Task, keys: Keys | None) -> Iterator[None]:
    """A call of this process: workers in it find its ``keys`` until the end, and whatever they resolve."""
    with _guard:
        _calls_here.add(task.call)
        if keys is not None:
            _kept[task.call] = keys
    try:
        yield
    finally:
        with _guard:
            _calls_here.discard(task.call)
            _kept.pop(task.call, None)


def _keys(task: Task) -> Keys:
    with _guard:
        if (keys := _kept.get(task.call)) is None:
            keys = _resolved(task)
            for call in _kept.keys() - _calls_here:
                del _kept[call]
            _kept[task.call] = keys
        return keys


def _resolved(task: Task) -> Keys:
    if task.key is None and task.recipients is None and task.identities is None:
        raise TypeError(
            "keys do not travel, and this executor works in other processes: "
            'give a reference, such as key="env:NAME"; see sealane.keys.resolve'
        )
    key = None if task.key is None else resolve(task.key)
    if task.identities is None:
        return task.keys(key, task.recipients, None)
    return task.keys(key, None, [identity(i) if isinstance(i, str) else i for i in task.identities])


def prepare(task: Task, opens: str | None) -> Exception | None:
    """Finds the key, and tries it on the encrypted file ``opens``. Returns what went wrong."""
    try:
        unlock = _keys(task).unlock
        if opens is not None and unlock is not None:
            _native.Reader(opens, unlock)
    except Exception as error:
        return _portable(error, opens)
    return None


def run(task: Task, files: Files) -> dict[int, Exception]:
    """Does one batch. Returns what went wrong, by the places of the files in it."""
    try:
        keys = _keys(task)
    except Exception as missing:
        return {place: _portable(missing, source) for place, (source, _) in enumerate(files)}
    failed: dict[int, Exception] = {}
    for place, (_, target) in enumerate(files):
        # To ask first whether anything is there takes a quarter of the time, and mostly nothing is.
        if os.access(target, os.F_OK) and is_stream(target):
            # To open a pipe is to wait for whoever reads it.
            failed[place] = OSError(errno.EINVAL, "not a plain file", target)
    places = [place for place in range(len(files)) if place not in failed]
    for place, error in zip(places, _DO[task.verb](task, keys, [files[p] for p in places]), strict=True):
        source, target = files[place]
        if error is not None:
            failed[place] = _portable(error, source)
        elif task.verify:
            assert keys.unlock is not None
            if (bad := _tried(_native.verify_path, target, keys.unlock, 1, None)) is not None:
                failed[place] = _portable(bad, target)
    return failed


def _encrypt(task: Task, keys: Keys, files: Files) -> list[BaseException | None]:
    assert keys.lock is not None
    if len(files) != 1:
        return _native.encrypt_paths(files, keys.lock, task.durable)
    return [_tried(_native.encrypt_path, *files[0], keys.lock, task.threads, None, task.durable)]


def _decrypt(task: Task, keys: Keys, files: Files) -> list[BaseException | None]:
    assert keys.unlock is not None
    if len(files) != 1:
        return _native.decrypt_paths(files, keys.unlock, task.durable)
    return [_tried(_native.decrypt_path, *files[0], keys.unlock, task.threads, None, task.durable)]


def _verify(task: Task, keys: Keys, files: Files) -> list[BaseException | None]:
    assert keys.unlock is not None
    threads = task.threads if len(files) == 1 else 1
    return [_tried(_native.verify_path, source, keys.unlock, threads, None) for source, _ in files]


_DO: dict[_Verb, Callable[[Task, Keys, Files], list[BaseException | None]]] = {
    "encrypt": _encrypt,
    "decrypt": _decrypt,
    "verify": _verify,
}


def _tried(work: Callable[..., None], *given: object) -> Exception | None:
    try:
        work(*given)
    except Exception as error:
        return error
    return None


def _portable(error: BaseException, path: str | None) -> Exception:
    """``error``, with the path it is about. What does not come through a pickle is told in words: a process
    pool breaks on an exception that cannot be unpickled.
    """
    if not isinstance(error, Exception):
        error = SealaneError(f"stopped by {type(error).__name__}")
    try:
        error = error if path is None else named(error, path)
        pickle.loads(pickle.dumps(error))
    except Exception:
        told = SealaneError(f"{type(error).__name__}: {error}")
        return told if path is None else named(told, path)
    return error
