"""``SealaneFileSystem``: the filesystem that fsspec registers under the protocol ``sealane``."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import io
import os
from collections.abc import Coroutine
from functools import partial, wraps
from glob import has_magic
from typing import Any, ClassVar, TypeVar

import fsspec
from fsspec.asyn import AsyncFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.compression import compr
from fsspec.core import get_compression
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import AbstractFileSystem

from sealane.fs._ahead import Ahead, InListing, Nothing
from sealane.fs._below import (
    Below,
    Direct,
    asynchronous_view,
    finished,
    is_asynchronous,
    outcome_of,
    synchronous_view,
    way_to,
)
from sealane.fs._guard import Guard
from sealane.fs._keys import Keys
from sealane.fs._opened import Headers
from sealane.fs._operations import Operations
from sealane.fs._reading import open_for_reading
from sealane.fs._writing import open_for_writing

T = TypeVar("T")


class SealaneFileSystem(Operations, ChainedFileSystem):  # type: ignore[misc]
    """A filesystem of encrypted files over another fsspec filesystem.

    Data is encrypted when it is written and decrypted and verified when it is read, at any position. Every
    file has the format C2SP chunked-encryption@v1, so ``sealane.open`` and the program ``sealane`` read it
    with the same key.

    .. warning::
        File names, sizes and times are not hidden. Replacing a file by an older version of itself is not
        detected.

    Parameters
    ----------
    target_protocol : str
        The protocol of the other filesystem, for example ``"s3"``. A chained URL (``sealane::s3://…``) sets
        it, and ``target_options`` as well.
    target_options : dict, optional
        Options that are passed to the constructor of the other filesystem.
    fs : fsspec.AbstractFileSystem
        The other filesystem itself, in place of ``target_protocol``.
    asynchronous : bool, optional
        Whether the caller awaits the coroutines (``_cat_file`` and so on) on its own event loop, as with any
        asynchronous filesystem of fsspec. By default, as the other filesystem. See the notes.
    key : str
        A key reference. The reference is stored and pickled, never the key. Each process resolves it when
        the first file is opened. Possible references are ``"env:NAME"``, ``"file:PATH"``,
        ``"keyring:SERVICE/USER"`` and ``"call:package.module:function"`` (see ``sealane.keys.resolve``);
        ``"age:PATH"``, the dataset key at this path of the other filesystem (see ``create_dataset_key``);
        and ``"each:package.module:function"``, a function that is called with the path of each file and
        returns its key.
    identity : str, optional
        A reference to the age or SSH identity that decrypts the dataset key.
    context : str
        A text that every file is bound to. It is not stored: reading needs the same context.

    Notes
    -----
    Over an asynchronous filesystem such as S3, GCS, Azure or HTTP, this filesystem is asynchronous too
    (``async_impl``). ``cat``, ``get``, ``put``, ``pipe`` and ``cat_ranges`` of many files have many requests
    in flight. Ciphers run in threads, and all transfers together hold at most 72 MiB of encrypted data. Over
    a synchronous filesystem, it is synchronous. With ``asynchronous=True``, its coroutines run the other
    filesystem in threads. The methods without an underscore then raise RuntimeError, except ``open``, which
    blocks.

    ``info`` and ``ls`` compute plaintext sizes from the sizes of the encrypted files. ``open`` verifies the
    end of a file, and with it the size. A file is written as a whole: mode "ab" is not supported.

    Every error names the path of its file. Another key, another context or changed data is
    AuthenticationError; a truncated file, or one that was never encrypted, is TruncatedError; a reference
    that leads to no key is KeyNotFoundError. Errors of the other filesystem, such as FileNotFoundError, are
    raised as they are.

    Examples
    --------
    >>> fs = fsspec.filesystem("sealane", target_protocol="s3", key="env:DATASET_KEY")
    >>> fs.pipe_file("bucket/part", b"data")
    >>> fs.cat_file("bucket/part", start=0, end=2)
    b'da'
    """

    protocol: ClassVar[str] = "sealane"
    # The path of a chained URL is not an option that distinguishes filesystems.
    _strip_tokenize_options: ClassVar[tuple[str, ...]] = ("fo",)

    def __new__(
        cls,
        fo: str | None = None,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fs: Any = None,
        *,
        asynchronous: bool | None = None,
        **options: Any,
    ) -> SealaneFileSystem:
        """Returns an object of the class that fits the other filesystem."""
        if (fs is None) == (target_protocol is None):
            raise TypeError("give exactly one of fs and target_protocol, or a URL such as 'sealane::s3://…'")
        if fs is None:
            fs = fsspec.filesystem(target_protocol, **(target_options or {}))
        if is_asynchronous(fs):
            if asynchronous is False and fs.asynchronous:
                raise ValueError(
                    "the other filesystem was created with asynchronous=True, and this one is not"
                )
            if asynchronous:
                fs = asynchronous_view(fs)
        if is_asynchronous(fs) or asynchronous:
            cls = AsyncSealaneFileSystem
        created: SealaneFileSystem = object.__new__(cls)
        created.fs = fs
        return created

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
        self._prepare(storage_options)
        super().__init__(**storage_options)
        self.files = synchronous_view(self.fs)
        self.keys = Keys(self.fs, key, identity, context)
        self.local = isinstance(self.fs, LocalFileSystem)
        """Whether the files are on a disk of this machine, so that the core reads and writes them itself."""
        self.headers = Headers()
        self.ahead = self._opening_ahead()
        self._guard = Guard(self._below, self.keys.dataset_key, self.local)

        def strip_protocol(path: Any) -> Any:
            # A method of the instance, because each instance has another filesystem below.
            if isinstance(path, list):
                return [strip_protocol(one) for one in path]
            return self.fs._strip_protocol(super(SealaneFileSystem, type(self))._strip_protocol(path))

        self._strip_protocol = strip_protocol

    def _prepare(self, options: dict[str, Any]) -> None:
        """Chooses the way to call the other filesystem, and completes the options of the base class."""
        options.pop("asynchronous", None)
        self._below: Below = Direct(self.fs)

    def _opening_ahead(self) -> Ahead:
        return Nothing()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Returns the result of a coroutine of this filesystem."""
        return finished(work)

    async def _expanded(self, path: Any, recursive: bool, maxdepth: int | None) -> list[str]:
        return self.expand_path(path, recursive=recursive, maxdepth=maxdepth)  # type: ignore[no-any-return]

    def __repr__(self) -> str:
        return f"<sealane.fs.SealaneFileSystem on {self.fs!r}>"

    def __reduce__(self) -> Any:
        # The class is chosen again, so that an object and its copy have one identity in the caches of fsspec.
        function, (_, *rest) = super().__reduce__()
        return function, (SealaneFileSystem, *rest)

    def to_dict(self, *, include_password: bool = True) -> dict[str, Any]:
        """Returns the arguments of this filesystem, as ``fsspec.AbstractFileSystem.to_dict`` does."""
        found: dict[str, Any] = super().to_dict(include_password=include_password)
        return {**found, "cls": f"{SealaneFileSystem.__module__}:{SealaneFileSystem.__name__}"}

    # Listings and properties

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """Lists the files of a folder, with the sizes of their plaintexts in bytes."""
        return self._run(self._ls(path, detail=detail, **kwargs))

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """Returns the properties of a file, with the size of its plaintext in bytes.

        ``size`` is the size of the plaintext if the file is complete and encrypted; it is not verified.
        ``sealed_size`` is the size on the other filesystem.
        """
        return self._run(self._info(path, **kwargs))

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Lists all files below a folder and its subfolders."""
        return self._run(self._find(path, maxdepth, withdirs, detail, **kwargs))

    def exists(self, path: str, **kwargs: Any) -> bool:
        """Returns whether a file or a folder exists at the path."""
        return self._run(self._exists(path, **kwargs))

    def lexists(self, path: str, **kwargs: Any) -> bool:
        """Returns whether a file, a folder or a link exists at the path, even a link that leads nowhere."""
        return self._run(self._lexists(path, **kwargs))

    def isdir(self, path: str) -> bool:
        """Returns whether the path exists and is a folder."""
        return self._run(self._isdir(path))

    def isfile(self, path: str) -> bool:
        """Returns whether the path exists and is a file."""
        return self._run(self._isfile(path))

    def created(self, path: str) -> Any:
        """Returns the time when the encrypted file was created, as the other filesystem reports it."""
        return self.files.created(self._strip_protocol(path))

    def modified(self, path: str) -> Any:
        """Returns the time when the encrypted file was last written, as the other filesystem reports it."""
        return self.files.modified(self._strip_protocol(path))

    def ukey(self, path: str) -> str:
        """Returns a string that changes when the file changes."""
        return str(self.files.ukey(self._strip_protocol(path)))

    def checksum(self, path: str) -> Any:
        """Returns a number that changes when the file changes."""
        return self.files.checksum(self._strip_protocol(path))

    def invalidate_cache(self, path: str | None = None) -> None:
        """Drops the cached listings of folders, so that the next call asks again."""
        stripped = None if path is None else self._strip_protocol(path)
        self.fs.invalidate_cache(stripped)
        if self.files is not self.fs:
            self.files.invalidate_cache(stripped)
        ChainedFileSystem.invalidate_cache(self, path)
        self.ahead.forget()

    # Reading

    def open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        cache_options: dict[str, Any] | None = None,
        compression: str | None = None,
        **options: Any,
    ) -> Any:
        """Opens a file as ``fsspec.AbstractFileSystem.open`` does, in text mode without a "b" in the mode."""
        # Text mode calls this method again, for the binary file below.
        inner = None if "b" in mode else compression
        file = super().open(path, mode, block_size, cache_options, inner, **options)
        if compression is not None and "b" in mode:
            return _compressed(file, get_compression(path, compression), mode)
        if isinstance(file, io.TextIOWrapper) and file.writable() and not file.seekable():
            # TextIOWrapper writes these marks only to files that can seek.
            mark = _BYTE_ORDER_MARKS.get(codecs.lookup(file.encoding).name)
            if mark is not None:
                file.buffer.write(mark)
        return file

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        if mode == "rb":
            self._guard.refuse(path)
            return open_for_reading(self, path, block_size=block_size, cache_options=cache_options, **kwargs)
        if mode in ("wb", "xb"):
            self._guard.refuse_change(path)
            exclusive = mode == "xb"
            return open_for_writing(
                self, path, exclusive=exclusive, block_size=block_size, autocommit=autocommit, **kwargs
            )
        raise ValueError(f"mode must be 'rb', 'wb' or 'xb', not {mode!r}: files are written as a whole")

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """Returns the plaintext of a file, or a range of it. Negative numbers count from the end."""
        return self._run(self._cat_file(path, start, end, **kwargs))

    def cat_ranges(
        self,
        paths: list[str],
        starts: Any,
        ends: Any,
        max_gap: int | None = None,
        on_error: str = "return",
        **kwargs: Any,
    ) -> list[Any]:
        """Returns one range of the plaintext of each of several files.

        The ranges and the headers of their files are fetched together, and ranges that are close to each
        other are merged. With ``on_error="return"``, a range that fails becomes its exception; with "raise",
        the first exception is raised.
        """
        return self._run(self._cat_ranges(paths, starts, ends, max_gap, on_error=on_error, **kwargs))

    def get_file(
        self,
        rpath: str,
        lpath: Any,
        callback: Callback = DEFAULT_CALLBACK,
        outfile: Any = None,
        **kwargs: Any,
    ) -> None:
        """Decrypts a file to a local file, which appears complete and verified or not at all."""
        self._run(self._get_file(rpath, lpath, callback, outfile, **kwargs))

    # Writing

    def pipe_file(self, path: str, value: Any, mode: str = "overwrite", **kwargs: Any) -> None:
        """Encrypts ``value`` and writes it to the file with this path."""
        self._run(self._pipe_file(path, value, mode, **kwargs))

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        """Writes an encrypted file with an empty plaintext."""
        self._run(self._touch(path, truncate, **kwargs))

    def put_file(
        self,
        lpath: Any,
        rpath: str,
        callback: Callback = DEFAULT_CALLBACK,
        mode: str = "overwrite",
        **kwargs: Any,
    ) -> None:
        """Encrypts a local file. The encrypted file appears complete or not at all."""
        self._run(self._put_file(lpath, rpath, callback, mode, **kwargs))

    # Moving and removing: encrypted files are moved as they are

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copies the file ``path1`` to ``path2``. It is encrypted again if each file has a key of its own."""
        self._run(self._cp_file(path1, path2, **kwargs))

    def mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any
    ) -> None:
        """Moves files to other names in the same filesystem. A dataset key is not moved."""
        self._run(self._mv(path1, path2, recursive, maxdepth, **kwargs))

    def rm_file(self, path: str) -> None:
        """Removes one encrypted file from the other filesystem."""
        self._run(self._rm_file(path))

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Removes files, and folders with ``recursive``. A dataset key inside is not removed."""
        self._run(self._rm(path, recursive, maxdepth=maxdepth))

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        """Creates a folder in the other filesystem."""
        self._run(self._mkdir(path, create_parents, **kwargs))

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Creates a folder and its missing parents in the other filesystem."""
        self._run(self._makedirs(path, exist_ok))

    def rmdir(self, path: str) -> None:
        """Removes an empty folder from the other filesystem."""
        self._run(self._rmdir(path))


