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
import os
from typing import TYPE_CHECKING, Any, SupportsIndex

from sealane._file import decrypt_file, encrypt_file
from sealane._native import Aead, Key, algorithms, generate_key
from sealane.compat._rencrypt_file import decrypt_old_file
from sealane.exceptions import AuthenticationError

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import _KeyLike as KeyLike
    from sealane._places import Path

__all__ = ["Cipher", "REncrypt"]

_NONCE, _OVERHEAD = 12, 28
_PIECE = 1 << 20
"""Bytes that are copied at once: between two pieces other Python threads have their turn."""


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


class REncrypt:
    """A cipher with a key. Safe to share between threads and after a fork.

    Parameters
    ----------
    cipher : Cipher
    key : bytes-like or sealane.keys.Key
        32 bytes, uniformly random: never a password. It is copied, and left as it is.

    Raises TypeError, and ValueError for a key of another length.
    """

    __slots__ = ("_aead", "_cipher", "_key")

    def __init__(self, cipher: Cipher, key: KeyLike) -> None:
        if not isinstance(cipher, Cipher):
            raise TypeError(f"cipher must be a Cipher, not {type(cipher).__name__}")
        self._cipher = cipher
        self._aead = Aead(cipher.value, key)
        self._key = key if isinstance(key, Key) else Key.from_bytes(key)

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self._cipher.name}>"

    def __reduce__(self) -> Any:
        raise TypeError("an REncrypt is never pickled or copied: it holds a key")

    # ---- lengths and buffers ----------------------------------------------------------------------------

    def overhead(self) -> int:
        """Bytes by which a message is longer than its plaintext: 28."""
        return self._aead.overhead

    def get_nonce_len(self) -> int:
        """Bytes of a nonce: 12."""
        return self._aead.nonce_len

    def get_tag_len(self) -> int:
        """Bytes of a tag: 16."""
        return self._aead.tag_len

    def ciphertext_len(self, plaintext_len: int) -> int:
        """Bytes of a message with so much plaintext."""
        return operator.index(plaintext_len) + _OVERHEAD

    def create_buf(self, block_len: int) -> tuple[int, int, bytearray]:
        """``block_len``, the length of a message with so much plaintext, and a buffer of that length."""
        n = operator.index(block_len)
        if n < 0:
            raise ValueError("block_len must not be negative")
        return n, n + _OVERHEAD, bytearray(n + _OVERHEAD)

    @staticmethod
    def copy_slice(src: Buffer, buf: Buffer) -> None:
        """Copies ``src`` to the start of ``buf``.

        Data that is read right into the buffer (``file.readinto(buf)``) needs no copy. Both may be parts
        of one object; two objects must not share memory. ValueError where ``buf`` is too short.
        """
        with _readable(src) as source, _writable(buf) as out:
            _part(len(source), out, 0)
            # Of one object, only a single copy is right where both overlap.
            piece = max(len(source), 1) if source.obj is out.obj else _PIECE
            for at in range(0, len(source), piece):
                end = min(at + piece, len(source))
                out[at:end] = source[at:end]

    @staticmethod
    def zeroize(arr: Buffer) -> None:
        """Writes zeros over the whole of ``arr``. TypeError where it is read-only."""
        with _writable(arr) as out:
            zeros = bytes(min(len(out), _PIECE))
            for at in range(0, len(out), _PIECE):
                end = min(at + _PIECE, len(out))
                out[at:end] = zeros[: end - at]

    # ---- in place ---------------------------------------------------------------------------------------

    def encrypt(self, buf: Buffer, plaintext_len: int, block_index: int, aad: Buffer) -> int:
        """Encrypts ``buf[:plaintext_len]`` where it lies; returns the length of the message, 28 more."""
        associated = _associated(aad, block_index)
        with _writable(buf) as out:
            n = _part(plaintext_len, out, _OVERHEAD)
            # Nothing is kept between messages, so parent and child of a fork have nothing in common.
            nonce = os.urandom(_NONCE)
            # Before the plaintext is gone: an interrupt (Ctrl-C) may come between any two lines.
            out[n + _OVERHEAD - _NONCE : n + _OVERHEAD] = nonce
            self._aead.encrypt_into(nonce, out[:n], associated, out)
        return n + _OVERHEAD

    def decrypt(self, buf: Buffer, ciphertext_len: int, block_index: int, aad: Buffer) -> int:
        """Decrypts the message ``buf[:ciphertext_len]`` where it lies; returns the plaintext's length, 28
        less.
        """
        associated = _associated(aad, block_index)
        with _writable(buf) as out:
            n = _part(ciphertext_len, out, 0)
            body = _body_len(n)
            return self._aead.decrypt_into(bytes(out[body:n]), out[:body], associated, out)

    # ---- from elsewhere into a buffer -------------------------------------------------------------------

    def encrypt_into_buf(self, plaintext: Buffer, buf: Buffer, block_index: int, aad: Buffer) -> int:
        """Encrypts ``plaintext`` to the start of ``buf``; returns the length of the message, 28 more."""
        associated = _associated(aad, block_index)
        with _readable(plaintext) as source, _writable(buf) as out:
            _part(len(source), out, _OVERHEAD)
            nonce = os.urandom(_NONCE)
            end = self._aead.encrypt_into(nonce, source, associated, out)
            out[end : end + _NONCE] = nonce
        return end + _NONCE

    def decrypt_into_buf(self, ciphertext: Buffer, buf: Buffer, block_index: int, aad: Buffer) -> int:
        """Decrypts the message ``ciphertext`` to the start of ``buf``; returns the plaintext's length, 28
        less.
        """
        associated = _associated(aad, block_index)
        with _readable(ciphertext) as message, _writable(buf) as out:
            body = _body_len(len(message))
            return self._aead.decrypt_into(bytes(message[body:]), message[:body], associated, out)

    # The names that README, code and later releases had for these two.
    encrypt_into = encrypt_to_buf = encrypt_into1 = encrypt_into_buf
    decrypt_into = decrypt_to_buf = decrypt_into1 = decrypt_into_buf
    copy_slice1 = copy_slice

    # ---- to new memory ----------------------------------------------------------------------------------

    def encrypt_from(self, plaintext: Buffer, block_index: int, aad: Buffer) -> bytearray:
        """``plaintext`` encrypted, in new memory: a bytearray, as from REncrypt 0.1.21 on."""
        with _readable(plaintext) as source:
            message = bytearray(len(source) + _OVERHEAD)
            self.encrypt_into_buf(source, message, block_index, aad)
        return message

    def decrypt_from(self, ciphertext: Buffer, block_index: int, aad: Buffer) -> bytearray:
        """The plaintext of a message, in new memory, which ``zeroize`` can wipe."""
        with _readable(ciphertext) as message:
            plaintext = bytearray(_body_len(len(message)) + _NONCE - _OVERHEAD)
            self.decrypt_into_buf(message, plaintext, block_index, aad)
        return plaintext

    encrypt_from1, decrypt_from1 = encrypt_from, decrypt_from

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


