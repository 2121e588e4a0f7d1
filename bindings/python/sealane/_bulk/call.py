"""One bulk call: its files, its keys, its report."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeAlias

from sealane import _native
from sealane._bulk import BulkReport, crew
from sealane._bulk.batches import LARGE, Keys, Task, calling
from sealane._reference import identity, is_reference
from sealane.exceptions import AuthenticationError, SealaneError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._bulk.batches import _Verb
    from sealane._bulk.crew import Batch, Failures
    from sealane._bulk.pairs import Found, Pair
    from sealane._native import Key
    from sealane._native import _FileKey as FileKey
    from sealane._native import _Identities as Identities
    from sealane._native import _Recipients as Recipients

    _One: TypeAlias = str | Key | os.PathLike[str]

MOST_THREADS = 8
"""Without an executor; as many as one large file takes."""


class Call:
    """Checks keys as far as they are here. Raises what ``encrypt_many`` and ``decrypt_many`` do."""

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
        people, word = (recipients, "recipients") if verb == "encrypt" else (identities, "identities")
        if (key is None) == (people is None):
            raise TypeError(f"give either key or {word}")
        if isinstance(people, str):
            raise TypeError(f"{word} must be a list, not one str")
        if verify and key is None:
            raise TypeError("verify=True needs a key: what is for recipients, only they can read")
        if isinstance(key, str) and not is_reference(key):
            # It is not shown: it may be the key itself, or a password.
            raise ValueError('a key that is a str must be a reference, such as "env:NAME" or "file:PATH"')
        public = None if recipients is None else list(recipients)
        private = None if identities is None else list(identities)
        self._task = Task(
            call=os.urandom(16).hex(),
            verb=verb,
            key=key if isinstance(key, str) else None,
            recipients=None if public is None else tuple(str(one) for one in public),
            identities=None if private is None else _travelling(private),
            context=memoryview(context).tobytes(),
            format=format,
            threads=1,
            verify=verify,
            durable=durable,
        )
        self._keys: Keys | None = None
        if not isinstance(key, str) and self._task.identities is None:
            self._keys = self._task.keys(key, public, None if private is None else _here(private))

    def run(
        self,
        found: Found,
        executor: Executor | None,
        manifest: str | None,
        progress: Callable[[int, int], object] | None,
        errors: str,
    ) -> BulkReport:
        """Does all files. Raises what ``encrypt_many`` does."""
        if errors not in ("raise", "return"):
            raise ValueError(f"errors must be 'raise' or 'return', not {errors!r}")
        with contextlib.ExitStack() as stack:
            task = self._task
            stack.enter_context(calling(task, self._keys))
            if executor is None:
                threads = min(MOST_THREADS, _cores())
                executor = stack.enter_context(ThreadPoolExecutor(threads, "sealane"))
                large = sum(pair.size >= LARGE for pair in found.pairs)
                task = dataclasses.replace(task, threads=max(1, threads // max(1, large)))
            crew.ready(executor, task, None)
            notes = None
            if manifest is not None:
                notes = stack.enter_context(contextlib.closing(_native.Manifest(manifest)))
            tally = _Tally(found, notes, progress)
            if task.verb == "encrypt" and tally.finished is not None:
                _same_key(executor, task, str(manifest), tally.finished)
            tally.make(found.folders)
            crew.work(executor, task, crew.cut(tally.placed()), tally.note, tally.tell)
            report = tally.report()
        if report.failed and errors == "raise":
            files = report.done + report.skipped + len(report.failed)
            word = "file" if files == 1 else "files"
            raise ExceptionGroup(
                f"{len(report.failed)} of {files} {word} failed", list(report.failed.values())
            )
        return report


class _Tally:
    """What was done, on the calling thread."""

    def __init__(
        self,
        found: Found,
        notes: _native.Manifest | None,
        progress: Callable[[int, int], object] | None,
    ) -> None:
        self._notes = notes
        self._progress = progress
        self._total = sum(pair.size for pair in found.pairs)
        self._failed = dict(found.failed)
        self._done = self._bytes = self._told = 0
        self._todo = found.pairs
        self.finished: str | None = None
        """The target of a file that was finished by an earlier call."""
        if notes is not None:
            self._todo = []
            for pair in found.pairs:
                if notes.finished(pair.source, pair.target):
                    self.finished = pair.target
                else:
                    self._todo.append(pair)
        self._skipped = len(found.pairs) - len(self._todo)
        self._passed = self._total - sum(pair.size for pair in self._todo)

    def make(self, folders: Iterable[str]) -> None:
        """Also those that no file is in."""
        for folder in folders:
            try:
                os.makedirs(folder, exist_ok=True)
            except OSError as error:
                self._failed[folder] = error

    def placed(self) -> Iterator[Pair]:
        """The files to be done, each when the folder of its target is there."""
        made = {""}
        for pair in self._todo:
            folder = os.path.dirname(pair.target)
            if folder not in made:
                try:
                    os.makedirs(folder, exist_ok=True)
                except OSError as error:
                    self._failed[pair.source] = error
                    self._passed += pair.size
                    continue
                made.add(folder)
            yield pair

    def note(self, batch: Batch, failures: Failures) -> None:
        """What came of a batch."""
        for place, pair in enumerate(batch):
            self._passed += pair.size
            if (error := failures.get(place)) is not None:
                self._failed[pair.source] = error
                continue
            self._done += 1
            self._bytes += pair.size
            if self._notes is not None:
                self._add(self._notes, pair)

    def _add(self, notes: _native.Manifest, pair: Pair) -> None:
        try:
            notes.add(pair.source, pair.target)
        except OSError:
            # Whoever waited for the target may have taken it away already. Then there is nothing to note.
            if os.path.exists(pair.source) and os.path.exists(pair.target):
                self._notes = None
                raise

    def tell(self) -> None:
        """How far it is."""
        self._told = self._passed
        if self._progress is not None:
            self._progress(self._passed, self._total)

    def report(self) -> BulkReport:
        """At the end, of which progress is told as well if nothing came of the last files."""
        if self._told != self._passed:
            self.tell()
        return BulkReport(self._done, self._skipped, self._bytes, self._failed)


def _same_key(executor: Executor, task: Task, manifest: str, finished: str) -> None:
    """_One tree has one key: whoever finds two in it can read only a part."""
    try:
        crew.ready(executor, task, finished)
    except SealaneError as error:
        raise AuthenticationError(
            f"{manifest!r} has {finished!r} as finished: it opens with another key, context or format"
        ) from error


def _travelling(identities: Sequence[_One]) -> tuple[str | pathlib.Path, ...] | None:
    """What may go to other processes: references, paths. None if there is anything else, a key itself."""
    travelling: list[str | pathlib.Path] = []
    for one in identities:
        if isinstance(one, os.PathLike):
            travelling.append(pathlib.Path(os.getcwd(), os.fsdecode(one)))
        elif isinstance(one, str) and is_reference(one):
            travelling.append(one)
        else:
            return None
    return tuple(travelling)


def _here(identities: Sequence[_One]) -> list[_One]:
    return [identity(one) if isinstance(one, str) and is_reference(one) else one for one in identities]


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
