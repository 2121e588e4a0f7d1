"""``SealaneFileSystem``: the filesystem registered with fsspec under the protocol ``sealane``."""

from __future__ import annotations

import contextlib
import io
import os
import stat
from collections.abc import Callable, Coroutine, Iterable
from functools import partial, wraps
from glob import has_magic
from itertools import groupby
from typing import Any, ClassVar, TypeVar

import fsspec
from fsspec.asyn import AsyncFileSystem
from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.core import get_compression
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import AbstractFileSystem
from fsspec.utils import isfilelike

from sealane import _native
from sealane._endpoints import PIECE
from sealane._error_paths import about, asking
from sealane._native import DecryptWith, EncryptWith
from sealane.exceptions import SealaneError, TruncatedError
from sealane.fs._keys import Guard, Keys
from sealane.fs._moving import Moving
from sealane.fs._opening import Opened, Opener, open_verified, plain_entry
from sealane.fs._reading import LocalFile, PlainRange, RemoteFile, read_opened, read_ranges
from sealane.fs._store import BUDGET, Store, in_mode, is_asynchronous, is_object_store
from sealane.fs._transfer import WHOLE, Grown, content_of, progress_of, read_to, read_whole, write_whole
from sealane.fs._writing import Upload, WrittenFile, compressed, make_parents, write_byte_order_mark

T = TypeVar("T")


def _blocking(name: str, doc: str | None = None) -> Any:
    """Returns fsspec's blocking version of the coroutine ``_name``."""

    @wraps(getattr(AbstractFileSystem, name))
    def method(self: SealaneFileSystem, *args: Any, **options: Any) -> Any:
        return self._run(getattr(self, f"_{name}")(*args, **options))

    method.__doc__ = doc or method.__doc__
    return method


def _asking(name: str) -> Any:
    """Returns a coroutine for a question about a path, answered by the store."""

    async def method(self: SealaneFileSystem, path: str, **options: Any) -> bool:
        return bool(await self.store.call(name, self._strip_protocol(path), **options))

    return method


