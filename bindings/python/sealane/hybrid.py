"""Hybrid encryption: messages that are encrypted to a public key.

A fresh symmetric key encrypts the message, and the public key encrypts or derives that key. The kind of the
public key selects the suite:

=============  =======================================  ======================================================
key            suite                                    bytes
=============  =======================================  ======================================================
rsa-…          RSAES-OAEP (SHA-256) with AES-256-GCM    wrapped_key[modulus] || nonce[12] || ciphertext || tag
secp256k1      ECIES, compatible with eciespy           ephemeral[65] || nonce[16] || tag || ciphertext
x25519, p-256  HPKE (RFC 9180), base mode               enc[32 or 65] || ciphertext || tag
x-wing         HPKE with X-Wing (ML-KEM-768 + X25519)   enc[1120] || ciphertext || tag
=============  =======================================  ======================================================

For example::

    key = sealane.keys.generate("x25519")
    message = sealane.hybrid.seal(key.public, b"text")
    assert sealane.hybrid.open(key, message) == b"text"

.. warning::
    A message does not authenticate its sender, because the public key suffices to write one. ``hpke_seal``
    with ``sender`` or ``psk`` authenticates the sender to the recipient.
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
    """Encrypts a message to a public key, so that only the private key decrypts it.

    Parameters
    ----------
    public : sealane.keys.PublicKey or str
        The public key, or its text: PEM, or the hexadecimal digits of a secp256k1 key.
    data : bytes-like
        The plaintext of the message, which is encrypted as a whole.
    aad : bytes-like
        Associated data, which is authenticated but not part of the result. Opening needs the same.
    info : bytes-like
        The application information of HPKE (RFC 9180, section 5), for the keys that use HPKE. Opening needs
        the same.
    suite : str, optional
        The AEAD of HPKE: "aes-256-gcm" (the default), "aes-128-gcm" or "chacha20-poly1305". It is not part
        of the message. Opening needs the same.

    Raises
    ------
    FormatError
        If the text is not a public key.
    ValueError
        If the key has a kind that does not encrypt messages (age and SSH keys are for ``sealane.encrypt``),
        or ``info`` or ``suite`` is given for a key without HPKE.
    """
    return _native.hybrid_seal(public, data, aad=aad, info=info, suite=suite)


def open(
    private: _PrivateLike, blob: Buffer, aad: Buffer = b"", info: Buffer = b"", *, suite: _Suite | None = None
) -> bytes:
    """Decrypts a message that ``seal`` returned.

    Parameters
    ----------
    private : sealane.keys.Key or str
        The private key of the recipient, or its text.
    blob : bytes-like
        The encrypted message.
    aad, info, suite
        As for ``seal``.

    Raises
    ------
    AuthenticationError
        If the key, ``aad``, ``info`` or ``suite`` is another one, or the message was changed.
    FormatError
        If the message does not begin with a public key of the curve, or is too short; if the text is not a
        private key.
    """
    return _native.hybrid_open(private, blob, aad=aad, info=info, suite=suite)


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
    """Encrypts a message as ``encrypt`` of eciespy does.

    The arguments and the bytes are those of eciespy. The keywords are its configuration, with its defaults.

    Parameters
    ----------
    pk_hex : str or bytes-like
        The public key: hexadecimal digits, with or without 0x, or bytes.
    data : bytes-like
        The plaintext of the message, which is encrypted as a whole.

    Raises
    ------
    FormatError
        If ``pk_hex`` is not a public key of the curve.
    ValueError
        If ``pk_hex`` is not hexadecimal, or the configuration is not possible.
    """
    return _native.ecies_encrypt(
        pk_hex,
        data,
        elliptic_curve=elliptic_curve,
        is_ephemeral_key_compressed=is_ephemeral_key_compressed,
        is_hkdf_key_compressed=is_hkdf_key_compressed,
        symmetric_algorithm=symmetric_algorithm,
        symmetric_nonce_length=symmetric_nonce_length,
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
    """Decrypts a message as ``decrypt`` of eciespy does.

    The keywords are the configuration that the message was encrypted with, which is not part of the message.

    Raises
    ------
    AuthenticationError
        If the key or the configuration is another one, or the message was changed.
    FormatError
        If the message is too short or does not begin with a public key.
    ValueError
        If ``sk_hex`` is not a private key of the curve, or the configuration is not possible.
    """
    return _native.ecies_decrypt(
        sk_hex,
        data,
        elliptic_curve=elliptic_curve,
        is_ephemeral_key_compressed=is_ephemeral_key_compressed,
        is_hkdf_key_compressed=is_hkdf_key_compressed,
        symmetric_algorithm=symmetric_algorithm,
        symmetric_nonce_length=symmetric_nonce_length,
    )


def rsa_open_parts(
    private: _PrivateLike,
    wrapped_key: Buffer,
    ciphertext: Buffer,
    nonce: Buffer,
    tag: Buffer,
    *,
    oaep: Literal["sha1", "sha256", "sha384", "sha512"] = "sha1",
    aad: Buffer = b"",
) -> bytes:
    """Decrypts an RSA and AES-GCM message whose parts are stored separately.

    PyCryptodome programs usually store them so, with a nonce of 16 bytes and SHA-1 by default.

    Parameters
    ----------
    private : sealane.keys.Key or str
        The RSA private key, or its text.
    wrapped_key : bytes-like
        The AES key, encrypted with RSAES-OAEP.
    ciphertext, nonce, tag : bytes-like
        The output of AES-GCM.
    oaep : str
        The hash of RSAES-OAEP: "sha1", "sha256", "sha384" or "sha512".
    aad : bytes-like
        The associated data of AES-GCM.

    Raises
    ------
    AuthenticationError
        If any part is not authentic. The error does not say which.
    """
    return _native.rsa_open_parts(
        private, wrapped_key=wrapped_key, ciphertext=ciphertext, nonce=nonce, tag=tag, oaep=oaep, aad=aad
    )


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
    """Encrypts a message with HPKE (RFC 9180) in any of its modes.

    Without ``psk`` and ``sender`` it is the base mode, which ``seal`` uses as well. The other parameters and
    the exceptions are those of ``seal``.

    Parameters
    ----------
    psk, psk_id : bytes-like, optional
        A pre-shared key of at least 32 random bytes and its identifier. The recipient learns that the sender
        has the pre-shared key.
    sender : sealane.keys.Key or str, optional
        The private key of the sender, of the same kind as ``public``; not possible with x-wing. The recipient
        learns that the sender has this key.
    """
    return _native.hpke_seal(
        public, data, aad=aad, info=info, suite=suite, psk=psk, psk_id=psk_id, sender=sender
    )


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
    """Decrypts a message that ``hpke_seal`` returned.

    ``sender`` is the public key of the sender. The exceptions are those of ``open``.
    """
    return _native.hpke_open(
        private, blob, aad=aad, info=info, suite=suite, psk=psk, psk_id=psk_id, sender=sender
    )
