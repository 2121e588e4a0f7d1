"""Bulk calls: many files at once, on threads of the core or any executor.

The core's job scans all files and refuses impossible work before anything is written. Then it
processes the files on threads, or hands them to the executor in batches. The calling thread records
the results.

The calls import the module that does the work: executors and pickle take longer to import than the
rest of sealane.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from sealane._endpoints import Path
from sealane._frames import forgetting
from sealane._native import Job, Keyring

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from sealane._bulk.executor import Call
    from sealane._endpoints import Buffer, FileKey, Identities, Recipients

    _Errors: TypeAlias = Literal["raise", "return"]

Pairs: TypeAlias = Iterable[tuple[Path, Path]]
Progress: TypeAlias = Callable[[int, int], object]


@dataclasses.dataclass(frozen=True, repr=False)
class BulkReport:
    """The result of a bulk call. Lists failed files with their errors."""

    done: int
    """Number of files processed."""
    skipped: int
    """Number of files already finished in the manifest or under the primary key."""
    bytes: int
    """Source bytes processed."""
    failed: dict[str, Exception]
    """The error of each failed file, by source."""
    removed: tuple[str, ...] = ()
    """The encrypted files that ``delete`` removed because their source is gone."""
    unproven: tuple[str, ...] = ()
    """Files without a source that were kept, because nothing shows that sealane wrote them."""
    links: int = 0
    """Number of symbolic links copied with ``preserve``."""
    unknown: tuple[str, ...] = ()
    """Files and folders that were kept, because their names do not decrypt."""
    excluded: int = 0
    """Number of files and folders excluded by patterns. A folder's contents are not counted."""

    def __repr__(self) -> str:
        counts = f"{self.done} done, {self.skipped} skipped, {len(self.failed)} failed"
        return f"<BulkReport: {counts}, {self.bytes} bytes>"