class AsyncSealaneFileSystem(SealaneFileSystem, AsyncFileSystem):  # type: ignore[misc]
    """The asynchronous form of ``SealaneFileSystem``, which chooses it by the other filesystem."""

    def _prepare(self, options: dict[str, Any]) -> None:
        self._below = way_to(self.fs)
        if is_asynchronous(self.fs):
            options["asynchronous"] = self.fs.asynchronous
            options["loop"] = self.fs.loop
            options.setdefault("batch_size", self.fs.batch_size)

    def _opening_ahead(self) -> Ahead:
        if not is_asynchronous(self.fs) or self.fs.asynchronous:
            return Nothing()  # `open` blocks the only event loop, or one call at a time is answered.
        return InListing(self.files, self._below, self.loop, self.keys, self.headers)

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Runs a coroutine on the event loop of the other filesystem, and cancels it at Ctrl-C."""
        try:
            loop = self.loop
            if loop is None:
                raise RuntimeError(
                    "a filesystem with asynchronous=True has coroutines only, such as _cat_file"
                )
            with contextlib.suppress(RuntimeError):
                if asyncio.get_running_loop() is loop:
                    raise NotImplementedError("a synchronous method cannot be called from the event loop")
            future = asyncio.run_coroutine_threadsafe(outcome_of(work), loop)
        except BaseException:
            work.close()
            raise
        try:
            return future.result()()
        finally:
            future.cancel()

    async def set_session(self, *args: Any, **kwargs: Any) -> Any:
        """Opens the connections of the other filesystem, if it has this method."""
        return await self.fs.set_session(*args, **kwargs)

    async def _expanded(self, path: Any, recursive: bool, maxdepth: int | None) -> list[str]:
        return await self._expand_path(path, recursive=recursive, maxdepth=maxdepth)

    async def _expand_path(
        self, path: Any, recursive: bool = False, maxdepth: int | None = None, assume_literal: bool = False
    ) -> list[str]:
        """Returns the paths that patterns and folders lead to. They are listed side by side."""
        given = [path] if isinstance(path, str | os.PathLike) else path
        paths: list[str] = [self._strip_protocol(one) for one in given]
        listed = [one for one in paths if recursive or (has_magic(one) and not assume_literal)]
        found = set(paths).difference(listed)
        expand = partial(
            super()._expand_path, recursive=recursive, maxdepth=maxdepth, assume_literal=assume_literal
        )
        for result in await self._below.together([partial(expand, [one]) for one in listed]):
            if isinstance(result, Exception):
                if not isinstance(result, FileNotFoundError):
                    raise result
                continue
            found.update(result)
        if not found:
            raise FileNotFoundError(path)
        return sorted(found)


def _blocking(name: str) -> Any:
    """Returns the synchronous method of a coroutine of ``AsyncFileSystem``.

    Those that fsspec would make go on after Ctrl-C, and lose the path of a TimeoutError.
    """

    @wraps(getattr(AbstractFileSystem, name))
    def method(self: AsyncSealaneFileSystem, *args: Any, **options: Any) -> Any:
        return self._run(getattr(self, f"_{name}")(*args, **options))

    return method


for _name in ("cat", "copy", "du", "expand_path", "get", "glob", "pipe", "put", "sizes"):
    setattr(AsyncSealaneFileSystem, _name, _blocking(_name))

# `clear_instance_cache` of either class forgets the filesystems that were made by the other.
AsyncSealaneFileSystem._cache = SealaneFileSystem._cache


def _compressed(file: Any, compression: str | None, mode: str) -> Any:
    """Returns a file object that compresses to or decompresses from ``file``, and closes it at the end.

    The compressing classes leave the closing to the caller, and a file that is not closed never appears.
    """
    if compression is None:
        return file
    outer = compr[compression](file, mode=mode[0])
    finish = outer.close

    def close() -> None:
        try:
            finish()
        except BaseException:
            if "r" not in mode:
                file.discard()
            raise
        file.close()

    outer.close = close
    return outer


_BYTE_ORDER_MARKS = {"utf-16": codecs.BOM_UTF16, "utf-32": codecs.BOM_UTF32}
