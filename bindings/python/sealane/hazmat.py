"""Raw parts. They hide nothing from whoever can change the data, and nothing at all when a keystream is used
twice.

If you are not sure that you need them, you want ``sealane.Aead`` or ``sealane.encrypt_file``.
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
