"""REncrypt's calls and its messages, as its README printed them in May 2024.

::

    from sealane.compat.rencrypt import REncrypt, Cipher

A message is ``ciphertext || tag[16] || nonce[12]`` under a fresh random nonce. Authenticated with it, and
not in it: ``aad``, and behind it ``block_index`` as 8 bytes, little-endian. No more than 2^32 messages
under one key: the nonces are random.

Buffers are any contiguous ones, also of NumPy or ``mmap``. What cannot work is TypeError (no buffer, or a
read-only one to be written) or ValueError, before a byte is written. A message that was not made with this
key, ``aad`` and ``block_index`` is ``sealane.AuthenticationError``, and zeros are where its text would be.

Files are those of ``sealane.encrypt_file``, not the ones that REncrypt wrote: ``decrypt_old_file`` reads
those.
"""

from __future__ import annotations

import enum
import operator
from typing import TYPE_CHECKING, Self

from sealane import _native
from sealane._file import decrypt_file, encrypt_file
from sealane._native import Key, algorithms, generate_key
from sealane.compat._rencrypt_file import decrypt_old_file

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import _KeyLike as KeyLike
    from sealane._places import Path

__all__ = ["Cipher", "REncrypt"]

_NONCE, _TAG, _OVERHEAD = 12, 16, 28


class Cipher(enum.Enum):
    """What encrypts. The value is sealane's name of it."""

    AES256GCM = "aes-256-gcm"
    ChaCha20Poly1305 = "chacha20-poly1305"

    def key_len(self) -> int:
        """Bytes of a key."""
        return next(row.key_len for row in algorithms() if row.name == self.value)

    def max_plaintext_len(self) -> int:
        """The longest plaintext, in bytes."""
        return next(row.max_plaintext_len for row in algorithms() if row.name == self.value)

    def generate_key(self) -> bytearray:
        """A fresh random key from the operating system. ``REncrypt.zeroize`` wipes it."""
        return bytearray(generate_key(self.value))


class REncrypt(_native.REncrypt):
    """A cipher with a key. Safe to share between threads and after a fork.

    Parameters
    ----------
    cipher : Cipher
    key : bytes-like or sealane.keys.Key
        32 bytes, uniformly random: never a password. It is copied, and left as it is.

    Raises TypeError, and ValueError for a key of another length.
    """

    # What a message needs is in the class above, which is native: here it would take longer than the message.

    __slots__ = ("_cipher", "_key")

    _cipher: Cipher
    _key: Key

    def __new__(cls, cipher: Cipher, key: KeyLike) -> Self:
        if not isinstance(cipher, Cipher):
            raise TypeError(f"cipher must be a Cipher, not {type(cipher).__name__}")
        made = super().__new__(cls, cipher.value, key)
        made._cipher = cipher
        made._key = key if isinstance(key, Key) else Key.from_bytes(key)
        return made

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._cipher.name}>"

    # The names that README, code and later releases had for the same.
    encrypt_into = encrypt_to_buf = encrypt_into1 = _native.REncrypt.encrypt_into_buf
    decrypt_into = decrypt_to_buf = decrypt_into1 = _native.REncrypt.decrypt_into_buf
    encrypt_from1, decrypt_from1 = _native.REncrypt.encrypt_from, _native.REncrypt.decrypt_from
    copy_slice1 = staticmethod(_native.REncrypt.copy_slice)

    # ---- lengths ----------------------------------------------------------------------------------------

    def overhead(self) -> int:
        """Bytes by which a message is longer than its plaintext: 28."""
        return _OVERHEAD

    def get_nonce_len(self) -> int:
        """Bytes of a nonce: 12."""
        return _NONCE

    def get_tag_len(self) -> int:
        """Bytes of a tag: 16."""
        return _TAG

    def ciphertext_len(self, plaintext_len: int) -> int:
        """Bytes of a message with so much plaintext."""
        return operator.index(plaintext_len) + _OVERHEAD

    def create_buf(self, block_len: int) -> tuple[int, int, bytearray]:
        """``block_len``, the length of a message with so much plaintext, and a buffer of that length."""
        n = operator.index(block_len)
        if n < 0:
            raise ValueError("block_len must not be negative")
        return n, n + _OVERHEAD, bytearray(n + _OVERHEAD)

    # ---- files ------------------------------------------------------------------------------------------

    def encrypt_file(self, src: Path, dst: Path, aad: Buffer) -> None:
        """Writes what ``sealane.encrypt_file`` writes with this key and the context ``aad``: C2SP
        chunked-encryption@v1, which is AES-256-GCM whatever the cipher. See there for what is raised.
        """
        encrypt_file(src, dst, key=self._key, context=aad)

    def decrypt_file(self, src: Path, dst: Path, aad: Buffer) -> None:
        """Reads what ``encrypt_file`` wrote, and nothing that REncrypt did. See ``sealane.decrypt_file``."""
        decrypt_file(src, dst, key=self._key, context=aad)

    def decrypt_old_file(
        self, src: Path, dst: Path, aad: Buffer, *, plaintext_len: int | None = None
    ) -> None:
        """Reads a file that REncrypt's own ``encrypt_file`` wrote, to move away from it.

        **Whoever could change the file may have shortened it by any number of 131072 bytes at its end, or
        put a chunk of another file with the same key and aad in the same place, and nobody can tell.** The
        old files do not hold what would show it. With ``plaintext_len``, the file's true length, the first
        is noticed; only a checksum of your own shows the second. Everything else is noticed: changed bytes,
        chunks moved, doubled or left out before the end, files that a crash or a full disk cut off.

        ``dst`` appears whole or not at all. Files whose length is a multiple of 131072 bytes, which REncrypt
        itself could not decrypt any more, are read as well.

        Raises
        ------
        AuthenticationError
            For another key or aad, and data that was changed.
        TruncatedError
            Where the file was cut. FormatError, above it, where it is longer than ``plaintext_len``.
        ValueError
            Where both are the same file, or one is not a regular file.
        OSError
        """
        decrypt_old_file(src, dst, lambda chunk, n, index: self.decrypt(chunk, n, index, aad), plaintext_len)
