"""Errors say which file they are about."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Iterator

from sealane.exceptions import SealaneError


def named(error: Exception, path: str) -> Exception:
    """``error`` with the path, or another one of its type."""
    name = os.fsencode(path).decode(errors="replace")
    if isinstance(error, OSError) and error.errno is not None:
        if error.filename is None:
            error.filename = path
        # Some have words of their own, in which the name does not come.
        shown = error.filename != path or repr(path) in str(error) or name in str(error)
        return error if shown else OSError(error.errno, str(error), path)
    if name in str(error):
        return error
    # Python's and ours are made of one text; others may have parameters of their own.
    ours = isinstance(error, SealaneError) or type(error) in _OF_ONE_TEXT
    if ours or (isinstance(error, OSError) and type(error).__module__ == "builtins"):
        return type(error)(f"{name}: {error}").with_traceback(error.__traceback__)
    error.add_note(name)
    return error


@contextlib.contextmanager
def about(path: str) -> Iterator[None]:
    """Names the path in what files go wrong with. What a server answers seldom says which file it means, and
    what its client says is often no OSError: then it becomes one.
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


_OF_ONE_TEXT = (TypeError, ValueError, RuntimeError, MemoryError, NotImplementedError)
