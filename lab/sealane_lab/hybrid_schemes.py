"""The common parts of RSA, ECIES and HPKE: a scheme of one library, and the keys of the lab.

The keys are generated once per process and shared by all libraries, because the speed of RSA depends on the
key.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sealane import keys

from sealane_lab.peers import require


@dataclass(frozen=True)
class Scheme:
    """Encryption for one kind of key by one library.

    Parameters
    ----------
    key : Key
        The key for ``seal`` and ``open``.
    make : callable
        Generates a private key.
    text : callable
        Returns such a key in a form that sealane reads.
    seal, open : callable
        Message to ciphertext and back. The type of the ciphertext depends on the library.
    other : str
        A peer that reads the same ciphertexts.
    read : callable
        Decryption by that peer, for any key.
    send : callable, optional
        Encrypts for a key from ``make``.
    """

    key: keys.Key
    make: Callable[[], Any]
    text: Callable[[Any], str]
    seal: Callable[[bytes], Any]
    open: Callable[[Any], bytes]
    other: str
    read: Callable[[keys.Key, Any], bytes]
    send: Callable[[Any, bytes], Any] | None = None


def new(kind: str) -> keys.Key:
    """Generates a key and computes its public key, which sealane does only on demand."""
    key = keys.generate(kind)
    assert key.public is not None
    return key


_MADE: dict[str, keys.Key] = {}


def made(kind: str) -> keys.Key:
    """Returns the key of that kind, which all libraries share."""
    if kind not in _MADE:
        _MADE[kind] = new(kind)
    return _MADE[kind]


def public_of(key: keys.Key) -> keys.PublicKey:
    """Returns the public key."""
    assert key.public is not None
    return key.public


def theirs(text: str) -> Any:
    """Loads a PEM with cryptography."""
    return require("cryptography.hazmat.primitives.serialization").load_pem_private_key(text.encode(), None)


def pem(key: Any) -> str:
    """Returns the PEM of a key of cryptography."""
    form = require("cryptography.hazmat.primitives.serialization")
    done: bytes = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    return done.decode()


def der(text: str) -> bytes:
    """Returns the DER inside a PEM."""
    return base64.b64decode("".join(text.strip().splitlines()[1:-1]))


def pkcs8_pem(der: bytes) -> str:
    """Returns the PEM of a PKCS#8 private key."""
    text = base64.b64encode(der).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----", ""])
