"""Key references: words that say where a key is found.

=================================  ====================================================================
reference                          the key
=================================  ====================================================================
``env:NAME``                       the text in this environment variable
``file:PATH``                      a key file; ``~`` is the home of whoever reads it
``keyring:SERVICE/USER``           the text that the system's keyring holds (package ``keyring``)
``call:package.module:function``   what this function returns: a ``Key``, or 16 or 32 bytes
=================================  ====================================================================

A reference is no secret: it may be pickled, logged and sent to other machines, each of which finds the
key for itself. ``call:`` runs code, as unpickling does: take references from people you trust.
"""

from __future__ import annotations

import importlib
import os
import pathlib
from collections.abc import Callable
from typing import Any, Final

from sealane._native import Key, load
from sealane.exceptions import FormatError, KeyNotFoundError

__all__ = ["call", "check", "check_function", "identity", "is_reference", "resolve"]


def resolve(reference: str) -> Key:
    """The key that a reference leads to, here and now.

    Parameters
    ----------
    reference : str
        ``"env:NAME"``, ``"file:PATH"``, ``"keyring:SERVICE/USER"`` or ``"call:package.module:function"``.
        The first and the third hold the text of a key, as ``Key.to_text()`` gives it.

    Raises
    ------
    KeyNotFoundError
        Where there is no such variable, entry or function.
    FormatError
        For a text that is no key.
    OSError
        For a file that cannot be read.
    TypeError, ValueError
        For what is no reference, and for what a function returns that is no key.
    """
    scheme, rest = _parts(reference)
    return _FIND[scheme](reference, rest)


def identity(reference: str) -> str | Key | pathlib.Path:
    """The identity that a reference leads to: what ``identities=[…]`` takes."""
    scheme, rest = _parts(reference)
    if scheme == "file":
        return pathlib.Path(rest).expanduser()
    if scheme == "call":
        found = _function(reference, rest)()
        if not isinstance(found, str | Key | os.PathLike):
            raise TypeError(f"{reference}: returned {type(found).__name__}, which is no identity")
        return found if isinstance(found, str | Key) else pathlib.Path(found)
    return _TEXT[scheme](reference, rest)


def is_reference(value: object) -> bool:
    """Whether ``value`` looks like a reference."""
    return isinstance(value, str) and value.partition(":")[0] in _FIND


def check(reference: str) -> None:
    """Raises TypeError or ValueError for what is no reference; nothing is looked up."""
    _parts(reference)


def call(reference: str, name: str, *arguments: object) -> Key:
    """What the function ``package.module:function`` returns, which must be a key."""
    return _as_key(reference, _function(reference, name)(*arguments))


def _function(reference: str, name: str) -> Callable[..., Any]:
    """The function ``package.module:function``."""
    check_function(reference, name)
    module, _, path = name.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in path.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError) as error:
        raise KeyNotFoundError(f"{reference}: {error}") from error
    if not callable(found):
        raise ValueError(f"{reference}: is no function")
    return found  # type: ignore[no-any-return]


def check_function(reference: str, name: str) -> None:
    """Raises ValueError for what is not written like ``package.module:function``."""
    if not all(name.partition(":")):
        raise ValueError(f"{reference}: a function is written package.module:function")


def _parts(reference: str) -> tuple[str, str]:
    if not isinstance(reference, str):
        # Not shown: it may well be the key itself.
        raise TypeError(
            f"a key reference is a str such as 'env:NAME' or 'file:PATH', not {type(reference).__name__}: "
            "it is pickled and logged, a key never is"
        )
    scheme, colon, rest = reference.partition(":")
    if not colon or scheme not in _FIND or not rest:
        raise ValueError(f"a key reference begins with one of {', '.join(f'{name}:' for name in _FIND)}")
    return scheme, rest


def _env(reference: str, name: str) -> str:
    try:
        return os.environ[name]
    except KeyError:
        raise KeyNotFoundError(f"{reference}: there is no such environment variable") from None


def _keyring(reference: str, name: str) -> str:
    service, slash, user = name.partition("/")
    if not (service and slash and user):
        raise ValueError(f"{reference}: an entry is written SERVICE/USER")
    try:
        import keyring
    except ImportError as error:
        raise KeyNotFoundError(f"{reference}: the package keyring is not installed") from error
    try:
        found: str | None = keyring.get_password(service, user)
    except keyring.errors.KeyringError as error:
        raise KeyNotFoundError(f"{reference}: {error}") from error
    if found is None:
        raise KeyNotFoundError(f"{reference}: there is no such entry")
    return found


def _from_text(read: Callable[[str, str], str]) -> Callable[[str, str], Key]:
    def find(reference: str, name: str) -> Key:
        text = read(reference, name)
        try:
            return Key.from_text(text)
        except FormatError as error:
            raise type(error)(f"{reference}: {error}") from None
        except ValueError as error:
            raise ValueError(f"{reference}: {error}") from None

    return find


def _file(reference: str, name: str) -> Key:
    try:
        return load(pathlib.Path(name).expanduser())
    except FormatError as error:
        raise type(error)(f"{reference}: {error}") from None


def _call(reference: str, name: str) -> Key:
    return call(reference, name)


def _as_key(reference: str, found: object) -> Key:
    if isinstance(found, Key):
        return found
    if not isinstance(found, bytes | bytearray | memoryview):
        raise TypeError(f"{reference}: returned {type(found).__name__}, which is no key")
    return Key.from_bytes(found)


_TEXT: Final[dict[str, Callable[[str, str], str]]] = {"env": _env, "keyring": _keyring}
_FIND: Final[dict[str, Callable[[str, str], Key]]] = {
    "env": _from_text(_env),
    "file": _file,
    "keyring": _from_text(_keyring),
    "call": _call,
}
