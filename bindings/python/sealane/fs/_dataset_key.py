"""Dataset keys: one key for many files, encrypted to recipients or by a key service.

For recipients, the key is stored as a JWK inside an age file, so ``age`` can decrypt it too. Adding
or removing a recipient rewrites this one file; the data files stay as they are. A key service
encrypts a keyring, stored as a Tink encrypted keyset.

Both lie beside the data, and neither is authentic: the key of a recipient is public, and some may
only encrypt with a wrapping key. So a reference contains the fingerprint of the right key.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final

from fsspec.implementations.cached import CachingFileSystem
from fsspec.implementations.dirfs import DirFileSystem
from fsspec.implementations.local import LocalFileSystem
from fsspec.implementations.memory import MemoryFileSystem

from sealane import _kms, _native, _reference
from sealane._endpoints import staged
from sealane._error_paths import about, asking, is_missing
from sealane._frames import forgetting
from sealane._native import Key, Keyring
from sealane._wrapping_key import WrappingKey
from sealane.exceptions import FormatError
from sealane.fs._abilities import is_object_store
from sealane.fs._store import checked, filesystem_of, temporary_name

if TYPE_CHECKING:
    from sealane._endpoints import Recipients


@forgetting
def create_dataset_key(
    url: str,
    *,
    recipients: Recipients | None = None,
    wrapping_key: str | None = None,
    kind: str = "aes-256",
    storage_options: Mapping[str, Any] | None = None,
) -> str:
    """Generates a dataset key and saves it, encrypted for recipients or by a key service.

    Parameters
    ----------
    url : str
        The URL of the new file, such as ``"s3://bucket/table.key.age"``. It may be inside the
        dataset.
    recipients : list of str or sealane.keys.PublicKey
        The public keys that can decrypt it: "age1…", "age1pq1…", "ssh-ed25519 …", "ssh-rsa …". The
        file is an age file.
    wrapping_key : str
        A key of a key service or a token instead: "aws-kms:ARN", "vault:MOUNT/KEY" or "pkcs11:URI",
        and "?context=TEXT" to bind the file to this text. The file is a Tink encrypted keyset. It
        is encrypted and decrypted once, so both must be permitted.
    kind : str
        The kind of key: "aes-256" or "aes-128"; or "keyring", a ``sealane.keys.Keyring`` that the
        command ``sealane keyring`` lists, extends and rotates.
    storage_options : dict, optional
        Options for the fsspec filesystem that opens ``url``.

    Returns
    -------
    str
        The reference that pins the key: ``"age:PATH#key-sha256:…"``, or for a wrapping key
        ``"aws-kms:ARN#PATH#key-sha256:…"``. Give it as ``key`` to everyone who reads or writes the
        data. Then nobody who can write to the storage can replace the key. It is not secret.

    Raises
    ------
    FileExistsError
        If the file exists. Replacing a dataset key would make every file under it unreadable.
    TypeError
        Unless exactly one of ``recipients`` and ``wrapping_key`` is given.
    ValueError
        If ``kind`` is unknown, there is no recipient, or the name of the wrapping key is malformed.
    FormatError
        If a recipient cannot be parsed.
    KeyNotFoundError, KeyServiceError
        If the service lacks the key, refuses to use it (KeyRefusedError), or cannot be reached.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> alice = sealane.keys.generate("age")
    >>> alice.save("alice.key")
    >>> key = create_dataset_key("s3://bucket/sales.key.age", recipients=[alice.public])
    >>> fs = fsspec.filesystem("sealane", target_protocol="s3", key=key, identity="file:alice.key")

    >>> arn = "arn:aws:kms:eu-west-1:111122223333:alias/sales"
    >>> key = create_dataset_key("s3://bucket/sales.key", wrapping_key=f"aws-kms:{arn}?context=sales")
    >>> fs = fsspec.filesystem("sealane", target_protocol="s3", key=key)
    """
    if kind not in ("aes-256", "aes-128", "keyring"):
        raise ValueError(f"kind must be 'aes-256', 'aes-128' or 'keyring', not {kind!r}")
    _either(recipients, wrapping_key)
    wrapping = None if wrapping_key is None else _kms.parse_wrapping_key(wrapping_key)
    fs, path = filesystem_of(url, storage_options or {})
    if wrapping is not None:
        # Fail before asking the service. The check when writing decides.
        _refuse_existing(fs, path)
        ring = Keyring.generate() if kind == "keyring" else Keyring.generate(f"{kind}-gcm")
        sealed, fingerprint = _kms.wrapped(wrapping, ring), ring.fingerprint
    else:
        sealed, fingerprint = _native.new_dataset_key(kind, recipients or ())
    return _write_pinned(fs, path, sealed, wrapping, fingerprint, exclusive=True)


@forgetting
def rewrap_dataset_key(
    url: str,
    *,
    identity: str,
    recipients: Recipients | None = None,
    wrapping_key: str | None = None,
    storage_options: Mapping[str, Any] | None = None,
) -> str:
    """Encrypts the dataset key at ``url`` to other recipients or with another service key.

    The data files are not touched. Between two AWS KMS keys in one region, the service uses
    ReEncrypt. In each case the new file is decrypted once before it replaces the old one.

    .. warning::
        A former recipient may have saved the key. To exclude somebody from data, encrypt the data
        under a new dataset key.

    Parameters
    ----------
    url : str
        The URL of the dataset key. At the end, ``"#"`` and its fingerprint pin the key; without it,
        the file of known keys is asked.
    identity : str
        A reference to an identity that can decrypt it now, such as ``"file:alice.key"``; or to the
        wrapping key that encrypted it, such as ``"aws-kms:ARN?context=TEXT"``.
    recipients : list of str or sealane.keys.PublicKey
        The public keys that can decrypt it from now on.
    wrapping_key : str
        The new wrapping key, as for ``create_dataset_key``, if the file is an encrypted keyset.
    storage_options : dict, optional
        Options for the fsspec filesystem that opens ``url``.

    Returns
    -------
    str
        The reference that pins the key, as for ``create_dataset_key``. The fingerprint stays the
        same.

    Raises
    ------
    NoMatchingKeyError
        If the identity matches no recipient of the key file.
    KeyNotFoundError
        If the reference leads to no identity on this machine.
    AuthenticationError
        If a keyset is encrypted with another wrapping key or for another context, or was modified;
        or if the key has another fingerprint than expected. Nothing is written.
    FormatError
        If the file is neither an age file nor an encrypted keyset, or a recipient cannot be parsed.
    KeyServiceError, TypeError, ValueError
        As for ``create_dataset_key``. An age file's key cannot move to a key service or back.
    OSError
        If the file cannot be read or written. The old key file remains. If the filesystem renames
        by copying and failed midway, the message contains the path of a complete copy.

    Examples
    --------
    >>> key = rewrap_dataset_key(
    ...     "s3://bucket/sales.key.age", identity="file:alice.key", recipients=[alice.public, bob.public]
    ... )
    """
    _either(recipients, wrapping_key)
    if (identity.partition(":")[0] in _kms.SCHEMES) != (wrapping_key is not None):
        raise ValueError(
            "an age file has recipients, and an encrypted keyset has a wrapping key; both must match"
        )
    url, expected = _native.split_reference(url)
    wrapping = old = None
    if wrapping_key is not None:
        old, wrapping = _kms.parse_wrapping_key(identity), _kms.parse_wrapping_key(wrapping_key)
    fs, path = filesystem_of(url, storage_options or {})
    at = place(fs, path, old)
    if old is not None and wrapping is not None:
        with about(path):
            sealed, fingerprint = _kms.rewrapped(
                old, wrapping, _read(fs, path), lambda ring: _native.check_key(ring, at, expected)
            )
    else:
        found = _reference.identity(identity)
        with about(path):
            # In the native module, because Python could not wipe the cleartext.
            sealed, fingerprint = _native.rewrap_dataset_key(
                _read_age(fs, path), [found], recipients or (), at, expected
            )
    return _write_pinned(fs, path, sealed, wrapping, fingerprint, exclusive=False)


def place(fs: Any, path: str, wrapping_key: WrappingKey | None) -> str | None:
    """Returns the name of a dataset key in the file of known keys; None for one in memory, where
    only this process writes.
    """
    while isinstance(fs, DirFileSystem | CachingFileSystem):
        fs, path = fs.fs, fs._join(path) if isinstance(fs, DirFileSystem) else path
    if isinstance(fs, MemoryFileSystem):
        return None
    scheme = "age:" if wrapping_key is None else f"{wrapping_key}#"
    if isinstance(fs, LocalFileSystem):
        return scheme + os.path.abspath(path)
    # Two servers can have files of one name.
    options = {**fs.storage_options.get("client_kwargs", {}), **fs.storage_options}
    if "s3" in fs.protocol:
        variables = (os.environ.get(name) for name in ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL"))
        options["endpoint_url"] = options.get("endpoint_url") or next(filter(None, variables), None)
    server = [f" {name}={options[name]}" for name in _SERVER if options.get(name)]
    return scheme + str(fs.unstrip_protocol(path)) + "".join(server)


# A keyring for thousands of recipients is shorter.
_MAX_LEN: Final = 20 << 20
_SERVER: Final = ("endpoint_url", "host", "port", "account_name")


def _write_pinned(
    fs: Any, path: str, sealed: bytes, wrapping_key: WrappingKey | None, fingerprint: str, *, exclusive: bool
) -> str:
    """Writes a key of this user, and remembers it. Returns its reference."""
    at = place(fs, path, wrapping_key)
    # Before, so that the place opens wherever the call stops.
    if at is not None:
        _native.accept_key(at, fingerprint)
    with asking(path):
        _write(fs, path, sealed, exclusive=exclusive)
    if at is not None:
        _native.remember_key(at, fingerprint)
    if wrapping_key is None:
        return f"age:{path}#{fingerprint}"
    url = path if isinstance(fs, LocalFileSystem) else str(fs.unstrip_protocol(path))
    # The URL also serves outside of a filesystem.
    return f"{wrapping_key.without_pin()}#{url if fs._strip_protocol(url) == path else path}#{fingerprint}"


@forgetting
def load(fs: Any, path: str, identity: str) -> Key | Keyring:
    """Returns the dataset key in the file ``path``, decrypted with a reference's identity."""
    found = _reference.identity(identity)
    with about(path):
        # Decrypted by the native module, because Python could not wipe the cleartext.
        key = _native.parse_key(_read_age(fs, path), identities=[found])
        if isinstance(key, Key | Keyring):
            return key
        raise FormatError("expected a symmetric key or a keyring, found a public key")


