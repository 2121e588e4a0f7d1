"""Dataset keys: one key for many files, encrypted to several recipients.

The key is stored as a JWK inside an age file, so the program ``age`` can decrypt it as well. Adding or
removing a recipient rewrites this one file; the data files stay as they are.
"""

from __future__ import annotations

import contextlib
import errno
import os
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from fsspec.core import url_to_fs
from fsspec.implementations.local import LocalFileSystem

from sealane import _reference
from sealane._about import about, asking
from sealane._endpoints import staged
from sealane._file import decrypt, encrypt
from sealane._native import Key, Keyring, generate, parse_key
from sealane.exceptions import FormatError
from sealane.fs._claims import fetch_all
from sealane.fs._upload import is_object_store, refuse_existing, temporary_name

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
        The kind of key: "aes-256" or "aes-128"; or "keyring", a ``sealane.keys.Keyring``, whose keys the
        command ``sealane keyring`` lists, adds and rotates.
    storage_options : dict, optional
        Options that are passed to the fsspec filesystem that opens ``url``.

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
    if kind not in ("aes-256", "aes-128", "keyring"):
        raise ValueError(f"kind must be 'aes-256', 'aes-128' or 'keyring', not {kind!r}")
    fs, path = url_to_fs(url, **dict(storage_options or {}))
    sealed = _encrypted(Keyring.generate() if kind == "keyring" else generate(kind), recipients)
    with asking(path):
        _write(fs, path, sealed, exclusive=True)


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
        A former recipient may have saved the key. To exclude a person from data, encrypt the data under a new
        dataset key.

    Parameters
    ----------
    url : str
        The URL of the file that contains the dataset key.
    identity : str
        A reference to an identity that can decrypt it now, for example ``"file:alice.key"``.
    recipients : list of str or sealane.keys.PublicKey
        The public keys that can decrypt it from now on.
    storage_options : dict, optional
        Options that are passed to the fsspec filesystem that opens ``url``.

    Raises
    ------
    NoMatchingKeyError
        If the identity matches no recipient of the key file.
    KeyNotFoundError
        If the reference leads to no identity on this machine.
    FormatError
        If the file is not an age file, or a recipient cannot be parsed.
    OSError
        If the file cannot be read or written. The old key file is still there then. If the filesystem renames
        by copying and failed in the middle, the message contains the path of a complete copy.
    """
    fs, path = url_to_fs(url, **dict(storage_options or {}))
    key = load(fs, path, identity)
    sealed = _encrypted(key, recipients)
    with asking(path):
        _write(fs, path, sealed, exclusive=False)


def load(fs: Any, path: str, identity: str) -> Key | Keyring:
    """Returns the dataset key in the file ``path`` of ``fs``, decrypted with the identity of a reference."""
    found = _reference.identity(identity)
    with about(path):
        key = parse_key(decrypt(fetch_all(fs, path), identities=[found]))
        if isinstance(key, Key | Keyring):
            return key
        raise FormatError("expected a symmetric key or a keyring, found a public key")


def _encrypted(key: Key | Keyring, recipients: Recipients) -> bytes:
    recipients = list(recipients)
    if not recipients:
        raise ValueError("recipients is empty: nothing could decrypt the key")
    text = key.to_json() if isinstance(key, Keyring) else key.to_text()
    return encrypt(text.encode(), recipients=recipients, armor=True)


def _write(fs: Any, path: str, data: bytes, *, exclusive: bool) -> None:
    """Writes a key file as a whole or not at all, because losing the key loses all data under it."""
    if isinstance(fs, LocalFileSystem):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # The file and the folder are on the disk before the key is used.
        with staged(path, exclusive=exclusive, durable=True) as file:
            file.write(data)
        fs.invalidate_cache(path)
        return
    if exclusive:
        refuse_existing(fs, path)
    if is_object_store(fs):
        fs.pipe_file(path, data, mode="create" if exclusive else "overwrite")
    else:
        _write_by_renaming(fs, path, data, exclusive=exclusive)
    fs.invalidate_cache(path)
    # A filesystem can ignore the mode "create", so another process may have written its own key.
    _check(fs, path, data, path)


def _write_by_renaming(fs: Any, path: str, data: bytes, *, exclusive: bool) -> None:
    """Writes a neighbour of the key file, verifies it, and renames it to ``path``."""
    old = None if exclusive else fs.cat_file(path)
    temporary = temporary_name(path)
    try:
        fs.pipe_file(temporary, data)
        _check(fs, temporary, data, path)
    except BaseException:
        with contextlib.suppress(Exception):
            fs.rm_file(temporary)
        raise
    try:
        fs.mv(temporary, path)
        fs.invalidate_cache(path)
        _check(fs, path, data, path)
    except Exception as error:
        if _is_unchanged(fs, path, old):
            with contextlib.suppress(Exception):
                fs.rm_file(temporary)
            raise
        # Many filesystems rename by copying, which can fail after a part of the file was overwritten.
        text = f"{error}. The key file may be damaged now. {_rescued(fs, path, temporary, data)}"
        raise OSError(errno.EIO, text, path) from error


def _rescued(fs: Any, path: str, temporary: str, data: bytes) -> str:
    """Makes sure that a complete copy is beside a damaged key file, and returns what to do with it."""
    for place in (temporary, temporary_name(path)):
        with contextlib.suppress(Exception):
            if place != temporary:
                fs.pipe_file(place, data)
            _check(fs, place, data, path)
            return f"The complete key is in {place!r}: copy that file to this path"
    return "No complete copy could be written beside it: restore the file from a backup"


def _is_unchanged(fs: Any, path: str, old: bytes | None) -> bool:
    try:
        fs.invalidate_cache(path)
        return bool(fs.cat_file(path) == old) if old is not None else not fs.exists(path)
    except Exception:
        return False


def _check(fs: Any, place: str, data: bytes, path: str) -> None:
    if fs.cat_file(place) != data:
        text = f"The file {place!r} does not have the content that was written to it"
        raise OSError(errno.EIO, text, path)
