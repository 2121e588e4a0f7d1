"""Errors say which file they are about."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator

from sealane.exceptions import SealaneError


def named(error: Exception, path: str) -> Exception:
    """``error`` with the path, or another one of its type."""
    if isinstance(error, OSError) and error.errno is not None:
        if error.filename is None:
            error.filename = path
        return error
    name = os.fsencode(path).decode(errors="replace")
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
    """Names the path in what files go wrong with. What a server answers seldom says which file it means."""
    try:
        yield
    except (SealaneError, OSError) as error:
        if (other := named(error, path)) is error:
            raise
        raise other from error


_OF_ONE_TEXT = (TypeError, ValueError, RuntimeError, MemoryError, NotImplementedError)
