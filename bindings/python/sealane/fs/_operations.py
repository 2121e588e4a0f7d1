"""The operations of ``SealaneFileSystem`` on paths, as coroutines.

They have the names that ``fsspec.asyn.AsyncFileSystem`` gives to its coroutines. A synchronous filesystem
runs them in place, so both kinds share every rule: the guard of the dataset key, the claims of servers, and
the errors.
"""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
import stat
from collections.abc import Iterable
from functools import partial
from glob import has_magic
from typing import Any

from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.utils import isfilelike, other_paths

from sealane import _native
from sealane._about import about, asking
from sealane._endpoints import PIECE, staged
from sealane.exceptions import SealaneError, TruncatedError
from sealane.fs._ahead import Ahead
from sealane.fs._below import BUDGET, Below
from sealane.fs._claims import plain_entry
from sealane.fs._guard import Guard
from sealane.fs._keys import Keys
from sealane.fs._opened import Headers, open_verified
from sealane.fs._reading import PlainRange, open_for_reading, read_opened, read_ranges
from sealane.fs._transfer import WHOLE, progress_of, read_to, read_whole, write_whole
from sealane.fs._upload import is_object_store, moves_itself, refuse_existing, rename
from sealane.fs._writing import make_parents


class Operations:
    """The coroutines of a filesystem of encrypted files."""

    fs: Any
    files: Any
    keys: Keys
    headers: Headers
    ahead: Ahead
    local: bool
    _below: Below
    _guard: Guard
    _intrans: bool
    _strip_protocol: Any
    open: Any

    async def _expanded(self, path: Any, recursive: bool, maxdepth: int | None) -> list[str]:
        """Returns the result of ``expand_path``."""
        raise NotImplementedError

    def invalidate_cache(self, path: str | None = None) -> None:
        """Drops the cached listings of folders, so that the next call asks again."""
        raise NotImplementedError

    # Listings and properties

    async def _ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        path = self._strip_protocol(path)
        with asking(path):
            found = await self._below.call("ls", path, detail=True, **kwargs)
            entries = [plain_entry(entry) for entry in found if not self._guard.is_key(entry["name"])]
            self.ahead.listed(entries)
            return entries if detail else sorted(entry["name"] for entry in entries)

    async def _info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        with asking(path):
            return plain_entry(await self._below.call("info", path, **kwargs))

    async def _find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **kwargs: Any,
    ) -> Any:
        path = self._strip_protocol(path)
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        with asking(path):
            if maxdepth is None or self.local:
                options = {"maxdepth": maxdepth, "withdirs": withdirs, "detail": True}
                found = await self._below.call("find", path, **options, **kwargs)
            else:
                found = await self._find_levels(path, maxdepth, withdirs, **kwargs)
            entries = {
                name: plain_entry(entry) for name, entry in found.items() if not self._guard.is_key(name)
            }
            self.ahead.listed(entries.values())
            return entries if detail else sorted(entries)

    async def _begin_with(self, path: str, prefix: str) -> list[Any]:
        """Lists what is in a folder under names with this prefix, which the store selects."""
        options = {"maxdepth": 1, "withdirs": True, "detail": True, "prefix": prefix}
        return [
            entry for name, entry in (await self._below.call("find", path, **options)).items() if name != path
        ]

    async def _find_levels(
        self, path: str, maxdepth: int, withdirs: bool, prefix: str = "", **kwargs: Any
    ) -> dict[str, Any]:
        """Lists the files of the first levels of folders, as patterns need them.

        The method of fsspec leaves out each folder whose listing fails, as if it were empty.
        """
        below = self._below
        found: dict[str, Any] = {}
        if withdirs and path and await below.call("isdir", path):
            found[path] = await below.call("info", path)
        folders = [path]
        for level in range(maxdepth):
            works = [partial(below.call, "ls", folder, detail=True, **kwargs) for folder in folders]
            if level == 0 and prefix:
                # Only the names that begin so. Filesystems that know this option report failures.
                works = [partial(self._begin_with, path, prefix)]
            listings = zip(folders, await below.together(works), strict=True)
            folders = []
            for folder, entries in listings:
                if isinstance(entries, FileNotFoundError):
                    continue  # Nothing is there, or not any more.
                if isinstance(entries, Exception):
                    with asking(folder):
                        raise entries
                for entry in entries:
                    name = entry["name"].rstrip("/")
                    if entry["type"] != "directory":
                        found[entry["name"]] = entry
                    elif name != folder.rstrip("/"):
                        folders.append(name)
                        found |= {name: entry} if withdirs else {}
        if not found and await below.call("isfile", path):
            found[path] = await below.call("info", path)
        return found

    async def _exists(self, path: str, **kwargs: Any) -> bool:
        return await self._is("exists", path, **kwargs)

    async def _lexists(self, path: str, **kwargs: Any) -> bool:
        return await self._is("lexists", path, **kwargs)

    async def _isdir(self, path: str) -> bool:
        return await self._is("isdir", path)

    async def _isfile(self, path: str) -> bool:
        return await self._is("isfile", path)

    async def _is(self, question: str, path: str, **kwargs: Any) -> bool:
        path = self._strip_protocol(path)
        with asking(path):
            return bool(await self._below.call(question, path, **kwargs))

    # Reading

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any
    ) -> bytes:
        (data,) = await self._read([self._strip_protocol(path)], [start], [end])
        if isinstance(data, Exception):
            raise data
        return data

    async def _cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        batch_size: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        if not isinstance(paths, list):
            raise TypeError("paths must be a list")
        starts = list(starts) if isinstance(starts, Iterable) else [starts] * len(paths)
        ends = list(ends) if isinstance(ends, Iterable) else [ends] * len(paths)
        if not len(paths) == len(starts) == len(ends):
            raise ValueError("paths, starts and ends must have the same length")
        out = await self._read([self._strip_protocol(path) for path in paths], starts, ends)
        if on_error != "return" and (error := next((one for one in out if isinstance(one, Exception)), None)):
            raise error
        return out

    async def _read(
        self, paths: list[str], starts: list[int | None], ends: list[int | None]
    ) -> list[bytes | Exception]:
        out: list[bytes | Exception] = [b""] * len(paths)
        alone: dict[int, Any] = {}
        ranges: dict[int, PlainRange] = {}
        for at, (path, start, end) in enumerate(zip(paths, starts, ends, strict=True)):
            try:
                self._guard.refuse(path)
            except PermissionError as error:
                out[at] = error
                continue
            if end is None and not start:
                alone[at] = partial(self._read_all, path)
            elif end is None or end < 0 or (start or 0) < 0:
                alone[at] = partial(self._read_from_end, path, start or 0, end)
            elif (start or 0) < end:
                ranges[at] = PlainRange(path, start or 0, end)
        for at, one in zip(alone, await self._below.together(list(alone.values())), strict=True):
            out[at] = one
        if not ranges:
            return out
        found = await read_ranges(self._below, self, list(ranges.values()))
        late: dict[int, Any] = {}
        for (at, one_range), data in zip(ranges.items(), found, strict=True):
            out[at] = data
            if isinstance(data, TruncatedError | OSError | ValueError) and not isinstance(
                data, FileNotFoundError
            ):
                late[at] = partial(self._past_the_end, one_range, data)
        for at, one in zip(late, await self._below.together(list(late.values())), strict=True):
            out[at] = one
        return out

    async def _read_all(self, path: str) -> bytes:
        decryption = await self.keys.decryption(self._below, path)
        if not self.local:
            return await read_whole(self._below, path, decryption)

        def read() -> bytes:
            with open_for_reading(self, path) as file:
                return bytes(file.read())

        return await self._below.compute(read)

    async def _read_from_end(self, path: str, start: int, end: int | None) -> bytes:
        """Reads a range that is counted from the end of the file, which is verified first."""
        if self.local:

            def read() -> bytes:
                with open_for_reading(self, path) as file:
                    begin, stop, _ = slice(start, end).indices(file.size)
                    file.seek(begin)
                    return bytes(file.read(max(0, stop - begin)))

            return await self._below.compute(read)
        decryption = await self.keys.decryption(self._below, path)
        opened = await open_verified(self._below, path, decryption, self.headers)
        begin, stop, _ = slice(start, end).indices(opened.size)
        return await read_opened(self._below, path, opened, begin, max(begin, stop))

    async def _past_the_end(self, one: PlainRange, error: Exception) -> bytes:
        """Returns no bytes if a failed range is past the end of the file, which is verified for this."""
        try:
            size = await self._verified_size(one.path)
        except SealaneError:
            raise
        except Exception:
            raise error from None
        if one.start < size:
            raise error
        return b""

    async def _verified_size(self, path: str) -> int:
        if self.local:

            def size() -> int:
                with open_for_reading(self, path) as file:
                    return int(file.size)

            return await self._below.compute(size)
        decryption = await self.keys.decryption(self._below, path)
        return (await open_verified(self._below, path, decryption, self.headers)).size

    async def _get_file(
        self,
        rpath: str,
        lpath: Any,
        callback: Callback = DEFAULT_CALLBACK,
        outfile: Any = None,
        **kwargs: Any,
    ) -> None:
        rpath = self._strip_protocol(rpath)
        self._guard.refuse(rpath)
        out = outfile if outfile is not None else lpath if isfilelike(lpath) else None
        if out is not None:
            await read_to(self._below, rpath, out, await self.keys.decryption(self._below, rpath), callback)
            return
        lpath = os.fspath(lpath)
        # An object store is asked for the object first, because most paths are objects.
        objects = is_object_store(self.fs)
        first = not objects or await self._below.compute(os.path.isdir, lpath)
        if first and await self._make_folder(rpath, lpath):
            return
        decryption = await self.keys.decryption(self._below, rpath)
        folder = os.path.dirname(os.path.abspath(lpath))
        await self._below.compute(partial(os.makedirs, folder, exist_ok=True))
        if self.local:
            with about(rpath):
                decrypt = partial(_native.decrypt_path, rpath, lpath, decryption, None)
                await self._below.compute(decrypt, progress_of(callback), False)
            return
        try:
            await read_to(self._below, rpath, lpath, decryption, callback)
        except (FileNotFoundError, IsADirectoryError):
            if not (objects and await self._make_folder(rpath, lpath)):
                raise

    async def _make_folder(self, rpath: str, lpath: str) -> bool:
        """Makes a local folder if the path is one of a folder. Returns whether it is."""
        with asking(rpath):
            if not await self._below.call("isdir", rpath):
                return False
        await self._below.compute(partial(os.makedirs, lpath, exist_ok=True))
        return True

    # Writing

    async def _pipe_file(self, path: str, value: Any, mode: str = "overwrite", **kwargs: Any) -> None:
        path = self._strip_protocol(path)

        def through_a_file() -> None:
            with self.open(path, "xb" if mode == "create" else "wb", **kwargs) as file:
                file.write(value)

        size = memoryview(value).nbytes
        if self._at_once(size, kwargs):
            await self._write_at_once(path, size, lambda: value, mode)
        else:
            await self._in_parts(size, through_a_file)

    def _at_once(self, size: int | None, options: dict[str, Any]) -> bool:
        """Returns whether a file is written in one request. A transaction needs file objects."""
        return (
            self._below.concurrent
            and not (self.local or self._intrans or options)
            and size is not None
            and size <= WHOLE
        )

    async def _write_at_once(self, path: str, size: int, content: Any, mode: str) -> None:
        self._guard.refuse_change(path)
        exclusive = mode == "create"
        encryption = await self.keys.encryption(self._below, path)
        if exclusive:
            # Found out now, and not after the data was sent. The request checks it again.
            with asking(path):
                await refuse_existing(self._below, path)
        await write_whole(self._below, path, size, content, encryption, exclusive=exclusive)
        self.invalidate_cache(path)

    async def _in_parts(self, size: int | None, work: Any) -> None:
        """Runs ``work``, which writes through a file object and therefore holds parts of an upload."""
        async with self._below.reserve(BUDGET if size is None or size > WHOLE else 2 * size):
            await self._below.compute(work)

    async def _touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        if not truncate and await self._exists(path):
            raise NotImplementedError("changing the time of a file without writing it is not supported")
        await self._pipe_file(path, b"", **kwargs)

    async def _put_file(
        self,
        lpath: Any,
        rpath: str,
        callback: Callback = DEFAULT_CALLBACK,
        mode: str = "overwrite",
        **kwargs: Any,
    ) -> None:
        rpath = self._strip_protocol(rpath)
        found = await self._below.compute(os.stat, lpath)
        if stat.S_ISDIR(found.st_mode):
            await self._makedirs(rpath, exist_ok=True)
            return
        size = found.st_size if stat.S_ISREG(found.st_mode) else None
        if self.local and mode == "overwrite" and not self._intrans:
            self._guard.refuse_change(rpath)
            encryption = await self.keys.encryption(self._below, rpath)

            def encrypt() -> None:
                make_parents(self.fs, rpath)
                _native.encrypt_path(os.fspath(lpath), rpath, encryption, None, progress_of(callback), False)

            await self._below.compute(encrypt)
            return
        if size is not None and self._at_once(size, kwargs):
            with contextlib.suppress(_Grown):
                callback.set_size(size)
                await self._write_at_once(rpath, size, partial(_content, lpath), mode)
                callback.relative_update(size)
                return
        await self._in_parts(size, partial(self._put_in_parts, lpath, rpath, callback, mode, kwargs))

    def _put_in_parts(
        self, lpath: Any, rpath: str, callback: Callback, mode: str, options: dict[str, Any]
    ) -> None:
        with (
            open(lpath, "rb") as source,
            self.open(rpath, "xb" if mode == "create" else "wb", **options) as file,
        ):
            callback.set_size(os.fstat(source.fileno()).st_size)
            while piece := source.read(PIECE):
                file.write(piece)
                callback.relative_update(len(piece))

    # Moving and removing: encrypted files are moved as they are

    async def _cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self._guard.refuse(path1)
        self._guard.refuse_change(path2)
        self.ahead.forget()
        if await self._is_folder_only(path1):
            with asking(path2):
                await self._makedirs(path2, exist_ok=True)
        elif self.keys.per_file:
            await self._in_parts(None, partial(self._copy_by_decrypting, path1, path2))
        elif self.local:
            await self._below.compute(self._copy_local, path1, path2)
        else:
            with asking(path1):
                await self._below.call("cp_file", path1, path2, **kwargs)

    async def _is_folder_only(self, path: str) -> bool:
        """Returns whether there is a folder at the path, and no file. An object store can have both."""
        with asking(path):
            entry = await self._below.call("info", path)
            return bool(entry["type"] == "directory")

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
        self.ahead.forget()
        with asking(str(path1)):
            await self._move(path1, path2, recursive, maxdepth, **kwargs)

    async def _mv_file(self, path1: str, path2: str) -> None:
        await self._mv(path1, path2)

    async def _move(
        self, path1: Any, path2: Any, recursive: bool, maxdepth: int | None, **kwargs: Any
    ) -> None:
        below = self._below
        if isinstance(path1, str) and isinstance(path2, str) and not self.keys.per_file:
            source, target = self._strip_protocol(path1), self._strip_protocol(path2)
            self._guard.refuse_change(source, target)
            if self.keys.dataset_key is None and moves_itself(below.fs):
                await below.call("mv", source, target, recursive=recursive, maxdepth=maxdepth, **kwargs)
                return
            if (
                not has_magic(source)
                and not await self._is_folder_only(source)
                and not await self._is_folder(path2)
            ):
                await rename(below, source, target, **kwargs)
                return
        # The list is made once: a file that arrives while others are copied is not removed.
        pairs = await self._pairs(path1, path2, recursive, maxdepth)
        named = [self._strip_protocol(one) for one in path1] if isinstance(path1, list) else []
        self._guard.refuse_change(*named, *(other for _, other in pairs))
        # A file that is copied to its own name would be removed afterwards.
        pairs = [
            (one, other)
            for one, other in pairs
            if not self._guard.leads_to_key(one) and not self._guard.is_same(one, other)
        ]
        folders = [one for one, _ in pairs if await self._is_folder_only(one)]
        files = [one for one, _ in pairs if one not in folders]
        if overwritten := {other for _, other in pairs}.intersection(files):
            text = f"Moving would overwrite {min(overwritten)!r}, which is moved as well"
            raise OSError(errno.EINVAL, text, str(path1))
        for pair in [pair for pair in pairs if pair[0] in folders]:
            await self._cp_file(*pair)
        copies = [partial(self._cp_file, *pair) for pair in pairs if pair[0] not in folders]
        # In place, nothing more is copied after a failure.
        portions = [copies] if below.concurrent else [[copy] for copy in copies]
        for portion in portions:
            for result in await below.together(portion):
                if isinstance(result, Exception):
                    raise result
        await self._guard.remove_found(files, recursive=False)
        for folder in sorted(folders, reverse=True):
            if not self._guard.is_above_key(folder):
                with contextlib.suppress(OSError):  # It is not empty, or vanished with its last file.
                    await below.call("rmdir", folder)

    async def _pairs(
        self, path1: Any, path2: Any, recursive: bool, maxdepth: int | None
    ) -> list[tuple[str, str]]:
        """Returns each source and its target, as ``fsspec.AbstractFileSystem.copy`` finds them."""
        if isinstance(path1, list) and isinstance(path2, list):
            sources, targets = path1, path2
        else:
            one = isinstance(path1, str)
            sources = await self._expanded(path1, recursive, maxdepth)
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
        self._guard.refuse_change(path)
        self.ahead.forget()
        with asking(path):
            await self._below.call("rm_file", path)

    async def _rm(
        self,
        path: Any,
        recursive: bool = False,
        batch_size: int | None = None,
        maxdepth: int | None = None,
        **kwargs: Any,
    ) -> None:
        paths = [path] if isinstance(path, str | os.PathLike) else path
        self.ahead.forget()
        stripped = [self._strip_protocol(one) for one in paths]
        more = f" and {len(stripped) - 1} more" if len(stripped) > 1 else ""
        with asking(f"{next(iter(stripped), '')}{more}"):
            await self._guard.remove(stripped, recursive, maxdepth)

    async def _mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        path = self._strip_protocol(path)
        self._guard.refuse_change(path)
        with asking(path):
            await self._below.call("mkdir", path, create_parents=create_parents, **kwargs)

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None:
        path = self._strip_protocol(path)
        self._guard.refuse_change(path)
        with asking(path):
            await self._below.call("makedirs", path, exist_ok=exist_ok)

    async def _rmdir(self, path: str) -> None:
        path = self._strip_protocol(path)
        self._guard.refuse_change(path)
        with asking(path):
            await self._below.call("rmdir", path)


class _Grown(Exception):
    """A local file became too long for one request while it was read."""


def _content(path: Any) -> bytes:
    """Returns the content of a local file of at most ``WHOLE`` bytes."""
    with open(path, "rb", buffering=0) as file:
        data = file.read(WHOLE + 1)
        while data and len(data) <= WHOLE and (more := file.read(WHOLE + 1 - len(data))):
            data += more
    if len(data) > WHOLE:
        raise _Grown
    return data
