"""What the filesystem below can do: the protocols, classes and methods that tell it."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from glob import has_magic
from typing import Any

from fsspec.asyn import AsyncFileSystem
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.cached import CachingFileSystem, SimpleCacheFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem
from fsspec.spec import AbstractFileSystem

OBJECT_STORES = frozenset({"s3", "s3a", "gs", "gcs", "az", "abfs", "abfss", "adl", "oci", "memory"})
"""Protocols with atomic objects, whose files support ``autocommit=False`` and ``commit``."""


def is_asynchronous(fs: Any) -> bool:
    """Returns whether a filesystem's coroutines can be awaited."""
    if isinstance(fs, DirFileSystem):
        return is_asynchronous(fs.fs)  # Its own coroutines call those of the filesystem below it.
    # The class itself: fsspec's caches have all attributes of the filesystem below them.
    return issubclass(type(fs), AsyncFileSystem) and bool(fs.async_impl)


def is_object_store(fs: Any) -> bool:
    """Returns whether the filesystem's files appear complete, under exactly the given name."""
    protocols = (fs.protocol,) if isinstance(fs.protocol, str) else tuple(fs.protocol)
    return not OBJECT_STORES.isdisjoint(protocols)


def without_folder(fs: Any) -> Any:
    """Returns the filesystem that a ``DirFileSystem`` is a folder of; other ones as they are."""
    while isinstance(fs, DirFileSystem):
        fs = fs.fs
    return fs


def innermost(fs: Any) -> Any:
    """Returns the filesystem that folders, caches and wrappers are over."""
    while isinstance(fs, DirFileSystem | CachingFileSystem | AsyncFileSystemWrapper):
        fs = fs.sync_fs if isinstance(fs, AsyncFileSystemWrapper) else fs.fs
    return fs


def replaces_whole(fs: Any) -> bool:
    """Returns whether one request reads, creates or replaces an object as a whole.

    A store whose name we do not know is one if its class reads ranges, copies without renaming, and
    takes fsspec's ``mode`` for creating or replacing an object. A wrapper passes on whatever it
    gets, so its own methods say nothing.
    """
    fs = without_folder(fs)
    if is_object_store(fs):
        return True
    taken: dict[str, set[str]] = {"_cat_file": {"start", "end"}, "_cp_file": set(), "_pipe_file": {"mode"}}
    return (
        is_asynchronous(fs)
        and not moves_itself(fs)
        and all(
            getattr(type(fs), name) is not getattr(AsyncFileSystem, name)
            and names <= inspect.signature(getattr(fs, name)).parameters.keys()
            for name, names in taken.items()
        )
    )


def moves_itself(fs: Any) -> bool:
    """Returns whether a filesystem implements moving files itself."""
    fs = without_folder(fs)
    own = type(fs).mv is not AbstractFileSystem.mv
    return own or inspect.iscoroutinefunction(getattr(fs, "_mv", None))


def takes_recursive(fs: Any) -> bool:
    """Returns whether ``mv`` of the filesystem has the parameter ``recursive``; SFTP's has not."""
    below = without_folder(fs)
    # DirFileSystem calls the blocking method.
    method = getattr(below, "_mv", below.mv) if below is fs else below.mv
    parameters = inspect.signature(method).parameters.values()
    return any(one.name == "recursive" or one.kind is one.VAR_KEYWORD for one in parameters)


def takes_threads(fs: Any) -> bool:
    """Returns whether several threads may call a filesystem.

    fsspec calls a synchronous one from one thread: files of an archive share a position, calls of
    FTP a connection. Data of another file would look like data that was changed.
    """
    while isinstance(fs, DirFileSystem | SimpleCacheFileSystem | AsyncFileSystemWrapper):
        fs = fs.sync_fs if isinstance(fs, AsyncFileSystemWrapper) else fs.fs
    return is_asynchronous(fs) or isinstance(fs, LocalFileSystem | MemoryFileSystem)


def renames(fs: Any) -> bool:
    """Returns whether a filesystem can give a complete file its name."""
    fs = innermost(fs)
    kind, start = (AsyncFileSystem, "_") if is_asynchronous(fs) else (AbstractFileSystem, "")

    def is_own(name: str) -> bool:
        return getattr(getattr(fs, name, None), "__func__", None) is not getattr(kind, name, None)

    return moves_itself(fs) or (is_own(f"{start}cp_file") and (is_own(f"{start}rm_file") or is_own("_rm")))


def has_magic_of(fs: Any) -> Callable[[str], Any]:
    """Returns the function with which the filesystem's ``glob`` recognizes a pattern."""
    for kind in type(innermost(fs)).__mro__:
        for name in ("_glob", "glob"):
            decides = getattr(vars(kind).get(name), "__globals__", {}).get("has_magic")
            if decides is not None:
                return decides  # type: ignore[no-any-return]
    return has_magic


def finds_itself(fs: Any) -> bool:
    """Returns whether a filesystem implements listing all files below a folder itself."""
    kind: Any = type(innermost(fs))
    if issubclass(kind, AsyncFileSystem):
        return kind._find is not AsyncFileSystem._find
    return kind.find is not AbstractFileSystem.find


def in_mode(fs: Any, *, asynchronous: bool) -> Any:
    """Returns the same filesystem for the caller's event loop or for blocking calls."""
    if not asynchronous and isinstance(fs, AsyncFileSystemWrapper):
        return fs.sync_fs  # The wrapper has no file objects.
    if not is_asynchronous(fs) or fs.asynchronous == asynchronous:
        return fs
    if isinstance(fs, DirFileSystem):
        below = in_mode(fs.fs, asynchronous=asynchronous)
        return DirFileSystem(fs.path, fs=below, asynchronous=asynchronous)
    options = {name: value for name, value in fs.storage_options.items() if name != "loop"}
    return type(fs)(*fs.storage_args, **{**options, "asynchronous": asynchronous})
