"""Undoing with one library what another did. A library never confirms itself.

Whatever does not come back as the very same bytes is Wrong, and is not timed.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sealane

from sealane_lab.model import OURS, Room, Wrong
from sealane_lab.peers import here, need

Bytes = bytes | bytearray

KEY = bytes(range(32))
"""Keys of the lab are no secrets: they lie in tables and messages, and nothing real is encrypted."""

NONCE = bytes(range(100, 112))


def key_of(algorithm: str) -> bytes:
    return KEY[: next(row.key_len for row in sealane.algorithms() if row.name == algorithm)]


def nonce_of(algorithm: str) -> bytes:
    """NONCE where that is long enough."""
    length = next(row.nonce_len for row in sealane.algorithms() if row.name == algorithm)
    return (NONCE * 3)[:length]


def _ours(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    return sealane.Aead(algorithm, key_of(algorithm)).decrypt(nonce, sealed, None)


def _cryptography(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    aead = need("cryptography.hazmat.primitives.ciphers.aead")
    opened: bytes = getattr(aead, _CRYPTOGRAPHY[algorithm])(key_of(algorithm)).decrypt(nonce, sealed, None)
    return opened


def _pycryptodome(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    aes = need("Crypto.Cipher.AES")
    cipher = aes.new(key_of(algorithm), aes.MODE_GCM, nonce=nonce)
    opened: bytes = cipher.decrypt_and_verify(bytes(sealed[:-16]), bytes(sealed[-16:]))
    return opened


def _pynacl(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    """Also for long nonces."""
    open_ = getattr(need("nacl.bindings"), _PYNACL[algorithm])
    opened: bytes = open_(bytes(sealed), b"", bytes(nonce), key_of(algorithm))
    return opened


def _pyaegis(algorithm: str, nonce: Bytes, sealed: Bytes) -> bytes:
    cipher = getattr(need("pyaegis"), _PYAEGIS[algorithm])(tag_size=16)
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
    room: Room, algorithm: str, sealed: Bytes, *, by_other_than: str, nonce: Bytes | None = None
) -> str:
    """Who confirmed that ``sealed`` (ciphertext and tag) is the room's message; "" if nobody here can.

    Raises Wrong.
    """
    nonce = nonce_of(algorithm) if nonce is None else nonce
    for name, algorithms, open_ in _REFEREES:
        if name == by_other_than or (algorithms is not None and algorithm not in algorithms):
            continue
        if here(name).version is not None:
            return _looked(room, algorithm, nonce, sealed, name, open_)
    _looked(room, algorithm, nonce, sealed, OURS, _ours)  # Better than nothing, but it confirms nothing.
    return ""


def _looked(room: Room, algorithm: str, nonce: Bytes, sealed: Bytes, name: str, open_: _Open) -> str:
    try:
        message = open_(algorithm, nonce, sealed)
    except Exception as error:
        raise Wrong(f"{name} cannot open it: {error}") from error
    return same(room.plain, message, name)


def same(wanted: Bytes, got: Any, who: str) -> str:
    """``who``, if both are the same bytes. Raises Wrong."""
    # Not compared as memoryviews: that goes byte by byte.
    if wanted != (got if isinstance(got, bytes | bytearray) else bytes(got)):
        raise Wrong(f"{who} gets other bytes")
    return who


def sealed(room: Room, algorithm: str) -> bytes:
    """The room's message as ciphertext and tag, made by sealane: for others to open."""
    return bytes(
        room.once(
            ("sealed", algorithm),
            lambda: sealane.Aead(algorithm, key_of(algorithm)).encrypt(NONCE, room.plain, None),
        )
    )
