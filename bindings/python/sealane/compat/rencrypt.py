"""A replacement for the package rencrypt, with the calls and messages of its README of May 2024.

For example::

    from sealane.compat.rencrypt import REncrypt, Cipher

    cipher = Cipher.AES256GCM
    enc = REncrypt(cipher, cipher.generate_key())
    ciphertext = enc.encrypt_from(b"text", block_index=42, aad=b"header")
    assert enc.decrypt_from(ciphertext, block_index=42, aad=b"header") == b"text"

A message is ``ciphertext || tag[16] || nonce[12]`` under a fresh random nonce. Its associated data is ``aad``
followed by ``block_index`` as 8 bytes, little-endian, and is not part of the message.

.. warning::
    Encrypt at most 2**32 messages under one key, because the nonces are random.

Every contiguous buffer is accepted, for example a NumPy array or an ``mmap``. An argument that is not a
buffer, or an output buffer that is read-only, raises TypeError; any other invalid argument raises ValueError.
In both cases nothing is written. A message that is not authentic for the key, ``aad`` and ``block_index``
raises ``sealane.AuthenticationError``, and the output is filled with zeros.

Files have the format of ``sealane.encrypt_file``. ``decrypt_old_file`` reads the files that REncrypt wrote.
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

    from sealane._endpoints import Path
    from sealane._native import _KeyLike as KeyLike

__all__ = ["Cipher", "REncrypt"]

_NONCE, _TAG, _OVERHEAD = 12, 16, 28


class Cipher(enum.Enum):
    """The algorithms. The value of a member is the name that ``sealane.Aead`` uses.

    Examples
    --------
    >>> Cipher.AES256GCM.value, Cipher.AES256GCM.key_len()
    ('aes-256-gcm', 32)
    """

    AES256GCM = "aes-256-gcm"
    ChaCha20Poly1305 = "chacha20-poly1305"

    def key_len(self) -> int:
        """Returns the length in bytes of a key of this algorithm."""
        return next(row.key_len for row in algorithms() if row.name == self.value)

    def max_plaintext_len(self) -> int:
        """Returns the largest length in bytes that the plaintext of a message may have."""
        return next(row.max_plaintext_len for row in algorithms() if row.name == self.value)

    def generate_key(self) -> bytearray:
        """Returns a random key from the operating system. ``REncrypt.zeroize`` wipes it."""
        return bytearray(generate_key(self.value))


class REncrypt(_native.REncrypt):
    """Encryption of messages and files with one key, as the package rencrypt does it.

    Threads may share an object, and it works after ``os.fork()``. The methods for messages
    authenticate ``block_index``, a number below 2**64, and ``aad``, bytes-like data, with the message:
    decryption needs the same. ``plaintext`` and ``ciphertext`` are bytes-like, and ``buf`` is a writable
    buffer of at least ``ciphertext_len`` bytes.

    Parameters
    ----------
    cipher : Cipher
        The algorithm that encrypts and decrypts messages.
    key : bytes-like or sealane.keys.Key
        A random key of 32 bytes, never a password. It is copied and not wiped.

    Raises
    ------
    TypeError
        If an argument has another type.
    ValueError
        If the key has another length.

    Examples
    --------
    >>> cipher = Cipher.AES256GCM
    >>> renc = REncrypt(cipher, cipher.generate_key())
    >>> message = renc.encrypt_from(b"hello", 0, b"header")
    >>> renc.decrypt_from(message, 0, b"header")
    bytearray(b'hello')
    """

    # The methods for messages are native: in Python they would take longer than the encryption.

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

    # Other names of the same methods, in the README, the code and later releases of REncrypt.
    encrypt_into = encrypt_to_buf = encrypt_into1 = _native.REncrypt.encrypt_into_buf
    decrypt_into = decrypt_to_buf = decrypt_into1 = _native.REncrypt.decrypt_into_buf
    encrypt_from1 = _native.REncrypt.encrypt_from
    decrypt_from1 = _native.REncrypt.decrypt_from
    copy_slice1 = staticmethod(_native.REncrypt.copy_slice)

    # ---- lengths ----------------------------------------------------------------------------------------

    def overhead(self) -> int:
        """Returns the number of bytes by which a message is longer than its plaintext: 28."""
        return _OVERHEAD

    def get_nonce_len(self) -> int:
        """Returns the length of a nonce in bytes: 12."""
        return _NONCE

    def get_tag_len(self) -> int:
        """Returns the length of a tag in bytes: 16."""
        return _TAG

    def ciphertext_len(self, plaintext_len: int) -> int:
        """Returns the length of a message with ``plaintext_len`` bytes of plaintext."""
        return operator.index(plaintext_len) + _OVERHEAD

    def create_buf(self, block_len: int) -> tuple[int, int, bytearray]:
        """Returns ``block_len``, the length of a message with that much plaintext, and a buffer for it."""
        n = operator.index(block_len)
        if n < 0:
            raise ValueError("block_len must not be negative")
        return n, n + _OVERHEAD, bytearray(n + _OVERHEAD)

    # ---- files ------------------------------------------------------------------------------------------

    def encrypt_file(self, src: Path, dst: Path, aad: Buffer) -> None:
        """Encrypts a file as ``sealane.encrypt_file`` does, with this key and the context ``aad``.

        ``src`` and ``dst`` are paths.

        The format is C2SP chunked-encryption@v1, which uses AES-256-GCM with every cipher.
        """
        encrypt_file(src, dst, key=self._key, context=aad)

    def decrypt_file(self, src: Path, dst: Path, aad: Buffer) -> None:
        """Decrypts a file of ``encrypt_file`` as ``sealane.decrypt_file`` does, not a file of REncrypt.

        ``src`` and ``dst`` are paths, and ``aad`` is the context of the encryption.
        """
        decrypt_file(src, dst, key=self._key, context=aad)

    def decrypt_old_file(
        self, src: Path, dst: Path, aad: Buffer, *, plaintext_len: int | None = None
    ) -> None:
        """Decrypts a file that ``encrypt_file`` of REncrypt wrote, in order to migrate it.

        .. warning::
            An attacker with write access can remove any number of 131072-byte chunks from the end of the
            file; ``plaintext_len`` detects this. An attacker can also replace a chunk by the chunk at the
            same position of another file with the same key and ``aad``; only a checksum of your own detects
            this. The old format does not contain the data to detect either.

        Every other change is detected: changed bytes, chunks that are moved, repeated or missing before the
        end, and files that a crash or a full disk truncated. The file ``dst`` appears complete or not at all.
        Files whose length is a multiple of 131072 bytes are decrypted as well, although REncrypt cannot.

        Parameters
        ----------
        src, dst : str or os.PathLike
            The encrypted file and the new file.
        aad : bytes-like
            The associated data that the file was encrypted with.
        plaintext_len : int, optional
            The expected length of the plaintext.

        Raises
        ------
        AuthenticationError
            If the key or ``aad`` is another one, or the data was changed.
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
