"""Opens Parquet files for reading, and refuses all that are not encrypted as they must be.

PyArrow and Polars accept a plaintext file in the place of an encrypted one. So we verify the footer
first, and the engine gets a file object that returns the footer from memory: not even a store that
answers differently the second time can exchange it. The footer authenticates the pages.
"""

from __future__ import annotations

import base64
import binascii
import io
import json
import os
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from typing import IO, Any, TypeAlias, cast

import pyarrow as pa
import pyarrow.fs as pafs
from pyarrow._parquet_encryption import FileSystemKeyMaterialStore

from sealane._endpoints import refuse_stream
from sealane._error_paths import about
from sealane._frames import forgetting
from sealane._native import Aead
from sealane.exceptions import AuthenticationError, FormatError, KeyNotFoundError, SealaneError
from sealane.parquet._client import KmsClient, cipher_of, single_key
from sealane.parquet._footer import Footer, read_at, read_footer

Columns: TypeAlias = Mapping[str, Iterable[str]]
PathOrFile: TypeAlias = str | os.PathLike[str] | IO[bytes]

_OWNERS: dict[str, str | None] = {}
"""The master keys of the keys that encrypt data keys, by identifier; None if files name several."""
MAX_OWNERS = 1 << 16


class EncryptedFile(pa.PythonFile):  # type: ignore[misc]
    """An encrypted Parquet file whose footer was verified; ``ParquetKeys.open`` returns it.

    It is a file of PyArrow, so that ``close`` gives up the Python object below. PyArrow may still
    hold the file in a thread of its own when Python exits. A Python object that such a thread frees
    then aborts the process (arrow#34314).
    """

    name: str
    footer: Footer
    store: Any

    def __new__(cls, file: IO[bytes], name: str, footer: Footer, store: Any, owned: bool) -> EncryptedFile:
        opened = super().__new__(cls, _Verified(file, name, footer, owned), mode="r")
        opened.name, opened.footer, opened.store = name, footer, store
        return cast(EncryptedFile, opened)

    def __repr__(self) -> str:
        return f"<encrypted Parquet file {self.name!r}>"

    def read(self, nbytes: int | None = None) -> bytes:
        """Returns ``nbytes`` bytes, by default all; fewer only at the end."""
        left = max(0, self.size() - self.tell())
        return cast(bytes, super().read(left if nbytes is None or nbytes < 0 else min(nbytes, left)))


class _Verified(io.RawIOBase):
    """The bytes of a file whose footer was verified, as PyArrow reads them."""

    def __init__(self, file: IO[bytes], name: str, footer: Footer, owned: bool) -> None:
        super().__init__()
        self._file, self._name, self._footer, self._owned = file, name, footer, owned
        self._at = 0

    def readable(self) -> bool:
        return True

    def tell(self) -> int:
        return self._at

    def seek(self, offset: int, whence: int = os.SEEK_SET, /) -> int:
        size = self._footer.start + len(self._footer.content)
        self._at = max(0, offset + (0, self._at, size)[whence])
        return self._at

    def read(self, size: int, /) -> bytes:  # type: ignore[override]
        start, ending = self._footer.start, self._footer.content
        end = self._at + max(0, min(size, start + len(ending) - self._at))
        found = b""
        if self._at < min(end, start):
            with about(self._name):
                found = read_at(self._file, self._at, min(end, start) - self._at)
        if end > start:
            found += ending[max(self._at - start, 0) : end - start]
        self._at = end
        return found

    def read_buffer(self, size: int, /) -> pa.Buffer:
        """Returns the bytes in PyArrow's own memory, which any thread can free."""
        found = self.read(size)
        buffer = pa.allocate_buffer(len(found))
        memoryview(buffer).cast("B")[:] = found
        return buffer

    def close(self) -> None:
        if self._owned and not self.closed:
            self._file.close()
        super().close()


