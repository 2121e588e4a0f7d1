"""``KmsClient``: encrypts the data keys of Parquet files under keys named by references."""

from __future__ import annotations

import base64
import binascii
import threading
from collections.abc import Mapping

import pyarrow.parquet.encryption as pe

from sealane import _reference
from sealane._frames import forgetting
from sealane._native import Aead, Key, Keyring
from sealane.exceptions import AuthenticationError, FormatError, KeyNotFoundError, SealaneError

MAX_WRAPPED = 4096
"""Longest encrypted data key (text) to decode. It comes from the file, so it is a claim."""


class KmsClient(pe.KmsClient):  # type: ignore[misc]
    """Encrypts and decrypts ("wraps" and "unwraps") data keys for PyArrow's ``CryptoFactory``.

    A master key is a key or a keyring behind a reference. Files contain its name, never the
    reference, so a file cannot make a program read another variable, file or key service.

    Parameters
    ----------
    keys : dict of str to str
        Key references by master key name, for example ``{"pii": "env:PII_KEY"}``. A reference may
        lead to an AES key or to a keyring for messages (``sealane.keys.Keyring``). It is resolved
        on first use of its name, once per client. PyArrow creates a new client after its
        ``cache_lifetime``.

    Raises
    ------
    TypeError, ValueError
        If a name is not a str or is empty, or a reference is malformed.

    Notes
    -----
    An encrypted data key is ``base64(nonce || ciphertext || tag)`` of AES-GCM, with the master
    key's name as associated data, as in Apache Parquet's ``LocalWrapKmsClient``. A keyring adds the
    Tink prefix before the nonce.

    Examples
    --------
    >>> factory = pyarrow.parquet.encryption.CryptoFactory(lambda _: KmsClient({"pii": "env:PII_KEY"}))
    """

    @forgetting
    def __init__(self, keys: Mapping[str, str]) -> None:
        super().__init__()
        self._references = check_names(keys)
        self._ciphers: dict[str, Aead] = {}
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"KmsClient({self._references!r})"

    @forgetting
    def wrap_key(self, key_bytes: bytes, master_key_identifier: str) -> str:
        """Returns the data key ``key_bytes`` encrypted under ``master_key_identifier``.

        PyArrow calls it and stores the result (base64 text) in the file.

        Raises
        ------
        KeyNotFoundError
            If no reference has this name, or it leads to no key.
        """
        cipher = self._cipher(master_key_identifier)
        return base64.b64encode(cipher.seal(key_bytes, master_key_identifier.encode())).decode()

    @forgetting
    def unwrap_key(self, wrapped_key: str, master_key_identifier: str) -> bytes:
        """Returns the data key in ``wrapped_key``, encrypted under ``master_key_identifier``.

        Raises
        ------
        KeyNotFoundError
            If no reference has this name, or it leads to no key.
        AuthenticationError
            If the data key was encrypted under another key or name, or was modified.
        FormatError
            If the text is not an encrypted data key.
        """
        cipher = self._cipher(master_key_identifier)
        try:
            if len(wrapped_key) > MAX_WRAPPED:
                raise FormatError(f"an encrypted data key has at most {MAX_WRAPPED} characters")
            sealed = base64.b64decode(wrapped_key, validate=True)
            return bytes(cipher.open(sealed, master_key_identifier.encode()))
        except AuthenticationError as error:
            text = "the data key was encrypted under another key, or was changed"
            raise AuthenticationError(f"master key {master_key_identifier!r}: {text}") from error
        except (binascii.Error, SealaneError, ValueError) as error:
            raise FormatError(
                f"master key {master_key_identifier!r}: no encrypted data key: {error}"
            ) from error

    def _cipher(self, name: str) -> Aead:
        with self._lock:
            if name not in self._ciphers:
                self._ciphers[name] = _aead(name, find_key(self._references, name))
            return self._ciphers[name]


def check_names(keys: Mapping[str, str]) -> dict[str, str]:
    """Returns a copy of the references. Raises TypeError or ValueError if one is malformed."""
    if not isinstance(keys, Mapping):
        raise TypeError(f"expected key references by their names, found {type(keys).__name__}")
    for name, reference in keys.items():
        if not isinstance(name, str):
            raise TypeError(f"the name of a master key must be a str, not {type(name).__name__}")
        if not name or set(name) & set(":;,") or name != name.strip():
            raise ValueError(
                f"{name!r}: the name of a master key cannot be empty, contain ':', ';' or ',', or begin or "
                "end with a space"
            )
        _reference.check(reference)
    return dict(keys)


def find_key(references: Mapping[str, str], name: str) -> Key | Keyring:
    """Returns the key behind the reference of this name."""
    if not isinstance(name, str):
        raise TypeError(f"expected the name of a master key, a str, found {type(name).__name__}")
    if name not in references:
        known = ", ".join(map(repr, references)) or "none"
        text = f"there is no reference for this master key; references were given for {known}"
        raise KeyNotFoundError(f"master key {name!r}: {text}")
    return _reference.resolve(references[name])


def _aead(name: str, key: Key | Keyring) -> Aead:
    if isinstance(key, Keyring):
        try:
            return Aead(keyring=key)
        except (SealaneError, ValueError) as error:
            raise type(error)(f"master key {name!r}: {error}") from error
    return Aead(f"{checked(name, key).kind}-gcm", key)


def single_key(references: Mapping[str, str], name: str) -> Key:
    """Returns the AES key behind the reference of this name, for engines that take no keyring."""
    key = find_key(references, name)
    if isinstance(key, Keyring):
        raise ValueError(f"master key {name!r}: expected a single key, found a keyring; use PyArrow")
    return checked(name, key)


def checked(name: str, key: Key) -> Key:
    """Returns the key. Raises ValueError unless it is for AES with 128 or 256 bits."""
    if key.kind not in ("aes-128", "aes-256"):
        raise ValueError(f"master key {name!r}: expected an AES key of 16 or 32 bytes, found {key.kind}")
    return key


@forgetting
def cipher_of(key: bytes) -> Aead:
    """Returns the cipher of a data key."""
    if len(key) not in (16, 32):
        raise FormatError(f"expected a data key of 16 or 32 bytes, found {len(key)}")
    return Aead(f"aes-{8 * len(key)}-gcm", key)
