"""From key references to what locks and unlocks the files of a dataset."""

from __future__ import annotations

from typing import Any

from sealane import _reference
from sealane._native import DecryptWith, EncryptWith, Key
from sealane.fs import _dataset_key

_EACH = "each:"
_AGE = "age:"


class Keys:
    """The keys of a filesystem, found when they are first needed. Never pickled: the references are.

    ``key`` is a reference of ``sealane.keys.resolve``; or ``"age:PATH"``, the dataset key, an age file on the
    filesystem ``target``, which ``identity`` opens; or ``"each:package.module:function"``, which is called
    with the path of each file.
    """

    def __init__(self, target: Any, key: str | None, identity: str | None, context: str) -> None:
        if key is None:
            raise TypeError("key is needed, a reference: 'env:NAME', 'file:PATH', … See sealane.fs.")
        self._target = target
        self._key = key
        self._identity = identity
        self._context = _encoded(context)
        self.dataset_key: str | None = None
        """Where the dataset key lies, if it lies on the target."""
        self.each = isinstance(key, str) and key.startswith(_EACH)
        """Whether each file has a key of its own."""
        if isinstance(key, str) and key.startswith(_AGE):
            if identity is None:
                raise TypeError(f"{key}: is opened by an identity: give identity, a reference")
            _reference.check(identity)
            self.dataset_key = target._strip_protocol(key.removeprefix(_AGE))
            if not self.dataset_key:
                raise ValueError(f"{key}: the dataset key is written age:PATH")
        elif identity is not None:
            raise TypeError("identity opens a dataset key: it goes with key='age:PATH'")
        elif self.each:
            _reference.check_function(key, key.removeprefix(_EACH))
        else:
            _reference.check(key)
        self._lock: EncryptWith | None = None
        self._unlock: DecryptWith | None = None

    def lock(self, path: str) -> EncryptWith:
        """What the file ``path`` is written with."""
        if self.each or self._lock is None:
            lock = EncryptWith(key=self._find(path), context=self._context)
            if self.each:
                return lock
            self._lock = lock
        return self._lock

    def unlock(self, path: str) -> DecryptWith:
        """What opens the file ``path``."""
        if self.each or self._unlock is None:
            unlock = DecryptWith(key=self._find(path), context=self._context)
            if self.each:
                return unlock
            self._unlock = unlock
        return self._unlock

    def _find(self, path: str) -> Key:
        if self.each:
            return _reference.call(self._key, self._key.removeprefix(_EACH), path)
        if self.dataset_key is not None:
            assert self._identity is not None
            return _dataset_key.load(self._target, self.dataset_key, self._identity)
        return _reference.resolve(self._key)


def _encoded(context: str) -> bytes:
    if not isinstance(context, str):
        raise TypeError(f"context is a str here, not {type(context).__name__}")
    return context.encode()
