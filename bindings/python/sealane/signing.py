"""Detached signatures of files and messages, for ``ssh-keygen -Y verify`` and ``minisign -V``.

=============================  ==========================================  =====================
key                            signature                                   file beside the signed
=============================  ==========================================  =====================
OpenSSH private key (Ed25519)  SSHSIG, for a namespace                     ``.sig``
minisign secret key            minisign, prehashed, with a signed comment  ``.minisig``
=============================  ==========================================  =====================

For example::

    signature = sealane.signing.sign("app.tar.gz", "release.key")
    sealane.signing.verify("app.tar.gz", signature, "release.pub")

A signature hides nothing. To hide a message too, encrypt it and sign the result, so that the
signature is verified before anything is decrypted.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Literal, NamedTuple

from sealane._endpoints import copy, opened_source, path_of
from sealane._frames import forgetting
from sealane._native import Signature

if TYPE_CHECKING:
    from sealane._endpoints import Buffer, Path, PathOrFile, Text

__all__ = ["Verified", "sign", "verify"]


class Verified(NamedTuple):
    """What a valid signature says."""

    signer: str
    """The signer's principals in a file of allowed signers, else the fingerprint of the SSH key
    ("SHA256:…") or the number of the minisign key."""
    comment: str
    """The trusted comment of a minisign signature; empty for SSH."""


@forgetting
def sign(
    data: Buffer | PathOrFile,
    key: Path | Buffer,
    *,
    passphrase: Text | None = None,
    format: Literal["ssh", "minisign"] | None = None,
    namespace: str = "file",
    comment: str | None = None,
) -> bytes:
    """Signs a file or a message, read once. Returns the signature, the content of a file beside it.

    Parameters
    ----------
    data : bytes-like, str, os.PathLike or binary file object
        The message, the path of a file, or a file object, read to its end.
    key : str, os.PathLike or bytes-like
        The path of an OpenSSH Ed25519 private key or a minisign secret key, a reference to it such as
        "env:NAME", or its content.
    passphrase : str or bytes, optional
        The passphrase of ``key``, if encrypted.
    format : "ssh" or "minisign", optional
        The format that the signature must have. The kind of ``key`` determines it.
    namespace : str
        The purpose of an SSH signature, which is valid for no other. A minisign key has none.
    comment : str, optional
        The trusted comment of a minisign signature, one line. Default: the time.

    Raises
    ------
    FormatError
        If ``key`` is damaged, or of another kind.
    NoMatchingKeyError
        If the passphrase is wrong.
    OSError, TypeError, ValueError
        If a file cannot be read; for arguments that do not go together, such as a comment and an SSH
        key; if a passphrase is missing.

    Examples
    --------
    >>> signature = sealane.signing.sign("app.tar.gz", "release.key")
    >>> _ = pathlib.Path("app.tar.gz.sig").write_bytes(signature)
    """
    signing = Signature.sign(_named(key), passphrase, format, namespace, comment)
    _pass(data, signing.update)
    return signing.finish()[0].encode()


def verify(
    data: Buffer | PathOrFile,
    signature: Path | Buffer,
    signer: Path | Buffer,
    *,
    namespace: str = "file",
    revoked: Path | Buffer | None = None,
    at: float | None = None,
) -> Verified:
    """Verifies that an accepted signer signed a file or a message, read once.

    Parameters
    ----------
    data : bytes-like, str, os.PathLike or binary file object
        The signed message, the path of a file, or a file object, read to its end.
    signature : str, os.PathLike or bytes-like
        The path of the signature, or its content, of SSH or minisign.
    signer : str, os.PathLike or bytes-like
        The path of the accepted public keys, or their content: SSH lines ("ssh-ed25519 AAAA…"), a file
        of allowed signers of ``ssh-keygen``, or a minisign public key.
    namespace : str
        The namespace that an SSH signature must have.
    revoked : str, os.PathLike or bytes-like, optional
        Public keys that are not accepted any more, like ``signer``.
    at : float, optional
        The time, in seconds since 1970, at which the key must be valid, if a file of allowed signers
        restricts it. Default: now.

    Returns
    -------
    Verified
        Who signed, and the trusted comment.

    Raises
    ------
    AuthenticationError
        If the signature does not match the data, or was made with another key, or with one that is
        revoked, expired or for another namespace. The message says which.
    FormatError
        If ``signature`` is not a signature, or ``signer`` not a list of public keys.
    OSError, TypeError, ValueError
        If a file cannot be read, and for arguments of other types.

    Examples
    --------
    >>> sealane.signing.verify("app.tar.gz", "app.tar.gz.sig", "allowed_signers").signer
    'release@example.com'
    """
    revoked = None if revoked is None else _named(revoked)
    verifying = Signature.verify(_named(signature), _named(signer), namespace, revoked, at)
    _pass(data, verifying.update)
    return Verified(*verifying.finish())


def _named(source: Path | Buffer) -> str | Buffer:
    """Returns a path as a str, and bytes as they are."""
    return source if (path := path_of(source)) is None else path  # type: ignore[arg-type, return-value]


def _pass(data: Buffer | PathOrFile, update: Callable[[Buffer], int]) -> None:
    """Passes all of a message to ``update``, from a file piece by piece."""
    try:
        view = memoryview(data)  # type: ignore[arg-type]
    except TypeError:
        with opened_source(data) as source:  # type: ignore[arg-type]
            copy(source, update, None)
    else:
        update(view)
