"""Where bytes come from and go to: paths, file objects, pipes."""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Callable, Iterator
from typing import IO, TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from typing_extensions import Buffer

Path: TypeAlias = str | os.PathLike[str] | os.PathLike[bytes]
Place: TypeAlias = Path | IO[bytes] | io.RawIOBase | io.BufferedIOBase
Progress: TypeAlias = Callable[[int, int | None], object]

PIECE = 1 << 20
"""Bytes that travel at once between a file object and the core: 64 chunks, what the core works on at once."""


def path_of(file: Place) -> str | None:
    """The path that ``file`` is; None for a file object."""
    return os.fsdecode(file) if isinstance(file, str | os.PathLike) else None


def is_stream(path: str) -> bool:
    """Whether ``path`` names a pipe, a socket or a terminal.

    Those are read and written by Python: a call may wait for long, and only Python's own let Ctrl-C through.
    """
    try:
        mode = os.stat(path).st_mode
    except (OSError, ValueError):
        return False  # Whoever opens it finds out, and says so with the name.
    return stat.S_ISFIFO(mode) or stat.S_ISCHR(mode) or stat.S_ISSOCK(mode)


def plain(src: Place, dst: Place) -> tuple[str, str] | None:
    """Both paths, where both are paths of ordinary files: the core works on those with all cores."""
    source, sink = path_of(src), path_of(dst)
    if source is None or sink is None or is_stream(source) or is_stream(sink):
        return None
    return source, sink


def binary(file: Any) -> IO[bytes]:
    """``file``, if it may be a binary file object. Raises TypeError."""
    if isinstance(file, io.TextIOBase):
        raise TypeError(f"a binary file object is needed, not one of text: {file!r}")
    if not (hasattr(file, "read") or hasattr(file, "write")):
        raise TypeError(f"a path or a binary file object is needed, not {type(file).__name__}")
    return file  # type: ignore[no-any-return]


@contextlib.contextmanager
def reading(src: Place) -> Iterator[IO[bytes]]:
    """A file object to read from: the given one, or that of a path, which is closed again."""
    if (path := path_of(src)) is None:
        yield binary(src)
        return
    with open(path, "rb", buffering=0) as file:
        yield file


@contextlib.contextmanager
def writing(dst: Place) -> Iterator[str | IO[bytes]]:
    """What the core may write plaintext to: a path, the given file object, or that of a pipe."""
    path = path_of(dst)
    if path is None:
        yield binary(dst)
    elif is_stream(path):
        with open(path, "wb", buffering=0) as file:
            yield file
    else:
        yield path


def copy(source: IO[bytes], push: Callable[[Buffer], int], progress: Progress | None) -> None:
    """Pushes all that ``source`` gives."""
    done = 0
    while piece := _read(source):
        done += push(piece)
        if progress is not None:
            progress(done, None)


def _read(source: IO[bytes]) -> bytes:
    piece = source.read(PIECE)
    if piece is None:
        raise BlockingIOError("the file object has no data yet")
    if isinstance(piece, str):
        raise TypeError("a binary file object is needed, not one of text")
    return piece
