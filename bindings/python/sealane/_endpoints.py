"""Sources and destinations of file operations: paths, file objects and pipes."""

from __future__ import annotations

import contextlib
import errno
import io
import operator
import os
import selectors
import stat
from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import IO, TYPE_CHECKING, Any, TypeAlias

from sealane import _native
from sealane._native import Writer

if TYPE_CHECKING:
    from typing_extensions import Buffer as Buffer

    FileKey: TypeAlias = _native._FileKey
    Identities: TypeAlias = _native._Identities
    Recipients: TypeAlias = _native._Recipients
    Text: TypeAlias = _native._Text

Path: TypeAlias = str | os.PathLike[str] | os.PathLike[bytes]
PathOrFile: TypeAlias = Path | IO[bytes] | io.RawIOBase | io.BufferedIOBase
Progress: TypeAlias = Callable[[int, int | None], object]

PIECE = 1 << 20
"""Bytes passed at once between a file object and the core: 64 chunks, a batch of its streams."""


def path_of(file: PathOrFile) -> str | None:
    """Returns ``file`` as a str if it is a path, and None if it is a file object."""
    if type(file) is str:  # Most are, and asking for a PathLike takes longer than all the rest.
        path = file
    elif isinstance(file, str | os.PathLike):
        path = os.fsdecode(file)
    else:
        return None
    if _native.is_secret(path):
        # Errors and listings show file names, so a key must not become one.
        raise ValueError(
            "expected a path, found a secret key; store it in a file, and give the path of the file"
        )
    if "\0" in path:
        # The system would refuse it only when the file gets its name, after all the work.
        raise ValueError(f"{path!r}: a path cannot contain a NUL character")
    return path


def name_of(place: Path) -> str:
    """Returns a path as a str. Raises TypeError for a file object and for bytes."""
    if (path := path_of(place)) is None:
        raise TypeError(f"a path is needed, not {type(place).__name__}")
    return path


def patterns(exclude: Iterable[str]) -> list[str]:
    """Returns the patterns of excluded files. Raises TypeError for a str: each letter would be one."""
    if isinstance(exclude, str):
        raise TypeError('exclude must be a list of patterns, as in exclude=["*.tmp"], not one str')
    return list(exclude)


def paths_of(src: PathOrFile, dst: PathOrFile) -> tuple[str, str]:
    """Returns two paths. Raises TypeError for a file object."""
    source, target = path_of(src), path_of(dst)
    if source is None or target is None:
        raise TypeError(f"src and dst must be paths, not {type(src if source is None else dst).__name__}")
    return source, target


def check_threads(threads: int | None) -> None:
    """Raises ValueError for a number below 1, also for file objects, which have one thread."""
    if threads is not None and operator.index(threads) < 1:
        raise ValueError("threads must be at least 1")


