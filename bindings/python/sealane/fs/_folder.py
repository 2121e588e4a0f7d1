"""Encrypted folders by their plaintext names, on any filesystem, read only: ours that describe
themselves, and vaults of other tools.
"""

from __future__ import annotations

import errno
from functools import cached_property
from typing import Any, ClassVar

from fsspec.implementations.chained import ChainedFileSystem

from sealane import _reference
from sealane._error_paths import about
from sealane._folder import Folder, FolderEntry
from sealane._frames import forgetting
from sealane._native import split_reference
from sealane.exceptions import escaped
from sealane.fs._chained import check_options, filesystem_below, stripping
from sealane.fs._reading import LocalFile
from sealane.fs._stored import on_filesystem


class VaultFile(LocalFile):
    """A file of an encrypted folder, open for reading."""

    @property
    def details(self) -> dict[str, Any]:
        """The result of ``fs.info`` for this file, with the verified size."""
        return {**self.fs.info(self.path), "size": self.size}


def _read_only(self: Any, *args: Any, **kwargs: Any) -> Any:
    text = "An encrypted folder is read only here; sealane.Folder and 'sealane encrypt' write into it"
    raise OSError(errno.EROFS, text, self._folder)


class FolderFileSystem(ChainedFileSystem):  # type: ignore[misc]
    """The plaintext of an encrypted folder; ``SealaneFileSystem`` with ``folder`` makes it."""

    protocol: ClassVar[str] = "sealane"
    _strip_tokenize_options: ClassVar[tuple[str, ...]] = ("fo",)

    def __init__(
        self,
        fo: str | None = None,
        target_protocol: str | None = None,
        target_options: dict[str, Any] | None = None,
        fs: Any = None,
        *,
        folder: str,
        key: str | None = None,
        identity: str | None = None,
        passphrase: str | None = None,
        rclone: str | None = None,
        asynchronous: bool | None = None,
        **storage_options: Any,
    ) -> None:
        if asynchronous:
            raise ValueError("an encrypted folder has no coroutines: leave out asynchronous or folder")
        check_options(storage_options)
        super().__init__(**storage_options)
        self.fs = filesystem_below(fs, target_protocol, target_options)
        for reference in (key, identity, passphrase):
            if reference is not None:
                _reference.check(reference)
        self._keys = {"key": key, "identity": identity, "passphrase": passphrase, "rclone": rclone}
        folder, self._fingerprint = split_reference(folder)
        self._folder = self.fs._strip_protocol(folder).rstrip("/")
        self._strip_protocol = stripping(super()._strip_protocol, self.fs)

    @cached_property
    @forgetting
    def _opened(self) -> Folder:
        keys = dict(self._keys)
        if (identity := keys["identity"]) is not None:
            keys["identity"] = _reference.identity(identity)  # type: ignore[assignment]
        if (reference := keys["passphrase"]) is not None:
            keys["passphrase"] = _reference.passphrase(reference)  # type: ignore[assignment]
        return Folder._on(on_filesystem(self.fs, self._folder), self._fingerprint, **keys)

    def _relative(self, path: str) -> str:
        path = self._strip_protocol(path)
        if path.rstrip("/") == self._folder:
            return ""
        if not path.startswith(f"{self._folder}/"):
            raise FileNotFoundError(
                errno.ENOENT, f"The path is not in the folder {escaped(self._folder)}", path
            )
        return path.removeprefix(f"{self._folder}/")

    def _entry(self, found: FolderEntry) -> dict[str, Any]:
        name = f"{self._folder}/{found.path}".rstrip("/")
        kind = "directory" if found.kind == "folder" else found.kind
        return {"name": name, "type": kind, "size": found.size, "mtime": found.modified}

    def info(self, path: str) -> dict[str, Any]:
        """Returns the properties of a file or folder; ``size`` is that of the plaintext."""
        with about(path):
            return self._entry(self._opened._find(self._relative(path)))

    def ls(self, path: str, detail: bool = True) -> list[Any]:
        """Lists a folder by its plaintext names."""
        with about(path):
            relative = self._relative(path)
            found = self._opened._find(relative)
            entries = self._opened.ls(relative) if found.kind == "folder" else [found]
        return [self._entry(one) if detail else self._entry(one)["name"] for one in entries]

    def exists(self, path: str) -> bool:
        """Returns whether there is a file, a folder or a link at the path."""
        try:
            return bool(self.info(path))
        except (FileNotFoundError, NotADirectoryError):
            return False

    def _open(
        self,
        path: str,
        mode: str = "rb",
        block_size: int | None = None,
        autocommit: bool = True,
        cache_options: dict[str, Any] | None = None,
        cache_type: str | None = None,
    ) -> VaultFile:
        if mode != "rb":
            _read_only(self)
        with about(path):
            return VaultFile(self, path, self._opened._contents(self._relative(path)))

    def invalidate_cache(self, path: str | None = None) -> None:
        """Drops cached folder listings, so that the next call asks again."""
        self.fs.invalidate_cache()

    mkdir = makedirs = rmdir = rm = rm_file = cp_file = mv = touch = _read_only
