"""A replacement for the package rencrypt: the calls and messages of its README of May 2024.

For example::

    from sealane.compat.rencrypt import REncrypt, Cipher

    cipher = Cipher.AES256GCM
    enc = REncrypt(cipher, cipher.generate_key())
    ciphertext = enc.encrypt_from(b"text", block_index=42, aad=b"header")
    assert enc.decrypt_from(ciphertext, block_index=42, aad=b"header") == b"text"

A message is ``ciphertext || tag[16] || nonce[12]`` under a fresh random nonce. Its associated data
is ``aad`` followed by ``block_index`` as 8 bytes, little-endian, and is not part of the message.

.. warning::
    The nonces are random: encrypt at most 2**32 messages under one key.

Any contiguous buffer is accepted, such as a NumPy array or an ``mmap``. A non-buffer argument or a
read-only output buffer raises TypeError; any other invalid argument raises ValueError. In both
cases nothing is written. A message that is not authentic for the key, ``aad`` and ``block_index``
raises ``sealane.AuthenticationError``, and the output is filled with zeros.

Files have the format of ``sealane.encrypt_file``. ``decrypt_old_file`` reads files written by
REncrypt.
"""

from __future__ import annotations

import enum
import operator
from typing import TYPE_CHECKING, Self

from sealane import _native
from sealane._file import decrypt_file, encrypt_file
from sealane._frames import forgetting
from sealane._native import Key, algorithms, generate_key
from sealane.compat._rencrypt_file import decrypt_old_file

if TYPE_CHECKING:
    from sealane._endpoints import Buffer, Path
    from sealane._native import _KeyLike as KeyLike

__all__ = ["Cipher", "REncrypt"]

_NONCE, _TAG, _OVERHEAD = 12, 16, 28


class Cipher(enum.Enum):
    """The algorithms. A member's value is its name in ``sealane.Aead``.

    Examples
    --------
    >>> Cipher.AES256GCM.value, Cipher.AES256GCM.key_len()
    ('aes-256-gcm', 32)
    """

    AES256GCM = "aes-256-gcm"
    ChaCha20Poly1305 = "chacha20-poly1305"

    def key_len(self) -> int:
        """Returns the key length in bytes."""
        return next(row.key_len for row in algorithms() if row.name == self.value)

    def max_plaintext_len(self) -> int:
        """Returns the maximum plaintext length of a message in bytes."""
        return next(row.max_plaintext_len for row in algorithms() if row.name == self.value)

    def generate_key(self) -> bytearray:
        """Returns a random key from the operating system. ``REncrypt.zeroize`` wipes it."""
        return bytearray(generate_key(self.value))


