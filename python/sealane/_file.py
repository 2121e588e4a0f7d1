"""Encrypted files, whole.

The format is C2SP chunked-encryption@v1 (Cobblestone-128 or -256 by the length of the key): chunks of 16 KiB
under AES-GCM, bound to the key, their order, the end of the file and a *context*. What is read was verified.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from sealane import _native
from sealane._native import FileInfo
from sealane._open import EncryptedWriter
from sealane._places import copy, is_stream, path_of, plain, reading, writing

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import _KeyLike as KeyLike
    from sealane._places import Path, Place, Progress

__all__ = ["decrypt", "decrypt_file", "encrypt", "encrypt_file", "inspect", "verify_file"]


def encrypt_file(
    src: Place,
    dst: Place,
    *,
    key: KeyLike,
    context: Buffer = b"",
    threads: int | None = None,
    progress: Progress | None = None,
    durable: bool = False,
) -> None:
    """Encrypts the file ``src`` to the file ``dst``.

    Parameters
    ----------
    src, dst : str, os.PathLike or binary file object
        A str is always a path. A file that is named by a path appears whole or not at all. A file object is
        read from where it stands to its end, or written; it is not closed.
    key : bytes-like or sealane.keys.Key
        16 or 32 bytes, uniformly random: never a password.
    context : bytes-like
        Whoever decrypts needs the same one. It is not kept in the file.
    threads : int, optional
        From path to path; default: one a core, at most 8.
    progress : callable(done, total), optional
        Called on this thread now and then, with bytes; ``total`` is None where it is not known. What it
        raises cancels the work, leaves nothing behind, and comes out of this call.
    durable : bool
        Whether to wait for the disk before the file gets its name.

    Raises
    ------
    OSError
        With the file's name.
    ValueError
        For a key of another length, or where both are the same file, through whatever links.
    """
    if (paths := plain(src, dst)) is not None:
        return _native.encrypt_path(*paths, key, context, threads, progress, durable)
    with reading(src) as source, EncryptedWriter(dst, key, context, durable=durable) as sink:
        copy(source, sink.write, progress)


def decrypt_file(
    src: Place,
    dst: Place,
    *,
    key: KeyLike,
    context: Buffer = b"",
    threads: int | None = None,
    progress: Progress | None = None,
    durable: bool = False,
) -> None:
    """Decrypts the file ``src`` to the file ``dst``. See ``encrypt_file`` for the parameters.

    A file that is named by a path appears whole and verified, or not at all. A file object or a pipe gets
    each chunk as soon as it is verified, so a failure may come after the beginning was written.

    Raises
    ------
    AuthenticationError
        For another key, another context, or data that was changed.
    TruncatedError
        Where the file was cut.
    OSError, ValueError
        As ``encrypt_file`` does.
    """
    if (paths := plain(src, dst)) is not None:
        return _native.decrypt_path(*paths, key, context, threads, progress, durable)
    with reading(src) as source, writing(dst) as sink:
        decryptor = _native.Decryptor(sink, key, context)
        try:
            copy(source, decryptor.write, progress)
            decryptor.finish(durable)
        finally:
            decryptor.discard()


def verify_file(
    src: Place,
    *,
    key: KeyLike,
    context: Buffer = b"",
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Verifies every byte of an encrypted file and keeps none. Raises as ``decrypt_file`` does."""
    if (name := path_of(src)) is not None and not is_stream(name):
        return _native.verify_path(name, key, context, threads, progress)
    with reading(src) as source:
        decryptor = _native.Decryptor(None, key, context)
        copy(source, decryptor.write, progress)
        decryptor.finish(False)


def inspect(src: Path) -> FileInfo:
    """Tells what the size of an encrypted file says, without a key. Nothing of it is verified.

    The format has no mark of its own: any file of a fitting size looks like one. Raises TruncatedError for a
    size that no whole file has, OSError.
    """
    name = path_of(src)
    if name is None:
        raise TypeError(f"a path is needed, not {type(src).__name__}")
    if is_stream(name):
        raise io.UnsupportedOperation(f"{name!r} has no size to tell anything by")
    return _native.inspect_path(name)


def encrypt(data: Buffer, *, key: KeyLike, context: Buffer = b"") -> bytes:
    """The bytes of an encrypted file with the plaintext ``data``. See ``encrypt_file`` for the other
    parameters.
    """
    return _native.encrypt_bytes(data, key, context)


def decrypt(data: Buffer, *, key: KeyLike, context: Buffer = b"") -> bytes:
    """The plaintext of an encrypted file whose bytes are ``data``. Raises AuthenticationError,
    TruncatedError.
    """
    return _native.decrypt_bytes(data, key, context)