@forgetting
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

    A target appears complete or not at all. A failing file does not stop the others. Target folders
    are created.

    Parameters
    ----------
    pairs : iterable of (str or os.PathLike, str or os.PathLike)
        Sources and targets, for example ``[("a.csv", "a.csv.sealed")]``.
    key : bytes-like, sealane.keys.Key, sealane.keys.Keyring, or str
        A str is a reference, such as "env:NAME" or "file:PATH" (see ``sealane.keys.resolve``). Each
        worker process resolves it once. Only references can be sent to other processes. A worker
        process keeps the key until it works for another call or ends.
    executor : concurrent.futures.Executor, optional
        For example, a process pool or Dask's ``client.get_executor()``. It is not shut down.
        Default: core threads, one per core, at most 8.
    manifest : str or os.PathLike, optional
        A file that lists the finished files. A later call with the same manifest skips them without
        reading them, unless their size or modification time changed. After a power failure this is
        reliable only for ``durable`` files.
    progress : callable(done, total), optional
        Called on this thread after each batch with numbers of source bytes. Skipped and failed
        files count as done. If it raises, the call is cancelled: no file is begun, and the
        exception is raised. Ctrl-C does the same. Core threads abandon their files, which leave
        nothing behind. An executor's running batches are awaited and recorded in the manifest.
    verify : bool
        Whether to read back and verify each target before it counts as finished. Only with ``key``.
    errors : "raise" or "return"
        Whether to raise the errors of files at the end or only return them in the report.

    See ``encrypt_file`` for the other parameters.

    Raises
    ------
    ExceptionGroup
        At the end, with the error of each failed file: an OSError with the path, or a SealaneError
        with the path at the beginning of its text. ChildProcessError if the file's worker vanished.
    ValueError
        Before anything is written: if two pairs have the same target, a target is also a source, or
        a str key is not a reference.
    TypeError
        Unless exactly one of key and recipients is given. Also if the workers are other processes
        and the key is not a reference.
    AuthenticationError
        Before anything is written: if a file listed as finished in the manifest does not open with
        this key, context and format.
    OSError
        If the manifest cannot be read or written. Errors of the key or its reference are raised as
        well.

    Examples
    --------
    >>> report = sealane.encrypt_many([("a.csv", "a.sealed"), ("b.csv", "b.sealed")], key=key)
    """
    call = _calls()("encrypt", key, recipients, None, context, format, verify, durable)
    return _finished(call, call.pairs(pairs, manifest), executor, progress, errors)


@forgetting
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
    call = _calls()("decrypt", key, None, identities, context, format, durable=durable)
    return _finished(call, call.pairs(pairs, manifest), executor, progress, errors)


@forgetting
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
    delete: bool | Literal["all"] = False,
    dry_run: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Encrypts every file below a folder to the same place below another folder.

    Folders are created, including empty ones. A symbolic link to a file is read as that file. A
    link to a folder, a pipe, a socket or a device is reported as an error. A manifest below the
    folder is not encrypted.

    Parameters
    ----------
    src_dir, dst_dir : str or os.PathLike
        They may be the same if there is a suffix. A ``dst_dir`` inside ``src_dir`` is a ValueError.
    suffix : str
        Appended to each name, for example ".sealed".
    exclude : list of str
        Patterns of files and folders to exclude, as lines of a ``.gitignore`` file, for example
        ``["*.tmp", "/cache/"]``. They apply to paths below ``src_dir``; the last match counts.
    exclude_from : str or os.PathLike, optional
        A file with more patterns, in UTF-8.
    preserve : bool
        Whether files and folders get the mode and modification time of their sources, and their
        owner and group where permitted. Symbolic links stay links. A link or a read-only file at a
        target's path is replaced.
    encrypt_names : bytes-like, sealane.keys.Key, sealane.keys.Keyring, or str
        A 64-byte key, for example from ``sealane.keys.generate("aes-256-siv")``, a keyring of such
        keys, or a reference. It encrypts the names of files and folders, and the paths in links.
        Name lengths and the shape of the tree stay visible. A name over 143 bytes, or 139 with the
        suffix ".sealed", is a LimitExceededError. After rotating the keyring, ``delete`` removes
        the files under retired keys.
    delete : bool or "all"
        Whether to remove encrypted files with no source. The manifest, or ``key``, must show that
        sealane wrote them. Excluded files do not count as gone, nor does anything below a folder that
        cannot be listed. A file or folder that has become the other is replaced. If all files (two
        or more) would be removed, or most and at least 10, the source is probably wrong, so it is a
        ValueError before anything is written; "all" removes them.
    dry_run : bool
        Write nothing; the report says what would be done.

    See ``encrypt_many`` for the other parameters.

    Raises
    ------
    ValueError
        For an invalid pattern. With ``delete``, if ``src_dir`` has no file, is ``dst_dir``, or
        lacks all or most files of ``dst_dir``. With ``encrypt_names``, if ``src_dir`` is
        ``dst_dir`` or the manifest is in ``dst_dir``.
    OSError
        If ``exclude_from`` or a folder cannot be read.

    Examples
    --------
    >>> sealane.encrypt_tree("photos", "photos.sealed", suffix=".sealed", key=key, exclude=["*.tmp"])
    <BulkReport: 2 done, 0 skipped, 0 failed, 20 bytes>
    """
    call = _calls()("encrypt", key, recipients, None, context, format, verify, durable)
    names, listed = encrypt_names, (exclude, exclude_from)
    job = call.tree(src_dir, dst_dir, suffix, manifest, listed, preserve, names, delete, dry_run)
    return _finished(call, job, executor, progress, errors)