class REncrypt(_native.REncrypt):
    """Encryption of messages and files with one key, like the package rencrypt.

    Threads may share an object, and it works after ``os.fork()``. The methods for messages
    authenticate ``block_index``, a number below 2**64, and ``aad``, bytes-like data, with the
    message; pass the same to decrypt. ``plaintext`` and ``ciphertext`` are bytes-like, and ``buf``
    is a writable buffer of at least ``ciphertext_len`` bytes.

    Parameters
    ----------
    cipher : Cipher
        The algorithm for messages.
    key : bytes-like or sealane.keys.Key
        A random key of 32 bytes, never a password. It is copied and not wiped.

    Raises
    ------
    TypeError
        If an argument has the wrong type.
    ValueError
        If the key length is wrong.

    Examples
    --------
    >>> cipher = Cipher.AES256GCM
    >>> renc = REncrypt(cipher, cipher.generate_key())
    >>> message = renc.encrypt_from(b"hello", 0, b"header")
    >>> renc.decrypt_from(message, 0, b"header")
    bytearray(b'hello')
    """

    # The message methods are native: in Python they would take longer than the encryption.

    __slots__ = ("_cipher", "_key")

    _cipher: Cipher
    _key: Key

    @forgetting
    def __new__(cls, cipher: Cipher, key: KeyLike) -> Self:
        if not isinstance(cipher, Cipher):
            raise TypeError(f"cipher must be a Cipher, not {type(cipher).__name__}")
        made = super().__new__(cls, cipher.value, key)
        made._cipher = cipher
        made._key = key if isinstance(key, Key) else Key.from_bytes(key)
        return made

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._cipher.name}>"

    # Other names of the same methods, from REncrypt's README, code and later releases.
    encrypt_into = encrypt_to_buf = encrypt_into1 = _native.REncrypt.encrypt_into_buf
    decrypt_into = decrypt_to_buf = decrypt_into1 = _native.REncrypt.decrypt_into_buf
    encrypt_from1 = _native.REncrypt.encrypt_from
    decrypt_from1 = _native.REncrypt.decrypt_from
    copy_slice1 = staticmethod(_native.REncrypt.copy_slice)

    # ---- lengths
    # ----------------------------------------------------------------------------------------

    def overhead(self) -> int:
        """Returns the number of bytes added to each plaintext: 28."""
        return _OVERHEAD

    def get_nonce_len(self) -> int:
        """Returns the nonce length in bytes: 12."""
        return _NONCE

    def get_tag_len(self) -> int:
        """Returns the tag length in bytes: 16."""
        return _TAG

    def ciphertext_len(self, plaintext_len: int) -> int:
        """Returns the message length for ``plaintext_len`` bytes of plaintext."""
        return operator.index(plaintext_len) + _OVERHEAD

    def create_buf(self, block_len: int) -> tuple[int, int, bytearray]:
        """Returns ``block_len``, the message length for it, and a buffer for the message."""
        n = operator.index(block_len)
        if n < 0:
            raise ValueError("block_len must not be negative")
        return n, n + _OVERHEAD, bytearray(n + _OVERHEAD)

    # ---- files
    # ------------------------------------------------------------------------------------------

    def encrypt_file(self, src: Path, dst: Path, aad: Buffer) -> None:
        """Encrypts a file like ``sealane.encrypt_file``, with this key and the context ``aad``.

        ``src`` and ``dst`` are paths.

        The format is C2SP chunked-encryption@v1, which uses AES-256-GCM with every cipher.
        """
        encrypt_file(src, dst, key=self._key, context=aad)

    def decrypt_file(self, src: Path, dst: Path, aad: Buffer) -> None:
        """Decrypts a file of ``encrypt_file``; not REncrypt's own files.

        ``src`` and ``dst`` are paths, and ``aad`` is the context from encryption.
        """
        decrypt_file(src, dst, key=self._key, context=aad)

    def decrypt_old_file(
        self, src: Path, dst: Path, aad: Buffer, *, plaintext_len: int | None = None
    ) -> None:
        """Decrypts a file written by REncrypt's ``encrypt_file``, for migration.

        .. warning::
            An attacker with write access can remove any number of 131072-byte chunks from the end
            of the file; ``plaintext_len`` detects this. An attacker can also replace a chunk with
            the chunk at the same position of another file with the same key and ``aad``; only a
            checksum of your own detects this. The old format lacks the data to detect either.

        Every other change is detected: modified bytes; chunks moved, repeated or missing before the
        end; and files truncated by a crash or a full disk. The file ``dst`` appears complete or not
        at all. Files with a multiple of 131072 bytes are decrypted as well, although REncrypt
        cannot.

        Parameters
        ----------
        src, dst : str or os.PathLike
            The encrypted file and the new file.
        aad : bytes-like
            The associated data the file was encrypted with.
        plaintext_len : int, optional
            The expected plaintext length.

        Raises
        ------
        AuthenticationError
            If the key or ``aad`` is wrong, or the data was modified.
        TruncatedError
            If the end of the file is missing.
        FormatError
            If the plaintext is longer than ``plaintext_len``.
        ValueError
            If both paths are the same file, or one is not a regular file.
        OSError
            If a file cannot be read or written.
        """
        decrypt_old_file(src, dst, lambda chunk, n, index: self.decrypt(chunk, n, index, aad), plaintext_len)
