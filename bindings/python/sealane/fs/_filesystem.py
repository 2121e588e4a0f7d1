"""``SealaneFileSystem``: the filesystem that fsspec registers under the protocol ``sealane``."""

from __future__ import annotations

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
from sealane._endpoints import PIECE, staged
from sealane._native import plain_len
from sealane.exceptions import SealaneError, TruncatedError
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
        entries = [_plain(entry) for entry in found if not self._is_key(entry["name"])]
        return entries if detail else sorted(entry["name"] for entry in entries)

    def info(self, path: str, **kwargs: Any) -> dict[str, Any]:
        """Returns the properties of a file, with the size of its plaintext in bytes.

        ``size`` is the size of the plaintext if the file is complete and encrypted; it is not verified.
        ``sealed_size`` is the size on the other filesystem.
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
        """Lists all files below a folder and its subfolders."""
        path = self._strip_protocol(path)
        found = self.fs.find(path, maxdepth=maxdepth, withdirs=withdirs, detail=True, **kwargs)
        entries = {name: _plain(entry) for name, entry in found.items() if not self._is_key(name)}
        return entries if detail else sorted(entries)

    def exists(self, path: str, **kwargs: Any) -> bool:
        """Returns whether a file or a folder exists at the path."""
        return bool(self.fs.exists(self._strip_protocol(path), **kwargs))

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

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> Any:
        self._refuse_dataset_key(path)
        if mode == "rb":
            return open_for_reading(self, path, block_size=block_size, cache_options=cache_options, **kwargs)
        if mode in ("wb", "xb"):
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
                self._refuse_dataset_key(path)
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
            return _native.decrypt_bytes(self.fs.cat_file(path), decryption)

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
        self._refuse_dataset_key(rpath)
        out = outfile if outfile is not None else lpath if isfilelike(lpath) else None
        with about(rpath):
            if out is None and self.fs.isdir(rpath):
                os.makedirs(lpath, exist_ok=True)
                return
        decryption = self.keys.decryption(rpath)
        if out is None:
            lpath = os.fspath(lpath)
            os.makedirs(os.path.dirname(os.path.abspath(lpath)), exist_ok=True)
        with about(rpath):
            if self.local and out is None:
                _native.decrypt_path(rpath, lpath, decryption, None, _progress(callback), False)
                return
            decryptor = _native.Decryptor(lpath if out is None else out, decryption)
            try:
                for piece in self._sealed_pieces(rpath, callback):
                    decryptor.write(piece)
                decryptor.finish(False)
            finally:
                decryptor.discard()

    def _sealed_pieces(self, path: str, callback: Callback) -> Iterable[bytes]:
        """Yields the encrypted bytes of a file in order, with four requests in flight."""
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
            self._refuse_dataset_key(rpath)
            make_parents(rpath)
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
        self._refuse_dataset_key(path1, path2)
        if self.isdir(path1):
            self.makedirs(path2, exist_ok=True)
        elif self.keys.per_file:
            with self.open(path1, "rb") as source, self.open(path2, "wb") as file:
                shutil.copyfileobj(source, file, 4 << 20)
        elif self.local:
            make_parents(path2)
            with open(path1, "rb", buffering=0) as source, staged(path2) as file:
                shutil.copyfileobj(source, file, PIECE)
        else:
            self.fs.cp_file(path1, path2, **kwargs)

    def mv(
        self, path1: Any, path2: Any, recursive: bool = False, maxdepth: int | None = None, **kwargs: Any
    ) -> None:
        """Moves files to other names in the same filesystem."""
        if self.keys.per_file or self.keys.dataset_key is not None or not isinstance(path1, str):
            super().mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **kwargs)
            return
        path1, path2 = self._strip_protocol(path1), self._strip_protocol(path2)
        self.fs.mv(path1, path2, recursive=recursive, maxdepth=maxdepth, **kwargs)

    def rm_file(self, path: str) -> None:
        """Removes one encrypted file from the other filesystem."""
        path = self._strip_protocol(path)
        self._refuse_dataset_key(path)
        self.fs.rm_file(path)

    def rm(self, path: Any, recursive: bool = False, maxdepth: int | None = None) -> None:
        """Removes files, and folders with ``recursive``. A dataset key inside is not removed."""
        paths = [self._strip_protocol(one) for one in ([path] if isinstance(path, str) else path)]
        self._refuse_dataset_key(*paths)
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
        """Creates a folder in the other filesystem."""
        self.fs.mkdir(self._strip_protocol(path), create_parents=create_parents, **kwargs)

    def makedirs(self, path: str, exist_ok: bool = False) -> None:
        """Creates a folder and its missing parents in the other filesystem."""
        self.fs.makedirs(self._strip_protocol(path), exist_ok=exist_ok)

    def rmdir(self, path: str) -> None:
        """Removes an empty folder from the other filesystem."""
        self.fs.rmdir(self._strip_protocol(path))

    # The dataset key, if it is inside the dataset

    def _is_key(self, path: str) -> bool:
        return self.keys.dataset_key is not None and path.lstrip("/") == self.keys.dataset_key.lstrip("/")

    def _refuse_dataset_key(self, *paths: str) -> None:
        """Raises PermissionError for the dataset key: without it, all files of the dataset are lost."""
        for path in paths:
            if self._is_key(path):
                raise PermissionError(
                    f"{path}: this is the key of the dataset, which cannot be used as one of its files"
                )


def _plain(entry: dict[str, Any]) -> dict[str, Any]:
    """Returns the properties of a file with its plaintext size, if an encrypted file can have its size."""
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


__all__ = ["SealaneFileSystem"]