def unwrapped(fs: Any, path: str, wrapping_key: WrappingKey) -> tuple[Keyring, float]:
    """Returns the keyring in the file ``path``, and when to stop using it."""
    with about(path):
        return _kms.unwrapped(wrapping_key, _read(fs, path), None)


def _read(fs: Any, path: str) -> bytes:
    """Reads a key file, which others may be able to replace: it may be a pipe or have no end."""
    with asking(path):
        if isinstance(fs, LocalFileSystem):
            mode = os.stat(fs._strip_protocol(path)).st_mode
            if not stat.S_ISREG(mode) and not stat.S_ISDIR(mode):
                raise FormatError(f"{path}: expected a key file, found a pipe, a socket or a device")
        try:
            data = checked(fs.cat_file(path, end=_MAX_LEN + 1), None, path)
        except (FileNotFoundError, IsADirectoryError, PermissionError):
            raise
        except Exception:  # For example, a range of an empty object is an error.
            data = checked(fs.cat_file(path), None, path)
    if len(data) > _MAX_LEN:
        raise FormatError(f"{path}: expected a key file of at most {_MAX_LEN} bytes, found a longer one")
    return data


def _read_age(fs: Any, path: str) -> bytes:
    data = _read(fs, path)
    if not data.startswith(b"age-encryption.org/") and b"-BEGIN AGE ENCRYPTED FILE-" not in data:
        raise FormatError(
            f"{path}: expected a key encrypted for recipients (an age file), found another file"
        )
    return data