class Requirement:
    """How files must be encrypted: at least as ``ParquetKeys.encryption`` does it."""

    def __init__(
        self,
        references: Mapping[str, str],
        footer: str | None,
        columns: Columns | None,
        plaintext_footer: bool,
    ) -> None:
        self._references, self._client = references, KmsClient(references)
        self._footer, self._signed = footer, plaintext_footer
        self._columns = listed(columns)

    def __reduce__(self) -> Any:
        return Requirement, (self._references, self._footer, self._columns, self._signed)

    def open(self, source: PathOrFile, filesystem: pafs.FileSystem | None = None) -> EncryptedFile:
        """Returns the file, if it is encrypted as required."""
        if isinstance(source, EncryptedFile):
            source.seek(0)
        if not isinstance(source, str | os.PathLike):
            path = str(getattr(source, "path", getattr(source, "name", "the file")))
            with about(path):
                return self._opened(source, path, None, owned=False)
        path = os.fspath(source)
        with about(path):
            if filesystem is None:
                refuse_stream(path)
            file: Any = io.FileIO(path) if filesystem is None else filesystem.open_input_file(path)
            try:
                return self._opened(file, path, filesystem, owned=True)
            except BaseException:
                file.close()
                raise

    def _opened(self, file: Any, path: str, filesystem: Any, *, owned: bool) -> EncryptedFile:
        @cache
        def store() -> Any:
            if not owned:
                raise FormatError("the keys of the file are in a file beside it; open it by its path")
            return FileSystemKeyMaterialStore.for_file(path, filesystem)

        def cipher(stored: bytes | None) -> Aead:
            if stored is not None:
                return cipher_of(data_key(self._client, material(stored, store)))
            if self._footer is None:
                raise FormatError("the file does not store how its keys are found; name the footer's key")
            return cipher_of(bytes(single_key(self._references, self._footer)))

        footer = read_footer(file, cipher)
        if footer.signed and not self._signed:
            raise FormatError(
                "expected an encrypted footer, found a plaintext one; if this is intended, give "
                "plaintext_footer=True"
            )
        self._check(footer, store)
        return EncryptedFile(file, path, footer, store, owned)

    def _check(self, footer: Footer, store: Any) -> None:
        """Raises FormatError unless the columns have the keys that they must have."""
        names: dict[bytes | None, str | None] = {None: None}
        # The footer's first: it is proved.
        for stored in dict.fromkeys([footer.key, *(stored for _, _, stored in footer.columns)]):
            if stored is None:
                continue
            found = material(stored, store)
            names[stored] = name = sys.intern(found["masterKeyID"])
            if found.get("doubleWrapping"):
                self._check_owner(str(found.get("keyEncryptionKeyID")), name, found)
        main = names[footer.key] if footer.key else self._footer
        if self._footer not in (None, main):
            raise FormatError(f"the footer must be under the key {self._footer!r}, and is under {main!r}")
        required = [(path, name) for name, paths in self._columns.items() for path in paths]
        for column, kind, stored in footer.columns:
            allowed = [self._footer] if self._footer else []
            if required:
                allowed = [name for path, name in required if f"{column}.".startswith(f"{path}.")]
            if not allowed:
                continue
            under = main if kind == "footer" else names[stored]
            # A column's own key may have no name in the file. Then the engine proves it.
            if kind == "clear" or under not in (None, *allowed):
                state = "is in clear" if kind == "clear" else f"is under {under!r}"
                raise FormatError(f"the column {column!r} must be under the key {allowed[0]!r}, and {state}")

    def _check_owner(self, identifier: str, name: str, found: dict[str, Any]) -> None:
        """Raises FormatError if a key was under another master key, by its identifier.

        PyArrow finds a key that it has decrypted by its identifier alone, in later files too, so a
        key under one master key would serve columns that must be under another.
        """
        if identifier not in _OWNERS and len(_OWNERS) < MAX_OWNERS and len(identifier + name) < 1000:
            _OWNERS[identifier] = name
        if _OWNERS.get(identifier) == name:
            return
        # Anybody can change what the earlier file said, so this file must prove what it says.
        if identifier in _OWNERS:
            _OWNERS[identifier] = None
        try:
            data_key(self._client, found)
        except (AuthenticationError, FormatError, KeyNotFoundError) as error:
            text = f"the file says that a key is under {name!r}, and does not prove it: {error}"
            raise FormatError(text) from error


