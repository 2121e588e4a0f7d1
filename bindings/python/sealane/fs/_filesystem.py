"""``SealaneFileSystem``: the filesystem that fsspec registers under the protocol ``sealane``."""

from __future__ import annotations

import codecs
import contextlib
import errno
import io
import os
import shutil
from collections.abc import Iterable, Iterator
from glob import has_magic
from typing import Any, ClassVar

import fsspec
from fsspec.callbacks import DEFAULT_CALLBACK, Callback
from fsspec.compression import compr
from fsspec.core import get_compression
from fsspec.implementations.chained import ChainedFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.utils import isfilelike, other_paths

from sealane import _native
from sealane._about import about, asking
from sealane._endpoints import PIECE, staged
from sealane._native import DecryptWith, plain_len
from sealane.exceptions import SealaneError, TruncatedError
from sealane.fs._claims import claimed_size, fetch, fetch_all, plain_entry, truncated, with_claimed_size
from sealane.fs._guard import Guard
from sealane.fs._keys import Keys
from sealane.fs._reading import MAX_BLOCK, PlainRange, open_for_reading, read_ranges
from sealane.fs._writing import make_parents, open_for_writing


class SealaneFileSystem(ChainedFileSystem):  # type: ignore[misc]
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
            raise TypeError("give exactly one of fs and target_protocol, or a URL such as 'sealane::s3://…'")
        self.fs = fs if fs is not None else fsspec.filesystem(target_protocol, **(target_options or {}))
        if self.fs.async_impl and self.fs.asynchronous:
            raise ValueError("the other filesystem must be created with asynchronous=False")
        self.keys = Keys(self.fs, key, identity, context)
        self.local = isinstance(self.fs, LocalFileSystem)
        """Whether the files are on a disk of this machine, so that the core reads and writes them itself."""
        self._guard = Guard(self.fs, self.keys.dataset_key, self.local)

        def strip_protocol(path: Any) -> Any:
            # A method of the instance, because each instance has another filesystem below.
            return self.fs._strip_protocol(super(SealaneFileSystem, type(self))._strip_protocol(path))

        self._strip_protocol = strip_protocol

    def __repr__(self) -> str:
        return f"<sealane.fs.SealaneFileSystem on {self.fs!r}>"

    # Listings and properties

    def ls(self, path: str, detail: bool = True, **kwargs: Any) -> list[Any]:
        """Lists the files of a folder, with the sizes of their plaintexts in bytes."""
        found = self.fs.ls(self._strip_protocol(path), detail=True, **kwargs)
        entries = [plain_entry(entry) for entry in found if not self._guard.is_key(entry["name"])]
        return entries if detail else sorted(entry["name"] for entry in entries)

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """Returns the properties of a file, with the size of its plaintext in bytes.

        ``size`` is the size of the plaintext if the file is complete and encrypted; it is not verified.
        ``sealed_size`` is the size on the other filesystem.
        """
        return plain_entry(self.fs.info(self._strip_protocol(path), **kwargs))

    def find(
        self,
        path: str,
        maxdepth: int | None = None,
        withdirs: bool = False,
        detail: bool = False,
        **kwargs: Any,
    ) -> Any:
        """Lists all files below a folder and its subfolders."""
        path = self._strip_protocol(path)
        found = self.fs.find(path, maxdepth=maxdepth, withdirs=withdirs, detail=True, **kwargs)
        entries = {name: plain_entry(entry) for name, entry in found.items() if not self._guard.is_key(name)}
        return entries if detail else sorted(entries)

    def exists(self, path: str, **kwargs: Any) -> bool:
        """Returns whether a file or a folder exists at the path."""
        return bool(self.fs.exists(self._strip_protocol(path), **kwargs))

    def lexists(self, path: str, **kwargs: Any) -> bool:
        """Returns whether a file, a folder or a link exists at the path, even a link that leads nowhere."""
        return bool(self.fs.lexists(self._strip_protocol(path), **kwargs))

    def isdir(self, path: str) -> bool:
        """Returns whether the path exists and is a folder."""
        return bool(self.fs.isdir(self._strip_protocol(path)))

    def isfile(self, path: str) -> bool:
        """Returns whether the path exists and is a file."""
        return bool(self.fs.isfile(self._strip_protocol(path)))

    def created(self, path: str) -> Any:
        """Returns the time when the encrypted file was created, as the other filesystem reports it."""
        return self.fs.created(self._strip_protocol(path))

    def modified(self, path: str) -> Any:
        """Returns the time when the encrypted file was last written, as the other filesystem reports it."""
        return self.fs.modified(self._strip_protocol(path))

    def ukey(self, path: str) -> str:
        """Returns a string that changes when the file changes."""
        return str(self.fs.ukey(self._strip_protocol(path)))

    def checksum(self, path: str) -> Any:
        """Returns a number that changes when the file changes."""
        return self.fs.checksum(self._strip_protocol(path))

    def invalidate_cache(self, path: str | None = None) -> None:
        """Drops the cached listings of folders, so that the next call asks again."""
        self.fs.invalidate_cache(None if path is None else self._strip_protocol(path))
        super().invalidate_cache(path)

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
        """Returns one range of the plaintext of each of several files.

        The ranges and the headers of their files are fetched together, and ranges that are close to each
        other are merged. With ``on_error="return"``, a range that fails becomes its exception; with "raise",
        the first exception is raised.
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
            raise ValueError("paths, starts and ends must have the same length")
        out: list[Any] = [b""] * len(paths)
        ranges: dict[int, PlainRange] = {}
        for at, (path, start, end) in enumerate(zip(paths, starts, ends, strict=True)):
            try:
                self._guard.refuse(path)
                if end is None and not start:
                    out[at] = self._read_all(path)
                elif end is None or end < 0 or (start or 0) < 0:
                    out[at] = self._read_from_end(path, start or 0, end)
                elif (start or 0) < end:
                    ranges[at] = PlainRange(path, start or 0, end)
            except Exception as error:
                out[at] = error
        found = read_ranges(self, list(ranges.values())) if ranges else []
        for (at, one), data in zip(ranges.items(), found, strict=True):
            out[at] = self._past_the_end(one, data) if isinstance(data, Exception) else data
        return out

    def _read_all(self, path: str) -> bytes:
        if self.local:
            with open_for_reading(self, path) as file:
                return bytes(file.read())
        decryption = self.keys.decryption(path)
        with about(path):
            return _native.decrypt_bytes(fetch_all(self.fs, path), decryption)

    def _read_from_end(self, path: str, start: int, end: int | None) -> bytes:
        """Reads a range that is counted from the end of the file, which is verified first."""
        with self._open(path, cache_type="none") as file:
            begin, stop, _ = slice(start, end).indices(file.size)
            file.seek(begin)
            return bytes(file.read(max(0, stop - begin)))

    def _past_the_end(self, one: PlainRange, error: Exception) -> bytes | Exception:
        """Returns no bytes if a failed range is past the end of the file, which is verified for this."""
        if not isinstance(error, TruncatedError | OSError | ValueError) or isinstance(
            error, FileNotFoundError
        ):
            return error
        try:
            with self._open(one.path) as file:
                return b"" if one.start >= file.size else error
        except SealaneError as verified:
            return verified
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
        """Decrypts a file to a local file, which appears complete and verified or not at all."""
        rpath = self._strip_protocol(rpath)
        self._guard.refuse(rpath)
        out = outfile if outfile is not None else lpath if isfilelike(lpath) else None
        with asking(rpath):
            is_folder = out is None and self.fs.isdir(rpath)
        if is_folder:
            os.makedirs(lpath, exist_ok=True)
            return
        decryption = self.keys.decryption(rpath)
        if out is None:
            lpath = os.fspath(lpath)
            os.makedirs(os.path.dirname(os.path.abspath(lpath)), exist_ok=True)
        if self.local and out is None:
            with about(rpath):
                _native.decrypt_path(rpath, lpath, decryption, None, _progress(callback), False)
        elif out is None:
            with about(rpath):
                with_claimed_size(
                    self.fs, rpath, lambda size: self._decrypt(rpath, size, lpath, decryption, callback)
                )
        else:
            with about(rpath):
                # There is only one attempt, because a file object cannot be written again.
                self._decrypt(rpath, claimed_size(self.fs, rpath), out, decryption, callback)

    def _decrypt(
        self, path: str, size: int | None, out: Any, decryption: DecryptWith, callback: Callback
    ) -> None:
        """Decrypts a file to a path or a file object. The file ends where its data ends, not at ``size``."""
        decryptor = _native.Writer.decrypt(out, decryption)
        shorter: TruncatedError | None = None
        done = 0
        try:
            for piece, requested in self._sealed_pieces(path, size, callback):
                decryptor.write(piece)
                done += len(piece)
                if len(piece) < requested:
                    # This is the end, which is verified. The server has no say in how long the loop runs.
                    shorter = truncated(path, len(piece), requested)
                    break
            try:
                decryptor.finish(False)
            except SealaneError as error:
                if shorter is not None:
                    raise shorter from error
                raise
        finally:
            decryptor.discard()
        _progress(callback)(plain_len(done), plain_len(done))

    def _sealed_pieces(self, path: str, size: int | None, callback: Callback) -> Iterator[tuple[bytes, int]]:
        """Yields the encrypted bytes of a file in order, each piece with the number of requested bytes.

        Four requests are in flight at a time.
        """
        if size is None:
            data = fetch_all(self.fs, path)
            yield data, len(data)
            return
        total, done = plain_len(size), 0
        callback.set_size(total)
        step = MAX_BLOCK // 2
        for begin in range(0, size, 4 * step):
            spans = [(at, min(at + step, size)) for at in range(begin, min(begin + 4 * step, size), step)]
            for (start, end), piece in zip(spans, fetch(self.fs, path, spans), strict=True):
                yield piece, end - start
                done += len(piece)
                callback.absolute_update(total * done // size)

    # Writing

    def pipe_file(self, path: str, value: Any, mode: str = "overwrite", **kwargs: Any) -> None:
        """Encrypts ``value`` and writes it to the file with this path."""
        with self.open(path, "xb" if mode == "create" else "wb", **kwargs) as file:
            file.write(value)

    def touch(self, path: str, truncate: bool = True, **kwargs: Any) -> None:
        """Writes an encrypted file with an empty plaintext."""
        if not truncate and self.exists(path):
            raise NotImplementedError("changing the time of a file without writing it is not supported")
        self.pipe_file(path, b"", **kwargs)

    def put_file(
        self,
        lpath: Any,
        rpath: str,
        callback: Callback = DEFAULT_CALLBACK,
        mode: str = "overwrite",
        **kwargs: Any,
    ) -> None:
        """Encrypts a local file. The encrypted file appears complete or not at all."""
        rpath = self._strip_protocol(rpath)
        if os.path.isdir(lpath):
            self.makedirs(rpath, exist_ok=True)
            return
        if self.local and mode == "overwrite" and not self._intrans:
            self._guard.refuse_change(rpath)
            make_parents(self.fs, rpath)
            encryption = self.keys.encryption(rpath)
            _native.encrypt_path(os.fspath(lpath), rpath, encryption, None, _progress(callback), False)
            return
        with (
            open(lpath, "rb") as source,
            self.open(rpath, "xb" if mode == "create" else "wb", **kwargs) as file,
        ):
            callback.set_size(os.fstat(source.fileno()).st_size)
            while piece := source.read(PIECE):
                file.write(piece)
                callback.relative_update(len(piece))

    # Moving and removing: encrypted files are moved as they are

    def cp_file(self, path1: str, path2: str, **kwargs: Any) -> None:
        """Copies a file. It is encrypted again if each file has a key of its own."""
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self._guard.refuse(path1)
        self._guard.refuse_change(path2)
        with asking(path1):
            is_folder = self.isdir(path1)
        if is_folder:
            with asking(path2):
                self.makedirs(path2, exist_ok=True)
        elif self.keys.per_file:
            with self.open(path1, "rb") as source, self.open(path2, "wb") as file:
                shutil.copyfileobj(source, file, 4 << 20)
        elif self.local:
            make_parents(self.fs, path2)
            with open(path1, "rb", buffering=0) as source, staged(path2) as file:
                shutil.copyfileobj(source, file, PIECE)
        else:
            with asking(path1):
                self.fs.cp_file(path1, path2, **kwargs)

    def mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any
    ) -> None:
        """Moves files to other names in the same filesystem. A dataset key is not moved."""
        if path1 == path2:
            return
        if isinstance(path1, list) and isinstance(path2, list) and len(path1) != len(path2):
            raise ValueError(f"expected one target for each source, found {len(path2)} for {len(path1)}")
        if maxdepth is not None and maxdepth < 1:
            raise ValueError("maxdepth must be at least 1")
        with asking(str(path1)):
            self._move(path1, path2, recursive, maxdepth, **kwargs)

    def _move(self, path1: Any, path2: Any, recursive: bool, maxdepth: int | None, **kwargs: Any) -> None:
        if isinstance(path1, str) and isinstance(path2, str) and not self.keys.per_file:
            source, target = self._strip_protocol(path1), self._strip_protocol(path2)
            self._guard.refuse_change(source, target)
            if self.keys.dataset_key is None:
                self.fs.mv(source, target, recursive=recursive, maxdepth=maxdepth, **kwargs)
                return
            if not has_magic(source) and self.fs.isfile(source) and not self._is_folder(path2):
                self.fs.mv(source, target, **kwargs)
                return
        # The list is made once: a file that arrives while others are copied is not removed.
        pairs = self._pairs(path1, path2, recursive, maxdepth)
        named = [self._strip_protocol(one) for one in path1] if isinstance(path1, list) else []
        self._guard.refuse_change(*named, *(other for _, other in pairs))
        # A file that is copied to its own name would be removed afterwards.
        pairs = [
            (one, other)
            for one, other in pairs
            if not self._guard.leads_to_key(one) and not self._guard.is_same(one, other)
        ]
        folders = [one for one, _ in pairs if self.fs.isdir(one)]
        files = [one for one, _ in pairs if one not in folders]
        if overwritten := {other for _, other in pairs}.intersection(files):
            text = f"Moving would overwrite {min(overwritten)!r}, which is moved as well"
            raise OSError(errno.EINVAL, text, str(path1))
        for one, other in pairs:
            self.cp_file(one, other)
        self._guard.remove_found(files, recursive=False)
        for folder in sorted(folders, reverse=True):
            if not self._guard.is_above_key(folder):
                with contextlib.suppress(OSError):  # It is not empty, or vanished with its last file.
                    self.fs.rmdir(folder)

    def _pairs(self, path1: Any, path2: Any, recursive: bool, maxdepth: int | None) -> list[tuple[str, str]]:
        """Returns each source and its target, as ``fsspec.AbstractFileSystem.copy`` finds them."""
        if isinstance(path1, list) and isinstance(path2, list):
            sources, targets = path1, path2
        else:
            one = isinstance(path1, str)
            sources = self.expand_path(path1, recursive=recursive, maxdepth=maxdepth)
            if one and (not recursive or maxdepth is not None):
                sources = [path for path in sources if not self.isdir(path)]
            pattern = one and has_magic(path1)
            inside = one and (
                (pattern and len(sources) == 1)
                or (not pattern and self._is_folder(path2) and not path1.endswith("/"))
            )
            targets = other_paths(sources, path2, exists=inside, flatten=not one) if sources else []
        return [
            (self._strip_protocol(source), self._strip_protocol(target))
            for source, target in zip(sources, targets, strict=True)
        ]

    def _is_folder(self, path: Any) -> bool:
        return isinstance(path, str) and (path.endswith("/") or self.isdir(path))

    def rm_file(self, path: str) -> None:
        """Removes one encrypted file from the other filesystem."""
        path = self._strip_protocol(path)
        self._guard.refuse_change(path)
        with asking(path):
            self.fs.rm_file(path)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Removes files, and folders with ``recursive``. A dataset key inside is not removed."""
        paths = [path] if isinstance(path, str | os.PathLike) else path
        self._guard.remove([self._strip_protocol(one) for one in paths], recursive, maxdepth)

    def mkdir(self, path: str, create_parents: bool = True, **kwargs: Any) -> None:
        """Creates a folder in the other filesystem."""
        path = self._strip_protocol(path)
        self._guard.refuse_change(path)
        self.fs.mkdir(path, create_parents=create_parents, **kwargs)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Creates a folder and its missing parents in the other filesystem."""
        path = self._strip_protocol(path)
        self._guard.refuse_change(path)
        self.fs.makedirs(path, exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        """Removes an empty folder from the other filesystem."""
        path = self._strip_protocol(path)
        self._guard.refuse_change(path)
        self.fs.rmdir(path)


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


def _progress(callback: Callback) -> Any:
    def progress(done: int, total: int | None) -> None:
        if total is not None and callback.size != total:
            callback.set_size(total)
        callback.absolute_update(done)

    return progress


_BYTE_ORDER_MARKS = {"utf-16": codecs.BOM_UTF16, "utf-32": codecs.BOM_UTF32}