def _either(recipients: Recipients | None, wrapping_key: str | None) -> None:
    if (recipients is None) == (wrapping_key is None):
        raise TypeError("give either recipients or wrapping_key")


def _refuse_existing(fs: Any, path: str) -> None:
    fs.invalidate_cache(path)
    if _exists(fs, path):
        raise FileExistsError(errno.EEXIST, "The file exists, and data may need its key", path)


def _exists(fs: Any, path: str) -> bool:
    """Returns whether a file exists. fsspec's method says no after any error."""
    try:
        with asking(path):
            fs.info(path)
    except OSError as error:
        if not is_missing(error):
            raise
        return False
    return True


def _write(fs: Any, path: str, data: bytes, *, exclusive: bool) -> None:
    """Writes a key file as a whole or not at all: losing the key loses all data under it."""
    if isinstance(fs, LocalFileSystem):
        os.makedirs(os.path.dirname(path), exist_ok=True)
        # File and folder are on disk before the key is used.
        with staged(path, exclusive=exclusive, durable=True) as file:
            file.write(data)
        fs.invalidate_cache(path)
        return
    if exclusive:
        _refuse_existing(fs, path)
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
        # Many filesystems rename by copying. That can fail after part of the file was overwritten.
        text = f"{error}. The key file may be damaged now. {_rescued(fs, path, temporary, data)}"
        raise OSError(errno.EIO, text, path) from error


def _rescued(fs: Any, path: str, temporary: str, data: bytes) -> str:
    """Makes sure that a complete copy is beside a damaged key file. Returns what to do with it."""
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
        return bool(fs.cat_file(path) == old) if old is not None else not _exists(fs, path)
    except Exception:
        return False


def _check(fs: Any, place: str, data: bytes, path: str) -> None:
    if fs.cat_file(place) != data:
        text = f"The file {place!r} does not have the content that was written to it"
        raise OSError(errno.EIO, text, path)
