"""``SealaneFileSystem``: the filesystem registered with fsspec under the protocol ``sealane``."""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Callable, Coroutine, Iterable
from functools import partial, wraps
from itertools import groupby
from typing import Any, ClassVar, TypeVar

from fsspec.core import get_compression
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.spec import AbstractFileSystem

from sealane._error_paths import about, asking
from sealane._frames import forgetting
from sealane._native import DecryptWith, EncryptWith
from sealane._open import TextFile
from sealane.exceptions import SealaneError, TruncatedError, escaped
from sealane.fs import _reading
from sealane.fs._abilities import in_mode, is_asynchronous
from sealane.fs._chained import check_depth, check_options, filesystem_below, stripping, without_path
from sealane.fs._changing import Changing
from sealane.fs._finding import find
from sealane.fs._folder import FolderFileSystem
from sealane.fs._keys import Guard, Keys
from sealane.fs._opening import Opened, Opener, open_verified, plain_entry
from sealane.fs._reading import FileOver, LocalFile, PlainRange, RemoteFile, read_range
from sealane.fs._store import Store, shown_path, value_of
from sealane.fs._transfer import WHOLE, read_whole
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


class Instances(type(AbstractFileSystem)):  # type: ignore[misc]
    """Keeps one filesystem, and one resolved key, for all paths of a chain of URLs."""

    @forgetting
    def __call__(cls, *args: Any, **kwargs: Any) -> Any:
        if (protocol := kwargs.get("target_protocol")) and kwargs.get("target_options"):
            kwargs["target_options"] = without_path(protocol, kwargs["target_options"])
        if kwargs.get("folder") is not None:
            return FolderFileSystem(*args, **kwargs)
        return super().__call__(*args, **kwargs)


