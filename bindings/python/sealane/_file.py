"""Encryption and decryption of whole files, and of their bytes in memory.

=====================================  ===========================================================
encrypted with                         format
=====================================  ===========================================================
``key``, also a keyring of AEAD keys    C2SP chunked-encryption@v1 (Cobblestone-128 or -256)
``key`` and ``format="tink-…"``,       Tink AES-GCM-HKDF streaming
or a keyring of such keys
``recipients``, ``passphrase``         age v1
=====================================  ===========================================================

Every format splits the plaintext into chunks and encrypts each with an AEAD. The chunks are bound
to the key, their order and the end of the file, and with a ``key`` also to a *context*. Only
verified plaintext is returned.
"""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

from sealane import _endpoints, _native
from sealane._frames import forgetting
from sealane._native import DecryptWith, EncryptWith, FileInfo
from sealane._open import EncryptedWriter

if TYPE_CHECKING:
    from sealane._endpoints import Buffer, FileKey, Identities, Path, PathOrFile, Progress, Recipients, Text


@forgetting
def encrypt_file(
    src: PathOrFile,
    dst: PathOrFile,
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
    """Encrypts the file ``src`` to the file ``dst``.

    Exactly one of ``key``, ``recipients`` and ``passphrase`` is required. A file of any size takes
    one pass and bounded memory. Between paths, several threads work on one file: one per core, at
    most 8, unless ``threads`` is given.

    Parameters
    ----------
    src, dst : str, os.PathLike or binary file object
        A str is always a path. The file at a path appears complete or not at all: after a failure,
        an existing file is unchanged. An open descriptor ("/dev/stdout", "/dev/fd/3") is written to
        at its position. A file object is read from its position to the end, or written, and is not
        closed.
    key : bytes-like, sealane.keys.Key, sealane.keys.Keyring or str
        A random key of 16 or 32 bytes, never a password. A str is a reference, such as
        "file:key.jwk"; see ``sealane.keys.resolve``.
    recipients : list of str or sealane.keys.PublicKey
        The public keys that can decrypt the file: "age1…", "age1pq1…", "ssh-ed25519 …", "ssh-rsa
        …". Post-quantum recipients (age1pq1…) cannot be mixed with others.
    passphrase : str or bytes
        The key is derived with scrypt (N = 2**18): about one second and 256 MiB per attempt.
    context : bytes-like
        Context bound to the file, such as its name or purpose; pass the same bytes to decrypt. It
        is not stored. With ``key`` only.
    format : str, optional
        With ``key``: "chunked" (the default), "tink-4kb" or "tink-1mb". Otherwise "age".
    armor : bool
        Whether to write text (base64 with a header line), a third longer. With ``recipients`` and
        ``passphrase`` only.
    threads : int, optional
        Number of threads, between paths. The default is one per core, at most 8.
    progress : callable(done, total), optional
        Called from time to time on the calling thread with numbers of bytes. ``total`` is None if
        unknown. If it raises, the call is cancelled, leaves no file behind, and raises the
        exception. A process that it forks must end in it: with several threads, returning
        aborts that process.
    durable : bool
        Whether to wait until the content is on disk before the file gets its name; for a file
        object, before the call returns.

    Raises
    ------
    OSError
        If a file cannot be read or written. ``filename`` is its path.
    TypeError
        Unless exactly one of ``key``, ``recipients`` and ``passphrase`` is given.
    ValueError
        If the key length is wrong, the recipients cannot be mixed, the passphrase is empty, a
        context is given without a key, both paths are the same file, also through links, or one is
        in an encrypted folder that describes itself: ``sealane.Folder`` writes its files.
    FormatError
        If a recipient cannot be parsed.

    Examples
    --------
    >>> key = sealane.keys.generate("aes-256")
    >>> sealane.encrypt_file("data.csv", "data.csv.sealed", key=key, context=b"reports/2026")
    >>> sealane.decrypt_file("data.csv.sealed", "copy.csv", key=key, context=b"reports/2026")

    >>> bob = sealane.keys.generate("age")
    >>> sealane.encrypt_file("data.csv", "data.csv.age", recipients=[bob.public])
    >>> sealane.decrypt_file("data.csv.age", "copy.csv", identities=[bob])
    """
    _endpoints.check_threads(threads)
    encryption = EncryptWith(key, recipients, passphrase, context, format, armor)
    if (paths := _endpoints.regular_paths(src, dst)) is not None:
        return _native.encrypt_path(*paths, encryption, threads, progress, durable)
    _endpoints.check_apart(src, dst)
    with _endpoints.opened_source(src) as source, EncryptedWriter(dst, encryption, durable=durable) as sink:
        _endpoints.copy(source, sink.write, progress)


@forgetting
def decrypt_file(
    src: PathOrFile,
    dst: PathOrFile,
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
    """Decrypts the file ``src`` to the file ``dst``.

    Exactly one of ``key``, ``identities`` and ``passphrase`` is required.

    .. warning::
        The file at a path appears complete and verified, or not at all. A file object or a pipe
        receives each chunk as soon as it is verified, so the call can fail after the beginning was
        written. If it fails, discard what was written.

    Parameters
    ----------
    src, dst : str, os.PathLike or binary file object
        As for ``encrypt_file``.
    key : bytes-like, sealane.keys.Key, sealane.keys.Keyring or str
        The key the file was encrypted with, or a reference to it.
    identities : list of sealane.keys.Key, str or os.PathLike
        Private keys, tried in order. An entry is a key of kind age or age-pq, the text of such a
        key ("AGE-SECRET-KEY-…") or of an OpenSSH private key, the path of a file with these
        (``pathlib.Path``), or a reference such as "file:me.key".
    passphrase : str or bytes
        The passphrase the file was encrypted with.
    context : bytes-like
        The context the file was encrypted with.
    format : str, optional
        With ``key``, the format the file was encrypted with. An age file is recognised by its first
        line, armored or not.
    max_work_factor : int, optional
        Largest scrypt work factor (base-2 logarithm) to accept for a passphrase. The default is 20,
        which takes 1 GiB and some seconds; each step doubles both.
    threads, progress, durable
        As for ``encrypt_file``.

    Raises
    ------
    AuthenticationError
        If the key or context is wrong, or the data was modified.
    NoMatchingKeyError
        If no identity matches a recipient of the file, or the passphrase is wrong.
    FormatError
        If the file is not an age file or its header is damaged; UnsupportedVersionError for a later
        version of the format.
    TruncatedError
        If the end of the file is missing.
    LimitExceededError
        If the file requires a larger work factor than ``max_work_factor``.
    OSError, TypeError, ValueError
        As for ``encrypt_file``.

    Examples
    --------
    >>> sealane.decrypt_file("backup.sealed", "copy.csv", key=key)
    >>> sealane.decrypt_file("backup.age", "copy.csv", identities=[pathlib.Path("alice.key")])
    """
    _endpoints.check_threads(threads)
    decryption = DecryptWith(key, identities, passphrase, context, format, max_work_factor)
    if (paths := _endpoints.regular_paths(src, dst)) is not None:
        return _native.decrypt_path(*paths, decryption, threads, progress, durable)
    _endpoints.check_apart(src, dst)
    with _endpoints.opened_source(src) as source, _endpoints.opened_sink(dst) as sink:
        decryptor = _native.Writer.decrypt(sink, decryption)
        with _endpoints.finishing(decryptor, durable):
            _endpoints.copy(source, decryptor.write, progress)


@forgetting
def verify_file(
    src: PathOrFile,
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
    """Verifies every byte of an encrypted file without writing the plaintext.

    Returns None if the whole file is authentic. The parameters and exceptions are as for
    ``decrypt_file``.

    Examples
    --------
    >>> sealane.verify_file("backup.sealed", key=key)
    """
    _endpoints.check_threads(threads)
    decryption = DecryptWith(key, identities, passphrase, context, format, max_work_factor)
    if (name := _endpoints.path_of(src)) is not None and not _endpoints.is_stream(name):
        return _native.verify_path(name, decryption, threads, progress)
    decryptor = _native.Writer.decrypt(None, decryption)
    with _endpoints.opened_source(src) as source, _endpoints.finishing(decryptor):
        _endpoints.copy(source, decryptor.write, progress)


@forgetting
def rewrap(
    src: Path,
    dst: Path | None = None,
    *,
    identities: Identities | None = None,
    passphrase: Text | None = None,
    recipients: Recipients | None = None,
    new_passphrase: Text | None = None,
    max_work_factor: int | None = None,
    progress: Progress | None = None,
    durable: bool = False,
) -> None:
    """Changes the recipients or the passphrase of an age file without decrypting its content.

    The header is replaced and all other bytes are copied. An armored file stays armored.

    .. warning::
        The content key stays the same. A former recipient can decrypt every old copy of the file,
        and the new file with the key from such a copy. To exclude a recipient, decrypt the file and
        encrypt it again.

    Parameters
    ----------
    src : str or os.PathLike
        The path of an age file.
    dst : str or os.PathLike, optional
        The path of the new file; it appears complete or not at all. By default, ``src`` is
        replaced.
    identities, passphrase
        The keys or the passphrase to decrypt ``src``, as for ``decrypt_file``. Exactly one is
        required.
    recipients, new_passphrase
        All recipients of the new file, or its passphrase, as for ``encrypt_file``. Exactly one is
        required.
    max_work_factor : int, optional
        As for ``decrypt_file``, with ``passphrase`` only.
    progress, durable
        As for ``encrypt_file``. Progress counts the bytes copied.

    Raises
    ------
    NoMatchingKeyError
        If no identity matches a recipient of the file, or the passphrase is wrong.
    FormatError, TruncatedError, LimitExceededError
        As for ``decrypt_file``.
    OSError, TypeError, ValueError
        As for ``encrypt_file``; ``ValueError`` for a pipe.

    See Also
    --------
    sealane.fs.rewrap : The same for a remote file by URL, such as on S3, without a download.

    Examples
    --------
    >>> sealane.rewrap("backup.age", identities=[alice], recipients=[alice.public, bob.public])
    """
    name, target = _endpoints.paths_of(src, src if dst is None else dst)
    keys = _native.RewrapWith(identities, passphrase, max_work_factor, recipients, new_passphrase)
    _native.rewrap_path(name, target, keys, None, progress, durable)


def inspect(src: Path, format: str | None = None) -> FileInfo:
    """Returns the format, recipients and sizes of an encrypted file, without a key.

    .. warning::
        Nothing is verified without a key. Formats with a key have no magic bytes, so any file of a
        possible size looks like one.

    Parameters
    ----------
    src : str or os.PathLike
        The path of the encrypted file.
    format : str, optional
        The format to assume unless the first line is an age file's. The default is "chunked".

    Raises
    ------
    TruncatedError
        If a complete file of the format cannot have this size.
    FormatError
        If the header is damaged.
    OSError
        If the file cannot be read.

    Examples
    --------
    >>> info = sealane.inspect("backup.age")
    >>> info.format, info.recipients, info.plaintext_len
    ('age v1', ['X25519', 'X25519'], 10)
    """
    name = _endpoints.path_of(src)
    if name is None:
        raise TypeError(f"src must be a path, not {type(src).__name__}")
    if _endpoints.is_stream(name):
        raise io.UnsupportedOperation(f"{name!r} is a stream, which has no size; inspect a regular file")
    return _native.inspect_path(name, format)


@forgetting
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
    """Encrypts ``data`` to the bytes of a file that ``encrypt_file`` would write.

    The other parameters and the exceptions are as for ``encrypt_file``.

    Examples
    --------
    >>> key = sealane.keys.generate("aes-256")
    >>> sealane.decrypt(sealane.encrypt(b"data", key=key), key=key)
    b'data'
    """
    encryption = EncryptWith(key, recipients, passphrase, context, format, armor)
    return _native.encrypt_bytes(data, encryption)


@forgetting
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
    """Returns the plaintext of an encrypted file given as bytes in ``data``.

    The other parameters and the exceptions are as for ``decrypt_file``.

    Examples
    --------
    >>> alice = sealane.keys.generate("age")
    >>> sealane.decrypt(sealane.encrypt(b"data", recipients=[alice.public]), identities=[alice])
    b'data'
    """
    decryption = DecryptWith(key, identities, passphrase, context, format, max_work_factor)
    return _native.decrypt_bytes(data, decryption)
