"""Wrapping keys of a PKCS#11 token: a smart card, a USB token or a hardware security module.

The native module calls the token. An AES key encrypts with AES-GCM and the context as associated
data. An RSA key encrypts the key of an envelope in the format of Tink's ``KmsEnvelopeAead``.
"""

from __future__ import annotations

from sealane._native import check_token_key, token_decrypt, token_encrypt
from sealane._wrapping_key import WrappingKey, different
from sealane.exceptions import AuthenticationError


def check(key: WrappingKey) -> None:
    """Raises ValueError unless it is an RFC 7512 URI of a key that can wrap keyrings."""
    try:
        check_token_key(key.uri())
    except ValueError as error:
        text = str(error)
    else:
        return
    raise ValueError(f"{key}: {text}")


def encrypt(key: WrappingKey, plaintext: bytes | bytearray) -> bytes:
    """Returns a keyset's ciphertext. The token has decrypted it once, for this context only."""
    return token_encrypt(key.uri(), plaintext)


def decrypt(key: WrappingKey, ciphertext: bytes) -> bytearray:
    """Returns the cleartext keyset. The caller wipes it."""
    try:
        return token_decrypt(key.uri(), ciphertext)
    except AuthenticationError:
        pass
    raise different(key)


def reencrypt(old: WrappingKey, new: WrappingKey, ciphertext: bytes) -> None:
    """Returns None: the keyset must be decrypted and encrypted again."""
