"""Encrypted datasets of LitData: what its ``optimize`` and ``StreamingDataset`` take as ``encryption``."""

from __future__ import annotations

from typing import Any, Literal

from sealane._fields import Keys
from sealane._frames import forgetting

__all__ = ["Encryption"]


class Encryption:
    """Encrypts samples or chunks with a keyring. LitData pickles it into its workers.

    Parameters
    ----------
    reference : str
        A reference to the keyring, such as "file:PATH". Each worker resolves it; keys are never pickled.
    level : {"sample", "chunk"}
        What is encrypted as a whole, as for LitData's ``FernetEncryption``.

    Raises
    ------
    TypeError, ValueError
        If it is no reference, or leads to no keyring of an AEAD.

    Examples
    --------
    >>> sealane.keys.Keyring.generate("xaes-256-gcm").save("data.json")
    >>> encryption = Encryption("file:data.json")
    >>> encryption.decrypt(encryption.encrypt(b"sample"))
    b'sample'
    """

    algorithm = "sealane"

    @forgetting
    def __init__(self, reference: str, level: Literal["sample", "chunk"] = "sample") -> None:
        if not isinstance(reference, str):
            raise TypeError(f"reference: expected a key reference, found {type(reference).__name__}")
        if level not in ("sample", "chunk"):
            raise ValueError("level: expected 'sample' or 'chunk'")
        self._reference, self.level = reference, level
        self._keys = Keys(reference, searchable=False)

    def __reduce__(self) -> Any:
        return Encryption, (self._reference, self.level)

    def encrypt(self, data: bytes) -> bytes:
        """Returns the encrypted data; LitData calls it."""
        return bytes(self._keys.aead().seal(data, _AAD))

    def decrypt(self, data: bytes) -> bytes:
        """Returns the data, or raises AuthenticationError; LitData calls it."""
        return bytes(self._keys.aead().open(data, _AAD))

    def state_dict(self) -> dict[str, str]:
        """Returns what LitData writes to the dataset's index."""
        return {"algorithm": self.algorithm, "level": self.level}


_AAD = b"litdata"
