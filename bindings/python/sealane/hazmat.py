"""Cryptographic primitives that are easy to misuse, for implementing existing protocols.

.. warning::
    Use ``sealane.Aead`` or ``sealane.encrypt_file`` unless you implement an existing protocol. A
    keystream does not detect modified data. Reusing a keystream or a nonce reveals the plaintexts.

==================================  ==================================================================
class                               primitive
==================================  ==================================================================
AesCtr, ChaCha20, XChaCha20         keystreams with random access: ``xor_at``, ``xor_into``,
                                    ``xor_in_place``
AeadEncryptor, AeadDecryptor        AES-GCM and ChaCha20-Poly1305 in pieces
Poly1305                            a one-time authenticator
Speck, SpeckCtr, Aead               the block cipher Speck, its counter mode, and Speck-Poly1305
==================================  ==================================================================

This decrypts 100 bytes in the middle of an AES-CTR ciphertext::

    plain = AesCtr(key, iv).xor_at(offset, ciphertext[offset : offset + 100])
"""

from sealane._native import (
    AeadDecryptor,
    AeadEncryptor,
    AesCtr,
    ChaCha20,
    Poly1305,
    Speck,
    SpeckCtr,
    XChaCha20,
)
from sealane._native import SpeckAead as Aead

__all__ = [
    "Aead",
    "AeadDecryptor",
    "AeadEncryptor",
    "AesCtr",
    "ChaCha20",
    "Poly1305",
    "Speck",
    "SpeckCtr",
    "XChaCha20",
]
