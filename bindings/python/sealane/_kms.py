"""Data keys encrypted (wrapped) by a key service or a hardware token.

A dataset has its own keyring. It lies beside the data as a Tink encrypted keyset: only the service
can decrypt it, with the *wrapping key*, which never leaves the service.

=====================================  ==========================================================
reference                              wrapping key
=====================================  ==========================================================
``aws-kms:ARN?context=TEXT#PATH``      a key of AWS KMS (package ``boto3``)
``vault:MOUNT/KEY?context=TEXT#PATH``  a key of a Transit engine of HashiCorp Vault (package ``hvac``)
``pkcs11:URI?context=TEXT#PATH``       a key of a PKCS#11 token, with a URI of RFC 7512
=====================================  ==========================================================

PATH is where the encrypted keyset is. The context is optional and public, percent-encoded where a
URI needs it; the keyset is bound to it. A reference without ``#PATH`` names the wrapping key alone.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable
from typing import Final, Protocol, TypeVar

from sealane import _native
from sealane._frames import forgetting
from sealane._native import Keyring
from sealane._services import aws_kms, pkcs11, vault
from sealane._wrapping_key import MAX_PLAINTEXT, WrappingKey, shown
from sealane.exceptions import FormatError, KeyServiceError, LimitExceededError, SealaneError

TIME_LIMIT: Final = 300.0
"""Seconds a process keeps a decrypted keyring before it asks the service again."""

_MAX_ENTRIES: Final = 64

_T = TypeVar("_T")
_R = TypeVar("_R")


class Service(Protocol):
    """A client for a service. Its SealaneErrors begin with the key's name."""

    def check(self, key: WrappingKey) -> None:
        """Raises ValueError if no key can have this name."""

    def encrypt(self, key: WrappingKey, plaintext: bytes | bytearray) -> bytes:
        """Returns a keyset's ciphertext. The caller wipes the keyset."""

    def decrypt(self, key: WrappingKey, ciphertext: bytes) -> bytes | bytearray:
        """Returns the cleartext keyset. If it is a bytearray, the caller wipes it."""

    def reencrypt(self, old: WrappingKey, new: WrappingKey, ciphertext: bytes) -> bytes | None:
        """Returns a ciphertext under another key, or None if the service must decrypt to do so."""


_SERVICES: Final[dict[str, Service]] = {"aws-kms": aws_kms, "vault": vault, "pkcs11": pkcs11}
SCHEMES: Final = tuple(_SERVICES)


def parse(reference: str) -> tuple[WrappingKey, str]:
    """Returns the wrapping key and the keyset's location, "" if the reference has none.

    Raises ValueError if the reference is malformed. The message contains the reference without a
    PIN.
    """
    scheme, _, rest = reference.partition(":")
    rest, _, place = rest.partition("#")
    name, _, query = rest.partition("?")
    context = b""
    options = []
    for part in query.split("&") if query else []:
        word, equals, value = part.partition("=")
        if scheme == "pkcs11" and word != "context":
            options.append(part)
            continue
        if word != "context" or not equals or context or not value:
            raise ValueError(f"{shown(reference)}: expected ?context=TEXT, found another query")
        from urllib.parse import unquote_to_bytes

        context = unquote_to_bytes(value)
    key = WrappingKey(scheme, name, context, "&".join(options))
    _SERVICES[key.scheme].check(key)
    return key, place


def parse_wrapping_key(reference: str) -> WrappingKey:
    """Returns the wrapping key of a reference without a location."""
    if not isinstance(reference, str):
        raise TypeError(f"expected a reference to a wrapping key, a str, found {type(reference).__name__}")
    if reference.partition(":")[0] not in SCHEMES:
        known = ", ".join(f"{name}:" for name in SCHEMES)
        raise ValueError(f"a reference to a wrapping key begins with one of {known}")
    key, place = parse(reference)
    if place:
        raise ValueError(f"{key}: expected the wrapping key alone, found the place of a keyset as well")
    return key


@forgetting
def unwrapped(key: WrappingKey, content: bytes, file: str | None) -> tuple[Keyring, float]:
    """Returns an encrypted keyset's keyring, and until when (monotonic clock) to use it.

    The service is asked once per process and time limit, even by several threads at a time.

    Parameters
    ----------
    content : bytes
        The encrypted keyset.
    file : str, optional
        The local file with the keyset; it is never overwritten.
    """
    ciphertext = _ciphertext(key, content)
    at = (key, ciphertext, file)
    with _guard:
        now = time.monotonic()
        for old in [name for name, entry in _entries.items() if entry.until <= now]:
            del _entries[old]
        if at not in _entries and len(_entries) >= _MAX_ENTRIES:
            del _entries[next(iter(_entries))]
        entry = _entries.setdefault(at, _Entry())
    with entry.lock:
        if entry.ring is None or entry.until <= time.monotonic():
            entry.ring = None
            entry.ring = _parse(key, _decrypted(key, ciphertext), file)
            entry.until = time.monotonic() + TIME_LIMIT
        return _native.duplicate_keyring(entry.ring), entry.until


@forgetting
def cleartext(key: WrappingKey, content: bytes) -> bytes | bytearray:
    """Returns the cleartext keyset in an encrypted keyset."""
    return _decrypted(key, _ciphertext(key, content))