@forgetting
def decrypt_tree(
    src_dir: Path,
    dst_dir: Path,
    *,
    suffix: str | None = None,
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
    preserve: bool | Literal["all"] = False,
    encrypt_names: FileKey | str | None = None,
    dry_run: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Decrypts every file below a folder to the same place below another folder.

    Parameters
    ----------
    suffix : str
        Removed from each name. A file without it is reported as an error. Without a suffix, it is a
        ValueError if all names end with ".sealed", ".age", ".enc" or ".encrypted", or are all
        encrypted and there is no ``encrypt_names``; "" keeps such names.
    exclude, exclude_from, dry_run
        As for ``encrypt_tree``. Patterns apply to the encrypted files' names.
    preserve : bool or "all"
        As for ``encrypt_tree``, but anyone who can write to the encrypted folder chooses these
        attributes. So files and folders get no set-uid, set-gid or sticky bit, and no right that new
        files do not have (umask), and a link that leads out of the folder is a ValueError for its
        path, unless names are encrypted. "all" keeps everything.
    encrypt_names
        The name key, as for ``encrypt_tree``. A name that does not decrypt is reported as an
        AuthenticationError; names that decrypt to the same name, as a FormatError each. Patterns
        apply to the decrypted names, without the suffix.

    See ``encrypt_tree``, ``encrypt_many`` and ``decrypt_many`` for the other parameters.

    Examples
    --------
    >>> report = sealane.decrypt_tree("photos.sealed", "photos", suffix=".sealed", key=key, errors="return")
    >>> report.failed
    {}
    """
    call = _calls()("decrypt", key, None, identities, context, format, durable=durable)
    names, listed = encrypt_names, (exclude, exclude_from)
    job = call.tree(
        src_dir, dst_dir, suffix or "", manifest, listed, preserve, names, False, dry_run, suffix == ""
    )
    return _finished(call, job, executor, progress, errors)


@forgetting
def rotate_tree(
    src_dir: Path,
    *,
    key: Keyring | str,
    context: Buffer = b"",
    progress: Progress | None = None,
    durable: bool = False,
    errors: _Errors = "raise",
) -> BulkReport:
    """Re-encrypts every file below a folder that is under a retired key of a keyring.

    A retired key is an enabled key other than the primary key. A file under it is decrypted,
    encrypted with the primary key, and replaced once the new file is complete, so you can repeat
    the call after an interruption. Files under the primary key are not changed; only their header
    and last chunk are read. Do not modify the files during the call.

    Parameters
    ----------
    src_dir : str or os.PathLike
        The folder. A link to a file is followed, and its target is replaced.
    key : sealane.keys.Keyring or str
        The keyring, or a reference to it, for example "file:ring.json".
    context : bytes-like
        The context of the files. It stays the same.

    Returns
    -------
    BulkReport
        ``done`` counts re-encrypted files, ``skipped`` those already under the primary key.

    See ``encrypt_many`` for the other parameters and the errors. A file that no key of the ring
    opens is an AuthenticationError or a NoMatchingKeyError.

    Examples
    --------
    >>> new = ring.rotate()
    >>> ring.save("ring.json", overwrite=True)
    >>> sealane.rotate_tree("backups", key=ring)
    <BulkReport: 10 done, 0 skipped, 0 failed, 164720 bytes>
    """
    call = _calls()("rotate", key, None, None, context, None, durable=durable)
    return _finished(call, call.tree(src_dir), None, progress, errors)


@forgetting
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

    A file without the suffix is reported as an error. The patterns in ``exclude`` and
    ``exclude_from`` apply to the encrypted files' names. With ``preserve``, symbolic links are
    neither read nor followed. With ``encrypt_names``, names and the paths in links are verified
    too; content is verified either way. See ``decrypt_tree`` for the parameters.

    Examples
    --------
    >>> report = sealane.verify_tree("photos.sealed", suffix=".sealed", key=key, errors="return")
    >>> report.failed
    {}
    """
    call = _calls()("verify", key, None, identities, context, format)
    job = call.tree(src_dir, None, suffix, None, (exclude, exclude_from), preserve, encrypt_names)
    return _finished(call, job, executor, progress, errors)


def _calls() -> type[Call]:
    from sealane._bulk.executor import Call

    return Call


def _finished(
    call: Call, job: Job, executor: Executor | None, progress: Progress | None, errors: str
) -> BulkReport:
    """Runs a job and returns its report. Raises ExceptionGroup for failed files, if requested."""
    if executor is not None and (isinstance(executor, type) or not hasattr(executor, "submit")):
        raise TypeError(f"executor must be a concurrent.futures.Executor, not {type(executor).__name__}")
    if progress is not None and not callable(progress):
        raise TypeError(f"progress must be callable, not {type(progress).__name__}")
    return finished(job, lambda: call.run(job, executor, progress), errors)


def finished(job: Job, run: Callable[[], None], errors: str) -> BulkReport:
    """Runs a job and returns its report, as ``_finished``."""
    with contextlib.closing(job):

        def work() -> dict[str, Any]:
            run()
            return job.report()

        return reported(work, errors)


def reported(run: Callable[[], dict[str, Any]], errors: str) -> BulkReport:
    """Runs what returns the arguments of a report, and returns the report, as ``_finished``."""
    if errors not in ("raise", "return"):
        raise ValueError(f"errors must be 'raise' or 'return', not {errors!r}")
    report = BulkReport(**run())
    if report.failed and errors == "raise":
        files = report.done + report.skipped + len(report.failed)
        word = "file" if files == 1 else "files"
        raise ExceptionGroup(f"{len(report.failed)} of {files} {word} failed", list(report.failed.values()))
    return report
