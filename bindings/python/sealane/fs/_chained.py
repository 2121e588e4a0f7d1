"""What the filesystems over another one share: how they find it, and how it reads paths."""

from __future__ import annotations

import filecmp
import inspect
import os
from collections.abc import Callable
from typing import Any

import fsspec
from fsspec.implementations.asyn_wrapper import AsyncFileSystemWrapper
from fsspec.implementations.cached import CachingFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.utils import stringify_path

_OF_FSSPEC = {"batch_size", "loop", "use_listings_cache", "listings_expiry_time", "max_paths"}
"""Options that fsspec's own classes take."""


def check_options(options: dict[str, Any]) -> None:
    """Raises TypeError for an option that nobody takes."""
    if unknown := sorted(options.keys() - _OF_FSSPEC):
        raise TypeError(
            f"unknown option {unknown[0]!r}: options of the other filesystem go to target_options"
        )


def check_depth(maxdepth: int | None) -> None:
    """Raises ValueError for a ``maxdepth`` without any level."""
    if maxdepth is not None and maxdepth < 1:
        raise ValueError("maxdepth must be at least 1")


def filesystem_below(fs: Any, protocol: str | None, options: dict[str, Any] | None) -> Any:
    """Returns the other filesystem: ``fs``, or the one with this protocol and these options."""
    if (fs is None) == (protocol is None):
        raise TypeError("give exactly one of fs and target_protocol, or a URL such as 'sealane::s3://…'")
    if fs is not None and options:
        raise TypeError("target_options are for target_protocol: fs has its options already")
    return fsspec.filesystem(protocol, **(options or {})) if fs is None else fs


def stripping(own: Callable[[Any], Any], fs: Any) -> Callable[[Any], Any]:
    """Returns ``_strip_protocol`` for one filesystem over ``fs``: each instance has another below."""

    def strip_protocol(path: Any) -> Any:
        if isinstance(path, list):
            return [strip_protocol(one) for one in path]
        name = own(path)
        if not name or name.endswith(":"):
            # Without its slash, the root of a disk would be the working directory.
            name = own(f"{stringify_path(path)}x")[:-1]
        return fs._strip_protocol(name)

    return strip_protocol


def split_version(fs: Any, path: str) -> tuple[Any, str, str]:
    """Returns the filesystem with the files, the path there, and the part that names the file."""
    while isinstance(fs, DirFileSystem | CachingFileSystem | AsyncFileSystemWrapper):
        path = fs._join(path) if isinstance(fs, DirFileSystem) else path
        fs = fs.sync_fs if isinstance(fs, AsyncFileSystemWrapper) else fs.fs
    parts = fs.split_path(path) if hasattr(fs, "split_path") else (path,)
    return fs, path, "/".join(part for part in parts[:2] if part)


def without_version(fs: Any, path: str) -> str:
    """Returns a path without the version that it names, as in ``bucket/key?versionId=…``."""
    _, whole, name = split_version(fs, path)
    return path.removesuffix(whole.strip("/").removeprefix(name.strip("/")))


def keeps_place(source: str, copy: str) -> bool:
    """Returns whether a file keeps its place in a copy of the encrypted folder that it is in."""
    while (name := os.path.basename(source)) and name == os.path.basename(copy):
        source, copy = os.path.dirname(source), os.path.dirname(copy)
        own, other = os.path.join(source, ".sealane"), os.path.join(copy, ".sealane")
        if os.path.exists(own):
            is_copy = os.path.exists(other) and not os.path.samefile(own, other)
            return is_copy and filecmp.cmp(own, other, shallow=False)
    return False


def without_path(protocol: str, options: dict[str, Any]) -> dict[str, Any]:
    """Returns a chained filesystem's options without the path of the URL, if it ignores the path."""
    kind = fsspec.get_filesystem_class(protocol)
    kept = {name: value for name, value in options.items() if name not in kind._strip_tokenize_options}
    if (below := kept.get("target_protocol")) is not None and "target_options" in kept:
        if not any("target_protocol" in inspect.signature(one.__init__).parameters for one in kind.__mro__):
            name = options.get("fo")
            raise ValueError(
                f"'::' separates filesystems in a URL, and {protocol} is not over {below} ({name!r})"
            )
        kept["target_options"] = without_path(below, kept["target_options"])
    return kept
