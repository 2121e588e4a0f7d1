"""One library's way with one kind of key: what RSA, ECIES and HPKE have in common, and the lab's keys.

Keys of the lab are made once a process and shared by all who use them, so that nobody has the luckier one.
"""

from __future__ import annotations

import base64
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sealane import keys

from sealane_lab.peers import need


@dataclass(frozen=True)
class Scheme:
    """One library's way with one kind of key, ready to be called.

    Parameters
    ----------
    key : Key
        Whose messages ``seal`` and ``open`` are.
    make : callable() -> text
        A new private key in a form that sealane reads.
    seal, open : callable
        Message to blob and back. What a blob is, is the library's affair.
    other : str
        Who reads and writes the same blobs,
    read : callable
        and how, for any key.
    send : callable, optional
        A message for a key that ``make`` made.
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
    """With the public side, which sealane would compute when it is asked for."""
    key = keys.generate(kind)
    assert key.public is not None
    return key


_MADE: dict[str, keys.Key] = {}


def made(kind: str) -> keys.Key:
    """The lab's key of a kind."""
    if kind not in _MADE:
        _MADE[kind] = new(kind)
    return _MADE[kind]


def public_of(key: keys.Key) -> keys.PublicKey:
    assert key.public is not None
    return key.public


def theirs(text: str) -> Any:
    """As a key of cryptography's."""
    return need("cryptography.hazmat.primitives.serialization").load_pem_private_key(text.encode(), None)


def pem(key: Any) -> str:
    """Of a key of cryptography's."""
    form = need("cryptography.hazmat.primitives.serialization")
    done: bytes = key.private_bytes(form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption())
    return done.decode()


def der(text: str) -> bytes:
    """What is inside a PEM."""
    return base64.b64decode("".join(text.strip().splitlines()[1:-1]))


def armoured(inside: bytes) -> str:
    """The PEM of a private key."""
    text = base64.b64encode(inside).decode()
    lines = [text[at : at + 64] for at in range(0, len(text), 64)]
    return "\n".join(["-----BEGIN PRIVATE KEY-----", *lines, "-----END PRIVATE KEY-----", ""])