class Guard(pafs.FileSystemHandler):  # type: ignore[misc]
    """The handler of a filesystem for reading: its Parquet files are encrypted as required."""

    def __init__(self, filesystem: pafs.FileSystem, requirement: Requirement) -> None:
        self._filesystem, self._requirement = filesystem, requirement

    def get_type_name(self) -> str:
        return f"sealane+{self._filesystem.type_name}"

    def normalize_path(self, path: str) -> Any:
        return self._filesystem.normalize_path(path)

    def get_file_info(self, paths: Any) -> Any:
        return self._filesystem.get_file_info(paths)

    get_file_info_selector = get_file_info

    def open_input_file(self, path: str) -> Any:
        return self._requirement.open(path, self._filesystem)

    open_input_stream = open_input_file

    def _refuse(self, path: str, *_: Any, **__: Any) -> Any:
        raise NotImplementedError(f"{path}: the filesystem of ParquetKeys is for reading")

    create_dir = delete_dir = delete_dir_contents = delete_root_dir_contents = _refuse
    delete_file = move = copy_file = open_output_stream = open_append_stream = _refuse


def listed(columns: Columns | None) -> dict[str, list[str]]:
    """Returns a copy of columns by key names. PyArrow takes each name as it is.

    PyArrow joins the names to one text with ',', ';' and ':', and trims them. Another column would
    be encrypted in the place of the one that is listed.
    """
    found: dict[str, list[str]] = {}
    known: set[str] = set()
    if not isinstance(columns or {}, Mapping):
        raise TypeError(f"expected lists of columns by names of keys, found {type(columns).__name__}")
    for key, paths in (columns or {}).items():
        if isinstance(paths, str | bytes) or not isinstance(paths, Iterable):
            raise TypeError(f"key {key!r}: expected a list of columns, found {type(paths).__name__}")
        found[key] = list(paths)
        if not found[key]:
            raise ValueError(f"key {key!r}: the list of columns is empty")
        for path in found[key]:
            if not isinstance(path, str):
                raise TypeError(f"key {key!r}: a column must be a str, not {type(path).__name__}")
            if not path or set(path) & set(":;,") or path != path.strip():
                raise ValueError(
                    f"column {path!r}: PyArrow takes no key for a name that is empty, contains ':', ';' or "
                    "',', or begins or ends with a space; rename the column, or encrypt all with one key"
                )
            if path in known:
                raise ValueError(f"column {path!r}: listed twice")
            known.add(path)
    return found


def material(stored: bytes, store: Any) -> dict[str, Any]:
    """Returns the key material stored by PyArrow and Spark: JSON that names the master key.

    ``store`` returns the file beside the Parquet file with the material.
    """
    other = "the file does not store its keys as PyArrow does; give the keys themselves"
    try:
        found = json.loads(stored, object_pairs_hook=_once)
    except (ValueError, RecursionError):
        raise FormatError(other) from None
    if not isinstance(found, dict) or found.get("keyMaterialType") != "PKMT1":
        raise FormatError(other)
    if found.get("internalStorage") is True:
        missing = [name for name in ("masterKeyID", "wrappedDEK") if not isinstance(found.get(name), str)]
        if missing:
            raise FormatError(f"the stored key of the file is malformed: no {missing[0]}")
        return found
    try:
        other_place = store().get_key_material(str(found.get("keyReference")))
    except KeyError:
        raise FormatError("the file beside it has no key with the name that the footer stores") from None
    return {
        "masterKeyID": other_place.master_key_id,
        "wrappedDEK": other_place.wrapped_dek,
        "doubleWrapping": other_place.is_double_wrapped,
        "wrappedKEK": other_place.wrapped_kek,
        "keyEncryptionKeyID": other_place.kek_id,
    }


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Returns an object of JSON; of two members with one name, readers choose differently."""
    if len(found := dict(pairs)) < len(pairs):
        raise ValueError
    return found


@forgetting
def data_key(client: KmsClient, found: dict[str, Any]) -> bytes:
    """Returns a data key, encrypted directly by the master key or by a key it encrypts."""
    try:
        master, wrapped = found["masterKeyID"], found["wrappedDEK"]
        if found["doubleWrapping"] is not True:
            return client.unwrap_key(wrapped, master)
        kek = cipher_of(client.unwrap_key(str(found["wrappedKEK"]), master))
        identifier = base64.b64decode(str(found["keyEncryptionKeyID"]), validate=True)
        return bytes(kek.open(base64.b64decode(wrapped, validate=True), identifier))
    except SealaneError:
        raise
    except (KeyError, binascii.Error, ValueError) as error:
        raise FormatError(f"the stored key of the file is malformed: {type(error).__name__}") from None
