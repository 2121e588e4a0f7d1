"""Writing whole files, and copying, moving and removing them unchanged, around the dataset key."""

from __future__ import annotations

import contextlib
import errno
import io
import os
import shutil
import stat
import tempfile
from collections.abc import Callable, Coroutine, Iterable
from functools import partial
from typing import Any

from fsspec.asyn import AsyncFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.utils import isfilelike, other_paths

from sealane import _native
from sealane._endpoints import PIECE, copy, finishing, refuse_stream, staged
from sealane._error_paths import about
from sealane.fs._abilities import moves_itself, takes_recursive
from sealane.fs._chained import check_depth
from sealane.fs._finding import check_folders
from sealane.fs._keys import Guard, Keys
from sealane.fs._opening import Opener
from sealane.fs._reading import LocalFile
from sealane.fs._rewrap import properties_of
from sealane.fs._store import BUDGET, Store, value_of
from sealane.fs._transfer import WHOLE, Grown, content_of, progress_of, put_with, read_to, write_whole
from sealane.fs._writing import make_parents


class Changing(AsyncFileSystem):  # type: ignore[misc]
    """The filesystem operations on whole files. Encrypted files move unchanged."""

    store: Store
    keys: Keys
    opener: Opener
    guard: Guard
    local: bool

    async def _copy(
        self,
        path1: Any,
        path2: Any,
        recursive: bool = False,
        on_error: str | None = None,
        maxdepth: int | None = None,
        batch_size: int | None = None,
        **kwargs: Any,
    ) -> None:
        lenient = recursive if on_error is None else on_error == "ignore"
        pairs = await self._pairs(path1, path2, recursive, maxdepth)
        await self._copy_pairs(pairs, kwargs, lenient, batch_size)

    async def _copy_pairs(
        self,
        pairs: list[tuple[str, str]],
        kwargs: dict[str, Any],
        lenient: bool = False,
        batch_size: int | None = None,
    ) -> None:
        """Copies files once all names are checked and all folders made.

        fsspec makes folders and copies files at the same time, and silently leaves out a file whose
        folder is not there yet. If ``lenient``, a source that vanishes is left out.
        """

        async def found(work: Callable[..., Coroutine[Any, Any, str | None]], source: str, *args: Any) -> Any:
            try:
                return await work(source, *args)
            except FileNotFoundError:
                if not lenient or await self.store.kind(source) is not None:
                    raise
                return None

        works = [partial(found, self._target_of, *pair) for pair in pairs]
        targets = [value_of(one) for one in await self.store.together(works, batch_size)]
        works = [
            partial(found, self._copy_to, source, target, kwargs)
            for (source, _), target in zip(pairs, targets, strict=True)
            if target is not None
        ]
        for result in await self.store.together(works, batch_size):
            value_of(result)

    async def _cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        path1 = self._strip_protocol(path1)
        if (target := await self._target_of(path1, path2)) is not None:
            await self._copy_to(path1, target, kwargs)

    async def _target_of(self, path1: str, path2: str) -> str | None:
        """Returns the name for a file's copy. For a folder, it makes a folder and returns None."""
        self.guard.refuse(path1)
        self.opener.forget()
        if await self._is_folder_only(path1):
            await self._makedirs(path2, exist_ok=True)
            return None
        target: str = self._to_write(path2, path1)
        return target

    async def _copy_to(self, path1: str, path2: str, kwargs: dict[str, Any]) -> None:
        if self.local:
            make_parents(self.fs, path2)
        if self.keys.per_file:
            async with self.store.budget.reserve(BUDGET):
                await self.store.compute(self._copy_by_decrypting, path1, path2, kwargs, waits=True)
        elif self.local and not kwargs:
            await self.store.compute(self._copy_local, path1, path2)
        else:
            await self.store.copy(path1, path2, **kwargs)

    async def _is_folder_only(self, path: str) -> bool:
        """Returns whether the path is a folder and not a file. An object store can have both."""
        found = await self.store.call("info", path, check=lambda info: info.get("type"))
        return bool(found == "directory")

    def _copy_by_decrypting(self, path1: str, path2: str, options: dict[str, Any]) -> None:
        kept = properties_of(self.store.files, path1)
        with self.open(path1, "rb") as source, self.open(path2, "wb", **(kept | options)) as file:
            shutil.copyfileobj(source, file, 4 << 20)

    def _copy_local(self, path1: str, path2: str) -> None:
        refuse_stream(path1)
        with open(path1, "rb", buffering=0) as source, finishing(_native.Writer.plain(path2, False)) as file:
            shutil.copyfileobj(source, file, PIECE)

    async def _mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any
    ) -> None:
        if path1 == path2:
            return
        self.opener.forget()
        await self._move_each(path1, path2, recursive, maxdepth, **kwargs)

    async def _mv_file(self, path1: str, path2: str) -> None:
        await self._mv(path1, path2)

    async def _move_each(
        self, path1: Any, path2: Any, recursive: bool, maxdepth: int | None, **kwargs: Any
    ) -> None:
        store = self.store
        if isinstance(path1, str) and isinstance(path2, str) and not self.keys.per_file:
            source, target = self._strip_protocol(path1), self._strip_protocol(path2)
            self.guard.refuse(source, target, change=True)
            store.check_name(target, source)
            if self.keys.dataset_key is None and moves_itself(store.fs):
                kwargs |= {} if maxdepth is None else {"maxdepth": maxdepth}
                if takes_recursive(store.fs):  # The others move folders without being told.
                    kwargs["recursive"] = recursive
                await store.call("mv", source, target, **kwargs)
                return
            if (
                not store.is_pattern(source)
                and not await self._is_folder_only(source)
                and not await self._is_folder(path2)
            ):
                await store.rename(source, target, **kwargs)
                return
        # Listed once: a file that arrives during the copy is not removed.
        pairs = await self._pairs(path1, path2, recursive, maxdepth)
        if not pairs and isinstance(path1, str):
            raise _whole(path1)
        named = [self._strip_protocol(one) for one in path1] if isinstance(path1, list) else []
        self.guard.refuse(*named, *(other for _, other in pairs), change=True)
        # A file copied to its own name would be removed afterwards.
        pairs = [
            (one, other)
            for one, other in pairs
            if not self.guard.leads_to_key(one) and not self.guard.is_same(one, other)
        ]
        folders = [one for one, _ in pairs if await self._is_folder_only(one)]
        for folder in folders if isinstance(path1, list) else ():
            is_alone = not any(one.startswith(f"{folder}/") for one, _ in pairs)
            if is_alone and await self.store.call("ls", folder, detail=False):
                raise _whole(folder)
        files = [one for one, _ in pairs if one not in folders]
        if overwritten := {other for _, other in pairs}.intersection(files):
            text = f"Moving would overwrite {min(overwritten)!r}, which is moved as well"
            raise OSError(errno.EINVAL, text, str(path1))
        await self._copy_pairs(pairs, kwargs)
        await self._remove_found(files, recursive=False)
        for folder in sorted(folders, reverse=True):
            if not self.guard.is_above_key(folder):
                with contextlib.suppress(OSError):  # It is not empty, or vanished with its last file.
                    await store.call("rmdir", folder)

    async def _pairs(
        self, path1: Any, path2: Any, recursive: bool, maxdepth: int | None
    ) -> list[tuple[str, str]]:
        """Returns each source and its target, as found by ``fsspec.AbstractFileSystem.copy``."""
        check_depth(maxdepth)
        if isinstance(path1, list) and isinstance(path2, list):
            sources, targets = path1, path2
            _check_number(sources, targets)
        else:
            one = isinstance(path1, str)
            sources = await self._expand_path(path1, recursive, maxdepth)
            if one and (not recursive or maxdepth is not None):
                sources = [path for path in sources if not await self._is_folder_only(path)]
            pattern = one and self.store.is_pattern(path1)
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
        return await self.store.kind(self._strip_protocol(path)) == "directory"

    async def _change(self, name: str, path: str, **options: Any) -> None:
        path = self._strip_protocol(path)
        self.guard.refuse(path, change=True)
        await self.store.call(name, path, **options)

    async def _rm_file(self, path: str, **kwargs: Any) -> None:
        self.opener.forget()
        await self._change("rm_file", path, **kwargs)

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
        given = {"batch_size": batch_size, "maxdepth": maxdepth}
        kwargs |= {name: value for name, value in given.items() if value is not None}
        await self._remove([self._strip_protocol(one) for one in paths], recursive, **kwargs)

    async def _remove(self, paths: Iterable[str], recursive: bool, **options: Any) -> None:
        """Removes what the paths and patterns match, except the key and the folders above it."""
        if self.keys.dataset_key is None:
            await self.store.call("rm", list(paths), recursive=recursive, **options)
            return
        # Patterns first: the key's path does not look like the pattern that matches it.
        found: list[str] = []
        for path in paths:
            self.guard.refuse(path, change=True)
            # A local file's name can look like a pattern.
            literal = not self.store.is_pattern(path) or (self.local and os.path.lexists(path))
            if literal and not recursive and self.guard.is_above_key(path):
                raise OSError(errno.ENOTEMPTY, os.strerror(errno.ENOTEMPTY), path)
            found += [path] if literal else await self.store.call("expand_path", path)
        await self._remove_found(found, recursive, **options)

    async def _remove_found(
        self, paths: list[str], recursive: bool, maxdepth: int | None = None, **options: Any
    ) -> None:
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
            elif self.store.is_pattern(path) and not self.local:
                # The other filesystem would take the name for a pattern that may match the key.
                await self._remove_literal(path, recursive, maxdepth)
            else:
                together.append(path)
        if together:
            options |= {} if maxdepth is None else {"maxdepth": maxdepth}
            await self.store.call("rm", together, recursive=recursive, **options)

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
        await self._change("mkdir", path, create_parents=create_parents, **kwargs)

    async def _makedirs(self, path: str, exist_ok: bool = False) -> None:
        await self._change("makedirs", path, exist_ok=exist_ok)

    async def _rmdir(self, path: str) -> None:
        await self._change("rmdir", path)

    # Whole files

    async def _pipe_file(self, path: str, value: Any, mode: str = "overwrite", **kwargs: Any) -> None:
        path, size = self._to_write(path), memoryview(value).nbytes
        if not self._intrans and (kwargs or self._at_once(size)):
            await self._write_at_once(path, size, lambda: value, mode, **kwargs)
        else:
            await self._write_in_parts(path, size, partial(io.BytesIO, value), mode, kwargs)

    async def _touch(self, path: str, truncate: bool = True, data: Any = None, **kwargs: Any) -> None:
        if not truncate and await self.store.kind(self._strip_protocol(path)) is not None:
            raise NotImplementedError("changing the time of a file without writing it is not supported")
        await self._pipe_file(path, data or b"", **kwargs)

    async def _put_file(
        self,
        lpath: Any,
        rpath: str,
        callback: Callback = DEFAULT_CALLBACK,
        mode: str = "overwrite",
        **kwargs: Any,
    ) -> None:
        found = os.stat(lpath)
        if stat.S_ISDIR(found.st_mode):
            return await self._makedirs(rpath, exist_ok=True)
        rpath = self._to_write(rpath)
        size = found.st_size if stat.S_ISREG(found.st_mode) else None
        if kwargs and not self._intrans:
            if self.local:
                make_parents(self.fs, rpath)
            encryption, exclusive = await self._encryption(rpath), mode == "create"
            await put_with(self.store, lpath, rpath, encryption, callback, exclusive, kwargs)
            self.invalidate_cache(rpath)
            return
        if self.local and mode == "overwrite" and not self._intrans:
            work = partial(self._put_local, os.fspath(lpath), rpath, callback)
            await self.store.compute(
                work, size=self._local_size([lpath]) if size is not None else None, waits=True
            )
            return
        if size is not None and not self._intrans and self._at_once(size):
            with contextlib.suppress(Grown):
                callback.set_size(size)
                await self._write_at_once(rpath, size, partial(content_of, lpath), mode)
                callback.relative_update(size)
                return
        await self._write_in_parts(rpath, size, partial(open, lpath, "rb"), mode, kwargs, callback)

    def _put_local(self, lpath: str, rpath: str, callback: Callback) -> None:
        encryption = self.keys.encryption(rpath)
        make_parents(self.fs, rpath)
        _native.encrypt_path(lpath, rpath, encryption, None, progress_of(callback), False)

    async def _write_at_once(
        self, path: str, size: int, content: Callable[[], Any], mode: str, **options: Any
    ) -> None:
        if self.local:
            make_parents(self.fs, path)
        exclusive = mode == "create"
        encryption = await self._encryption(path)
        if exclusive:
            # Fail now rather than after sending the data. The request checks again.
            await self.store.refuse_existing(path)
        await write_whole(self.store, path, size, content, encryption, exclusive=exclusive, **options)
        self.invalidate_cache(path)

    async def _write_in_parts(
        self,
        path: str,
        size: int | None,
        opened: Callable[[], Any],
        mode: str,
        options: dict[str, Any],
        callback: Callback = DEFAULT_CALLBACK,
    ) -> None:
        """Writes through a file object, which holds parts of an upload."""

        def work() -> None:
            with opened() as source, self.open(path, "xb" if mode == "create" else "wb", **options) as file:
                callback.set_size(size)
                copy(source, file.write, progress_of(callback))

        async with self.store.budget.reserve(BUDGET if size is None or size > WHOLE else 2 * size):
            await self.store.compute(work, waits=True)

    async def _put(
        self, lpath: Any, rpath: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any
    ) -> Any:
        _check_number(lpath, rpath)
        check_depth(maxdepth)
        if recursive:
            await self.store.compute(check_folders, lpath, maxdepth, waits=True)
        return await super()._put(lpath, rpath, recursive=recursive, maxdepth=maxdepth, **kwargs)

    # Reading to local files

    async def _get(self, rpath: Any, lpath: Any, *args: Any, **kwargs: Any) -> Any:
        _check_number(rpath, lpath)
        return await super()._get(rpath, lpath, *args, **kwargs)

    async def _get_file(
        self, rpath: str, lpath: Any, callback: Callback = DEFAULT_CALLBACK, outfile: Any = None, **kw: Any
    ) -> None:
        rpath = self._strip_protocol(rpath)
        self.guard.refuse(rpath)
        out = outfile if outfile is not None else lpath if isfilelike(lpath) else None
        if kw:
            self.store.check_keywords("get_file", kw)
            if out is not None or not await self._make_folder(rpath, os.fspath(lpath)):
                target = os.fspath(lpath) if out is None else out
                with tempfile.TemporaryDirectory() as folder:
                    sealed = os.path.join(folder, "sealed")
                    await self.store.call("get_file", rpath, sealed, **kw)
                    work = partial(self._get_sealed, rpath, sealed, target, callback)
                    await self.store.compute(work, waits=True)
        elif out is not None:
            with self.store.counted():
                await read_to(self.store, rpath, out, await self._decryption(rpath), callback)
        else:
            with self.store.counted():
                await self._get_to_path(rpath, os.fspath(lpath), callback)

    async def _get_to_path(self, rpath: str, lpath: str, callback: Callback) -> None:
        if self.local:
            work = partial(self._get_local, rpath, lpath, callback)
            await self.store.compute(work, size=self._local_size([rpath]), waits=True)
            return
        # An object store is asked for the object first: most paths are objects.
        objects = self.store.whole
        if (not objects or os.path.isdir(lpath)) and await self._make_folder(rpath, lpath):
            return
        decryption = await self._decryption(rpath)
        os.makedirs(os.path.dirname(os.path.abspath(lpath)), exist_ok=True)
        try:
            await read_to(self.store, rpath, lpath, decryption, callback)
        except (FileNotFoundError, IsADirectoryError):
            if not (objects and await self._make_folder(rpath, lpath)):
                raise

    def _get_sealed(self, rpath: str, sealed: str, out: Any, callback: Callback) -> None:
        target: Any = contextlib.nullcontext(out)
        if isinstance(out, str):
            os.makedirs(os.path.dirname(os.path.abspath(out)), exist_ok=True)
            target = staged(out)
        with about(rpath), open(sealed, "rb") as below, target as file:
            source: Any = LocalFile(self, rpath, self.keys.decryption(rpath), below)
            callback.set_size(source.size)
            copy(source, file.write, progress_of(callback))

    def _get_local(self, rpath: str, lpath: str, callback: Callback) -> None:
        if os.path.isdir(rpath):
            return os.makedirs(lpath, exist_ok=True)
        refuse_stream(rpath)
        os.makedirs(os.path.dirname(os.path.abspath(lpath)), exist_ok=True)
        with about(rpath):
            decryption = self.keys.decryption(rpath)
            _native.decrypt_path(rpath, lpath, decryption, None, progress_of(callback), False)

    async def _make_folder(self, rpath: str, lpath: str) -> bool:
        """Makes a local folder if the path is a folder. Returns whether it is."""
        if not await self.store.call("isdir", rpath):
            return False
        os.makedirs(lpath, exist_ok=True)
        return True


def _check_number(sources: Any, targets: Any) -> None:
    """Raises ValueError for a list of targets that is not as long as the list of sources."""
    if isinstance(sources, list) and isinstance(targets, list) and len(sources) != len(targets):
        raise ValueError(f"expected one target for each source, found {len(targets)} for {len(sources)}")


def _whole(folder: str) -> OSError:
    """Returns the error for a folder that would stay, because its content is not moved."""
    text = "Directory not empty: give recursive=True, and neither maxdepth nor a list, to move it"
    return OSError(errno.ENOTEMPTY, text, folder)
