"""Protects the dataset key: without it, all files of the dataset are lost."""

from __future__ import annotations

import contextlib
import errno
import os
import posixpath
import unicodedata
from collections.abc import Iterable
from glob import has_magic

from sealane.fs._below import Below
from sealane.fs._upload import is_object_store


class Guard:
    """Finds out whether a path leads to the dataset key, and removes files around it.

    Parameters
    ----------
    below : Below
        The way to call the filesystem that holds the encrypted files.
    key : str or None
        The path of the dataset key on it, if it has one.
    local : bool
        Whether the files are on a disk of this machine.
    """

    def __init__(self, below: Below, key: str | None, local: bool) -> None:
        self._below, self._key, self._local = below, key, local
        self._literal = is_object_store(below.fs)

    def is_key(self, path: str) -> bool:
        """Returns whether a path is that of the key, as it was given and as listings show it."""
        return self._key is not None and path.strip("/") == self._key.strip("/")

    def refuse(self, *paths: str) -> None:
        """Raises PermissionError if one of the paths is that of the key."""
        for path in paths:
            if self.is_key(path):
                raise _refusal(path)

    def refuse_change(self, *paths: str) -> None:
        """Raises PermissionError if one of the paths leads to the key, in any spelling or by a link."""
        for path in paths:
            if self.leads_to_key(path):
                raise _refusal(path)

    def leads_to_key(self, path: str) -> bool:
        """Returns whether writing to the path, or removing it, could change the key."""
        return self._key is not None and self.is_same(path, self._key)

    def is_same(self, one: str, other: str) -> bool:
        """Returns whether two paths can be those of one file."""
        if self._parts(one) == self._parts(other):
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

    async def remove(self, paths: Iterable[str], recursive: bool, maxdepth: int | None) -> None:
        """Removes what the paths and patterns lead to, except the key and the folders above it."""
        if self._key is None:
            await self._below.call("rm", list(paths), recursive=recursive, maxdepth=maxdepth)
            return
        # Patterns first, because the path of the key does not look like the pattern that matches it.
        found: list[str] = []
        for path in paths:
            self.refuse_change(path)
            # A local file can have a name that looks like a pattern.
            literal = not has_magic(path) or (self._local and os.path.lexists(path))
            if literal and not recursive and self.is_above_key(path):
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
            found += [path] if literal else await self._below.call("expand_path", path)
        await self.remove_found(found, recursive, maxdepth)

    async def remove_found(self, paths: list[str], recursive: bool, maxdepth: int | None = None) -> None:
        """Removes files and folders by their literal paths, except the key and the folders above it."""
        together: list[str] = []
        removed: set[tuple[str, ...]] = set()
        for path in sorted(set(paths)):
            parts = tuple(self._parts(path))
            if self.leads_to_key(path) or any(parts[:n] in removed for n in range(1, len(parts))):
                continue  # It is the key, or is removed with its folder.
            if recursive:
                removed.add(parts)
            if self.is_above_key(path):
                if recursive:
                    await self._remove_content(path, maxdepth)
            elif has_magic(path) and not self._local:
                # The other filesystem would take the name for a pattern, which may match the key.
                await self._remove_literal(path, recursive, maxdepth)
            else:
                together.append(path)
        if together:
            await self._below.call("rm", together, recursive=recursive, maxdepth=maxdepth)

    async def _remove_literal(self, path: str, recursive: bool, maxdepth: int | None) -> None:
        if not await self._below.call("isdir", path):
            await self._below.call("rm_file", path)
            return
        if recursive:
            await self._remove_content(path, maxdepth)
        with contextlib.suppress(FileNotFoundError):  # Some folders vanish with their last file.
            await self._below.call("rmdir", path)

    async def _remove_content(self, folder: str, maxdepth: int | None) -> None:
        if self._local and os.path.islink(folder):
            return  # Removing a link does not remove what is in the folder that it leads to.
        self._below.fs.invalidate_cache(folder)
        entries = await self._below.call("ls", folder, detail=True)
        below = folder.rstrip("/") + "/"
        # A server could list names of other folders.
        entries = [entry for entry in entries if entry["name"].startswith(below)]
        if maxdepth is not None and maxdepth <= 1:
            files = [entry["name"] for entry in entries if entry["type"] != "directory"]
            await self.remove_found(files, recursive=False)
        else:
            deeper = None if maxdepth is None else maxdepth - 1
            await self.remove_found([entry["name"] for entry in entries], recursive=True, maxdepth=deeper)

    def _is_above(self, folder: str, path: str) -> bool:
        above, parts = self._parts(folder), self._parts(path)
        return len(above) < len(parts) and parts[: len(above)] == above

    def _parts(self, path: str) -> list[str]:
        """Returns the names on the way to a file. Paths that can mean the same file have the same names."""
        if self._literal:
            return path.strip("/").split("/") if path.strip("/") else []
        path = posixpath.normpath("/" + path.strip("/")).strip("/")
        if not self._local:
            # Many servers do not distinguish upper and lower case.
            path = unicodedata.normalize("NFC", path.casefold())
        return path.split("/") if path else []


def _refusal(path: str) -> PermissionError:
    return PermissionError(
        errno.EACCES, "This is the key of the dataset, which cannot be used as one of its files", path
    )