@forgetting
def wrapped(key: WrappingKey, ring: Keyring) -> bytes:
    """Returns a keyring's encrypted keyset. It was decrypted once, so we know the service can."""
    plaintext = _native.cleartext_keyset(ring)
    try:
        return _native.encrypted_keyset(ring, _round_trip(key, plaintext, "keyring"))
    finally:
        del ring  # An error keeps its frames.


def _round_trip(key: WrappingKey, plaintext: bytearray, what: str) -> bytes:
    """Returns a ciphertext that the service decrypts. Wipes the plaintext."""
    try:
        if (length := len(plaintext)) > MAX_PLAINTEXT:
            raise LimitExceededError(
                f"{key}: the {what} has {length} bytes, and key services encrypt {MAX_PLAINTEXT}; "
                "use fewer keys"
            )
        ciphertext = _asked(_SERVICES[key.scheme].encrypt, key, plaintext)
        again = _decrypted(key, ciphertext)
        equal = again == plaintext
        _wipe(again)
        del again
    finally:
        _wipe(plaintext)
    if not equal:
        raise KeyServiceError(f"{key}: the service decrypts something else than it encrypted")
    return ciphertext


@forgetting
def wrapped_keyset(name: str, keyset: bytearray) -> bytes:
    """Returns the ciphertext of a folder's keyset by the wrapping key ``name``. Wipes the keyset."""
    return _round_trip(parse_wrapping_key(name), keyset, "keyset")


@forgetting
def unwrapped_keyset(name: str, ciphertext: bytearray) -> bytes | bytearray:
    """Returns the cleartext keyset of a folder."""
    return _decrypted(parse_wrapping_key(name), bytes(ciphertext))


@forgetting
def rewrapped(
    old: WrappingKey, new: WrappingKey, content: bytes, check: Callable[[Keyring], object]
) -> tuple[bytes, str]:
    """Returns an encrypted keyset with the same keys under another wrapping key, and the
    fingerprint. ``check`` raises an exception for a wrong keyring.

    The result was decrypted once, because it replaces the only copy of the keys.
    """
    ciphertext = _ciphertext(old, content)
    replacement = None
    if old.scheme == new.scheme:
        replacement = _SERVICES[old.scheme].reencrypt(old, new, ciphertext)
    if replacement is None:
        # With random bytes: a refusal must come before there is a cleartext keyset.
        _round_trip(new, bytearray(os.urandom(16)), "key")
        ring = _parse(old, _decrypted(old, ciphertext), None)
        check(ring)
        fingerprint = ring.fingerprint
        try:
            result = wrapped(new, ring)
        finally:
            del ring  # An error keeps its frames.
    else:
        ring = _parse(new, _decrypted(new, replacement), None)
        check(ring)
        result, fingerprint = _native.encrypted_keyset(ring, replacement), ring.fingerprint
    import json

    # The key identifiers are in cleartext. Tink may leave them out.
    before = json.loads(_native.replace_keyset_ciphertext(content, ciphertext))
    if before.get("keysetInfo") not in (None, json.loads(result)["keysetInfo"]):
        raise KeyServiceError(f"{new}: the service returned another keyset than the one in the file")
    return result, fingerprint


def _decrypted(key: WrappingKey, ciphertext: bytes) -> bytes | bytearray:
    return _asked(_SERVICES[key.scheme].decrypt, key, ciphertext)


def _asked(call: Callable[[WrappingKey, _T], _R], key: WrappingKey, data: _T) -> _R:
    """Calls a service. No frame of its error holds a keyset: those of its client do."""
    try:
        return call(key, data)
    except BaseException as error:
        error.__context__ = error.__cause__ = None
        failure = error.with_traceback(None)
    try:
        raise failure
    finally:
        del data, failure


class _Entry:
    """A keyring, and the lock of the thread asking the service for it."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.ring: Keyring | None = None
        self.until = float("inf")


_guard = threading.Lock()
_entries: dict[tuple[WrappingKey, bytes, str | None], _Entry] = {}


def _forget() -> None:
    """Clears the state in a forked child, which must inherit neither keys nor a held lock."""
    global _guard
    _guard = threading.Lock()
    _entries.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)


def _ciphertext(key: WrappingKey, content: bytes) -> bytes:
    try:
        return _native.keyset_ciphertext(content)
    except FormatError as error:
        text = str(error)
    raise FormatError(f"{key}: {text}")


def _wipe(secret: bytes | bytearray) -> None:
    """Overwrites a secret; only possible for a bytearray."""
    if isinstance(secret, bytearray):
        secret[:] = bytes(len(secret))


def _parse(key: WrappingKey, plaintext: bytes | bytearray, file: str | None) -> Keyring:
    """Parses and wipes a cleartext keyset. No frame of an error holds the keyset."""
    try:
        if isinstance(found := _native.parse_key(plaintext, file=file), Keyring):
            return found
        text = "expected a Tink keyset, found another kind of key"
    except (SealaneError, ValueError) as error:
        text = str(error)
    finally:
        _wipe(plaintext)
    del plaintext
    raise FormatError(f"{key}: the decrypted keyset cannot be used: {text}")
