"""The schemes of the notebook: RSA-OAEP with AES-256-GCM, and ECIES on secp256k1 in the format of eciespy.

A message under RSA is wrapped key || nonce[12] || ciphertext || tag[16].
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from sealane import hybrid, keys

from sealane_lab.hybrid_schemes import Scheme, made, new, pem, public_of, theirs
from sealane_lab.model import OURS
from sealane_lab.peers import require


@dataclass(frozen=True)
class Wrap:
    """RSA-OAEP alone, by a library that offers it."""

    bits: int
    oaep: Literal["sha1", "sha256"]
    ready: Callable[[], Callable[[bytes], Any]]


def lab_key(bits: int) -> keys.Key:
    """Returns the RSA key that all libraries share."""
    return made(f"rsa-{bits}")


def _oaep() -> Any:
    padding = require("cryptography.hazmat.primitives.asymmetric.padding")
    sha256 = require("cryptography.hazmat.primitives.hashes").SHA256
    return padding.OAEP(padding.MGF1(sha256()), sha256(), None)


def rsa_cryptography(bits: int, key: keys.Key | None = None) -> Scheme:
    """RSA by cryptography, for the key of the lab or another one."""
    key = lab_key(bits) if key is None else key
    private = theirs(key.to_text())
    public, oaep, wrapped_len = private.public_key(), _oaep(), bits // 8
    aesgcm = require("cryptography.hazmat.primitives.ciphers.aead").AESGCM
    generate = require("cryptography.hazmat.primitives.asymmetric.rsa").generate_private_key

    def seal(plain: bytes, to: Any = public) -> bytes:
        secret, nonce = aesgcm.generate_key(256), os.urandom(12)
        sealed: bytes = to.encrypt(secret, oaep) + nonce + aesgcm(secret).encrypt(nonce, plain, None)
        return sealed

    def open_(blob: bytes) -> bytes:
        secret = private.decrypt(blob[:wrapped_len], oaep)
        plain: bytes = aesgcm(secret).decrypt(
            blob[wrapped_len : wrapped_len + 12], blob[wrapped_len + 12 :], None
        )
        return plain

    return Scheme(
        key,
        lambda: generate(65537, bits),
        pem,
        seal,
        open_,
        OURS,
        hybrid.open,
        lambda fresh, plain: seal(plain, fresh.public_key()),
    )


def rsa_ours(bits: int) -> Scheme:
    key = lab_key(bits)
    to = public_of(key)
    return Scheme(
        key,
        lambda: new(f"rsa-{bits}"),
        keys.Key.to_text,
        lambda plain: hybrid.seal(to, plain),
        lambda blob: hybrid.open(key, blob),
        "cryptography",
        lambda key, blob: rsa_cryptography(bits, key).open(blob),
        lambda fresh, plain: hybrid.seal(public_of(fresh), plain),
    )


def rsa_pycryptodome(bits: int) -> Scheme:
    """As in the notebook: OAEP with SHA-1, a nonce of 16 bytes, and separate parts."""
    rsa, aes, oaep = (
        require("Crypto.PublicKey.RSA"),
        require("Crypto.Cipher.AES"),
        require("Crypto.Cipher.PKCS1_OAEP"),
    )
    key = lab_key(bits)
    private = rsa.import_key(key.to_text())
    public = private.public_key()

    def seal(plain: bytes, to: Any = public) -> tuple[bytes, bytes, bytes, bytes]:
        secret = os.urandom(32)
        wrapped = oaep.new(to).encrypt(secret)
        cipher = aes.new(secret, aes.MODE_GCM)
        text, tag = cipher.encrypt_and_digest(plain)
        return wrapped, text, cipher.nonce, tag

    def open_(parts: tuple[bytes, bytes, bytes, bytes]) -> bytes:
        wrapped, text, nonce, tag = parts
        secret = oaep.new(private).decrypt(wrapped)
        plain: bytes = aes.new(secret, aes.MODE_GCM, nonce).decrypt_and_verify(text, tag)
        return plain

    return Scheme(
        key,
        lambda: rsa.generate(bits),
        lambda fresh: str(fresh.export_key(pkcs=8).decode()),
        seal,
        open_,
        OURS,
        lambda key, parts: hybrid.rsa_open_parts(key, *parts),
        lambda fresh, plain: seal(plain, fresh.public_key()),
    )


def wrap_cryptography(bits: int) -> Wrap:
    def ready() -> Callable[[bytes], Any]:
        public, oaep = theirs(lab_key(bits).to_text()).public_key(), _oaep()
        encrypt = public.encrypt
        return lambda secret: encrypt(secret, oaep)

    return Wrap(bits, "sha256", ready)


def wrap_pycryptodome(bits: int) -> Wrap:
    def ready() -> Callable[[bytes], Any]:
        public = require("Crypto.PublicKey.RSA").import_key(lab_key(bits).to_text()).public_key()
        oaep = require("Crypto.Cipher.PKCS1_OAEP").new
        return lambda secret: oaep(public).encrypt(secret)

    return Wrap(bits, "sha1", ready)


def ecies_ours() -> Scheme:
    key = made("secp256k1")
    to = public_of(key)
    return Scheme(
        key,
        lambda: new("secp256k1"),
        keys.Key.to_text,
        lambda plain: hybrid.seal(to, plain),
        lambda blob: hybrid.open(key, blob),
        "eciespy",
        lambda key, blob: bytes(require("ecies").decrypt(key.to_hex(), blob)),
        lambda fresh, plain: hybrid.seal(public_of(fresh), plain),
    )


def eciespy() -> Scheme:
    ecies, key = require("ecies"), made("secp256k1")
    private, public = key.to_hex(), public_of(key).to_hex()
    return Scheme(
        key,
        require("coincurve").PrivateKey,
        lambda fresh: str(fresh.to_pem().decode()),
        lambda plain: ecies.encrypt(public, plain),
        lambda blob: bytes(ecies.decrypt(private, blob)),
        OURS,
        hybrid.open,
        lambda fresh, plain: ecies.encrypt(fresh.public_key.format(False), plain),
    )
