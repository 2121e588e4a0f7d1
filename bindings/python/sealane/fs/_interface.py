"""The part of ``SealaneFileSystem`` that its open files use.

It is a protocol, so that the modules of files do not import the module of the filesystem, which imports them.
"""

from __future__ import annotations

from typing import Any, Protocol

from sealane.fs._ahead import Ahead
from sealane.fs._keys import Keys
from sealane.fs._opened import Headers


class Filesystem(Protocol):
    """A filesystem of encrypted files, which are stored in another filesystem ``fs``.

    ``files`` is the same filesystem for calls that block: the file objects of fsspec are synchronous.
    """

    fs: Any
    files: Any
    keys: Keys
    headers: Headers
    ahead: Ahead
    local: bool

    def open(self, path: str, mode: str) -> Any: ...
    def invalidate_cache(self, path: str | None) -> None: ...
