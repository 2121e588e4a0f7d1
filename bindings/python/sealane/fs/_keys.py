"""The key of a filesystem's files, and the guard of the file that holds it."""

from __future__ import annotations

import errno
import os
import posixpath
import threading
import time
import unicodedata
from contextvars import ContextVar
from typing import Any

from sealane import _reference
from sealane._native import DecryptWith, EncryptWith, Key, Keyring, check_key, split_reference
from sealane._wrapping_key import WrappingKey
from sealane.exceptions import escaped
from sealane.fs import _dataset_key
from sealane.fs._abilities import is_object_store
from sealane.fs._chained import without_version

_EACH = "each:"
_AGE = "age:"


class Keys:
    """The keys of a filesystem. A reference is resolved once, when the first file needs it. A key
    service is asked again after a time limit.

    A reference can later lead to another key, for example when a variable changes, and a function
    can return a new key on each call. So files are written and read under one result. The object is
    never pickled: the filesystem pickles the references.

    Parameters
    ----------
    files : fsspec.AbstractFileSystem
        The filesystem with the encrypted files, for blocking calls.
    key : str
        A reference for ``sealane.keys.resolve`` to a key or a keyring, where the path of an
        encrypted keyset is one of ``files``; or ``"age:PATH"``, a dataset key at this path of
        ``files``; or ``"each:package.module:function"``, a function that returns the key for a
        file's path. Except for "each:", ``"#"`` and a fingerprint at the end pin the key.
    identity : str, optional
        A reference to the identity that decrypts the dataset key; with ``"age:PATH"`` only.
    context : str
        The context bound to every file of the filesystem.
    """

    def __init__(self, files: Any, key: str | None, identity: str | None, context: str) -> None:
        if key is None:
            raise TypeError("key is missing: give a key reference such as 'env:NAME' or 'file:PATH'")
        if not isinstance(context, str):
            raise TypeError(f"context must be a str here, not {type(context).__name__}")
        self._files, self._identity, self._context = files, identity, context.encode()
        self._reference = key
        key, self._fingerprint = split_reference(key) if isinstance(key, str) else (key, None)
        self._key = key
        self.dataset_key: str | None = None
        """The path of the dataset key, for ``age:PATH`` and key services."""
        self.per_file = isinstance(key, str) and key.startswith(_EACH)
        """Whether each file has its own key."""
        self._wrapping_key: WrappingKey | None = None
        if isinstance(key, str) and key.startswith(_AGE):
            if identity is None:
                raise TypeError(
                    f"{escaped(key)}: identity is missing: give a reference to the key that decrypts it"
                )
            _reference.check(identity)
            self.dataset_key = files._strip_protocol(key.removeprefix(_AGE))
            if not self.dataset_key:
                raise ValueError(f"{escaped(key)}: expected age:PATH, found no path")
        elif identity is not None:
            raise TypeError("identity decrypts a dataset key: use it with key='age:PATH' or leave it out")
        elif self.per_file:
            if self._fingerprint is not None:
                raise ValueError(f"{escaped(key)}: each file has its own key, so no fingerprint can pin them")
            _reference.check_function(key, key.removeprefix(_EACH))
        else:
            _reference.check(key)
            if (found := _reference.wrapping_key(key)) is not None:
                self._wrapping_key, place = found
                self.dataset_key = files._strip_protocol(place)
        self._resolved: tuple[EncryptWith, DecryptWith] | None = None
        self._until = float("inf")
        self._lock, self._process = threading.Lock(), os.getpid()

    def encryption(self, path: str) -> EncryptWith:
        """Returns the key and context to encrypt the file ``path`` with."""
        if self.per_file:
            return EncryptWith(key=self._key_of(path), context=self._context)
        return (self.resolved() or self._resolve())[0]

    def decryption(self, path: str) -> DecryptWith:
        """Returns the key and context to decrypt the file ``path`` with."""
        if self.per_file:
            return DecryptWith(key=self._key_of(path), context=self._context)
        return (self.resolved() or self._resolve())[1]

    def resolved(self) -> tuple[EncryptWith, DecryptWith] | None:
        """Returns the keys if they are known, so that finding them does not wait."""
        return self._resolved if time.monotonic() < self._until else None

    def _resolve(self) -> tuple[EncryptWith, DecryptWith]:
        if self._process != os.getpid():
            # After a fork, a lock held by another thread of the parent is never released.
            self._lock, self._process = threading.Lock(), os.getpid()
        if id(self) in (outer := _OUTER.get()):
            raise RuntimeError(f"{self._key}: finding the key uses the filesystem that needs the key")
        with self._lock:
            if (known := self.resolved()) is not None:
                return known
            _OUTER.set(outer | {id(self)})
            try:
                key = self._find()
            finally:
                _OUTER.set(outer)
            self._resolved = (
                EncryptWith(key=key, context=self._context),
                DecryptWith(key=key, context=self._context),
            )
            return self._resolved

    def _find(self) -> Key | Keyring:
        self._resolved = None
        if self.dataset_key is None:
            return _reference.resolve(self._reference)
        until = float("inf")
        found: Key | Keyring
        if self._wrapping_key is None:
            assert self._identity is not None
            found = _dataset_key.load(self._files, self.dataset_key, self._identity)
        else:
            found, until = _dataset_key.unwrapped(self._files, self.dataset_key, self._wrapping_key)
        # Anyone who can write beside the data must not choose its key.
        check_key(
            found, _dataset_key.place(self._files, self.dataset_key, self._wrapping_key), self._fingerprint
        )
        self._until = until
        return found

    def _key_of(self, path: str) -> Key | Keyring:
        path = without_version(self._files, path)
        return _reference.call(self._key, self._key.removeprefix(_EACH), path)


