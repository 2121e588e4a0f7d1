"""The files of a bulk call, and what is refused before anything is touched."""

from __future__ import annotations

import errno
import os
import stat
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, NamedTuple

from sealane import _native
from sealane._places import path_of

if TYPE_CHECKING:
    from sealane._places import Path


class Pair(NamedTuple):
    """A source and its target, as they were given, and the bytes of the source."""

    source: str
    target: str
    size: int


class Found(NamedTuple):
    """The files of a call."""

    pairs: list[Pair]
    folders: list[str]
    """To be made, whatever is in them."""
    failed: dict[str, Exception]
    """What cannot be done, by source."""

    def add(self, pairs: Iterable[tuple[str, str]]) -> None:
        for source, target in pairs:
            try:
                self.pairs.append(Pair(source, target, _size(source)))
            except OSError as error:
                self.failed[source] = error


def many(pairs: Iterable[tuple[Path, Path]], manifest: str | None) -> Found:
    """Raises TypeError for what is no pair of paths, ValueError as ``refuse_collisions``."""
    named = [(name_of(source), name_of(target)) for source, target in pairs]
    refuse_collisions(named, manifest)
    found = Found([], [], {})
    found.add(named)
    return found


def tree(src: str, dst: str | None, suffix: str, take_off: bool, manifest: str | None) -> Found:
    """The files of a folder; without ``dst`` they are only read. The manifest is none of them.

    Raises OSError for what is no folder, ValueError where results would meet each other or a source.
    """
    folders, pairs, problems = _native.walk(src, dst, suffix, take_off)
    if not os.path.isdir(src):
        raise NotADirectoryError(errno.ENOTDIR, os.strerror(errno.ENOTDIR), src)
    failed = {source: error for source, error in problems if isinstance(error, Exception)}
    if manifest is not None:
        names, name = _Names(), os.path.basename(manifest)
        place = names.of(manifest)

        def is_manifest(path: str) -> bool:
            return path.endswith(name) and names.of(path) == place

        for source, target in pairs:
            if is_manifest(target):
                raise ValueError(f"the manifest is the target of {source!r}: {target!r}")
        pairs = [pair for pair in pairs if not is_manifest(pair[0])]
        failed = {source: error for source, error in failed.items() if not is_manifest(source)}
    found = Found([], folders, failed)
    found.add(pairs)
    return found


def name_of(place: Path) -> str:
    """Raises TypeError for a file object and for bytes."""
    if (path := path_of(place)) is None:
        raise TypeError(f"a path is needed, not {type(place).__name__}")
    return path


def _size(source: str) -> int:
    """Raises OSError for what is no plain file: nobody waits for a pipe in the middle of many files."""
    found = os.stat(source)
    if stat.S_ISDIR(found.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), source)
    if not stat.S_ISREG(found.st_mode):
        raise OSError(errno.EINVAL, "not a plain file", source)
    return found.st_size


def refuse_collisions(pairs: Sequence[tuple[str, str]], manifest: str | None) -> None:
    """Raises ValueError where a target has two sources, or is a source or the manifest itself.

    Through whatever links and ways to write a path: a wrong answer here would cost a file.
    """
    names = _Names()
    sources: dict[str | tuple[int, int], str] = {}
    for source, _ in pairs:
        sources[names.of(source)] = source
        if (number := _inode(source)) is not None:
            sources[number] = source
    targets: dict[str, tuple[str, str]] = {}
    if manifest is not None:
        if names.of(manifest) in sources:
            raise ValueError(f"{manifest!r} is the manifest and a source")
        targets[names.of(manifest)] = "the manifest", manifest
    for source, target in pairs:
        number = _inode(target)
        # What a link leads to is replaced, not the link.
        name = names.of(os.path.realpath(target) if number is not None and os.path.islink(target) else target)
        same_file = sources.get(name) or (number and sources.get(number))
        if same_file is not None:
            raise ValueError(f"{target!r} is a target and, as {same_file!r}, a source")
        if name in targets:
            first, same = targets[name]
            raise ValueError(f"{first!r} and {source!r} have one target: {same!r}, {target!r}")
        targets[name] = source, target


class _Names:
    """One name for each file, however its path is written."""

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
    # Both systems can be told to mind the case. Then two names are refused that could be kept apart.
    return path.casefold() if sys.platform in ("win32", "darwin") else path


def _inode(path: str) -> tuple[int, int] | None:
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_dev, found.st_ino
