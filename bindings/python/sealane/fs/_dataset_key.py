"""Dataset keys: one key for many files, encrypted to several recipients.

The key is stored as a JWK inside an age file, so the program ``age`` can decrypt it as well. Adding or
removing a recipient rewrites this one file; the data files stay as they are.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from sealane import _reference
from sealane._about import about
from sealane._endpoints import staged
from sealane._file import decrypt, encrypt
from sealane._native import Key, generate

if TYPE_CHECKING:
    from sealane._native import _Recipients as Recipients


def create_dataset_key(
    url: str,
    *,
    recipients: Recipients,
    kind: str = "aes-256",
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Generates a key for a dataset and saves it, encrypted to ``recipients``, at ``url``.

    Parameters
    ----------
    url : str
        The URL of the new file, for example ``"s3://bucket/table.key.age"``. It can be inside the dataset.
    recipients : list of str or sealane.keys.PublicKey
        The public keys that can decrypt it: "age1…", "age1pq1…", "ssh-ed25519 …", "ssh-rsa …".
    kind : str
        The kind of key: "aes-256" or "aes-128".
    storage_options : dict, optional
        Options of the fsspec filesystem for ``url``.

    Raises
    ------
    FileExistsError
        If the file exists. Replacing a dataset key would make every file under it unreadable.
    ValueError
        If ``kind`` is unknown or there is no recipient.
    FormatError
        If a recipient cannot be parsed.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> alice = sealane.keys.generate("age")
    >>> alice.save("alice.key")
    >>> create_dataset_key("s3://bucket/sales.key.age", recipients=[alice.public])
    >>> fs = fsspec.filesystem(
    ...     "sealane", target_protocol="s3", key="age:bucket/sales.key.age", identity="file:alice.key"
    ... )
    """
    if kind not in ("aes-256", "aes-128"):
        raise ValueError(f"kind must be 'aes-256' or 'aes-128', not {kind!r}")
    fs, path = url_to_fs(url, **dict(storage_options or {}))
    with about(path):
        _write(fs, path, _encrypted(generate(kind), recipients), exclusive=True)


def rewrap_dataset_key(
    url: str,
    *,
    identity: str,
    recipients: Recipients,
    storage_options: Mapping[str, Any] | None = None,
) -> None:
    """Encrypts the dataset key at ``url`` to ``recipients`` in place of its present recipients.

    The data files are not touched.

    .. warning::
        A former recipient may have saved the key. To exclude a reader from data, encrypt the data under a new
        dataset key.

    Parameters
    ----------
    url : str
        The URL of the dataset key.
    identity : str
        A reference to an identity that can decrypt it now, for example ``"file:alice.key"``.
    recipients : list of str or sealane.keys.PublicKey
        The public keys that can decrypt it from now on.
    storage_options : dict, optional
        Options of the fsspec filesystem for ``url``.

    Raises
    ------
    NoMatchingKeyError
        If the identity matches no recipient of the key file.
    KeyNotFoundError
        If the reference leads to no identity on this machine.
    FormatError
        If the file is not an age file, or a recipient cannot be parsed.
    OSError
        If the file cannot be read or written.
    """
    fs, path = url_to_fs(url, **dict(storage_options or {}))
    key = load(fs, path, identity)
    with about(path):
        _write(fs, path, _encrypted(key, recipients), exclusive=False)


def load(fs: Any, path: str, identity: str) -> Key:
    """Returns the dataset key in the file ``path`` of ``fs``, decrypted with the identity of a reference."""
    found = _reference.identity(identity)
    with about(path):
        text = decrypt(fs.cat_file(path), identities=[found])
        return Key.from_text(text)


def _encrypted(key: Key, recipients: Recipients) -> bytes:
    recipients = list(recipients)
    if not recipients:
        raise ValueError("recipients is empty: nothing could decrypt the key")
    return encrypt(key.to_text().encode(), recipients=recipients, armor=True)


def _write(fs: Any, path: str, data: bytes, *, exclusive: bool) -> None:
    if isinstance(fs, LocalFileSystem):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # Durable before it is used: losing the key loses all data under it.
        with staged(path, exclusive=exclusive, durable=True) as file:
            file.write(data)
    else:
        if exclusive and fs.exists(path):
            raise FileExistsError(f"{path}: the key file exists, and dataset keys are never overwritten")
        fs.pipe_file(path, data, mode="create" if exclusive else "overwrite")
    fs.invalidate_cache(path)


__all__ = ["create_dataset_key", "load", "rewrap_dataset_key"]
