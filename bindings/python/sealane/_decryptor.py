"""``sealane.Decryptor``: decryption of a file whose bytes arrive piece by piece."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sealane import _native
from sealane._native import DecryptWith

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import _FileKey as FileKey
    from sealane._native import _Identities as Identities
    from sealane._native import _Text as Text

__all__ = ["Decryptor"]


class Decryptor:
    """Decrypts an encrypted file whose bytes arrive piece by piece, for example from a socket.

    ``update`` takes a piece of any length and returns the plaintext of all chunks that are complete now.
    ``finalize`` verifies the end. Exactly one of ``key``, ``identities`` and ``passphrase`` is needed.

    .. warning::
        Every returned byte is verified, but only ``finalize`` finds out whether the end of the file is
        missing. If ``finalize`` was not called or failed, do not use the data as a complete file.

    Parameters
    ----------
    key, identities, passphrase, context, format, max_work_factor
        See ``sealane.decrypt_file``.

    Raises
    ------
    TypeError, ValueError
        If the arguments do not fit together, as for ``decrypt_file``.

    Notes
    -----
    A chunk has 16 KiB of plaintext in the default format, 64 KiB in age, and 4 KiB or 1 MiB in the formats of
    Tink. After an exception of ``update`` or ``finalize``, the object cannot be used any more.

    Examples
    --------
    >>> key = sealane.keys.generate("aes-256")
    >>> sealed = sealane.encrypt(bytes(40_000), key=key)
    >>> decryptor = sealane.Decryptor(key=key)
    >>> len(decryptor.update(sealed[:20_000]))
    16384
    >>> len(decryptor.update(sealed[20_000:]) + decryptor.finalize())
    23616
    """

    def __init__(
        self,
        *,
        key: FileKey | None = None,
        identities: Identities | None = None,
        passphrase: Text | None = None,
        context: Buffer = b"",
        format: str | None = None,
        max_work_factor: int | None = None,
    ) -> None:
        decryption = DecryptWith(
            key=key,
            identities=identities,
            passphrase=passphrase,
            context=context,
            format=format,
            max_work_factor=max_work_factor,
        )
        self._native = _native.ChunkDecryptor(decryption)

    def update(self, data: Buffer, /) -> bytes:
        """Takes the next piece of the file and returns the plaintext of the chunks that are complete now.

        Parameters
        ----------
        data : bytes-like
            A piece of any length.

        Returns
        -------
        bytes
            Verified plaintext, or no bytes if no further chunk is complete.

        Raises
        ------
        AuthenticationError
            If the key or context is another one, or the data was changed.
        NoMatchingKeyError
            If no identity matches a recipient of the file, or the passphrase is another one.
        FormatError, LimitExceededError
            As for ``sealane.decrypt_file``.
        ValueError
            If the object is finalized, or an earlier call failed.
        """
        return self._native.update(data)

    def finalize(self) -> bytes:
        """Verifies the end of the file and returns the rest of the plaintext.

        Raises
        ------
        TruncatedError
            If the end of the file is missing.
        AuthenticationError, FormatError, NoMatchingKeyError, ValueError
            As for ``update``.
        """
        return self._native.finalize()
