"""Many files at once, on any executor.

A call looks at all files first and refuses what cannot work, before anything is touched. Then it hands them
over in batches, a bounded number at a time; what came of each is noted on the calling thread.

What works is imported by the calls: executors and pickles take longer to import than the rest of sealane.
"""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from sealane._bulk.pairs import many, name_of, tree
from sealane._native import Key
from sealane._places import Path

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from typing_extensions import Buffer

    from sealane._native import _FileKey as FileKey
    from sealane._native import _Recipients as Recipients

    _Errors: TypeAlias = Literal["raise", "return"]

Pairs: TypeAlias = Iterable[tuple[Path, Path]]
Identities: TypeAlias = Iterable[str | Key | os.PathLike[str]]
Progress: TypeAlias = Callable[[int, int], object]

__all__ = ["BulkReport", "decrypt_many", "decrypt_tree", "encrypt_many", "encrypt_tree", "verify_tree"]


@dataclasses.dataclass(frozen=True, repr=False)
class BulkReport:
    """What came of a bulk call."""

    done: int
    """Files that were done now."""
    skipped: int
    """Files that the manifest had as finished."""
    bytes: int
    """Of the sources that were done now."""
    failed: dict[str, Exception]
    """What went wrong, by source."""

    def __repr__(self) -> str:
        counts = f"{self.done} done, {self.skipped} skipped, {len(self.failed)} failed"
        return f"<BulkReport: {counts}, {self.bytes} bytes>"