def is_stream(path: str) -> bool:
    """Returns whether ``path`` names a pipe, a socket or a terminal.

    Python reads and writes those, not the core: a call may block for a long time, and only Python's
    own calls let Ctrl-C through.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False  # Opening the file fails with the same error and names the path.
    return stat.S_IFMT(mode) in (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFSOCK)


def refuse_stream(path: str) -> None:
    """Refuses a pipe in the place of a file. Who can write there could make us wait for its writer."""
    if is_stream(path):
        raise not_regular(path)


def not_regular(path: str) -> OSError:
    """Returns the error for what can only be read or written as a stream."""
    return OSError(errno.ENOSYS, "expected a regular file, found a pipe, a socket or a device", path)


def regular_paths(src: PathOrFile, dst: PathOrFile) -> tuple[str, str] | None:
    """Returns both paths if both are ordinary files, which the core processes on all cores."""
    source, sink = path_of(src), path_of(dst)
    if source is None or sink is None or is_stream(source) or is_stream(sink):
        return None
    return source, sink


def check_apart(src: PathOrFile, dst: PathOrFile) -> None:
    """Raises ValueError if a file object and a path, or two file objects, are one file on disk.

    The core compares two paths.
    """
    source, sink = _found(src), _found(dst)
    if source is not None and sink is not None and os.path.samestat(source, sink):
        raise ValueError(f"source and destination are the same file: {getattr(dst, 'name', dst)!r}")


def _found(file: PathOrFile) -> os.stat_result | None:
    try:
        found = os.stat(path if (path := path_of(file)) is not None else file.fileno())  # type: ignore[union-attr]
    except (AttributeError, OSError, ValueError):
        return None  # It is not a file on the disk, for example a BytesIO, or opening it fails later.
    return found if stat.S_ISREG(found.st_mode) else None


def binary_file(file: Any) -> IO[bytes]:
    """Returns ``file`` unchanged. Raises TypeError unless it can be a binary file object."""
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"expected a binary file object, got a text file: {file!r}")
    if not (hasattr(file, "read") or hasattr(file, "write")):
        raise TypeError(f"expected a path or a binary file object, got {type(file).__name__}")
    return file  # type: ignore[no-any-return]


def opened_source(src: PathOrFile) -> AbstractContextManager[IO[bytes]]:
    """Returns a file object to read from. One opened here is closed at the end of the block."""
    path = path_of(src)
    return nullcontext(binary_file(src)) if path is None else open(path, "rb", buffering=0)


def opened_sink(dst: PathOrFile) -> AbstractContextManager[str | IO[bytes]]:
    """Returns the core's destination: a path, the given file object, or an opened pipe."""
    path = path_of(dst)
    if path is not None and is_stream(path):
        return open(path, "wb", buffering=0)
    return nullcontext(binary_file(dst) if path is None else path)


@contextlib.contextmanager
def staged(path: str, *, exclusive: bool = False, durable: bool = False) -> Iterator[Writer]:
    """Yields a new file that appears at ``path``, complete, after the block succeeds.

    With ``exclusive``, an existing file is an error. With ``durable``, the content is on disk
    before the file gets its name.
    """
    _native.check_target(path)
    with finishing(Writer.plain(path, exclusive), durable) as file:
        yield file


@contextlib.contextmanager
def finishing(writer: Writer, durable: bool = False) -> Iterator[Writer]:
    """Yields ``writer``. It is finished after the block succeeds, and discarded otherwise."""
    try:
        yield writer
        writer.finish(durable)
    finally:
        writer.discard()


def copy(source: IO[bytes], push: Callable[[Buffer], int], progress: Progress | None) -> None:
    """Passes the rest of ``source`` to ``push``, piece by piece."""
    done = 0
    while piece := read_piece(source):
        done += push(piece)
        if progress is not None:
            progress(done, None)


def read_piece(source: IO[bytes]) -> bytes:
    """Returns the next bytes of ``source``; empty only at its end."""
    # A buffered file object's `read` waits for the whole piece; `read1` returns what has arrived.
    read1 = getattr(source, "read1", None)
    piece = read1(PIECE) if read1 is not None else b""
    while not piece:
        # For a non-blocking object without data, `read1` returns the same as at the end; `read`
        # returns None.
        piece = source.read(PIECE)
        if piece is not None:
            break
        _wait(source, selectors.EVENT_READ, "has no data yet")
    if isinstance(piece, str):
        raise TypeError("expected a binary file object, got one that returns str")
    return piece


def wait_until_writable(sink: IO[bytes]) -> None:
    """Waits until a non-blocking file object takes bytes again. The core calls it."""
    _wait(sink, selectors.EVENT_WRITE, "takes no data now")


def sync(sink: IO[bytes]) -> None:
    """Waits until a file object's content is on disk, if it is a file there. The core calls it."""
    try:
        number = sink.fileno()
    except (AttributeError, OSError):
        return
    if stat.S_ISREG(os.fstat(number).st_mode):
        os.fsync(number)


def _wait(file: IO[bytes], event: int, state: str) -> None:
    """Waits for a non-blocking file object, by its file descriptor."""
    try:
        number = file.fileno()
    except (AttributeError, OSError):
        text = f"the file object is in non-blocking mode, {state}, and has no file descriptor to wait for"
        raise BlockingIOError(errno.EAGAIN, text) from None
    with selectors.DefaultSelector() as selector:
        selector.register(number, event)
        selector.select()
