"""Bulk calls: many files at once, on threads of the core or on any executor.

The job of the core looks at all files and refuses what cannot work, before anything is written. Then it
processes the files on threads, or hands them in batches to the executor. Results are recorded on the calling
thread.

The calls import the module that does the work: executors and pickle take longer to import than the rest of
sealane.
"""

from __future__ import annotations

import contextlib
import dataclasses
import os
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Literal, TypeAlias

from sealane._endpoints import Path
from sealane._native import Job, Key, Keyring

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from typing_extensions import Buffer

    from sealane._bulk.executor import Call
    from sealane._native import _FileKey as FileKey
    from sealane._native import _Recipients as Recipients

    _Errors: TypeAlias = Literal["raise", "return"]

Pairs: TypeAlias = Iterable[tuple[Path, Path]]
Identities: TypeAlias = Iterable[str | Key | os.PathLike[str]]
Progress: TypeAlias = Callable[[int, int], object]

__all__ = [
    "BulkReport",
    "decrypt_many",
    "decrypt_tree",
    "encrypt_many",
    "encrypt_tree",
    "rotate_tree",
    "verify_tree",
]


@dataclasses.dataclass(frozen=True, repr=False)
class BulkReport:
    """The result of a bulk call, which lists the files that failed with their errors."""

    done: int
    """Number of files processed by this call."""
    skipped: int
    """Number of files that the manifest lists as finished, or that are under the primary key already."""
    bytes: int
    """Number of bytes in the sources processed by this call."""
    failed: dict[str, Exception]
    """The error of each file that failed, by its source."""
    removed: tuple[str, ...] = ()
    """The encrypted files that ``delete`` removed because their source is gone."""
    unproven: tuple[str, ...] = ()
    """Files whose source is gone and that stay, because nothing shows that sealane wrote them."""
    links: int = 0
    """Number of symbolic links that ``preserve`` copied."""
    unknown: tuple[str, ...] = ()
    """Files and folders that stay, because their names do not decrypt."""
    excluded: int = 0
    """Number of files and folders left out by patterns. The content of a folder is not counted."""

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

    A target appears complete or not at all. A file that fails does not stop the others. The folders of the
    targets are created.

    Parameters
    ----------
    pairs : iterable of (str or os.PathLike, str or os.PathLike)
        Sources and targets, for example ``[("a.csv", "a.csv.sealed")]``.
    key : bytes-like, sealane.keys.Key, sealane.keys.Keyring, or str
        A str is a reference, for example "env:NAME" or "file:PATH" (see ``sealane.keys.resolve``). Each
        worker process resolves it once. Only references can be sent to other processes. A worker process
        keeps the key until it works for another call or ends.
    executor : concurrent.futures.Executor, optional
        For example a process pool or Dask's ``client.get_executor()``. It is not shut down. Default: threads
        of the core, one per core, at most 8.
    manifest : str or os.PathLike, optional
        A file that lists the finished files. A later call with the same manifest skips them without reading
        them, unless their size or modification time has changed. After a power failure that is only reliable
        for ``durable`` files.
    progress : callable(done, total), optional
        Called on this thread after each batch with numbers of source bytes. Skipped and failed files count as
        done. An exception of the callable cancels the call: no file is begun, and the exception is raised.
        Ctrl-C does the same. Threads of the core then give up their files, which leave nothing behind.
        Batches of an executor that are running are awaited and noted in the manifest.
    verify : bool
        Whether each target is read back and verified before it counts as finished. Only with ``key``.
    errors : "raise" or "return"
        Whether errors of files are raised at the end or only returned in the report.

    See ``encrypt_file`` for the other parameters.

    Raises
    ------
    ExceptionGroup
        At the end, with the error of each file that failed: an OSError with the path, or a SealaneError whose
        text begins with the path. If the worker of a file vanished, a ChildProcessError.
    ValueError
        Before anything is written: if two pairs have the same target, if a target is also a source, or if a
        key that is a str is not a reference.
    TypeError
        Unless exactly one of key and recipients is given. Also for a key that is not a reference if the
        workers are other processes.
    AuthenticationError
        Before anything is written: if a file that the manifest lists as finished does not open with this key,
        context and format.
    OSError
        If the manifest cannot be read or written. Errors of the key or its reference are raised as well.

    Examples
    --------
    >>> report = sealane.encrypt_many([("a.csv", "a.sealed"), ("b.csv", "b.sealed")], key=key)
    """
    from sealane._bulk.executor import Call

    call = Call("encrypt", key, recipients, None, context, format, verify, durable)
    return _finished(call, call.pairs(pairs, manifest), executor, progress, errors)


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
        As for ``decrypt_file``, or references. Paths and references can be sent to other processes.

    See ``encrypt_many`` for the other parameters, and ``decrypt_file`` for the errors of files.

    Examples
    --------
    >>> report = sealane.decrypt_many([("a.sealed", "a.csv"), ("b.sealed", "b.csv")], key=key)
    """
    from sealane._bulk.executor import Call

    call = Call("decrypt", key, None, identities, context, format, durable=durable)
    return _finished(call, call.pairs(pairs, manifest), executor, progress, errors)


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
    exclude: Iterable[str] = (),
    exclude_from: Path | None = None,
    preserve: bool = False,
    encrypt_names: FileKey | str | None = None,
    delete: bool = False,
    dry_run: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Encrypts every file below a folder to the same place below another folder.

    Folders are created, empty ones too. A symbolic link to a file is read as that file. A link to a folder, a
    pipe, a socket or a device is reported as an error. A manifest below the folder is not encrypted.

    Parameters
    ----------
    src_dir, dst_dir : str or os.PathLike
        With a suffix both can be the same. A ``dst_dir`` inside ``src_dir`` is a ValueError.
    suffix : str
        Appended to each name, for example ".sealed".
    exclude : list of str
        Patterns of files and folders that are left out, as lines of a ``.gitignore`` file, for example
        ``["*.tmp", "/cache/"]``. They apply to paths below ``src_dir``, and the last one that matches counts.
    exclude_from : str or os.PathLike, optional
        A file with more patterns, in UTF-8.
    preserve : bool
        Whether files and folders get the mode and the modification time of their sources, and their owner and
        group as far as this user may set them. Symbolic links stay links. A link or a read-only file in place
        of a target is replaced.
    encrypt_names : bytes-like, sealane.keys.Key, sealane.keys.Keyring, or str
        A key of 64 bytes, for example of ``sealane.keys.generate("aes-256-siv")``, a keyring of such keys, or
        a reference. Names of files and folders are encrypted with it, and the paths in links. Lengths of
        names and the shape of the tree stay visible. A name of more than 143 bytes, or 139 with the suffix
        ".sealed", is a LimitExceededError. After a rotation of the keyring, ``delete`` removes the files
        under retired keys.
    delete : bool
        Whether encrypted files are removed whose source is gone, if no file failed. The manifest, or ``key``,
        must show that sealane wrote them. Excluded files are not gone.
    dry_run : bool
        Whether nothing is written. The report says what would be done.

    See ``encrypt_many`` for the other parameters.

    Raises
    ------
    ValueError
        For a line that is not a pattern. With ``delete``, if ``src_dir`` has no file, or is ``dst_dir``. With
        ``encrypt_names``, if ``src_dir`` is ``dst_dir``, or the manifest lies in ``dst_dir``.
    OSError
        If ``exclude_from`` or a folder cannot be read.

    Examples
    --------
    >>> sealane.encrypt_tree("photos", "photos.sealed", suffix=".sealed", key=key, exclude=["*.tmp"])
    <BulkReport: 2 done, 0 skipped, 0 failed, 20 bytes>
    """
    from sealane._bulk.executor import Call

    call = Call("encrypt", key, recipients, None, context, format, verify, durable)
    job = call.tree(
        src_dir,
        dst_dir,
        suffix=suffix,
        manifest=manifest,
        exclude=exclude,
        exclude_from=exclude_from,
        preserve=preserve,
        names=encrypt_names,
        delete=delete,
        dry_run=dry_run,
    )
    return _finished(call, job, executor, progress, errors)


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
    exclude: Iterable[str] = (),
    exclude_from: Path | None = None,
    preserve: bool = False,
    encrypt_names: FileKey | str | None = None,
    dry_run: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Decrypts every file below a folder to the same place below another folder.

    Parameters
    ----------
    suffix : str
        Removed from each name. A file without it is reported as an error.
    exclude, exclude_from, preserve, dry_run
        As for ``encrypt_tree``. Patterns apply to the names of the encrypted files.
    encrypt_names
        The key of the names, as for ``encrypt_tree``. A name that does not decrypt is reported as an
        AuthenticationError, and two that decrypt to the same one as a FormatError for each. Patterns then
        apply to the decrypted names, without the suffix.

    See ``encrypt_tree``, ``encrypt_many`` and ``decrypt_many`` for the other parameters.

    Examples
    --------
    >>> report = sealane.decrypt_tree("photos.sealed", "photos", suffix=".sealed", key=key, errors="return")
    >>> report.failed
    {}
    """
    from sealane._bulk.executor import Call

    call = Call("decrypt", key, None, identities, context, format, durable=durable)
    job = call.tree(
        src_dir,
        dst_dir,
        suffix=suffix,
        manifest=manifest,
        exclude=exclude,
        exclude_from=exclude_from,
        preserve=preserve,
        names=encrypt_names,
        dry_run=dry_run,
    )
    return _finished(call, job, executor, progress, errors)


