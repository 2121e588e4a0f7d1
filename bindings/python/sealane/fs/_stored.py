"""The stored files of an encrypted folder on any filesystem, as the core reads them."""

from __future__ import annotations

import errno
import os
import posixpath
from datetime import datetime
from functools import partial
from typing import Any

from fsspec.implementations.local import LocalFileSystem

from sealane.fs import _dataset_key
from sealane.fs._abilities import in_mode
from sealane.fs._store import Store, complete, file_size, filesystem_of

_TIMES = ("mtime", "LastModified", "last_modified", "updated", "created")
"""The names under which filesystems report when a file was changed."""


class StoredFiles:
    """What the core asks of a filesystem. Every answer may be a lie; the core verifies the bytes."""

    def __init__(self, fs: Any, root: str) -> None:
        self._store, self._root = Store(in_mode(fs, asynchronous=False)), root.rstrip("/")

    def _place(self, path: str) -> str:
        return f"{self._root}/{path}" if path else self._root

    def list(self, folder: str) -> list[tuple[str, str, int, float | None]]:
        """Returns the name, kind, size and time of what a folder contains."""
        place = self._place(folder)
        work = self._store.call("ls", place, detail=True, check=partial(_listed, place))
        return self._store.run(work)

    def size(self, path: str) -> int:
        """Returns the reported size of a file."""
        place = self._place(path)
        if (size := self._store.run(self._store.info(place))["size"]) is None:
            raise OSError(errno.ESPIPE, "The server does not report the size of the file", place)
        return int(size)

    def read(self, path: str, start: int, end: int) -> bytes:
        """Returns a byte range of a file."""
        place = self._place(path)
        (data,) = self._store.run(self._store.fetch(place, [(start, end)]))
        return complete(data, end - start, place)

    def refresh(self) -> None:
        """Drops cached listings, which may be older than the files."""
        self._store.fs.invalidate_cache()


def _listed(place: str, found: Any) -> list[tuple[str, str, int, float | None]]:
    entries = []
    for entry in found:
        parent, _, name = entry["name"].strip("/").rpartition("/")
        kind = {"directory": "folder"}.get(entry["type"], str(entry["type"]))
        size = file_size(entry.get("size")) if kind == "file" else 0
        if entry["name"].strip("/") == place.strip("/"):
            if size:
                raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), place)
            continue  # Object stores have markers of folders.
        if parent != place.strip("/") or size is None:
            text = f"The filesystem lists {entry['name']!r} with the size {entry.get('size')!r} here"
            raise OSError(errno.EIO, text, place)
        time = next((entry[key] for key in _TIMES if entry.get(key) is not None), None)
        if isinstance(time, datetime):
            time = time.timestamp()
        entries.append((name, kind, size, float(time) if isinstance(time, int | float) else None))
    return entries


def at_url(url: str, options: dict[str, Any]) -> tuple[StoredFiles | None, str, str | None]:
    """Returns what ``Vault.open`` needs for the folder at a URL: the store, the folder's name, and the
    name of its description.
    """
    return on_filesystem(*filesystem_of(url, options))


def on_filesystem(fs: Any, path: str) -> tuple[StoredFiles | None, str, str | None]:
    """Returns the same for a folder on a filesystem."""
    if isinstance(fs, LocalFileSystem):
        return None, path, None
    description = posixpath.join(path, ".sealane")
    known = _dataset_key.place(fs, description, None) or f"age:{fs.unstrip_protocol(description)}"
    return StoredFiles(fs, path), str(fs.unstrip_protocol(path)), known.removeprefix("age:")
