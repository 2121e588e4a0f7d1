"""Adds the file's path to errors raised while the file is processed."""

from __future__ import annotations

import errno
import os
import re
from typing import Any

from sealane.exceptions import SealaneError, escaped


def named(error: Exception, path: str) -> Exception:
    """Returns ``error`` if it contains the path, otherwise an error of the same type that does.

    Control characters are escaped: a terminal would obey those in a file's name.
    """
    name = os.fsencode(path).decode(errors="replace")
    text = str(error)
    if isinstance(error, OSError) and error.errno is None and text in ("", path):
        # Some filesystems raise the bare class, without number or text.
        code = next(_ERRNO[kind] for kind in type(error).__mro__ if kind in _ERRNO)
        return OSError(code, os.strerror(code), path)
    if isinstance(error, OSError) and error.errno is not None:
        if error.filename is None:
            error.filename = path
            text = str(error)
        # Some subclasses of OSError do not show the filename.
        shown = error.filename != path or repr(path) in text or _is_named(text, name)
        if shown and text == escaped(text):
            return error
        return OSError(error.errno, escaped(error.strerror if shown and error.strerror else text), path)
    is_named = _is_named(text, name)
    if is_named and text == escaped(text):
        return error
    # Python's and sealane's classes take one text. Other classes may take other parameters.
    ours = isinstance(error, SealaneError) or type(error) in _OF_ONE_TEXT
    if ours or (isinstance(error, OSError) and type(error).__module__ == "builtins"):
        text = text if is_named else f"{name}: {text or type(error).__name__}"
        return type(error)(escaped(text)).with_traceback(error.__traceback__)
    error.add_note(escaped(name))
    return error


def _is_named(text: str, name: str) -> bool:
    """Returns whether the text names the file, and not another one or a word that contains its name."""
    if text.startswith(f"{name}: ") or f"'{name}'" in text or f'"{name}"' in text:
        return True
    # A bare name can be any word. A URL ends with the path that its filesystem knows.
    is_path = "/" in name or "\\" in name
    return (
        is_path and re.search(rf"(?<![\w.-])(?<![\w.-]/){re.escape(name)}(?![\w/-]|\.\w)", text) is not None
    )


def is_missing(error: OSError) -> bool:
    """Returns whether the error says that nothing has this path."""
    missing = isinstance(error, FileNotFoundError | NotADirectoryError)
    return missing or error.errno in (errno.ENOENT, errno.ENOTDIR)


class about:
    """Adds the path to errors raised in a ``with`` block.

    Errors of servers seldom contain the path, and those of their clients are often not OSError.
    They become an OSError.
    """

    # With ``contextlib.contextmanager``, each block takes 1 us longer.
    __slots__ = ("_path",)

    def __init__(self, path: str) -> None:
        self._path = path

    def __enter__(self) -> None: ...

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if not isinstance(error, Exception):
            return
        if isinstance(error, SealaneError | OSError):
            other = named(error, self._path)
        elif type(error).__module__ == "builtins":
            return
        else:
            other = OSError(errno.EIO, escaped(f"{type(error).__name__}: {error}"), self._path)
        if other is not error:
            raise other from _shown(error)


def _shown(error: Exception) -> Exception | None:
    """Returns an error that a traceback can show as the cause of one that names the file."""
    return error if (text := str(error)) == escaped(text) else None


def of_file(error: Exception, path: str) -> OSError:
    """Returns one file's error for a failed request for several files."""
    if isinstance(error, OSError) and error.errno is not None:
        own = OSError(error.errno, escaped(error.strerror or str(error)), path)
    else:
        own = OSError(errno.EIO, escaped(f"{type(error).__name__}: {error}"), path)
    own.__cause__ = _shown(error)
    return own


class Refused(OSError, ValueError):
    """A ValueError of another filesystem: it refuses an argument, or its server has failed."""


class asking(about):
    """Adds the path to errors that another filesystem raises or that its results cause.

    A TypeError about a keyword refuses an argument of the call. Every other class of exception can
    mean that a server fails, and becomes an OSError. Without a server, a ValueError stays one.
    """

    __slots__ = ("_server",)

    def __init__(self, path: str, *, server: bool = True) -> None:
        self._path, self._server = path, server

    def __exit__(self, kind: Any, error: BaseException | None, traceback: Any) -> None:
        if not isinstance(error, Exception):
            return
        if isinstance(error, FileNotFoundError) and _is_of_keyword(error.__cause__):
            raise named(TypeError(str(error.__cause__)), self._path) from None  # HTTPFileSystem hides it.
        refused = _is_of_keyword(error) or (type(error) is ValueError and not self._server)
        if refused or isinstance(error, SealaneError | OSError | NotImplementedError | MemoryError):
            other = named(error, self._path)
        elif type(error) is ValueError:
            other = Refused(errno.EINVAL, escaped(str(error)), self._path)
        else:
            other = OSError(errno.EIO, escaped(f"{type(error).__name__}: {error}"), self._path)
        if other is not error:
            raise other from _shown(error)


def _is_of_keyword(error: BaseException | None) -> bool:
    return isinstance(error, TypeError) and "unexpected keyword argument" in str(error)


# Python's own table, turned round. The smallest number of a class is its plainest, except EPERM.
_ERRNO = {type(OSError(code, "")): code for code in sorted(errno.errorcode, reverse=True)}
_ERRNO |= {OSError: errno.EIO, PermissionError: errno.EACCES}
_OF_ONE_TEXT = (TypeError, ValueError, RuntimeError, MemoryError, NotImplementedError)
