"""Adds the path of a file to the errors that are raised while it is processed."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

from sealane.exceptions import SealaneError


def named(error: Exception, path: str) -> Exception:
    """Returns ``error`` if it contains the path, and otherwise an error of the same type that contains it."""
    name = os.fsencode(path).decode(errors="replace")
    if isinstance(error, OSError) and not error.args:
        # Some filesystems raise the bare class, which has neither a number nor a text.
        code = next(_ERRNO[kind] for kind in type(error).__mro__ if kind in _ERRNO)
        return OSError(code, os.strerror(code), path)
    if isinstance(error, OSError) and error.errno is not None:
        if error.filename is None:
            error.filename = path
        # The text of some subclasses of OSError does not contain the filename.
        shown = error.filename != path or repr(path) in str(error) or name in str(error)
        return error if shown else OSError(error.errno, str(error), path)
    if name in str(error):
        return error
    # The classes of Python and sealane take one text. Other classes may take other parameters.
    ours = isinstance(error, SealaneError) or type(error) in _OF_ONE_TEXT
    if ours or (isinstance(error, OSError) and type(error).__module__ == "builtins"):
        text = str(error) or type(error).__name__
        return type(error)(f"{name}: {text}").with_traceback(error.__traceback__)
    error.add_note(name)
    return error


@contextlib.contextmanager
def about(path: str) -> Iterator[None]:
    """Adds the path to the errors that the statements of the block raise.

    Errors of servers seldom contain the path, and those of their clients are often not OSError. Such an error
    becomes an OSError.
    """
    try:
        yield
    except Exception as error:
        if isinstance(error, SealaneError | OSError):
            other = named(error, path)
        elif type(error).__module__ == "builtins":
            raise
        else:
            other = OSError(errno.EIO, f"{type(error).__name__}: {error}", path)
        if other is error:
            raise
        raise other from error


def of_file(error: Exception, path: str) -> OSError:
    """Returns the error of one file for an error of a request for several files."""
    if isinstance(error, OSError) and error.errno is not None:
        own = OSError(error.errno, error.strerror or str(error), path)
    else:
        own = OSError(errno.EIO, f"{type(error).__name__}: {error}", path)
    own.__cause__ = error
    return own


@contextlib.contextmanager
def asking(path: str) -> Iterator[None]:
    """Adds the path to the errors that another filesystem raises, or that its results cause.

    Every exception becomes an error with the path, because any class of exception can mean that a server
    fails. Only the block that asks the other filesystem belongs inside, not the arguments of a caller.
    """
    try:
        yield
    except (SealaneError, OSError, NotImplementedError, MemoryError) as error:
        if (other := named(error, path)) is error:
            raise
        raise other from error
    except Exception as error:
        raise OSError(errno.EIO, f"{type(error).__name__}: {error}", path) from error


_ERRNO = {
    BlockingIOError: errno.EAGAIN,
    BrokenPipeError: errno.EPIPE,
    ConnectionAbortedError: errno.ECONNABORTED,
    ConnectionRefusedError: errno.ECONNREFUSED,
    ConnectionResetError: errno.ECONNRESET,
    FileExistsError: errno.EEXIST,
    FileNotFoundError: errno.ENOENT,
    InterruptedError: errno.EINTR,
    IsADirectoryError: errno.EISDIR,
    NotADirectoryError: errno.ENOTDIR,
    OSError: errno.EIO,
    PermissionError: errno.EACCES,
    TimeoutError: errno.ETIMEDOUT,
}
_OF_ONE_TEXT = (TypeError, ValueError, RuntimeError, MemoryError, NotImplementedError)
