"""Copying, moving and removing encrypted files unchanged, around the dataset key."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterable
from functools import partial
from glob import has_magic
from typing import Any

from fsspec.utils import other_paths

from sealane._endpoints import PIECE, staged
from sealane.fs._keys import Guard, Keys
from sealane.fs._opening import Opener
from sealane.fs._store import BUDGET, Store, moves_itself
from sealane.fs._writing import make_parents


class Moving:
    """The filesystem operations that change names: encrypted files move unchanged."""

    fs: Any
    store: Store
    keys: Keys
    opener: Opener
    guard: Guard
    local: bool
    open: Any
    _strip_protocol: Any
    _expand_path: Any

    async def _cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self.guard.refuse(path1)
        self.guard.refuse(path2, change=True)
        self.opener.forget()
        if await self._is_folder_only(path1):
            await self._makedirs(path2, exist_ok=True)
        elif self.keys.per_file:
            async with self.store.budget.reserve(BUDGET):
                await self.store.compute(self._copy_by_decrypting, path1, path2, waits=True)
        elif self.local:
            await self.store.compute(self._copy_local, path1, path2)
        else:
            await self.store.call("cp_file", path1, path2, **kwargs)

    async def _is_folder_only(self, path: str) -> bool:
        """Returns whether the path is a folder and not a file. An object store can have both."""
        return bool((await self.store.call("info", path)).get("type") == "directory")

    def _copy_by_decrypting(self, path1: str, path2: str) -> None:
        with self.open(path1, "rb") as source, self.open(path2, "wb") as file:
            shutil.copyfileobj(source, file, 4 << 20)

    def _copy_local(self, path1: str, path2: str) -> None:
        make_parents(self.fs, path2)
        with open(path1, "rb", buffering=0) as source, staged(path2) as file:
            shutil.copyfileobj(source, file, PIECE)

    async def _mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any
    ) -> None:
        if path1 == path2:
            return
        if isinstance(path1, list) and isinstance(path2, list) and len(path1) != len(path2):
            raise ValueError(f"expected one target for each source, found {len(path2)} for {len(path1)}")
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        self.opener.forget()
        await self._move(path1, path2, recursive, maxdepth, **kwargs)

    async def _mv_file(self, path1: str, path2: str) -> None:
        await self._mv(path1, path2)

    async def _move(
        self, path1: Any, path2: Any, recursive: bool, maxdepth: int | None, **kwargs: Any
    ) -> None:
        store = self.store
        if isinstance(path1, str) and isinstance(path2, str) and not self.keys.per_file:
            source, target = self._strip_protocol(path1), self._strip_protocol(path2)
            self.guard.refuse(source, target, change=True)
            if self.keys.dataset_key is None and moves_itself(store.fs):
                await store.call("mv", source, target, recursive=recursive, maxdepth=maxdepth, **kwargs)
                return
            if (
                not has_magic(source)
                and not await self._is_folder_only(source)
                and not await self._is_folder(path2)
            ):
                await store.rename(source, target, **kwargs)
                return
        # Listed once: a file that arrives during the copy is not removed.
        pairs = await self._pairs(path1, path2, recursive, maxdepth)
        named = [self._strip_protocol(one) for one in path1] if isinstance(path1, list) else []
        self.guard.refuse(*named, *(other for _, other in pairs), change=True)
        # A file copied to its own name would be removed afterwards.
        pairs = [
            (one, other)
            for one, other in pairs
            if not self.guard.leads_to_key(one) and not self.guard.is_same(one, other)
        ]
        folders = [one for one, _ in pairs if await self._is_folder_only(one)]
        files = [one for one, _ in pairs if one not in folders]
        if overwritten := {other for _, other in pairs}.intersection(files):
            text = f"Moving would overwrite {min(overwritten)!r}, which is moved as well"
            raise OSError(errno.EINVAL, text, str(path1))
        for pair in [pair for pair in pairs if pair[0] in folders]:
            await self._cp_file(*pair)
        copies = [partial(self._cp_file, *pair) for pair in pairs if pair[0] not in folders]
        for result in await store.together(copies):
            if isinstance(result, Exception):
                raise result
        await self._remove_found(files, recursive=False)
        for folder in sorted(folders, reverse=True):
            if not self.guard.is_above_key(folder):
                with contextlib.suppress(OSError):  # It is not empty, or vanished with its last file.
                    await store.call("rmdir", folder)

    async def _pairs(
        self, path1: Any, path2: Any, recursive: bool, maxdepth: int | None
    ) -> list[tuple[str, str]]:
        """Returns each source and its target, as found by ``fsspec.AbstractFileSystem.copy``."""
        if isinstance(path1, list) and isinstance(path2, list):
            sources, targets = path1, path2
        else:
            one = isinstance(path1, str)
            sources = await self._expand_path(path1, recursive, maxdepth)
            if one and (not recursive or maxdepth is not None):
                sources = [path for path in sources if not await self._is_folder_only(path)]
            pattern = one and has_magic(path1)
            inside = one and (
                (pattern and len(sources) == 1)
                or (not pattern and await self._is_folder(path2) and not path1.endswith("/"))
            )
            targets = other_paths(sources, path2, exists=inside, flatten=not one) if sources else []
        return [
            (self._strip_protocol(source), self._strip_protocol(target))
            for source, target in zip(sources, targets, strict=True)
        ]

    async def _is_folder(self, path: Any) -> bool:
        if not isinstance(path, str) or path.endswith("/"):
            return isinstance(path, str)
        try:
            return await self._is_folder_only(self._strip_protocol(path))
        except FileNotFoundError:
            return False

    async def _rm_file(self, path: str, **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        self.guard.refuse(path, change=True)
        self.opener.forget()
        await self.store.call("rm_file", path)

    async def _rm(
        self,
        path: Any,
        recursive: bool = False,
        batch_size: int | None = None,
        maxdepth: int | None = None,
        **kwargs: Any,
    ) -> None:
        paths = [path] if isinstance(path, str | os.PathLike) else path
        self.opener.forget()
        await self._remove([self._strip_protocol(one) for one in paths], recursive, maxdepth)

    async def _remove(self, paths: Iterable[str], recursive: bool, maxdepth: int | None) -> None:
        """Removes what the paths and patterns match, except the key and the folders above it."""
        if self.keys.dataset_key is None:
            await self.store.call("rm", list(paths), recursive=recursive, maxdepth=maxdepth)
            return
        # Patterns first: the key's path does not look like the pattern that matches it.
        found: list[str] = []
        for path in paths:
            self.guard.refuse(path, change=True)
            # A local file's name can look like a pattern.
            literal = not has_magic(path) or (self.local and os.path.lexists(path))
            if literal and not recursive and self.guard.is_above_key(path):
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
            found += [path] if literal else await self.store.call("expand_path", path)
        await self._remove_found(found, recursive, maxdepth)

    async def _remove_found(self, paths: list[str], recursive: bool, maxdepth: int | None = None) -> None:
        """Removes files and folders by literal path, except the key and the folders above it."""
        together: list[str] = []
        removed: set[tuple[str, ...]] = set()
        for path in sorted(set(paths)):
            parts = tuple(self.guard.parts(path))
            if self.guard.leads_to_key(path) or any(parts[:n] in removed for n in range(1, len(parts))):
                continue  # It is the key, or is removed with its folder.
            if recursive:
                removed.add(parts)
            if self.guard.is_above_key(path):
                if recursive:
                    await self._remove_content(path, maxdepth)
            elif has_magic(path) and not self.local:
                # The other filesystem would take the name for a pattern that may match the key.
                await self._remove_literal(path, recursive, maxdepth)
            else:
                together.append(path)
        if together:
            await self.store.call("rm", together, recursive=recursive, maxdepth=maxdepth)

    async def _remove_literal(self, path: str, recursive: bool, maxdepth: int | None) -> None:
        if not await self.store.call("isdir", path):
            await self.store.call("rm_file", path)
            return
        if recursive:
            await self._remove_content(path, maxdepth)
        with contextlib.suppress(FileNotFoundError):  # Some folders vanish with their last file.
            await self.store.call("rmdir", path)

    async def _remove_content(self, folder: str, maxdepth: int | None) -> None:
        if self.local and os.path.islink(folder):
            return  # Removing a link does not remove what is in the folder that it leads to.
        self.store.fs.invalidate_cache(folder)
        entries = await self.store.call("ls", folder, detail=True)
        below = folder.rstrip("/") + "/"
        # A server could list names of other folders.
        entries = [entry for entry in entries if entry["name"].startswith(below)]
        if maxdepth is not None and maxdepth <= 1:
            files = [entry["name"] for entry in entries if entry["type"] != "directory"]
            await self._remove_found(files, recursive=False)
        else:
            deeper = None if maxdepth is None else maxdepth - 1
            await self._remove_found([entry["name"] for entry in entries], recursive=True, maxdepth=deeper)

    async def _mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        self.guard.refuse(path, change=True)
        await self.store.call("mkdir", path, create_parents=create_parents, **kwargs)

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None:
        path = self._strip_protocol(path)
        self.guard.refuse(path, change=True)
        await self.store.call("makedirs", path, exist_ok=exist_ok)

    async def _rmdir(self, path: str) -> None:
        path = self._strip_protocol(path)
        self.guard.refuse(path, change=True)
        await self.store.call("rmdir", path)
