"""Messages for the holder of a private key.

The key decides how:

=============  ======================================  ==================================================
key            suite                                   bytes
=============  ======================================  ==================================================
rsa-…          RSAES-OAEP (SHA-256) and AES-256-GCM    capsule[modulus] || nonce[12] || ciphertext || tag
secp256k1      ECIES as eciespy has it                 ephemeral[65] || nonce[16] || tag || ciphertext
x25519, p-256  HPKE (RFC 9180), base mode              enc[32 or 65] || ciphertext || tag
x-wing         the same with ML-KEM-768 and X25519     enc[1120] || ciphertext || tag
=============  ======================================  ==================================================

A message does not say who sent it: whoever has the public key can write.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias

from sealane import _native

if TYPE_CHECKING:
    from typing_extensions import Buffer

    from sealane._native import _PrivateLike, _PublicLike

    _Suite: TypeAlias = Literal["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"]

__all__ = [
    "ecies_decrypt",
    "ecies_encrypt",
    "hpke_open",
    "hpke_seal",
    "open",
    "rsa_open_parts",
    "seal",
]


def seal(
    public: _PublicLike, data: Buffer, aad: Buffer = b"", info: Buffer = b"", *, suite: _Suite | None = None
) -> bytes:
    """Encrypts a message for the holder of the private key.

    Parameters
    ----------
    public : sealane.keys.PublicKey or str
        Or its text: PEM, or hexadecimal digits of secp256k1.
    data : bytes-like
    aad : bytes-like
        Associated data of the cipher: not in the message, and whoever opens it needs the same.
    info : bytes-like
        What the message is for; HPKE's, and of its keys only. Whoever opens it needs the same.
    suite : str, optional
        The cipher of HPKE: "aes-256-gcm" (the default), "aes-128-gcm" or "chacha20-poly1305". The message
        does not say which.

    Raises
    ------
    FormatError
        For a text that is no public key.
    ValueError
        For a key that is not for messages (those of age are for ``sealane.encrypt``), and for ``info`` or
        ``suite`` with a key that has neither.
    """
    return _native.hybrid_seal(public, data, aad, info, suite)


def open(
    private: _PrivateLike, blob: Buffer, aad: Buffer = b"", info: Buffer = b"", *, suite: _Suite | None = None
) -> bytes:
    """Decrypts a message that ``seal`` made. See there for the parameters.

    Raises
    ------
    AuthenticationError
        For another key, other ``aad``, ``info`` or ``suite``, or a message that was changed.
    FormatError
        For a message that begins with no key of the private key's curve, or ends too early; for a text
        that is no private key.
    """
    return _native.hybrid_open(private, blob, aad, info, suite)


def ecies_encrypt(
    pk_hex: str | Buffer,
    data: Buffer,
    *,
    elliptic_curve: Literal["secp256k1", "x25519", "ed25519"] = "secp256k1",
    is_ephemeral_key_compressed: bool = False,
    is_hkdf_key_compressed: bool = False,
    symmetric_algorithm: Literal["aes-256-gcm", "xchacha20"] = "aes-256-gcm",
    symmetric_nonce_length: int = 16,
) -> bytes:
    """eciespy's ``encrypt``: its arguments, its bytes, and its configuration as keywords.

    ``pk_hex`` is hexadecimal, with or without 0x, or the bytes themselves. Raises FormatError for what is
    no public key, ValueError for a configuration that cannot be.
    """
    return _native.ecies_encrypt(
        pk_hex,
        data,
        elliptic_curve,
        is_ephemeral_key_compressed,
        is_hkdf_key_compressed,
        symmetric_algorithm,
        symmetric_nonce_length,
    )


def ecies_decrypt(
    sk_hex: str | Buffer,
    data: Buffer,
    *,
    elliptic_curve: Literal["secp256k1", "x25519", "ed25519"] = "secp256k1",
    is_ephemeral_key_compressed: bool = False,
    is_hkdf_key_compressed: bool = False,
    symmetric_algorithm: Literal["aes-256-gcm", "xchacha20"] = "aes-256-gcm",
    symmetric_nonce_length: int = 16,
) -> bytes:
    """eciespy's ``decrypt``. See ``ecies_encrypt``; the message does not say its configuration.

    Raises AuthenticationError for another key or configuration and for a changed message, FormatError for
    what is no message, ValueError for what is no private key.
    """
    return _native.ecies_decrypt(
        sk_hex,
        data,
        elliptic_curve,
        is_ephemeral_key_compressed,
        is_hkdf_key_compressed,
        symmetric_algorithm,
        symmetric_nonce_length,
    )


def rsa_open_parts(
    private: _PrivateLike,
    capsule: Buffer,
    ciphertext: Buffer,
    nonce: Buffer,
    tag: Buffer,
    *,
    oaep: Literal["sha1", "sha256", "sha384", "sha512"] = "sha1",
    aad: Buffer = b"",
) -> bytes:
    """Decrypts a message whose parts lie apart: an AES key, wrapped by RSAES-OAEP, and what AES-GCM made
    under it.

    So PyCryptodome's users write them, with a nonce of 16 bytes and SHA-1 unless told otherwise. Raises
    AuthenticationError where anything does not fit, whatever it is.
    """
    return _native.rsa_open_parts(private, capsule, ciphertext, nonce, tag, oaep, aad)


def hpke_seal(
    public: _PublicLike,
    data: Buffer,
    aad: Buffer = b"",
    info: Buffer = b"",
    *,
    suite: _Suite | None = None,
    psk: Buffer | None = None,
    psk_id: Buffer | None = None,
    sender: _PrivateLike | None = None,
) -> bytes:
    """``seal`` by HPKE in its other modes, which tell the recipient something of the sender.

    Parameters
    ----------
    psk, psk_id : bytes-like, optional
        A secret of at least 32 bytes that both sides have, and its name: whoever has it may be the sender.
    sender : sealane.keys.Key or str, optional
        The sender's private key, of the same kind as ``public``; not for x-wing.
    """
    return _native.hpke_seal(public, data, aad, info, suite, psk, psk_id, sender)


def hpke_open(
    private: _PrivateLike,
    blob: Buffer,
    aad: Buffer = b"",
    info: Buffer = b"",
    *,
    suite: _Suite | None = None,
    psk: Buffer | None = None,
    psk_id: Buffer | None = None,
    sender: _PublicLike | None = None,
) -> bytes:
    """Decrypts what ``hpke_seal`` made; ``sender`` is the sender's public key. Raises as ``open`` does."""
    return _native.hpke_open(private, blob, aad, info, suite, psk, psk_id, sender)