class SealaneFileSystem(Changing, ChainedFileSystem, metaclass=Instances):  # type: ignore[misc]
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
    folder : str, optional
        The path, on the other filesystem, of an encrypted folder that describes itself (see
        ``sealane.Folder``) or of a vault of gocryptfs, Cryptomator or rclone. Paths below it are
        plaintext names, read only. ``"#"`` and a fingerprint at the end pin the folder's keys;
        ``key`` and ``identity`` are references to what opens it.
    passphrase : str, optional
        With ``folder``: a reference to its passphrase, such as ``"env:NAME"`` or ``"file:PATH"``.
    rclone : str, optional
        With ``folder``: the crypt remote in the user's ``rclone.conf`` that has the passwords.

    Notes
    -----
    This filesystem is asynchronous (``async_impl``), whatever the other one is. ``cat``, ``get``,
    ``put``, ``pipe`` and ``cat_ranges`` of many files keep many requests in flight. Ciphers run in
    threads, and calls of a synchronous filesystem, one at a time unless it is local, in memory or a
    ``simplecache``. All transfers together hold at most 72 MiB of encrypted data. With
    ``asynchronous=True``, methods without an underscore raise RuntimeError; ``open`` blocks.

    Keywords such as ``version_id``, ``ACL`` or ``Metadata`` go to the other filesystem, for a file
    of any size. A keyword that it does not know is a TypeError.

    ``info`` and ``ls`` compute plaintext sizes (``size``) from the sizes of the encrypted files
    (``sealed_size``). ``info`` verifies that an empty file is one. A size that no encrypted file
    has is an error of ``info``, and listed as it is by ``ls``. ``open`` verifies the end of a file,
    and with it the size. Files are written as a whole: mode "ab" is not supported. ``mv`` and
    ``rm`` do not touch the dataset key.

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
        folder: str | None = None,
        passphrase: str | None = None,
        rclone: str | None = None,
        **storage_options: Any,
    ) -> None:
        if passphrase is not None or rclone is not None:
            raise TypeError("passphrase and rclone are for an encrypted folder: give folder with its path")
        check_options(storage_options)
        fs = filesystem_below(fs, target_protocol, target_options)
        if is_asynchronous(fs):
            if asynchronous is False and fs.asynchronous:
                raise ValueError("the other filesystem has asynchronous=True, and this one has not")
            fs = in_mode(fs, asynchronous=True) if asynchronous else fs
            asynchronous = fs.asynchronous
            storage_options.setdefault("batch_size", fs.batch_size)
        self.fs, self.store = fs, Store(fs)
        storage_options = ({} if self.store.parallel else {"batch_size": 1}) | storage_options
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
        self._strip_protocol = stripping(super()._strip_protocol, fs)

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
            self.store.remember((entry["name"], entry.get("sealed_size")) for entry in entries)
            return entries if detail else sorted(entry["name"] for entry in entries)

    async def _info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        path = self._strip_protocol(path)
        check = partial(plain_entry, listed=False)
        found: dict[str, Any] = await self.store.call("info", path, check=check, **kwargs)
        if found.get("type") != "file" or kwargs:
            return found
        if found["size"] is None:
            with asking(path):
                found = check(found | {"size": await self.store.size(path)})
        if found["size"] == 0:
            await self._verified(path)  # Nobody would open it to read no bytes.
        return found

    async def _du(self, path: str, total: bool = True, maxdepth: int | None = None, **kwargs: Any) -> Any:
        found = await self._find(path, maxdepth=maxdepth, **(kwargs | {"detail": True}))
        unknown = [name for name, entry in found.items() if entry.get("size") is None]
        infos = await self.store.together([partial(self._info, name) for name in unknown])
        found |= zip(unknown, map(value_of, infos), strict=True)
        sizes = {name: entry["size"] for name, entry in found.items()}
        return sum(sizes.values()) if total else sizes

    async def _find(
        self, path: str, maxdepth: int | None = None, withdirs: bool = False, detail: bool = False, **kw: Any
    ) -> Any:
        path = self._strip_protocol(path)
        check_depth(maxdepth)
        found = await find(self.store, path, maxdepth, withdirs, **kw)
        with asking(path):
            entries = {
                name: plain_entry(entry) for name, entry in found.items() if not self.guard.is_key(name)
            }
            self.opener.listed(entries.values())
            self.store.remember((name, entry.get("sealed_size")) for name, entry in entries.items())
            return entries if detail else sorted(entries)

    _exists = _asking("exists")
    _lexists = _asking("lexists")
    _isdir = _asking("isdir")
    _isfile = _asking("isfile")

    async def _expand_path(
        self, path: Any, recursive: bool = False, maxdepth: int | None = None, assume_literal: bool = False
    ) -> list[str]:
        """Returns the paths that patterns and folders expand to. Lists them in parallel."""
        check_depth(maxdepth)
        given = [path] if isinstance(path, str | os.PathLike) else path
        paths: list[str] = [self._strip_protocol(one) for one in given]
        listed = [one for one in paths if recursive or (self.store.is_pattern(one) and not assume_literal)]
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
            raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), shown_path(path))
        return sorted(found)

    async def _cat(self, path: Any, *args: Any, maxdepth: int | None = None, **kwargs: Any) -> Any:
        check_depth(maxdepth)
        if maxdepth is not None:
            raise TypeError("cat has no maxdepth: expand the paths first, with find or expand_path")
        return await super()._cat(path, *args, **kwargs)

    async def _glob(self, path: str, maxdepth: int | None = None, **kwargs: Any) -> Any:
        check_depth(maxdepth)
        if self.store.is_pattern(path):
            return await super()._glob(path, maxdepth, **kwargs)
        name, detail = self._strip_protocol(path), kwargs.pop("detail", False)
        is_there = await self.store.kind(name, **kwargs) is not None
        found = {name: await self._info(name, **kwargs)} if is_there else {}
        return found if detail else list(found)

    def _at_once(self, size: int) -> bool:
        """Returns whether to write a file in one request."""
        return not self.local and size <= WHOLE

    def _to_write(self, path: str, source: str = "") -> str:
        """Returns the path of a file to write. Refuses a name that the filesystem below changes."""
        stripped: str = self._strip_protocol(path)
        if str(path).endswith("/") and stripped.strip("/"):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        self.store.check_name(stripped, source)
        self.guard.refuse(stripped, change=True)
        return stripped

    def created(self, path: str) -> Any:
        """Returns the encrypted file's creation time, as reported by the other filesystem."""
        with asking(path):
            return self.store.files.created(self._strip_protocol(path))

    def modified(self, path: str) -> Any:
        """Returns the encrypted file's modification time, as reported by the other filesystem."""
        with asking(path):
            return self.store.files.modified(self._strip_protocol(path))

    def ukey(self, path: str) -> str:
        """Returns a string that changes when the file changes."""
        with asking(path):
            return str(self.store.files.ukey(self._strip_protocol(path)))

    def checksum(self, path: str) -> Any:
        """Returns a number that changes when the file changes."""
        with asking(path):
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
        if "r" not in mode:
            self._to_write(path)
        if "b" in mode:
            file = super().open(path, mode, block_size, cache_options, **options)
            return compressed(file, get_compression(path, compression), mode)
        names = {"encoding", "errors", "newline"} & options.keys()
        text = {name: options.pop(name) for name in names}
        binary = mode.replace("t", "") + "b"
        file = TextFile(self.open(path, binary, block_size, cache_options, compression, **options), **text)
        if file.writable() and not file.seekable():
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
        if isinstance(block_size, int) and block_size < 0:
            raise ValueError(f"block_size must be positive, not {block_size}")
        if mode == "rb":
            self.guard.refuse(path)
        else:
            self._to_write(path)
        with about(path):
            if mode == "rb":
                decryption = self.keys.decryption(path)
                size = kwargs.pop("size", None)
                caching: dict[str, Any] = {"block_size": block_size, "cache_options": cache_options}
                file: Any
                if kwargs.keys() - {"cache_type"}:
                    file = FileOver(self, path, decryption, self._blocking.files, **caching, **kwargs)
                elif self.local:
                    file = LocalFile(self, path, decryption)
                else:
                    opened = self.opener.open(path, decryption)
                    caching["block_size"] = block_size or getattr(
                        self.store.files, "default_block_size", None
                    )
                    file = RemoteFile(self, path, self._blocking, opened, **caching, **kwargs)
                if size not in (None, found := file.size):
                    file.close()
                    raise ValueError(f"{escaped(path)}: size is {size}, but the file has {found} bytes")
                return file
            encryption, exclusive, upload = self.keys.encryption(path), mode == "xb", None
            if self.local:
                make_parents(self.fs, path)
            if kwargs or not self.local:
                given = {"block_size": block_size, "cache_options": cache_options}
                kwargs |= {name: value for name, value in given.items() if value is not None}
                upload = Upload(self._blocking, path, exclusive=exclusive, **kwargs)
            return WrittenFile(self, path, encryption, upload, exclusive=exclusive, autocommit=autocommit)

    def pipe_file(self, path: str, value: Any, mode: str = "overwrite", **kwargs: Any) -> None:
        """Writes a file. The mode "create" replaces none."""
        if self.local and not self.asynchronous and not self._intrans and not kwargs:
            with self.open(path, "xb" if mode == "create" else "wb") as file:
                file.write(value)
        else:
            self._run(self._pipe_file(path, value, mode, **kwargs))

    def cat_file(self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any) -> bytes:
        """Returns a file's plaintext, or a range. Negative numbers count from the end."""
        if self.local and not self.asynchronous and not kwargs:
            with self._open(self._strip_protocol(path)) as file:
                return read_range(file, start, end)
        return self._run(self._cat_file(path, start, end, **kwargs))

    async def _cat_file(
        self, path: str, start: int | None = None, end: int | None = None, **kwargs: Any
    ) -> bytes:
        path = self._strip_protocol(path)
        if not self.local and not kwargs and not start and end is None:
            self.guard.refuse(path)
            return await self._read_whole(path)
        (data,) = await self._read([path], [start], [end], **kwargs)
        return value_of(data)

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
        stripped = [self._strip_protocol(path) for path in paths]
        out = await self._read(stripped, starts, ends, max_gap, batch_size, **kwargs)
        if on_error != "return" and (error := next((one for one in out if isinstance(one, Exception)), None)):
            raise error
        return out

    async def _read(
        self,
        paths: list[str],
        starts: list[int | None],
        ends: list[int | None],
        max_gap: int | None = None,
        batch_size: int | None = None,
        **options: Any,
    ) -> list[bytes | Exception]:
        if self.local or options:
            self.store.check_keywords("cat_file", options)
            size = None if options else self._local_size(paths)
            work = partial(self._read_opened, paths, starts, ends, options)
            return await self.store.compute(work, size=size, waits=True)
        out: list[bytes | Exception] = [b""] * len(paths)
        ranges: dict[int, PlainRange] = {}
        others: dict[int, Callable[[], Coroutine[Any, Any, bytes]]] = {}
        for at, (path, start, end) in enumerate(zip(paths, starts, ends, strict=True)):
            if self.guard.is_key(path):
                out[at] = self.guard.refusal(path)
            elif end is None and not start:
                others[at] = partial(self._read_whole, path)
            elif end is not None and 0 <= (start or 0) < end:
                ranges[at] = PlainRange(path, start or 0, end)
            else:
                # Also an empty range: without a request, every file would have it.
                others[at] = partial(self._read_from_end, path, start or 0, end)
        if ranges:
            needed = list(dict.fromkeys(one.path for one in ranges.values()))
            keys = await self.store.together([partial(self._decryption, path) for path in needed])
            keyed = dict(zip(needed, keys, strict=True))
            found = await _reading.read_ranges(self.store, list(ranges.values()), keyed, max_gap, batch_size)
            for (at, one), data in zip(ranges.items(), found, strict=True):
                out[at] = data
                if isinstance(data, TruncatedError | OSError | ValueError):
                    others[at] = partial(self._past_the_end, one, data)
        groups: dict[int | str, list[int]] = {}
        for at in others:
            # A cache that gets a file twice at once returns a part.
            groups.setdefault(at if self.store.awaited else paths[at], []).append(at)

        async def read(group: list[int]) -> None:
            for at in group:
                try:
                    out[at] = await others[at]()
                except Exception as error:
                    out[at] = error

        await self.store.together([partial(read, group) for group in groups.values()], batch_size)
        return out

    def _local_size(self, paths: list[str]) -> int | None:
        """Returns the total size of local files; None if the event loop must not read them."""
        if self.asynchronous or self.keys.resolved() is None:
            return None  # It is the loop of the caller, or finding a key may wait.
        with contextlib.suppress(OSError):
            return sum(os.stat(path).st_size for path in paths)
        return 0  # Opening the file fails.

    def _read_opened(
        self,
        paths: list[str],
        starts: list[int | None],
        ends: list[int | None],
        options: dict[str, Any],
    ) -> list[bytes | Exception]:
        """Reads ranges through file objects. Opens each file once."""
        out: list[bytes | Exception] = [b""] * len(paths)
        for path, group in groupby(sorted(range(len(paths)), key=paths.__getitem__), paths.__getitem__):
            wanted = list(group)
            try:
                with self._open(path, **options) as file:
                    for at in wanted:
                        try:
                            out[at] = read_range(file, starts[at], ends[at])
                        except Exception as error:
                            out[at] = error
            except Exception as error:
                for at in wanted:
                    out[at] = error
        return out

    async def _read_whole(self, path: str) -> bytes:
        with self.store.counted():
            return await read_whole(self.store, path, await self._decryption(path))

    async def _verified(self, path: str) -> Opened:
        return await open_verified(self.store, path, await self._decryption(path), self.opener.headers)

    async def _read_from_end(self, path: str, start: int, end: int | None) -> bytes:
        """Reads a range relative to the end of the file, verifying the end first."""
        opened = await self._verified(path)
        begin, stop, _ = slice(start, end).indices(opened.size)
        return await _reading.read_opened(self.store, path, opened, begin, max(begin, stop))

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
