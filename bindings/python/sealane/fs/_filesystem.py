"""``SealaneFileSystem``: what fsspec calls."""

from __future__ import annotations

import contextlib
import errno
import os
import shutil
from collections.abc import Iterable
from typing import Any, ClassVar

import fsspec
from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.utils import isfilelike

from sealane import _native
from sealane._about import about
from sealane._native import plain_len
from sealane.exceptions import SealaneError, TruncatedError
from sealane.fs._keys import Keys
from sealane.fs._reading import MAX_BLOCK, LocalFile, RemoteFile, Wanted, open_ranges
from sealane.fs._writing import NewFile, Upload, WrittenFile, neighbour


class SealaneFileSystem(ChainedFileSystem):  # type: ignore[misc]
    """Files that lie encrypted on another filesystem, read and written as if they did not.

    Parameters
    ----------
    target_protocol, target_options : str, dict
        The other filesystem; in a chained URL (``sealane::s3://…``) they follow from it.
    fs : fsspec.AbstractFileSystem
        The other filesystem itself, in their place.
    key : str
        A reference to the key, which is what is pickled: ``"env:NAME"``, ``"file:PATH"``,
        ``"keyring:SERVICE/USER"``, ``"call:package.module:function"`` (see ``sealane.keys.resolve``);
        ``"age:PATH"``, the dataset key at this path of the other filesystem (see ``create_dataset_key``);
        ``"each:package.module:function"``, a key for each file: the function is called with its path.
    identity : str
        A reference to the age or SSH identity that opens the dataset key.
    context : str
        Whoever reads needs the same one. It is not kept in the files.

    Every file is C2SP chunked-encryption@v1. Names, sizes and times are not hidden, and an old file that is
    put back is not found out. Sizes of ``info`` and ``ls`` are those of the plaintext, by arithmetic;
    ``open`` verifies the end of a file before its size is believed. A file is written whole: it cannot be
    appended to.

    Errors have the path in their text. AuthenticationError: another key or context, or changed data.
    TruncatedError: a file that was cut, or never encrypted. KeyNotFoundError: a reference that leads to
    nothing here. FileNotFoundError and the like: what the other filesystem says.
    """

    protocol: ClassVar[str] = "sealane"
    # One path of a chained URL makes no other filesystem.
    _strip_tokenize_options: ClassVar[tuple[str, ...]] = ("fo",)

    def __init__(
        self,
        fo: str | None = None,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fs: Any = None,
        *,
        key: str | None = None,
        identity: str | None = None,
        context: str = "",
        **storage_options: Any,
    ) -> None:
        super().__init__(**storage_options)
        if (fs is None) == (target_protocol is None):
            raise TypeError(
                "exactly one of fs and target_protocol is needed, or a URL such as 'sealane::s3://…'"
            )
        self.fs = fs if fs is not None else fsspec.filesystem(target_protocol, **(target_options or {}))
        if self.fs.async_impl and self.fs.asynchronous:
            raise ValueError("the other filesystem must not be asynchronous: its calls are waited for")
        self.keys = Keys(self.fs, key, identity, context)
        self.local = isinstance(self.fs, LocalFileSystem)
        """Whether the files are on this machine's disk, where the core reads and writes them itself."""

        def strip_protocol(path: Any) -> Any:
            # Of the instance: each has another filesystem below.
            return self.fs._strip_protocol(super(SealaneFileSystem, type(self))._strip_protocol(path))

        self._strip_protocol = strip_protocol

    def __repr__(self) -> str:
        return f"<sealane.fs.SealaneFileSystem on {self.fs!r}>"

    # What there is

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """The files and folders of a folder; sizes are those of the plaintext."""
        found = self.fs.ls(self._strip_protocol(path), detail=True, **kwargs)
        entries = [_plain(entry) for entry in found if not self._is_key(entry["name"])]
        return entries if detail else sorted(entry["name"] for entry in entries)

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """What is known of a file. ``size`` is that of its plaintext, if it is an encrypted one, and whole.
        ``sealed_size`` is what lies on the other filesystem.
        """
        return _plain(self.fs.info(self._strip_protocol(path), **kwargs))

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **kwargs: Any,
    ) -> Any:
        """All files below a folder."""
        path = self._strip_protocol(path)
        found = self.fs.find(path, maxdepth=maxdepth, withdirs=withdirs, detail=True, **kwargs)
        entries = {name: _plain(entry) for name, entry in found.items() if not self._is_key(name)}
        return entries if detail else sorted(entries)

    def exists(self, path: str, **kwargs: Any) -> bool:
        """Whether there is such a file or folder."""
        return bool(self.fs.exists(self._strip_protocol(path), **kwargs))

    def isdir(self, path: str) -> bool:
        """Whether it is a folder."""
        return bool(self.fs.isdir(self._strip_protocol(path)))

    def isfile(self, path: str) -> bool:
        """Whether it is a file."""
        return bool(self.fs.isfile(self._strip_protocol(path)))

    def created(self, path: str) -> Any:
        """When the file was made."""
        return self.fs.created(self._strip_protocol(path))

    def modified(self, path: str) -> Any:
        """When the file was written."""
        return self.fs.modified(self._strip_protocol(path))

    def ukey(self, path: str) -> str:
        """A text that changes when the file does."""
        return str(self.fs.ukey(self._strip_protocol(path)))

    def checksum(self, path: str) -> Any:
        """A number that changes when the file does."""
        return self.fs.checksum(self._strip_protocol(path))

    def invalidate_cache(self, path: str | None = None) -> None:
        """Forgets listings."""
        self.fs.invalidate_cache(None if path is None else self._strip_protocol(path))
        super().invalidate_cache(path)

    # Reading

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        self._not_the_key(path)
        if mode in ("wb", "xb"):
            return self._create(path, block_size, autocommit, exclusive=mode == "xb", **kwargs)
        if mode != "rb":
            raise ValueError(f"mode must be 'rb', 'wb' or 'xb', not {mode!r}: a file is written whole")
        unlock = self.keys.unlock(path)
        if self.local:
            return LocalFile(self, path, unlock)
        block_size = block_size or getattr(self.fs, "default_block_size", None)
        return RemoteFile(self, path, unlock, block_size=block_size, cache_options=cache_options, **kwargs)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """The plaintext of a file, or a range of it; negative numbers count from the end."""
        path = self._strip_protocol(path)
        (data,) = self._cat([path], [start], [end])
        if isinstance(data, Exception):
            raise data
        return data

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        """Ranges of the plaintext of any files. They are fetched together with the headers, merged where they
        lie close to each other. ``on_error``: "return" puts exceptions in their places, "raise" raises one.
        """
        if not isinstance(paths, list):
            raise TypeError("paths must be a list")
        starts = starts if isinstance(starts, Iterable) else [starts] * len(paths)
        ends = ends if isinstance(ends, Iterable) else [ends] * len(paths)
        out = self._cat([self._strip_protocol(path) for path in paths], list(starts), list(ends))
        if on_error != "return" and (error := next((one for one in out if isinstance(one, Exception)), None)):
            raise error
        return out

    def _cat(
        self, paths: list[str], starts: list[int | None], ends: list[int | None]
    ) -> list[bytes | Exception]:
        if not len(paths) == len(starts) == len(ends):
            raise ValueError("paths, starts and ends must have one length")
        out: list[Any] = [b""] * len(paths)
        wanted: dict[int, Wanted] = {}
        for at, (path, start, end) in enumerate(zip(paths, starts, ends, strict=True)):
            try:
                self._not_the_key(path)
                if end is None and not start:
                    out[at] = self._whole(path)
                elif end is None or end < 0 or (start or 0) < 0:
                    out[at] = self._from_the_end(path, start or 0, end)
                elif (start or 0) < end:
                    wanted[at] = Wanted(path, start or 0, end)
            except Exception as error:
                out[at] = error
        for at, data in zip(wanted, open_ranges(self, list(wanted.values())) if wanted else [], strict=True):
            out[at] = self._past_the_end(wanted[at], data) if isinstance(data, Exception) else data
        return out

    def _whole(self, path: str) -> bytes:
        unlock = self.keys.unlock(path)
        with about(path):
            if self.local:
                with LocalFile(self, path, unlock) as file:
                    return file.read()
            return _native.decrypt_bytes(self.fs.cat_file(path), unlock)

    def _from_the_end(self, path: str, start: int, end: int | None) -> bytes:
        """A range that is counted from the end of the file, which is verified therefore."""
        with self._open(path, cache_type="none") as file:
            begin, stop, _ = slice(start, end).indices(file.size)
            file.seek(begin)
            return bytes(file.read(max(0, stop - begin)))

    def _past_the_end(self, one: Wanted, error: Exception) -> bytes | Exception:
        """Nothing, where a range lies behind the end of the file, which is verified for once."""
        if not isinstance(error, TruncatedError | OSError | ValueError) or isinstance(
            error, FileNotFoundError
        ):
            return error
        try:
            with self._open(one.path) as file:
                return b"" if one.start >= file.size else error
        except SealaneError as truth:
            return truth
        except Exception:
            return error

    def get_file(
        self,
        rpath: str,
        lpath: Any,
        callback: Callback = DEFAULT_CALLBACK,
        outfile: Any = None,
        **kwargs: Any,
    ) -> None:
        """Decrypts a file to a local one, which appears whole and verified or not at all."""
        rpath = self._strip_protocol(rpath)
        self._not_the_key(rpath)
        out = outfile if outfile is not None else lpath if isfilelike(lpath) else None
        with about(rpath):
            if out is None and self.fs.isdir(rpath):
                os.makedirs(lpath, exist_ok=True)
                return
        unlock = self.keys.unlock(rpath)
        if out is None:
            lpath = os.fspath(lpath)
            os.makedirs(os.path.dirname(os.path.abspath(lpath)), exist_ok=True)
        with about(rpath):
            if self.local and out is None:
                _native.decrypt_path(rpath, lpath, unlock, None, _progress(callback), False)
                return
            decryptor = _native.Decryptor(lpath if out is None else out, unlock)
            try:
                for piece in self._pieces(rpath, callback):
                    decryptor.write(piece)
                decryptor.finish(False)
            finally:
                decryptor.discard()

    def _pieces(self, path: str, callback: Callback) -> Iterable[bytes]:
        """The sealed bytes of a file, in order; four requests at a time."""
        size, done = self.fs.info(path)["size"], 0
        if size is None:
            yield self.fs.cat_file(path)
            return
        callback.set_size(plain_len(size))
        step, at = MAX_BLOCK // 2, 0
        while at < size:
            starts = [start for start in range(at, at + 4 * step, step) if start < size]
            ends = [min(start + step, size) for start in starts]
            for piece in self.fs.cat_ranges([path] * len(starts), starts, ends, on_error="raise"):
                yield piece
                done += len(piece)
                callback.absolute_update(plain_len(size) * done // size)
            at = ends[-1]

    # Writing

    def _create(
        self, path: str, block_size: int | None, autocommit: bool, *, exclusive: bool, **options: Any
    ) -> WrittenFile:
        lock = self.keys.lock(path)
        if not self.local:
            upload = Upload(self.fs, path, block_size, exclusive=exclusive, **options)
            return WrittenFile(self, path, lock, upload, autocommit=autocommit)
        if exclusive and os.path.lexists(path):
            raise FileExistsError(errno.EEXIST, "is there already", path)
        self._make_folder(path)
        return WrittenFile(self, path, lock, NewFile(path) if exclusive else None, autocommit=autocommit)

    def _make_folder(self, path: str) -> None:
        """Object stores have no folders to be made first; here it is done for the writer."""
        if folder := os.path.dirname(path):
            os.makedirs(folder, exist_ok=True)

    def pipe_file(self, path: str, value: Any, mode: str = "overwrite", **kwargs: Any) -> None:
        """Writes a file."""
        with self.open(path, "xb" if mode == "create" else "wb", **kwargs) as file:
            file.write(value)

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        """Writes an empty file."""
        if not truncate and self.exists(path):
            raise NotImplementedError("the time of a file cannot be changed alone")
        self.pipe_file(path, b"", **kwargs)

    def put_file(
        self,
        lpath: Any,
        rpath: str,
        callback: Callback = DEFAULT_CALLBACK,
        mode: str = "overwrite",
        **kwargs: Any,
    ) -> None:
        """Encrypts a local file to one of the other filesystem, which gets it whole or not at all."""
        rpath = self._strip_protocol(rpath)
        if os.path.isdir(lpath):
            self.makedirs(rpath, exist_ok=True)
            return
        if self.local and mode == "overwrite" and not self._intrans:
            self._not_the_key(rpath)
            self._make_folder(rpath)
            lock = self.keys.lock(rpath)
            _native.encrypt_path(os.fspath(lpath), rpath, lock, None, _progress(callback), False)
            return
        with (
            open(lpath, "rb") as source,
            self.open(rpath, "xb" if mode == "create" else "wb", **kwargs) as file,
        ):
            callback.set_size(os.fstat(source.fileno()).st_size)
            while piece := source.read(1 << 20):
                file.write(piece)
                callback.relative_update(len(piece))

    # Moving and removing: what lies there is moved as it is

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copies a file. Where each file has a key of its own, it is encrypted again."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self._not_the_key(path1, path2)
        if self.isdir(path1):
            self.makedirs(path2, exist_ok=True)
        elif self.keys.each:
            with self.open(path1, "rb") as source, self.open(path2, "wb") as file:
                while piece := source.read(4 << 20):
                    file.write(piece)
        elif self.local:
            self._make_folder(path2)
            _copy_local(path1, path2)
        else:
            self.fs.cp_file(path1, path2, **kwargs)

    def mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any
    ) -> None:
        """Moves files."""
        if self.keys.each or self.keys.dataset_key is not None or not isinstance(path1, str):
            super().mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **kwargs)
            return
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self.fs.mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **kwargs)

    def rm_file(self, path: str) -> None:
        """Removes a file."""
        path = self._strip_protocol(path)
        self._not_the_key(path)
        self.fs.rm_file(path)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Removes files, and with ``recursive`` folders. The dataset key stays: it may be needed again."""
        paths = [self._strip_protocol(one) for one in ([path] if isinstance(path, str) else path)]
        self._not_the_key(*paths)
        key = self.keys.dataset_key
        if key is None or not any(key.startswith(one.rstrip("/") + "/") for one in paths):
            self.fs.rm(paths, recursive=recursive, maxdepth=maxdepth)
            return
        for one in reversed(self.fs.expand_path(paths, recursive=recursive, maxdepth=maxdepth)):
            if one == key or key.startswith(one.rstrip("/") + "/"):
                continue
            if self.fs.isdir(one):
                self.fs.rmdir(one)
            elif self.fs.exists(one):
                self.fs.rm_file(one)

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        """Makes a folder."""
        self.fs.mkdir(self._strip_protocol(path), create_parents=create_parents, **kwargs)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Makes a folder and those above it."""
        self.fs.makedirs(self._strip_protocol(path), exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        """Removes an empty folder."""
        self.fs.rmdir(self._strip_protocol(path))

    # The dataset key, where it lies among the data

    def _is_key(self, path: str) -> bool:
        return self.keys.dataset_key is not None and path.lstrip("/") == self.keys.dataset_key.lstrip("/")

    def _not_the_key(self, *paths: str) -> None:
        """It is no file of the dataset: whoever removes it or writes over it loses all the others."""
        for path in paths:
            if self._is_key(path):
                raise PermissionError(f"{path}: is the key of this dataset, not one of its files")


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    """What is known of a file, with the size of the plaintext, unless it can be no encrypted one."""
    if entry.get("type") != "file" or entry.get("size") is None:
        return entry
    try:
        size = plain_len(entry["size"])
    except TruncatedError:
        size = entry["size"]
    return {**entry, "size": size, "sealed_size": entry["size"]}


def _progress(callback: Callback) -> Any:
    def progress(done: int, total: int | None) -> None:
        if total is not None and callback.size != total:
            callback.set_size(total)
        callback.absolute_update(done)

    return progress


def _copy_local(source: str, target: str) -> None:
    interim = neighbour(target)
    try:
        shutil.copyfile(source, interim)
        os.replace(interim, target)
    finally:
        with contextlib.suppress(FileNotFoundError):
            os.unlink(interim)


__all__ = ["SealaneFileSystem"]
