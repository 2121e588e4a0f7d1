"""Encrypted checkpoints of LangGraph: a cipher for its ``EncryptedSerializer``."""

from __future__ import annotations

from sealane._fields import KeyringLike, Keys
from sealane._frames import forgetting

__all__ = ["Cipher"]


class Cipher:
    """Encrypts checkpoints with a keyring: LangGraph's ``CipherProtocol``.

    Parameters
    ----------
    keyring : Keyring, str or callable
        The keyring, a reference to it, or a function that returns it.

    Raises
    ------
    TypeError, ValueError
        If it is no keyring of an AEAD.

    Examples
    --------
    >>> ring = sealane.keys.Keyring.generate("xaes-256-gcm")
    >>> name, sealed = Cipher(ring).encrypt(b"state")
    >>> Cipher(ring).decrypt(name, sealed)
    b'state'
    """

    @forgetting
    def __init__(self, keyring: KeyringLike) -> None:
        self._keys = Keys(keyring, searchable=False)

    def encrypt(self, plaintext: bytes) -> tuple[str, bytes]:
        """Returns the name of the cipher and the encrypted ``plaintext``; LangGraph calls it."""
        return _NAME, self._keys.aead().seal(plaintext, _AAD)

    def decrypt(self, ciphername: str, ciphertext: bytes) -> bytes:
        """Returns the plaintext of ``ciphertext``, if ``ciphername`` is this cipher; LangGraph calls it.

        Raises
        ------
        AuthenticationError
            If it was changed, or encrypted with another key.
        ValueError
            If another cipher encrypted it.
        """
        if ciphername != _NAME:
            raise ValueError(f"expected a checkpoint encrypted by {_NAME!r}, found {ciphername!r}")
        return bytes(self._keys.aead().open(ciphertext, _AAD))


_NAME = "sealane"
_AAD = b"langgraph"