_OUTER: ContextVar[frozenset[int]] = ContextVar("_OUTER", default=frozenset())
"""The filesystems whose keys the running function of a reference is finding."""


class Guard:
    """Detects paths that lead to the dataset key: without it, all files of the dataset are lost.

    Parameters
    ----------
    fs : fsspec.AbstractFileSystem
        The filesystem with the encrypted files.
    key : str or None
        The path of the dataset key on it, if any.
    local : bool
        Whether the files are on a local disk.
    """

    def __init__(self, fs: Any, key: str | None, local: bool) -> None:
        self._key, self._local, self._literal = key, local, is_object_store(fs)

    def is_key(self, path: str) -> bool:
        """Returns whether a path is the key's, as given or as shown in listings."""
        return self._key is not None and path.strip("/") == self._key.strip("/")

    def refusal(self, path: str) -> PermissionError:
        """Returns the error for a call that names the key."""
        text = "This is the key of the dataset, which cannot be used as one of its files"
        return PermissionError(errno.EACCES, text, path)

    def refuse(self, *paths: str, change: bool = False) -> None:
        """Raises PermissionError if one of the paths is the key's.

        With ``change``, also if it leads to the key in another spelling or by a link.
        """
        for path in paths:
            if self.leads_to_key(path) if change else self.is_key(path):
                raise self.refusal(path)

    def leads_to_key(self, path: str) -> bool:
        """Returns whether writing to the path, or removing it, could change the key."""
        return self._key is not None and self.is_same(path, self._key)

    def is_same(self, one: str, other: str) -> bool:
        """Returns whether two paths can name the same file."""
        if self.parts(one) == self.parts(other):
            return True
        try:
            return self._local and os.path.samefile(one, other)
        except OSError:
            return False  # One of the two does not exist.

    def is_above_key(self, path: str) -> bool:
        """Returns whether the path is a folder that contains the key, at any depth."""
        if self._key is None:
            return False
        if self._is_above(path, self._key):
            return True
        return self._local and self._is_above(os.path.realpath(path), os.path.realpath(self._key))

    def _is_above(self, folder: str, path: str) -> bool:
        above, parts = self.parts(folder), self.parts(path)
        return len(above) < len(parts) and parts[: len(above)] == above

    def parts(self, path: str) -> list[str]:
        """Returns the names on the way to a file, equal for paths that can mean the same file."""
        if self._literal:
            return path.strip("/").split("/") if path.strip("/") else []
        path = posixpath.normpath("/" + path.strip("/")).strip("/")
        if not self._local:
            # Many servers are case-insensitive.
            path = unicodedata.normalize("NFC", path.casefold())
        return path.split("/") if path else []
