"""Keys: generated from the operating system's random bytes, saved in files other software reads.

===================================  =================  ====================  ==============
key                                  file               with a passphrase     for recipients
===================================  =================  ====================  ==============
aes-…                                JWK (RFC 7517)     age file              age file
age, age-pq                          age text           age file              age file
keyrings                             Tink keyset, JSON  age file              age file
rsa-…, p-256, secp256k1, x25519, …   PKCS#8 in PEM      encrypted PKCS#8      age file
===================================  =================  ====================  ==============

Public keys are saved as ``age1…`` or as SPKI in PEM. ``load`` reads all of these and more, such as
JWK Sets, OpenSSH keys and binary Tink keysets. It returns a ``Key``, a ``PublicKey`` or a
``Keyring``.

A key reference tells where a key is stored and is not secret: ``"env:NAME"``, ``"file:PATH"``,
``"keyring:SERVICE/USER"``, ``"call:package.module:function"``, and for keyrings encrypted by a key
service or a token ``"aws-kms:ARN#PATH"``, ``"vault:MOUNT/KEY#PATH"`` and ``"pkcs11:URI#PATH"``.
``resolve`` returns the key.
"""

from typing import Final

from sealane._native import Key, Keyring, KeyringKey, PublicKey, derive, generate, kinds, load
from sealane._reference import resolve

__all__ = [
    "KINDS",
    "Key",
    "Keyring",
    "KeyringKey",
    "PublicKey",
    "derive",
    "generate",
    "load",
    "resolve",
]

KINDS: Final[tuple[str, ...]] = kinds()
"""The kinds of key that ``generate`` makes."""
