"""The files below a folder. A folder that cannot be listed is an error, and not an empty folder."""

from __future__ import annotations

import itertools
import os
from functools import partial
from typing import Any

from sealane._error_paths import asking
from sealane.fs._abilities import finds_itself
from sealane.fs._store import Store, value_of


async def find(
    store: Store, path: str, maxdepth: int | None, withdirs: bool, prefix: str = "", **kwargs: Any
) -> dict[str, Any]:
    """Lists the files below a folder, or those of its first levels.

    fsspec's method omits a folder whose listing fails, as if it were empty. It is used if
    ``on_error`` is given.
    """
    found: dict[str, Any] = {}
    if "on_error" in kwargs or (maxdepth is None and finds_itself(store.fs)):
        options: dict[str, Any] = kwargs | ({"prefix": prefix} if prefix else {}) | {"maxdepth": maxdepth}
        found = await store.call("find", path, withdirs=withdirs, detail=True, **options)
        return found
    folders = [path]
    for level in itertools.count() if maxdepth is None else range(maxdepth):
        if not folders:
            break
        works: list[Any] = [partial(_list, store, folders, kwargs)]
        if level == 0 and prefix:
            # Only names with this prefix. Filesystems with this option report failures.
            works = [partial(_begin_with, store, path, prefix)]
        own = [partial(_folder, store, path)] if level == 0 and withdirs and path else []
        results: list[Any] = await store.together([*own, *works])
        for entry in results[: len(own)]:
            found |= value_of(entry)
        listings = zip(folders, value_of(results[-1]), strict=True)
        folders = []
        for folder, entries in listings:
            if isinstance(entries, FileNotFoundError | NotADirectoryError):
                continue  # Nothing is there, or not any more.
            if level == 0 and isinstance(entries, Exception) and await store.call("isfile", path):
                continue  # Some filesystems cannot list a file.
            for entry in value_of(entries):
                name = entry["name"].rstrip("/")
                if entry["type"] != "directory":
                    found[entry["name"]] = entry
                elif name != folder.rstrip("/"):
                    folders.append(name)
                    found |= {name: entry} if withdirs else {}
    if not found and await store.kind(path) == "file":
        found[path] = await store.call("info", path)
    return found


def check_folders(path: Any, maxdepth: int | None) -> None:
    """Raises the error of a folder of the local disk that cannot be listed.

    fsspec's ``put`` takes it for an empty one.
    """
    for top in [path] if isinstance(path, str | os.PathLike) else path:
        depth = os.fspath(top).rstrip(os.sep).count(os.sep)
        for folder, folders, _ in os.walk(top, onerror=_raise):
            if maxdepth is not None and folder.rstrip(os.sep).count(os.sep) - depth >= maxdepth - 1:
                folders.clear()


def _raise(error: OSError) -> None:
    if not isinstance(error, FileNotFoundError | NotADirectoryError):
        raise error


async def _list(store: Store, folders: list[str], options: dict[str, Any]) -> list[Any]:
    """Returns the entries of each folder, or the error of listing it."""
    if store.awaited or store.in_memory:
        return await store.together(
            [partial(store.call, "ls", one, detail=True, **options) for one in folders]
        )

    def each() -> list[Any]:
        return [_ls(store, one, options) for one in folders]

    # One thread for all: on a disk, changing threads would take longer than listing.
    return await store.blocking(each)


def _ls(store: Store, folder: str, options: dict[str, Any]) -> Any:
    try:
        with asking(folder, server=not store.on_disk):
            return store.files.ls(folder, detail=True, **options)
    except Exception as error:
        return error


async def _folder(store: Store, path: str) -> dict[str, Any]:
    """Returns the properties of a folder under its path; nothing if it is not a folder."""
    return {path: await store.call("info", path)} if await store.call("isdir", path) else {}


async def _begin_with(store: Store, path: str, prefix: str) -> list[Any]:
    """Lists a folder's entries with this prefix, as `_list` does; the store selects them."""
    options: dict[str, Any] = {"maxdepth": 1, "withdirs": True, "detail": True, "prefix": prefix}
    found = await store.call("find", path, **options)
    return [[entry for name, entry in found.items() if name != path]]
