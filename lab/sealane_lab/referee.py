"""Checks the output of one library with another one. No library confirms its own output.

If decryption does not return the original bytes, WrongOutput is raised and the contender is not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sealane

from sealane_lab.model import OURS, Workspace, WrongOutput
from sealane_lab.peers import find, require

Bytes = bytes | bytearray

KEY = bytes(range(32))
"""The key of all measurements. It is not secret: the lab encrypts no real data."""

NONCE = bytes(range(100, 112))


def key_of(algorithm: str) -> bytes:
    """Returns as much of KEY as the algorithm takes."""
    return KEY[: next(entry.key_len for entry in sealane.algorithms() if entry.name == algorithm)]


def nonce_of(algorithm: str) -> bytes:
    """Returns NONCE, repeated if the algorithm takes a longer nonce."""
    length = next(entry.nonce_len for entry in sealane.algorithms() if entry.name == algorithm)
    return (NONCE * 3)[:length]


def _ours(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    return sealane.Aead(algorithm, key_of(algorithm)).decrypt(nonce, sealed, None)


def _cryptography(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    aead = require("cryptography.hazmat.primitives.ciphers.aead")
    opened: bytes = getattr(aead, _CRYPTOGRAPHY[algorithm])(key_of(algorithm)).decrypt(nonce, sealed, None)
    return opened


def _pycryptodome(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    aes = require("Crypto.Cipher.AES")
    cipher = aes.new(key_of(algorithm), aes.MODE_GCM, nonce=nonce)
    opened: bytes = cipher.decrypt_and_verify(bytes(sealed[:-16]), bytes(sealed[-16:]))
    return opened


def _pynacl(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    """Decrypts with either nonce length."""
    open_ = getattr(require("nacl.bindings"), _PYNACL[algorithm])
    opened: bytes = open_(bytes(sealed), b"", bytes(nonce), key_of(algorithm))
    return opened


def _pyaegis(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    cipher = getattr(require("pyaegis"), _PYAEGIS[algorithm])(tag_size=16)
    opened: bytes = cipher.decrypt(key_of(algorithm), bytes(nonce), bytes(sealed))
    return opened


_GCM = ("aes-128-gcm", "aes-192-gcm", "aes-256-gcm")
_CRYPTOGRAPHY = {
    **dict.fromkeys(_GCM, "AESGCM"),
    "aes-128-gcm-siv": "AESGCMSIV",
    "aes-256-gcm-siv": "AESGCMSIV",
    "chacha20-poly1305": "ChaCha20Poly1305",
}
_PYNACL = {
    "xchacha20-poly1305": "crypto_aead_xchacha20poly1305_ietf_decrypt",
    "chacha20-poly1305": "crypto_aead_chacha20poly1305_ietf_decrypt",
}
_PYAEGIS = {
    f"aegis-{name}": f"Aegis{name.upper()}" for name in ("128l", "128x2", "128x4", "256", "256x2", "256x4")
}

_Open = Callable[[str, Bytes, Bytes], bytes]
_REFEREES: tuple[tuple[str, frozenset[str] | None, _Open], ...] = (
    (OURS, None, _ours),
    ("cryptography", frozenset(_CRYPTOGRAPHY), _cryptography),
    ("pycryptodome", frozenset(_GCM), _pycryptodome),
    ("PyNaCl", frozenset({"xchacha20-poly1305", "chacha20-poly1305"}), _pynacl),
    ("pyaegis", frozenset(_PYAEGIS), _pyaegis),
)


def opened(
    workspace: Workspace, algorithm: str, sealed: Bytes, *, by_other_than: str, nonce: Bytes | None = None
) -> str:
    """Decrypts ``sealed`` (ciphertext and tag) and compares the result with the message of the workspace.

    Returns the name of the library that decrypted it, or "" if only sealane is installed. Raises WrongOutput.
    """
    nonce = nonce_of(algorithm) if nonce is None else nonce
    for name, algorithms, open_ in _REFEREES:
        if name == by_other_than or (algorithms is not None and algorithm not in algorithms):
            continue
        if find(name).version is not None:
            return _confirm(workspace, algorithm, nonce, sealed, name, open_)
    _confirm(
        workspace, algorithm, nonce, sealed, OURS, _ours
    )  # Finds wrong output, but is no independent confirmation.
    return ""


def _confirm(
    workspace: Workspace, algorithm: str, nonce: Bytes, sealed: Bytes, name: str, open_: _Open
) -> str:
    try:
        message = open_(algorithm, nonce, sealed)
    except Exception as error:
        raise WrongOutput(f"{name} cannot open it: {error}") from error
    return same(workspace.plain, message, name)


def same(expected: Bytes, found: Any, library: str) -> str:
    """Returns ``library`` if both are the same bytes. Raises WrongOutput."""
    # bytes() because memoryviews compare byte by byte.
    if expected != (found if isinstance(found, bytes | bytearray) else bytes(found)):
        raise WrongOutput(f"{library} gets other bytes")
    return library


def sealed(workspace: Workspace, algorithm: str) -> bytes:
    """Returns ciphertext and tag of the message, made by sealane, for other libraries to decrypt."""
    return bytes(
        workspace.once(
            ("sealed", algorithm),
            lambda: sealane.Aead(algorithm, key_of(algorithm)).encrypt(NONCE, workspace.plain, None),
        )
    )