class SealaneFileSystem(Moving, ChainedFileSystem, AsyncFileSystem):  # type: ignore[misc]
    """A filesystem of encrypted files over another fsspec filesystem.

    Data is encrypted on write, and decrypted and verified on read, at any position. Every file has
    the format C2SP chunked-encryption@v1, so ``sealane.open`` and the program ``sealane`` read it
    with the same key.

    .. warning::
        File names, sizes and times are not hidden. Replacing a file with an older version of itself
        is not detected.

    Parameters
    ----------
    target_protocol : str
        The protocol of the other filesystem, such as ``"s3"``. A chained URL (``sealane::s3://…``)
        sets it along with ``target_options``.
    target_options : dict, optional
        Options for the constructor of the other filesystem.
    fs : fsspec.AbstractFileSystem
        The other filesystem itself, instead of ``target_protocol``.
    asynchronous : bool, optional
        Whether the caller awaits the coroutines (``_cat_file`` and so on) on its own event loop, as
        with any asynchronous fsspec filesystem. The default is as for the other filesystem.
    key : str
        A key reference. The reference is stored and pickled, never the key. Each process resolves
        it when it opens the first file. References are ``"env:NAME"``, ``"file:PATH"``,
        ``"keyring:SERVICE/USER"`` and ``"call:package.module:function"`` (see
        ``sealane.keys.resolve``); ``"age:PATH"``, the dataset key at this path of the other
        filesystem (see ``create_dataset_key``); and ``"each:package.module:function"``, a function
        that returns the key for each file's path.
    identity : str, optional
        A reference to the age or SSH identity that decrypts the dataset key.
    context : str
        Text bound to every file. It is not stored; pass the same context to read.

    Notes
    -----
    This filesystem is asynchronous (``async_impl``), whatever the other one is. ``cat``, ``get``,
    ``put``, ``pipe`` and ``cat_ranges`` of many files keep many requests in flight. Ciphers and a
    synchronous filesystem's calls run in threads, and all transfers together hold at most 72 MiB of
    encrypted data. With ``asynchronous=True``, the methods without an underscore raise
    RuntimeError, except ``open``, which blocks.

    ``info`` and ``ls`` compute plaintext sizes (``size``) from the sizes of the encrypted files
    (``sealed_size``). ``open`` verifies the end of a file, and with it the size. Files are written
    as a whole: mode "ab" is not supported. ``mv`` and ``rm`` do not touch the dataset key.

    Every error names the path of its file. A wrong key, a wrong context or modified data is
    AuthenticationError; a truncated file, or one that was never encrypted, is TruncatedError; a
    reference that leads to no key is KeyNotFoundError. Errors of the other filesystem, such as
    FileNotFoundError, pass through.

    Examples
    --------
    >>> fs = fsspec.filesystem("sealane", target_protocol="s3", key="env:DATASET_KEY")
    >>> fs.pipe_file("bucket/part", b"data")
    >>> fs.cat_file("bucket/part", start=0, end=2)
    b'da'
    """

    protocol: ClassVar[str] = "sealane"
    # The path of a chained URL does not distinguish filesystems.
    _strip_tokenize_options: ClassVar[tuple[str, ...]] = ("fo",)

    def __init__(
        self,
        fo: str | None = None,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fs: Any = None,
        *,
        asynchronous: bool | None = None,
        key: str | None = None,
        identity: str | None = None,
        context: str = "",
        **storage_options: Any,
    ) -> None:
        if (fs is None) == (target_protocol is None):
            raise TypeError("give exactly one of fs and target_protocol, or a URL such as 'sealane::s3://…'")
        if fs is None:
            fs = fsspec.filesystem(target_protocol, **(target_options or {}))
        if is_asynchronous(fs):
            if asynchronous is False and fs.asynchronous:
                raise ValueError("the other filesystem has asynchronous=True, and this one has not")
            fs = in_mode(fs, asynchronous=True) if asynchronous else fs
            asynchronous = fs.asynchronous
            storage_options.setdefault("batch_size", fs.batch_size)
        self.fs, self.store = fs, Store(fs)
        super().__init__(asynchronous=bool(asynchronous), **storage_options)
        self.local = isinstance(fs, LocalFileSystem)
        """Whether the files are on a local disk, so that the core reads and writes them itself."""
        self.keys = Keys(self.store.files, key, identity, context)
        self.guard = Guard(fs, self.keys.dataset_key, self.local)
        self._blocking = Store(self.store.files) if asynchronous else self.store
        # A synchronous store answers one call at a time, and a key function is called only for
        # files that are opened.
        ahead = self.store.awaited and not asynchronous and not self.keys.per_file
        self.opener = Opener(self._blocking, ahead)

        def strip_protocol(path: Any) -> Any:
            # A method of the instance, because each instance has another filesystem below.
            if isinstance(path, list):
                return [strip_protocol(one) for one in path]
            return fs._strip_protocol(super(SealaneFileSystem, type(self))._strip_protocol(path))

        self._strip_protocol = strip_protocol

    def __repr__(self) -> str:
        return f"<sealane.fs.SealaneFileSystem on {self.fs!r}>"

    @property
    def loop(self) -> Any:
        """The event loop behind the blocking methods."""
        return None if self.asynchronous else self.store.loop

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if not self.asynchronous:
            return self.store.run(work)
        work.close()
        raise RuntimeError("a filesystem with asynchronous=True has coroutines only, such as _cat_file")

    # fsspec's own versions continue after Ctrl-C and lose the path of a TimeoutError.
    cat = _blocking("cat")
    cat_ranges = _blocking("cat_ranges")
    copy = _blocking("copy")
    cp_file = _blocking("cp_file", "Copies the file ``path1`` to ``path2``, which is replaced.")
    du = _blocking("du")
    exists = _blocking("exists")
    expand_path = _blocking("expand_path")
    find = _blocking("find")
    get = _blocking("get")
    get_file = _blocking("get_file")
    glob = _blocking("glob")
    info = _blocking("info")
    isdir = _blocking("isdir")
    isfile = _blocking("isfile")
    lexists = _blocking("lexists")
    ls = _blocking("ls")
    makedirs = _blocking("makedirs")
    mkdir = _blocking("mkdir")
    mv = _blocking("mv")
    pipe = _blocking("pipe")
    pipe_file = _blocking("pipe_file")
    put = _blocking("put")
    put_file = _blocking("put_file")
    rm = _blocking("rm")
    rm_file = _blocking("rm_file")
    rmdir = _blocking("rmdir")
    sizes = _blocking("sizes")
    touch = _blocking("touch")

    async def set_session(self, *args: Any, **kwargs: Any) -> Any:
        """Opens the other filesystem's connections, if it has this method."""
        return await self.fs.set_session(*args, **kwargs)

    async def _decryption(self, path: str) -> DecryptWith:
        found = self.keys.resolved()
        return found[1] if found else await self.store.compute(self.keys.decryption, path, waits=True)

    async def _encryption(self, path: str) -> EncryptWith:
        found = self.keys.resolved()
        return found[0] if found else await self.store.compute(self.keys.encryption, path, waits=True)

    # Listings and properties

    async def _ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        path = self._strip_protocol(path)
        found = await self.store.call("ls", path, detail=True, **kwargs)
        with asking(path):
            entries = [plain_entry(entry) for entry in found if not self.guard.is_key(entry["name"])]
            self.opener.listed(entries)
            return entries if detail else sorted(entry["name"] for entry in entries)

    async def _info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        return plain_entry(await self.store.call("info", path, **kwargs))

    async def _find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **kw: Any
    ) -> Any:
        path = self._strip_protocol(path)
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        if maxdepth is None or self.local:
            options: dict[str, Any] = {"maxdepth": maxdepth, "withdirs": withdirs, "detail": True}
            found = await self.store.call("find", path, **options, **kw)
        else:
            found = await self.store.find_levels(path, maxdepth, withdirs, **kw)
        with asking(path):
            entries = {
                name: plain_entry(entry) for name, entry in found.items() if not self.guard.is_key(name)
            }
            self.opener.listed(entries.values())
            return entries if detail else sorted(entries)

    _exists = _asking("exists")
    _lexists = _asking("lexists")
    _isdir = _asking("isdir")
    _isfile = _asking("isfile")

    async def _expand_path(
        self, path: Any, recursive: bool = False, maxdepth: int | None = None, assume_literal: bool = False
    ) -> list[str]:
        """Returns the paths that patterns and folders expand to. Lists them in parallel."""
        given = [path] if isinstance(path, str | os.PathLike) else path
        paths: list[str] = [self._strip_protocol(one) for one in given]
        listed = [one for one in paths if recursive or (has_magic(one) and not assume_literal)]
        found = set(paths).difference(listed)
        expand = partial(
            super()._expand_path, recursive=recursive, maxdepth=maxdepth, assume_literal=assume_literal
        )
        for result in await self.store.together([partial(expand, [one]) for one in listed]):
            if isinstance(result, Exception):
                if not isinstance(result, FileNotFoundError):
                    raise result
                continue
            found.update(result)
        if not found:
            raise FileNotFoundError(path)
        return sorted(found)

    def created(self, path: str) -> Any:
        """Returns the encrypted file's creation time, as reported by the other filesystem."""
        return self.store.files.created(self._strip_protocol(path))

    def modified(self, path: str) -> Any:
        """Returns the encrypted file's modification time, as reported by the other filesystem."""
        return self.store.files.modified(self._strip_protocol(path))

    def ukey(self, path: str) -> str:
        """Returns a string that changes when the file changes."""
        return str(self.store.files.ukey(self._strip_protocol(path)))

    def checksum(self, path: str) -> Any:
        """Returns a number that changes when the file changes."""
        return self.store.files.checksum(self._strip_protocol(path))

    def invalidate_cache(self, path: str | None = None) -> None:
        """Drops cached folder listings, so that the next call asks again."""
        stripped = None if path is None else self._strip_protocol(path)
        for fs in {id(fs): fs for fs in (self.fs, self.store.files)}.values():
            fs.invalidate_cache(stripped)
        super().invalidate_cache(path)
        self.opener.forget()

    # File objects

    def open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        cache_options: dict[str, Any] | None = None,
        compression: str | None = None,
        **options: Any,
    ) -> Any:
        """Opens a file like ``AbstractFileSystem.open``; text mode unless ``mode`` has a "b"."""
        # Text mode calls this method again for the binary file below.
        inner = None if "b" in mode else compression
        file = super().open(path, mode, block_size, cache_options, inner, **options)
        if compression is not None and "b" in mode:
            return compressed(file, get_compression(path, compression), mode)
        if isinstance(file, io.TextIOWrapper) and file.writable() and not file.seekable():
            write_byte_order_mark(file)
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
        if mode not in ("rb", "wb", "xb"):
            raise ValueError(f"mode must be 'rb', 'wb' or 'xb', not {mode!r}: files are written as a whole")
        self.guard.refuse(path, change=mode != "rb")
        with about(path):
            if mode == "rb":
                decryption = self.keys.decryption(path)
                if self.local:
                    return LocalFile(self, path, decryption)
                opened = self.opener.open(path, decryption)
                kwargs["block_size"] = block_size or getattr(self.store.files, "default_block_size", None)
                return RemoteFile(self, path, self._blocking, opened, cache_options=cache_options, **kwargs)
            encryption, exclusive, upload = self.keys.encryption(path), mode == "xb", None
            if self.local:
                make_parents(self.fs, path)
            else:
                upload = Upload(self._blocking, path, block_size, exclusive=exclusive, **kwargs)
            return WrittenFile(self, path, encryption, upload, exclusive=exclusive, autocommit=autocommit)

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """Returns a file's plaintext, or a range. Negative numbers count from the end."""
        if self.local and not self.asynchronous:
            with self._open(self._strip_protocol(path)) as file:
                return file.read_range(start, end)  # type: ignore[no-any-return]
        return self._run(self._cat_file(path, start, end, **kwargs))

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
        if self.local:
            size = self._local_size(paths)
            return await self.store.compute(self._read_local, paths, starts, ends, size=size, waits=True)
        out: list[bytes | Exception] = [b""] * len(paths)
        ranges: dict[int, PlainRange] = {}
        others: dict[int, Callable[[], Coroutine[Any, Any, bytes]]] = {}
        for at, (path, start, end) in enumerate(zip(paths, starts, ends, strict=True)):
            if self.guard.is_key(path):
                out[at] = self.guard.refusal(path)
            elif end is None and not start:
                others[at] = partial(self._read_whole, path)
            elif end is None or end < 0 or (start or 0) < 0:
                others[at] = partial(self._read_from_end, path, start or 0, end)
            elif (start or 0) < end:
                ranges[at] = PlainRange(path, start or 0, end)
        if ranges:
            needed = list(dict.fromkeys(one.path for one in ranges.values()))
            keys = await self.store.together([partial(self._decryption, path) for path in needed])
            keyed = dict(zip(needed, keys, strict=True))
            found = await read_ranges(self.store, list(ranges.values()), keyed)
            for (at, one), data in zip(ranges.items(), found, strict=True):
                out[at] = data
                if isinstance(data, TruncatedError | OSError | ValueError):
                    others[at] = partial(self._past_the_end, one, data)
        results = await self.store.together(list(others.values()))
        for at, result in zip(others, results, strict=True):
            out[at] = result
        return out

    def _local_size(self, paths: list[str]) -> int | None:
        """Returns the total size of local files; None if the event loop must not read them."""
        if self.asynchronous or self.keys.resolved() is None:
            return None  # It is the loop of the caller, or finding a key may wait.
        with contextlib.suppress(OSError):
            return sum(os.stat(path).st_size for path in paths)
        return 0  # Opening the file fails.

    def _read_local(
        self, paths: list[str], starts: list[int | None], ends: list[int | None]
    ) -> list[bytes | Exception]:
        """Reads ranges of local files. Opens each file once."""
        out: list[bytes | Exception] = [b""] * len(paths)
        for path, group in groupby(sorted(range(len(paths)), key=paths.__getitem__), paths.__getitem__):
            wanted = list(group)
            try:
                with self._open(path) as file:
                    for at in wanted:
                        try:
                            out[at] = file.read_range(starts[at], ends[at])
                        except Exception as error:
                            out[at] = error
            except Exception as error:
                for at in wanted:
                    out[at] = error
        return out

    async def _read_whole(self, path: str) -> bytes:
        return await read_whole(self.store, path, await self._decryption(path))

    async def _verified(self, path: str) -> Opened:
        return await open_verified(self.store, path, await self._decryption(path), self.opener.headers)

    async def _read_from_end(self, path: str, start: int, end: int | None) -> bytes:
        """Reads a range relative to the end of the file, verifying the end first."""
        opened = await self._verified(path)
        begin, stop, _ = slice(start, end).indices(opened.size)
        return await read_opened(self.store, path, opened, begin, max(begin, stop))

    async def _past_the_end(self, one: PlainRange, error: Exception) -> bytes:
        """Returns no bytes if a failed range is past the verified end of the file."""
        if isinstance(error, FileNotFoundError):
            raise error
        try:
            size = (await self._verified(one.path)).size
        except SealaneError:
            raise
        except Exception:
            raise error from None
        if one.start < size:
            raise error
        return b""

    async def _get_file(
        self, rpath: str, lpath: Any, callback: Callback = DEFAULT_CALLBACK, outfile: Any = None, **kw: Any
    ) -> None:
        rpath = self._strip_protocol(rpath)
        self.guard.refuse(rpath)
        out = outfile if outfile is not None else lpath if isfilelike(lpath) else None
        if out is not None:
            await read_to(self.store, rpath, out, await self._decryption(rpath), callback)
            return
        lpath = os.fspath(lpath)
        if self.local:
            work = partial(self._get_local, rpath, lpath, callback)
            await self.store.compute(work, size=self._local_size([rpath]), waits=True)
            return
        # An object store is asked for the object first: most paths are objects.
        objects = is_object_store(self.fs)
        if (not objects or os.path.isdir(lpath)) and await self._make_folder(rpath, lpath):
            return
        decryption = await self._decryption(rpath)
        os.makedirs(os.path.dirname(os.path.abspath(lpath)), exist_ok=True)
        try:
            await read_to(self.store, rpath, lpath, decryption, callback)
        except (FileNotFoundError, IsADirectoryError):
            if not (objects and await self._make_folder(rpath, lpath)):
                raise

    def _get_local(self, rpath: str, lpath: str, callback: Callback) -> None:
        if os.path.isdir(rpath):
            return os.makedirs(lpath, exist_ok=True)
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

    # Writing

    async def _pipe_file(self, path: str, value: Any, mode: str = "overwrite", **kwargs: Any) -> None:
        path, size = self._strip_protocol(path), memoryview(value).nbytes
        if self._at_once(size, kwargs):
            await self._write_at_once(path, size, lambda: value, mode)
        else:
            await self._write_in_parts(path, size, partial(io.BytesIO, value), mode, kwargs)

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
        found = os.stat(lpath)
        if stat.S_ISDIR(found.st_mode):
            return await self._makedirs(rpath, exist_ok=True)
        size = found.st_size if stat.S_ISREG(found.st_mode) else None
        if self.local and mode == "overwrite" and not self._intrans:
            work = partial(self._put_local, os.fspath(lpath), rpath, callback)
            await self.store.compute(
                work, size=self._local_size([lpath]) if size is not None else None, waits=True
            )
            return
        if size is not None and self._at_once(size, kwargs):
            with contextlib.suppress(Grown):
                callback.set_size(size)
                await self._write_at_once(rpath, size, partial(content_of, lpath), mode)
                callback.relative_update(size)
                return
        await self._write_in_parts(rpath, size, partial(open, lpath, "rb"), mode, kwargs, callback)

    def _put_local(self, lpath: str, rpath: str, callback: Callback) -> None:
        self.guard.refuse(rpath, change=True)
        encryption = self.keys.encryption(rpath)
        make_parents(self.fs, rpath)
        _native.encrypt_path(lpath, rpath, encryption, None, progress_of(callback), False)

    def _at_once(self, size: int, options: dict[str, Any]) -> bool:
        """Returns whether to write a file in one request. A transaction needs file objects."""
        return not (self.local or self._intrans or options) and size <= WHOLE

    async def _write_at_once(self, path: str, size: int, content: Callable[[], Any], mode: str) -> None:
        self.guard.refuse(path, change=True)
        exclusive = mode == "create"
        encryption = await self._encryption(path)
        if exclusive:
            # Fail now rather than after sending the data. The request checks again.
            await self.store.refuse_existing(path)
        await write_whole(self.store, path, size, content, encryption, exclusive=exclusive)
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
                while piece := source.read(PIECE):
                    file.write(piece)
                    callback.relative_update(len(piece))

        async with self.store.budget.reserve(BUDGET if size is None or size > WHOLE else 2 * size):
            await self.store.compute(work, waits=True)
