"""JSON Web Encryption (RFC 7516): tokens that other software reads.

============================================  ======================================================
alg                                           key
============================================  ======================================================
dir                                           symmetric, of the length that ``enc`` needs
A128KW, A256KW, A128GCMKW, A192GCMKW,         symmetric, of this length
A256GCMKW
ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A256KW       p-256 or x25519
RSA-OAEP, RSA-OAEP-256, RSA-OAEP-384,         rsa-…
RSA-OAEP-512
PBES2-HS256+A128KW, PBES2-HS512+A256KW        a password
============================================  ======================================================

For example::

    key = sealane.keys.generate("aes-256")
    token = sealane.jwe.encrypt(b"text", key, alg="dir", enc="A256GCM")
    assert sealane.jwe.decrypt(token, key) == b"text"

A token names its algorithms, but the key decides: by its type and length, and by its own ``alg``
and ``use``. ``algorithms=`` accepts fewer.

.. warning::
    With a public key, anybody can write a token: ``decrypt`` does not say who did.
"""

from sealane._native import decrypt, encrypt

__all__ = ["decrypt", "encrypt"]
