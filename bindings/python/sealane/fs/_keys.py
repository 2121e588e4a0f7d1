"""Resolves the key reference of a filesystem to the key of its files."""

from __future__ import annotations

import os
import threading
import time
from contextvars import ContextVar
from typing import Any

from sealane import _kms, _reference
from sealane._native import DecryptWith, EncryptWith, Key, Keyring
from sealane.fs import _dataset_key
from sealane.fs._below import Below, Waited

_EACH = "each:"
_AGE = "age:"


class Keys:
    """The keys of a filesystem. A reference is resolved when the first file needs it, and only once.
    A key service is asked again after a time limit.

    A reference can lead to another key later, for example when a variable changes, and a function can return
    a new key at each call. So files are written and read under one result. An object is never pickled: the
    filesystem pickles the references.

    Parameters
    ----------
    target : fsspec.AbstractFileSystem
        The filesystem that holds the encrypted files.
    key : str
        A reference for ``sealane.keys.resolve`` to a key or a keyring, where the path of an encrypted keyset
        is one of ``target``; or ``"age:PATH"``, a dataset key at this path of ``target``; or
        ``"each:package.module:function"``, a function that returns the key for the path of a file.
    identity : str, optional
        A reference to the identity that decrypts the dataset key; with ``"age:PATH"`` only.
    context : str
        The context that every file of the filesystem is bound to.
    """

    def __init__(self, target: Any, key: str | None, identity: str | None, context: str) -> None:
        if key is None:
            raise TypeError("key is missing: give a key reference such as 'env:NAME' or 'file:PATH'")
        self._target = target
        self._key = key
        self._identity = identity
        self._context = _encoded(context)
        self.dataset_key: str | None = None
        """The path of the dataset key on the target, with a reference ``age:PATH`` or to a key service."""
        self.per_file = isinstance(key, str) and key.startswith(_EACH)
        """Whether each file has a key of its own."""
        if isinstance(key, str) and key.startswith(_AGE):
            if identity is None:
                raise TypeError(f"{key}: identity is missing: give a reference to the key that decrypts it")
            _reference.check(identity)
            self.dataset_key = target._strip_protocol(key.removeprefix(_AGE))
            if not self.dataset_key:
                raise ValueError(f"{key}: expected age:PATH, found no path")
        elif identity is not None:
            raise TypeError("identity decrypts a dataset key: use it with key='age:PATH' or leave it out")
        elif self.per_file:
            _reference.check_function(key, key.removeprefix(_EACH))
        else:
            _reference.check(key)
        self._wrapping_key: _kms.WrappingKey | None = None
        if self.dataset_key is None and not self.per_file and (found := _reference.wrapping_key(key)):
            self._wrapping_key, place = found
            self.dataset_key = target._strip_protocol(place)
        self._resolved: tuple[EncryptWith, DecryptWith] | None = None
        self._until = float("inf")
        self._resolving: Waited | None = None
        self._lock, self._process = threading.Lock(), os.getpid()

    async def encryption(self, below: Below, path: str) -> EncryptWith:
        """Returns the key and context to encrypt the file ``path`` with."""
        if self.per_file:
            return EncryptWith(key=await below.compute(self._key_of, path), context=self._context)
        return (await self._resolve(below))[0]

    async def decryption(self, below: Below, path: str) -> DecryptWith:
        """Returns the key and context to decrypt the file ``path`` with."""
        if self.per_file:
            return DecryptWith(key=await below.compute(self._key_of, path), context=self._context)
        return (await self._resolve(below))[1]

    async def _resolve(self, below: Below) -> tuple[EncryptWith, DecryptWith]:
        while True:
            if (resolved := self._resolved) is not None and time.monotonic() < self._until:
                return resolved
            if self._process != os.getpid():
                # After a fork, a lock that another thread of the parent held is never released.
                self._lock, self._resolving, self._process = threading.Lock(), None, os.getpid()
            if id(self) in (outer := _OUTER.get()):
                raise RuntimeError(f"{self._key}: finding the key uses the filesystem that needs the key")
            # The lock is never held while anything waits, because tasks of one thread take it in turn.
            with self._lock:
                if (other := self._resolving) is None:
                    mine = self._resolving = Waited()
            if other is None:
                break
            await below.result_of(other)
        _OUTER.set(outer | {id(self)})
        try:
            if self._resolved is None or time.monotonic() >= self._until:
                self._resolved = None
                key = await self._find(below)
                self._resolved = (
                    EncryptWith(key=key, context=self._context),
                    DecryptWith(key=key, context=self._context),
                )
            return self._resolved
        finally:
            _OUTER.set(outer)
            # After a failure, the next caller tries it again.
            self._resolving = None
            mine.done()

    async def _find(self, below: Below) -> Key | Keyring:
        if self._wrapping_key is not None:
            assert self.dataset_key is not None
            found, self._until = await _dataset_key.unwrapped(below, self.dataset_key, self._wrapping_key)
            return found
        if self.dataset_key is not None:
            assert self._identity is not None
            return await _dataset_key.load(below, self.dataset_key, self._identity)
        return await below.compute(_reference.resolve, self._key)

    def _key_of(self, path: str) -> Key | Keyring:
        return _reference.call(self._key, self._key.removeprefix(_EACH), path)


_OUTER: ContextVar[frozenset[int]] = ContextVar("_OUTER", default=frozenset())
"""The filesystems whose keys are being found, by the function of a reference that runs now."""


def _encoded(context: str) -> bytes:
    if not isinstance(context, str):
        raise TypeError(f"context must be a str here, not {type(context).__name__}")
    return context.encode()
