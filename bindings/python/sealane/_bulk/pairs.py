"""The files of a bulk call, and the checks before anything is written."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sealane import _native
from sealane._endpoints import path_of
from sealane._reference import is_reference, resolve

if TYPE_CHECKING:
    from sealane._endpoints import Path
    from sealane._native import _FileKey as FileKey


class Pair(NamedTuple):
    """A source and its target, as they were given, and the length of the source in bytes."""

    source: str
    target: str
    size: int


class Stale(NamedTuple):
    """The folders in which files whose source is gone are removed."""

    src: str
    dst: str
    suffix: str
    exclude: list[str]
    names: FileKey | None
    """The key of encrypted names."""


class Replicas(NamedTuple):
    """The links and folders of a tree whose files get the attributes of their sources."""

    links: list[tuple[str, str, str]]
    """Symbolic links, which stay links, their targets, and the paths that these contain."""
    folders: list[tuple[str, str]]
    """Folders and their targets, each after its parent."""


class Found(NamedTuple):
    """The files of a bulk call: pairs of a source and a target, and the folders to create."""

    pairs: list[Pair]
    folders: list[str]
    """Folders to create, empty ones too."""
    failed: dict[str, Exception]
    """The errors of files that cannot be processed, by source."""
    root: str | None = None
    """The target folder of a tree, below which no link is followed."""
    stale: Stale | None = None
    """Where files whose source is gone are removed."""
    replicas: Replicas | None = None
    """The links and folders, if attributes are kept."""

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        for source, target in pairs:
            try:
                self.pairs.append(Pair(source, target, _size(source)))
            except OSError as error:
                self.failed[source] = error


def many(pairs: Iterable[tuple[Path, Path]], manifest: str | None) -> Found:
    """Returns the files of a call with pairs of paths. Raises TypeError for other elements, and as
    ``refuse_collisions`` does.
    """
    named = [(name_of(source), name_of(target)) for source, target in pairs]
    refuse_collisions(named, manifest)
    found = Found([], [], {})
    found.add(named)
    return found


def patterns(exclude: Iterable[str], exclude_from: Path | None) -> list[str]:
    """Returns the patterns of files that are left out, those in the file last."""
    if isinstance(exclude, str):
        raise TypeError('exclude must be a list of patterns, as in exclude=["*.tmp"], not one str')
    found = list(exclude)
    if exclude_from is not None:
        with open(name_of(exclude_from), encoding="utf-8") as file:
            found += file.read().splitlines()
    return found


def name_key(names: FileKey | str | None) -> FileKey | None:
    """Returns the key of encrypted names. Raises ValueError for a str that is not a reference."""
    if not isinstance(names, str):
        return names
    if not is_reference(names):
        # It is not shown: it may be the key itself.
        raise ValueError('encrypt_names that is a str must be a reference, such as "env:NAME" or "file:PATH"')
    return resolve(names)


def tree(
    src: str,
    dst: str | None,
    suffix: str,
    remove_suffix: bool,
    manifest: str | None,
    exclude: list[str] | None = None,
    delete: bool = False,
    preserve: bool = False,
    names: FileKey | str | None = None,
) -> Found:
    """Returns the files below a folder, without the manifest. Without ``dst`` they are only read. With
    ``preserve``, links stay links.

    Raises OSError if ``src`` is not a folder, ValueError if a target would replace a source or another
    target, or if ``names`` is not a key of names.
    """
    exclude = exclude or []
    names = name_key(names)
    walked = _native.walk(src, dst, suffix, remove_suffix, exclude, preserve, names, manifest)
    pairs = walked["pairs"]
    if not os.path.isdir(src):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), src)
    failed = {source: error for source, error in walked["problems"] if isinstance(error, Exception)}
    if manifest is not None:
        spelled, name = _Names(), os.path.basename(manifest)
        place = spelled.of(manifest)

        def is_manifest(path: str) -> bool:
            return path.endswith(name) and spelled.of(path) == place

        for source, target in pairs:
            if is_manifest(target):
                raise ValueError(f"the manifest is the target of {source!r}: {target!r}")
        pairs = [pair for pair in pairs if not is_manifest(pair[0])]
        failed = {source: error for source, error in failed.items() if not is_manifest(source)}
    stale = Stale(src, dst, suffix, exclude, names) if delete and dst is not None else None
    replicas = Replicas(walked["links"], walked["folder_pairs"]) if preserve else None
    found = Found([], walked["folders"], failed, dst, stale, replicas)
    found.add(pairs)
    return found


def name_of(place: Path) -> str:
    """Returns a path as a str. Raises TypeError for a file object and for bytes."""
    if (path := path_of(place)) is None:
        raise TypeError(f"a path is needed, not {type(place).__name__}")
    return path


def _size(source: str) -> int:
    """Returns the length of a regular file. Raises OSError for others: a pipe waits for its writer."""
    found = os.stat(source)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), source)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "expected a regular file, found a pipe, a socket or a device", source)
    return found.st_size


def refuse_collisions(pairs: Sequence[tuple[str, str]], manifest: str | None) -> None:
    """Raises ValueError if a target has two sources, or is a source or the manifest itself.

    Links and different spellings of a path are resolved: a collision that is missed would destroy a file.
    """
    names = _Names()
    sources: dict[str | tuple[int, int], str] = {}
    for source, _ in pairs:
        sources[names.of(source)] = source
        if (number := _inode(source)) is not None:
            sources[number] = source
    targets: dict[str, tuple[str, str]] = {}
    manifest_number = None if manifest is None else _inode(manifest)
    if manifest is not None:
        if names.of(manifest) in sources or (manifest_number and manifest_number in sources):
            raise ValueError(f"{manifest!r} is the manifest and a source")
        targets[names.of(manifest)] = "the manifest", manifest
    for source, target in pairs:
        number = _inode(target)
        # The file that a link leads to is replaced, not the link.
        name = names.of(os.path.realpath(target) if number is not None and os.path.islink(target) else target)
        same_file = sources.get(name) or (number and sources.get(number))
        if same_file is not None:
            raise ValueError(f"{target!r} is a target and, as {same_file!r}, a source")
        if manifest_number is not None and number == manifest_number:
            raise ValueError(f"the manifest is the target of {source!r}: {target!r}")
        if name in targets:
            first, same = targets[name]
            raise ValueError(f"{first!r} and {source!r} have one target: {same!r}, {target!r}")
        targets[name] = source, target


class _Names:
    """Normalised names, the same for all spellings of a path."""

    def __init__(self) -> None:
        self._folders: dict[str, str] = {}

    def of(self, path: str) -> str:
        folder, name = os.path.split(path)
        if name in ("", os.curdir, os.pardir):
            return _folded(os.path.realpath(path))
        if (real := self._folders.get(folder)) is None:
            real = self._folders[folder] = os.path.realpath(folder)
        return _folded(os.path.join(real, name))


def _folded(path: str) -> str:
    # Both systems can be configured to distinguish case. Then two different names are refused as one.
    return path.casefold() if sys.platform in ("win32", "darwin") else path


def _inode(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
