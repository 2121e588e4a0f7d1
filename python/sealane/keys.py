"""Keys: made by the operating system's generator, wiped when dropped, kept in files that others read.

===================================  =================  ====================  ==============
key                                  file               with a passphrase     for recipients
===================================  =================  ====================  ==============
aes-…                                JWK (RFC 7517)     age file              age file
age, age-pq                          age's own text     age file              age file
rsa-…, p-256, secp256k1, x25519, …   PKCS#8 in PEM      encrypted PKCS#8      age file
===================================  =================  ====================  ==============

Public keys are kept as ``age1…`` or as SPKI in PEM.
"""

from typing import Final

from sealane._native import Key, PublicKey, TinkKeyset, derive, generate, kinds, load

__all__ = ["KINDS", "Key", "PublicKey", "TinkKeyset", "derive", "generate", "load"]

KINDS: Final[tuple[str, ...]] = kinds()
"""The kinds of key that ``generate`` makes."""
