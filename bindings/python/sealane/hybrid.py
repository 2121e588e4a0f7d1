"""Hybrid encryption: messages encrypted to a public key.

A fresh symmetric key encrypts the message, and the public key encrypts or derives that key. The
public key's kind selects the suite:

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
    A message does not authenticate its sender: the public key suffices to write one. ``hpke_seal``
    with ``sender`` or ``psk`` authenticates the sender to the recipient.
"""

from sealane._native import ecies_decrypt, ecies_encrypt, hpke_open, hpke_seal, open, rsa_open_parts, seal

__all__ = [
    "ecies_decrypt",
    "ecies_encrypt",
    "hpke_open",
    "hpke_seal",
    "open",
    "rsa_open_parts",
    "seal",
]