def _readable(data: Buffer) -> memoryview:
    """The bytes of ``data``. Whoever calls releases them, lest a traceback keeps a bytearray from growing."""
    view = memoryview(data)
    if view.format == "B" and view.ndim == 1 and view.c_contiguous:
        return view
    with view:
        if not view.c_contiguous:
            raise ValueError("the buffer is not contiguous")
        # A view of no bytes cannot be cast.
        return view.cast("B") if view.nbytes else memoryview(b"" if view.readonly else bytearray())


def _writable(buf: Buffer) -> memoryview:
    view = _readable(buf)
    if view.readonly:
        view.release()
        raise TypeError("the output buffer is read-only")
    return view


def _part(number: SupportsIndex, out: memoryview, more: int) -> int:
    """A number of bytes at the start of ``out`` that leave room for ``more``."""
    n = operator.index(number)
    if n < 0:
        raise ValueError("a length must not be negative")
    if n + more > len(out):
        raise ValueError(f"the buffer has {len(out)} bytes, {n + more} are needed")
    return n


def _body_len(message_len: int) -> int:
    """Bytes before the nonce. A stranger decides how long a message is: one that is too short is forged."""
    if message_len < _OVERHEAD:
        raise AuthenticationError("authentication failed")
    return message_len - _NONCE


def _associated(aad: Buffer, block_index: SupportsIndex) -> bytes:
    try:
        return b"".join((aad, operator.index(block_index).to_bytes(8, "little")))
    except OverflowError:
        raise ValueError("block_index must be from 0 to 2^64 - 1") from None
