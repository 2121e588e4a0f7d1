"""The dataset key: an age file beside the data, which each reader opens with an identity of their own.

Its plaintext is the key as a JWK, so the program ``age`` opens it as well. To add or remove a reader, this
one file is written again; the data stays. Whoever had the key once may have kept it: to shut somebody out of
data that they could read, encrypt it under a new key.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from sealane import _reference
from sealane._about import about
from sealane._file import decrypt, encrypt
from sealane._native import Key, generate
from sealane.fs._writing import neighbour

if TYPE_CHECKING:
    from sealane._native import _Recipients as Recipients


def create_dataset_key(
    url: str,
    *,
    recipients: Recipients,
    kind: str = "aes-256",
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Makes a new key for a dataset and keeps it in an age file at ``url``.

    Parameters
    ----------
    url : str
        Of the new file, "s3://bucket/table.key.age" say, beside the dataset or within it.
    recipients : list of str or sealane.keys.PublicKey
        Who can open it: "age1…", "age1pq1…", "ssh-ed25519 …".
    kind : str
        "aes-256" or "aes-128".
    storage_options : dict, optional
        What fsspec needs for ``url``.

    Raises FileExistsError: a key that is written over takes its files along.
    """
    if kind not in ("aes-256", "aes-128"):
        raise ValueError(f"kind must be 'aes-256' or 'aes-128', not {kind!r}")
    fs, path = url_to_fs(url, **dict(storage_options or {}))
    with about(path):
        _write(fs, path, _sealed(generate(kind), recipients), "create")


def rewrap_dataset_key(
    url: str,
    *,
    identity: str,
    recipients: Recipients,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Encrypts the dataset key at ``url`` again, for ``recipients`` and nobody else. The data is not touched.

    Parameters
    ----------
    identity : str
        A reference to an identity that opens it now: "file:PATH", "env:NAME", …

    See ``create_dataset_key`` for the others. Raises NoMatchingKeyError where the identity does not fit.
    """
    fs, path = url_to_fs(url, **dict(storage_options or {}))
    key = load(fs, path, identity)
    with about(path):
        _write(fs, path, _sealed(key, recipients), "overwrite")


def load(fs: Any, path: str, identity: str) -> Key:
    """The dataset key in the file ``path``."""
    found = _reference.identity(identity)
    with about(path):
        text = decrypt(fs.cat_file(path), identities=[found])
        return Key.from_text(text)


def _sealed(key: Key, recipients: Recipients) -> bytes:
    recipients = list(recipients)
    if not recipients:
        raise ValueError("there is no recipient: nobody could open the key")
    return encrypt(key.to_text().encode(), recipients=recipients, armor=True)


def _write(fs: Any, path: str, data: bytes, mode: str) -> None:
    if isinstance(fs, LocalFileSystem):
        _write_local(Path(path), data, os.link if mode == "create" else os.replace)
    else:
        if mode == "create" and fs.exists(path):
            raise FileExistsError(f"{path}: there is a key, and a key is never written over")
        fs.pipe_file(path, data, mode=mode)
    fs.invalidate_cache(path)


def _write_local(path: Path, data: bytes, put: Callable[[Path, Path], object]) -> None:
    """Whole or not at all. Only with the disk behind it does the key count: data will depend on it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    interim = Path(neighbour(str(path)))
    try:
        with open(interim, "xb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        put(interim, path)
    finally:
        with contextlib.suppress(FileNotFoundError):
            interim.unlink()


__all__ = ["create_dataset_key", "load", "rewrap_dataset_key"]
