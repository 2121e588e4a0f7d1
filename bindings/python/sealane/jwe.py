"""JSON Web Encryption (RFC 7516): tokens that other software reads.

============================================  ======================================================
alg                                           key
============================================  ======================================================
dir                                           symmetric, of the length that ``enc`` needs
A128KW, A192KW, A256KW, A128GCMKW,            symmetric, of this length
A192GCMKW, A256GCMKW
ECDH-ES, ECDH-ES+A128KW, ECDH-ES+A192KW,      p-256 or x25519
ECDH-ES+A256KW
RSA-OAEP, RSA-OAEP-256, RSA-OAEP-384,         rsa-…
RSA-OAEP-512
PBES2-HS256+A128KW, PBES2-HS384+A192KW,       a password
PBES2-HS512+A256KW
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
