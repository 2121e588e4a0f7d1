"""One bulk call: its files, its key, the progress and the report that it returns."""

from __future__ import annotations

import contextlib
import dataclasses
import os
import pathlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor
from typing import TYPE_CHECKING, TypeAlias

from sealane import _native
from sealane._bulk.batches import Task, calling, operation_of
from sealane._bulk.dispatch import check, cut, schedule, work
from sealane._bulk.report import BulkReport
from sealane._reference import check as check_reference
from sealane._reference import identity, is_reference

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._bulk.batches import Failures, _Verb
    from sealane._bulk.dispatch import Batch
    from sealane._bulk.pairs import Found, Pair
    from sealane._native import Key
    from sealane._native import _FileKey as FileKey
    from sealane._native import _Identities as Identities
    from sealane._native import _Recipients as Recipients

    _Identity: TypeAlias = str | Key | os.PathLike[str]


class Call:
    """A bulk call, which checks the keys in this process when it is made. Raises as ``encrypt_many`` does."""

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
                # It is not shown: it may be the key itself, or a password.
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
        self._operation: _native.Operation | None = None
        if not isinstance(key, str) and self._task.identities is None:
            self._operation = self._task.operation(key, public, None if private is None else _here(private))

    def run(
        self,
        found: Found,
        executor: Executor | None,
        manifest: str | None,
        progress: Callable[[int, int], object] | None,
        errors: str,
        dry_run: bool = False,
    ) -> BulkReport:
        """Processes all files, or only counts them. Raises what ``encrypt_many`` does."""
        if errors not in ("raise", "return"):
            raise ValueError(f"errors must be 'raise' or 'return', not {errors!r}")
        task = self._task
        if found.root is not None:
            root = os.path.join(os.getcwd(), found.root)
            task = dataclasses.replace(task, root=root, preserve=found.replicas is not None)
        with contextlib.ExitStack() as stack:
            stack.enter_context(calling(task, self._operation))
            check(executor, task, None, None)
            notes = None
            if manifest is not None and not (dry_run and not os.path.exists(manifest)):
                notes = stack.enter_context(contextlib.closing(_native.Manifest(manifest)))
            current = (
                operation_of(task).current([pair.source for pair in found.pairs])
                if task.verb == "rotate"
                else []
            )
            tally = _Tally(found, notes, progress, current)
            if tally.finished is not None:
                check(executor, task, manifest, tally.finished)
            if dry_run:
                tally.pretend()
            else:
                tally.make(found.folders, found.replicas is not None)
            if dry_run:
                pass
            elif executor is None:
                schedule(task, list(tally.placed()), found.root, tally.note, tally.tell)
            else:
                work(executor, task, cut(tally.placed()), tally.note, tally.tell)
            links = 0
            if found.replicas is not None and found.root is not None:
                links = len(found.replicas.links)
                if not dry_run:
                    operation = self._operation or operation_of(task)
                    problems = _native.replicate_links(operation, found.root, found.replicas.links, notes)
                    links -= len(problems)
                    tally.fail(problems)
            report = dataclasses.replace(tally.report(), links=links)
            if found.stale is not None and not report.failed:
                operation = self._operation or operation_of(task)
                removed, unproven, problems = _native.remove_stale(
                    operation, *found.stale, notes, dry_run, found.replicas is not None
                )
                tally.fail(problems)
                report = dataclasses.replace(report, removed=tuple(removed), unproven=tuple(unproven))
            if found.replicas is not None and found.root is not None and not dry_run:
                # When everything in them is complete: a new or removed name changes the time of its folder.
                tally.fail(_native.replicate_folders(found.root, found.replicas.folders))
        if report.failed and errors == "raise":
            files = report.done + report.skipped + len(report.failed)
            word = "file" if files == 1 else "files"
            raise ExceptionGroup(
                f"{len(report.failed)} of {files} {word} failed", list(report.failed.values())
            )
        return report


class _Tally:
    """The results of a bulk call so far, which only the calling thread changes."""

    def __init__(
        self,
        found: Found,
        notes: _native.Manifest | None,
        progress: Callable[[int, int], object] | None,
        current: Sequence[bool | BaseException] = (),
    ) -> None:
        self._notes = notes
        self._progress = progress
        self._total = sum(pair.size for pair in found.pairs)
        self._failed = dict(found.failed)
        self._done = self._bytes = self._reported = 0
        self._todo = found.pairs
        self._root = found.root
        self.finished: str | None = None
        """One target that was finished by an earlier call."""
        if notes is not None:
            self._todo = []
            for pair in found.pairs:
                if notes.finished(pair.source, pair.target):
                    self.finished = pair.target
                else:
                    self._todo.append(pair)
        if current:
            # Files about which nothing is to be done, and those that cannot be read.
            self._todo = [pair for pair, skip in zip(found.pairs, current, strict=True) if skip is False]
            for pair, error in zip(found.pairs, current, strict=True):
                if isinstance(error, Exception):
                    self._failed[pair.source] = error
        unread = len(self._failed) - len(found.failed)
        self._skipped = len(found.pairs) - len(self._todo) - unread
        self._passed = self._total - sum(pair.size for pair in self._todo)

    def pretend(self) -> None:
        """Counts all files as processed."""
        self._done, self._bytes = len(self._todo), sum(pair.size for pair in self._todo)
        self._passed = self._reported = self._total

    def make(self, folders: list[str], replicas: bool) -> None:
        """Creates the folders of a tree, including those that stay empty."""
        if self._root is not None:
            self.fail(_native.create_folders(self._root, folders, replicas))

    def fail(self, problems: list[tuple[str, BaseException]]) -> None:
        """Adds errors of folders, links and files that were removed to the report."""
        self._failed.update((path, error) for path, error in problems if isinstance(error, Exception))

    def placed(self) -> Iterator[Pair]:
        """Yields the files to be processed, each after the folder of its target was created."""
        made = {""}
        for pair in self._todo:
            folder = os.path.dirname(pair.target)
            # The folders of a tree exist. The system call that opens one follows no link.
            if self._root is None and folder not in made:
                try:
                    os.makedirs(folder, exist_ok=True)
                except OSError as error:
                    self._failed[pair.source] = error
                    self._passed += pair.size
                    continue
                made.add(folder)
            yield pair

    def note(self, batch: Batch, failures: Failures) -> None:
        """Records the results of the files of one finished batch."""
        for index, pair in enumerate(batch):
            self._passed += pair.size
            if (error := failures.get(index)) is not None:
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
            # Another process may have taken the target already. Then there is nothing to add.
            if os.path.exists(pair.source) and os.path.exists(pair.target):
                self._notes = None
                raise

    def tell(self) -> None:
        """Reports the progress so far to the function that the caller passed."""
        self._reported = self._passed
        if self._progress is not None:
            self._progress(self._passed, self._total)

    def report(self) -> BulkReport:
        """Returns the report, and reports progress if that has not been done since the last files."""
        if self._reported != self._passed:
            self.tell()
        return BulkReport(self._done, self._skipped, self._bytes, self._failed)


def _references(identities: Sequence[_Identity]) -> tuple[str | pathlib.Path, ...] | None:
    """Returns references and paths, which other processes can use; None if any identity is a key itself."""
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
