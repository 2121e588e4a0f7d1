"""Encrypted files, whole.

=====================================  ===========================================================
encrypted with                         format
=====================================  ===========================================================
``key``                                C2SP chunked-encryption@v1 (Cobblestone-128 or -256)
``key`` and ``format="tink-…"``,       Tink AES-GCM-HKDF streaming
or a ``sealane.keys.TinkKeyset``
``recipients``, ``passphrase``         age v1
=====================================  ===========================================================

All of them are chunks under an authenticated cipher, bound to the key, their order and the end of the
file; those with a key to a *context* as well. What is read was verified.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from sealane import _native
from sealane._native import DecryptWith, EncryptWith, FileInfo
from sealane._open import EncryptedWriter
from sealane._places import copy, is_stream, path_of, plain, reading, writing

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import _FileKey as FileKey
    from sealane._native import _Identities as Identities
    from sealane._native import _Recipients as Recipients
    from sealane._native import _Text as Text
    from sealane._places import Path, Place, Progress

__all__ = ["decrypt", "decrypt_file", "encrypt", "encrypt_file", "inspect", "verify_file"]


def encrypt_file(
    src: Place,
    dst: Place,
    *,
    key: FileKey | None = None,
    recipients: Recipients | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    armor: bool = False,
    threads: int | None = None,
    progress: Progress | None = None,
    durable: bool = False,
) -> None:
    """Encrypts the file ``src`` to the file ``dst``, with exactly one of ``key``, ``recipients`` and
    ``passphrase``.

    Parameters
    ----------
    src, dst : str, os.PathLike or binary file object
        A str is always a path. A file that is named by a path appears whole or not at all. A file object is
        read from where it stands to its end, or written; it is not closed.
    key : bytes-like, sealane.keys.Key or sealane.keys.TinkKeyset
        16 or 32 bytes, uniformly random: never a password.
    recipients : list of str or sealane.keys.PublicKey
        Who can decrypt: "age1…", "age1pq1…", "ssh-ed25519 …", "ssh-rsa …". Post-quantum ones (age1pq1…)
        stand alone.
    passphrase : str or bytes
        Takes a second and 256 MiB, also of whoever guesses.
    context : bytes-like
        Whoever decrypts needs the same one. It is not kept in the file. With ``key`` only.
    format : str, optional
        With ``key``: "chunked" (the default), "tink-4kb" or "tink-1mb". Otherwise "age".
    armor : bool
        Whether the file is text, a third longer. With recipients and passphrases only.
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
    TypeError
        Unless there is exactly one of key, recipients and passphrase.
    ValueError
        For a key of another length, recipients that cannot be together, an empty passphrase, a context
        without a key, or where both are the same file, through whatever links.
    FormatError
        For a recipient that is none.
    """
    lock = EncryptWith(
        key=key, recipients=recipients, passphrase=passphrase, context=context, format=format, armor=armor
    )
    if (paths := plain(src, dst)) is not None:
        return _native.encrypt_path(*paths, lock, threads, progress, durable)
    with reading(src) as source, EncryptedWriter(dst, lock, durable=durable) as sink:
        copy(source, sink.write, progress)


def decrypt_file(
    src: Place,
    dst: Place,
    *,
    key: FileKey | None = None,
    identities: Identities | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    max_work_factor: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
    durable: bool = False,
) -> None:
    """Decrypts the file ``src`` to the file ``dst``, with exactly one of ``key``, ``identities`` and
    ``passphrase``.

    Parameters
    ----------
    identities : list of sealane.keys.Key, str or os.PathLike
        Private keys, which are tried in turn: keys of the kinds age and age-pq, the text of such a key
        ("AGE-SECRET-KEY-…") or of an OpenSSH private key, or a file with these.
    format : str, optional
        With ``key``, what ``encrypt_file`` was told. age files are known by their first line, armored or not.
    max_work_factor : int, optional
        The most work that a passphrase may ask for, as a base-2 logarithm: 20 unless you allow more,
        which is 1 GiB and some seconds. Each step doubles both.

    See ``encrypt_file`` for the others.

    A file that is named by a path appears whole and verified, or not at all. A file object or a pipe gets
    each chunk as soon as it is verified, so a failure may come after the beginning was written.

    Raises
    ------
    AuthenticationError
        For another key, another context, or data that was changed.
    NoMatchingKeyError
        Where no identity fits, and for another passphrase.
    FormatError
        For what is no age file, or has a damaged header. UnsupportedVersionError, below it, for a later
        version.
    TruncatedError
        Where the file was cut.
    LimitExceededError
        For a passphrase that asks for more work than ``max_work_factor``.
    OSError, ValueError
        As ``encrypt_file`` does.
    """
    unlock = DecryptWith(
        key=key,
        identities=identities,
        passphrase=passphrase,
        context=context,
        format=format,
        max_work_factor=max_work_factor,
    )
    if (paths := plain(src, dst)) is not None:
        return _native.decrypt_path(*paths, unlock, threads, progress, durable)
    with reading(src) as source, writing(dst) as sink:
        decryptor = _native.Decryptor(sink, unlock)
        try:
            copy(source, decryptor.write, progress)
            decryptor.finish(durable)
        finally:
            decryptor.discard()


def verify_file(
    src: Place,
    *,
    key: FileKey | None = None,
    identities: Identities | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    max_work_factor: int | None = None,
    threads: int | None = None,
    progress: Progress | None = None,
) -> None:
    """Verifies every byte of an encrypted file and keeps none. See ``decrypt_file``, also for what is
    raised.
    """
    unlock = DecryptWith(
        key=key,
        identities=identities,
        passphrase=passphrase,
        context=context,
        format=format,
        max_work_factor=max_work_factor,
    )
    if (name := path_of(src)) is not None and not is_stream(name):
        return _native.verify_path(name, unlock, threads, progress)
    with reading(src) as source:
        decryptor = _native.Decryptor(None, unlock)
        copy(source, decryptor.write, progress)
        decryptor.finish(False)


def inspect(src: Path, format: str | None = None) -> FileInfo:
    """Tells what an encrypted file and its size say, without a key. Nothing of it is verified.

    An age file is known by its first line. Anything else is taken for what ``format`` says, "chunked"
    unless told otherwise: those formats have no mark of their own, and any file of a fitting size looks
    like one. Raises TruncatedError for a size that no whole file has, FormatError for a damaged header,
    OSError.
    """
    name = path_of(src)
    if name is None:
        raise TypeError(f"a path is needed, not {type(src).__name__}")
    if is_stream(name):
        raise io.UnsupportedOperation(f"{name!r} has no size to tell anything by")
    return _native.inspect_path(name, format)


def encrypt(
    data: Buffer,
    *,
    key: FileKey | None = None,
    recipients: Recipients | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    armor: bool = False,
) -> bytes:
    """The bytes of an encrypted file with the plaintext ``data``. See ``encrypt_file`` for the other
    parameters.
    """
    lock = EncryptWith(
        key=key, recipients=recipients, passphrase=passphrase, context=context, format=format, armor=armor
    )
    return _native.encrypt_bytes(data, lock)


def decrypt(
    data: Buffer,
    *,
    key: FileKey | None = None,
    identities: Identities | None = None,
    passphrase: Text | None = None,
    context: Buffer = b"",
    format: str | None = None,
    max_work_factor: int | None = None,
) -> bytes:
    """The plaintext of an encrypted file whose bytes are ``data``. See ``decrypt_file``, also for what is
    raised.
    """
    unlock = DecryptWith(
        key=key,
        identities=identities,
        passphrase=passphrase,
        context=context,
        format=format,
        max_work_factor=max_work_factor,
    )
    return _native.decrypt_bytes(data, unlock)