def rotate_tree(
    src_dir: Path,
    *,
    key: Keyring | str,
    context: Buffer = b"",
    progress: Progress | None = None,
    durable: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Encrypts every file below a folder again that is under a retired key of a keyring.

    A retired key is an enabled key that is not the primary key. A file under it is decrypted and encrypted
    with the primary key. It is replaced when the new file is complete, so the call can be repeated after an
    interruption. Files under the primary key are not changed; of these, the header and the last chunk are
    read. Nothing else may write the files meanwhile.

    Parameters
    ----------
    src_dir : str or os.PathLike
        The folder. A link to a file is followed, and the file that it leads to is replaced.
    key : sealane.keys.Keyring or str
        The keyring, or a reference to it, for example "file:ring.json".
    context : bytes-like
        The context that the files were encrypted with, and are encrypted with again.

    Returns
    -------
    BulkReport
        ``done`` counts the files that were encrypted again, ``skipped`` those under the primary key.

    See ``encrypt_many`` for the other parameters and the errors. A file that no key of the ring opens has an
    AuthenticationError or a NoMatchingKeyError.

    Examples
    --------
    >>> new = ring.rotate()
    >>> ring.save("ring.json", overwrite=True)
    >>> sealane.rotate_tree("backups", key=ring)
    <BulkReport: 10 done, 0 skipped, 0 failed, 164720 bytes>
    """
    from sealane._bulk.executor import Call

    call = Call("rotate", key, None, None, context, None, durable=durable)
    return _finished(call, call.tree(src_dir), None, progress, errors)


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
    exclude: Iterable[str] = (),
    exclude_from: Path | None = None,
    preserve: bool = False,
    encrypt_names: FileKey | str | None = None,
    errors: _Errors = "raise",
) -> BulkReport:
    """Verifies every byte of every file below a folder, without writing the plaintext.

    A file without the suffix is reported as an error. Patterns of ``exclude`` and ``exclude_from`` apply to
    the names of the encrypted files. With ``preserve``, symbolic links are neither read nor followed. With
    ``encrypt_names``, names and the paths in links are verified too; content is verified without it. See
    ``decrypt_tree`` for the parameters.

    Examples
    --------
    >>> report = sealane.verify_tree("photos.sealed", suffix=".sealed", key=key, errors="return")
    >>> report.failed
    {}
    """
    from sealane._bulk.executor import Call

    call = Call("verify", key, None, identities, context, format)
    job = call.tree(
        src_dir,
        suffix=suffix,
        exclude=exclude,
        exclude_from=exclude_from,
        preserve=preserve,
        names=encrypt_names,
    )
    return _finished(call, job, executor, progress, errors)


def _finished(
    call: Call, job: Job, executor: Executor | None, progress: Progress | None, errors: str
) -> BulkReport:
    """Runs a job and returns its report. Raises ExceptionGroup for files that failed, if requested."""
    with contextlib.closing(job):
        if errors not in ("raise", "return"):
            raise ValueError(f"errors must be 'raise' or 'return', not {errors!r}")
        call.run(job, executor, progress)
        report = BulkReport(*job.report())
    if report.failed and errors == "raise":
        files = report.done + report.skipped + len(report.failed)
        word = "file" if files == 1 else "files"
        raise ExceptionGroup(f"{len(report.failed)} of {files} {word} failed", list(report.failed.values()))
    return report
