"""Keys: made by the operating system's generator, wiped when dropped, kept in files that others read.

===================================  =================  ====================  ==============
key                                  file               with a passphrase     for recipients
===================================  =================  ====================  ==============
aes-…                                JWK (RFC 7517)     age file              age file
age, age-pq                          age's own text     age file              age file
rsa-…, p-256, secp256k1, x25519, …   PKCS#8 in PEM      encrypted PKCS#8      age file
===================================  =================  ====================  ==============

Where a key is found may be said by a reference, which is no secret: ``"env:NAME"``, ``"file:PATH"``,
``"keyring:SERVICE/USER"``, ``"call:package.module:function"``. ``resolve`` follows it.

Public keys are kept as ``age1…`` or as SPKI in PEM.
"""

from typing import Final

from sealane._native import Key, PublicKey, TinkKeyset, derive, generate, kinds, load
from sealane._reference import resolve

__all__ = ["KINDS", "Key", "PublicKey", "TinkKeyset", "derive", "generate", "load", "resolve"]

KINDS: Final[tuple[str, ...]] = kinds()
"""The kinds of key that ``generate`` makes."""
