"""Decryption of a libsodium sealed box with other libraries, to check the output of PyNaCl.

A sealed box is ephemeral[32] || tag[16] || ciphertext. X25519 and Poly1305 come from cryptography, Salsa20
from pycryptodome. Neither has HSalsa20, so it is written here.
"""

from __future__ import annotations

import hashlib
import struct

from sealane import keys

from sealane_lab.hybrid_schemes import theirs
from sealane_lab.peers import require

_SIGMA = struct.unpack("<4I", b"expand 32-byte k")
_COLUMNS = ((0, 4, 8, 12), (5, 9, 13, 1), (10, 14, 2, 6), (15, 3, 7, 11))
_ROWS = ((0, 1, 2, 3), (5, 6, 7, 4), (10, 11, 8, 9), (15, 12, 13, 14))


def hsalsa20(key: bytes, data: bytes) -> bytes:
    """Returns eight words of the Salsa20 rounds over a key of 32 bytes and 16 bytes of data."""
    k, d = struct.unpack("<8I", key), struct.unpack("<4I", data)
    x = [_SIGMA[0], *k[:4], _SIGMA[1], *d, _SIGMA[2], *k[4:], _SIGMA[3]]
    for _ in range(10):
        for a, b, c, e in (*_COLUMNS, *_ROWS):
            for target, first, second, by in ((b, a, e, 7), (c, b, a, 9), (e, c, b, 13), (a, e, c, 18)):
                total = (x[first] + x[second]) & 0xFFFFFFFF
                x[target] ^= (total << by | total >> 32 - by) & 0xFFFFFFFF
    return struct.pack("<8I", *(x[at] for at in (0, 5, 10, 15, 6, 7, 8, 9)))


def opened(key: keys.Key, blob: bytes) -> bytes:
    """Returns the message. Raises InvalidSignature of cryptography if the tag is wrong."""
    x25519 = require("cryptography.hazmat.primitives.asymmetric.x25519").X25519PublicKey
    mac = require("cryptography.hazmat.primitives.poly1305").Poly1305
    private = theirs(key.to_text())
    ephemeral, tag, text = blob[:32], blob[32:48], blob[48:]
    public = private.public_key().public_bytes_raw()
    nonce = hashlib.blake2b(ephemeral + public, digest_size=24).digest()
    shared = private.exchange(x25519.from_public_bytes(ephemeral))
    inner = hsalsa20(hsalsa20(shared, bytes(16)), nonce[:16])
    stream = require("Crypto.Cipher.Salsa20").new(inner, nonce[16:])
    mac.verify_tag(stream.encrypt(bytes(32)), text, tag)
    plain: bytes = stream.decrypt(text)
    return plain