def encrypt_many(
    pairs: Pairs,
    *,
    key: FileKey | str | None = None,
    recipients: Recipients | None = None,
    context: Buffer = b"",
    format: str | None = None,
    executor: Executor | None = None,
    manifest: Path | None = None,
    progress: Progress | None = None,
    verify: bool = False,
    durable: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Encrypts the first file of each pair to the second, with either ``key`` or ``recipients``.

    A file appears whole or not at all, and one that fails does not stop the others. Folders of targets are
    made.

    Parameters
    ----------
    pairs : iterable of (str or os.PathLike, str or os.PathLike)
        Sources and targets.
    key : bytes-like, sealane.keys.Key, sealane.keys.TinkKeyset, or str
        A str is a reference ("env:NAME", "file:PATH", …; see ``sealane.keys.resolve``), which each worker
        resolves for itself, once. Only a reference can go to other processes. A worker process keeps the key
        until it works for another call or ends.
    executor : concurrent.futures.Executor, optional
        Threads, processes, Dask's ``client.get_executor()``. It is not shut down. Default: threads of this
        call, one a core, at most 8.
    manifest : str or os.PathLike, optional
        A file in which finished files are noted. A call with the same one skips these, without reading them,
        unless their size or time has changed. After a loss of power that holds for ``durable`` files only.
    progress : callable(done, total), optional
        Called on this thread after each batch, with bytes of sources; skipped and failed files count as done.
        What it raises cancels: no more batches are begun, running ones are awaited and noted, and it comes
        out of this call. So does Ctrl-C.
    verify : bool
        Whether each target is read back and verified before it counts as finished. With ``key`` only.
    errors : "raise" or "return"
        What is done, at the end, about files that failed.

    See ``encrypt_file`` for the others.

    Raises
    ------
    ExceptionGroup
        At the end, with the error of each file that failed: an OSError with the name, or a SealaneError that
        begins with it. Of a file whose worker vanished it is a ChildProcessError.
    ValueError
        Before anything is touched: two pairs have one target, a target is also a source, a key that is a str
        is no reference.
    TypeError
        Unless there is either key or recipients; for a key that is no reference, where workers are elsewhere.
    AuthenticationError
        Before anything is touched: what the manifest has as finished does not open with this key, context and
        format.
    OSError
        For the manifest. Whatever else the key or its reference is refused with comes out as well.
    """
    from sealane._bulk.call import Call

    call = Call("encrypt", key, recipients, None, context, format, verify, durable)
    notes = None if manifest is None else name_of(manifest)
    return call.run(many(pairs, notes), executor, notes, progress, errors)


def decrypt_many(
    pairs: Pairs,
    *,
    key: FileKey | str | None = None,
    identities: Identities | None = None,
    context: Buffer = b"",
    format: str | None = None,
    executor: Executor | None = None,
    manifest: Path | None = None,
    progress: Progress | None = None,
    durable: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Decrypts the first file of each pair to the second, with either ``key`` or ``identities``.

    Parameters
    ----------
    identities : list of sealane.keys.Key, str or os.PathLike
        As for ``decrypt_file``, or references. Of these, paths and references can go to other processes.

    See ``encrypt_many`` for the others, ``decrypt_file`` for what files fail with.
    """
    from sealane._bulk.call import Call

    call = Call("decrypt", key, None, identities, context, format, durable=durable)
    notes = None if manifest is None else name_of(manifest)
    return call.run(many(pairs, notes), executor, notes, progress, errors)


def encrypt_tree(
    src_dir: Path,
    dst_dir: Path,
    *,
    suffix: str = "",
    key: FileKey | str | None = None,
    recipients: Recipients | None = None,
    context: Buffer = b"",
    format: str | None = None,
    executor: Executor | None = None,
    manifest: Path | None = None,
    progress: Progress | None = None,
    verify: bool = False,
    durable: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Encrypts every file of a folder and of the folders in it to the same place in another one.

    Folders are made, empty ones too. A symbolic link to a file is read as that file. A link to a folder, a
    pipe, a socket or a device is an error of its path. A manifest that lies in the folder is left alone.

    Parameters
    ----------
    src_dir, dst_dir : str or os.PathLike
        With a suffix both can be the same. ``dst_dir`` cannot lie in ``src_dir``: ValueError.
    suffix : str
        What is added to each name, such as ".sealed".

    See ``encrypt_many`` for the others.
    """
    from sealane._bulk.call import Call

    call = Call("encrypt", key, recipients, None, context, format, verify, durable)
    notes = None if manifest is None else name_of(manifest)
    found = tree(name_of(src_dir), name_of(dst_dir), suffix, False, notes)
    return call.run(found, executor, notes, progress, errors)


def decrypt_tree(
    src_dir: Path,
    dst_dir: Path,
    *,
    suffix: str = "",
    key: FileKey | str | None = None,
    identities: Identities | None = None,
    context: Buffer = b"",
    format: str | None = None,
    executor: Executor | None = None,
    manifest: Path | None = None,
    progress: Progress | None = None,
    durable: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Decrypts every file of a folder and of the folders in it to the same place in another one.

    Parameters
    ----------
    suffix : str
        What is taken off each name. A file without it is an error of its path.

    See ``encrypt_tree``, ``encrypt_many`` and ``decrypt_many`` for the others.
    """
    from sealane._bulk.call import Call

    call = Call("decrypt", key, None, identities, context, format, durable=durable)
    notes = None if manifest is None else name_of(manifest)
    found = tree(name_of(src_dir), name_of(dst_dir), suffix, True, notes)
    return call.run(found, executor, notes, progress, errors)


def verify_tree(
    src_dir: Path,
    *,
    suffix: str = "",
    key: FileKey | str | None = None,
    identities: Identities | None = None,
    context: Buffer = b"",
    format: str | None = None,
    executor: Executor | None = None,
    progress: Progress | None = None,
    errors: _Errors = "raise",
) -> BulkReport:
    """Verifies every byte of every file of a folder and of the folders in it, and keeps none.

    A file without the suffix is an error of its path. See ``decrypt_tree`` for the parameters.
    """
    from sealane._bulk.call import Call

    call = Call("verify", key, None, identities, context, format)
    return call.run(tree(name_of(src_dir), None, suffix, True, None), executor, None, progress, errors)
