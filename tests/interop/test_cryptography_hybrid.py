"""Key files, RSA-OAEP, HPKE and key derivation: sealane and pyca ``cryptography`` read each other.

The tuples of pycryptodome, as the notebook makes them, are read too.
"""

from __future__ import annotations

import base64
import os
from pathlib import Path
from typing import Any

import age_format
import pytest
import sealane
from Crypto.Cipher import AES, PKCS1_OAEP
from Crypto.PublicKey import RSA
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.bindings._rust import openssl
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, padding, rsa, x25519
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, Suite
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from support import pattern

LENGTHS = [0, 1, 15, 16, 17, 140, 1024, 65537, (1 << 20) + 3]
PASSPHRASE = "correct hörse battery staple"
MAKE: dict[str, Any] = {
    "rsa-2048": lambda: rsa.generate_private_key(65537, 2048),
    "rsa-3072": lambda: rsa.generate_private_key(65537, 3072),
    "p-256": lambda: ec.generate_private_key(ec.SECP256R1()),
    "secp256k1": lambda: ec.generate_private_key(ec.SECP256K1()),
    "x25519": x25519.X25519PrivateKey.generate,
}
PEM, PKCS8 = serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8
SPKI = serialization.PublicFormat.SubjectPublicKeyInfo
OPEN = serialization.NoEncryption()


def theirs_of(key: sealane.keys.Key) -> Any:
    return serialization.load_pem_private_key(key.to_text().encode(), None)


def spki(public: Any) -> str:
    return str(public.public_bytes(PEM, SPKI).decode())


@pytest.mark.parametrize("kind", MAKE)
def test_key_files(tmp_path: Path, kind: str) -> None:
    theirs = MAKE[kind]()
    for passphrase, encryption in (
        (None, OPEN),
        (PASSPHRASE, serialization.BestAvailableEncryption(PASSPHRASE.encode())),
    ):
        text = theirs.private_bytes(PEM, PKCS8, encryption).decode()
        ours = sealane.keys.Key.from_text(text, passphrase)
        assert ours.kind == kind
        assert ours.public == sealane.keys.PublicKey(spki(theirs.public_key()))
        again = serialization.load_pem_private_key(
            ours.to_text(passphrase).encode(), None if passphrase is None else passphrase.encode()
        )
        assert again.private_bytes(PEM, PKCS8, OPEN) == theirs.private_bytes(PEM, PKCS8, OPEN)

    ours = sealane.keys.generate(kind)
    assert ours.public is not None
    ours.public.save(tmp_path / "public.pem")
    assert spki(theirs_of(ours).public_key()) == (tmp_path / "public.pem").read_text()
    with pytest.raises(ValueError, match=r"(?i)password|decrypt"):
        serialization.load_pem_private_key(ours.to_text(PASSPHRASE).encode(), b"another")


@pytest.mark.parametrize("kind", ["rsa-2048", "p-256", "secp256k1"])
def test_older_key_files(kind: str) -> None:
    theirs = MAKE[kind]()
    text = theirs.private_bytes(PEM, serialization.PrivateFormat.TraditionalOpenSSL, OPEN).decode()
    assert sealane.keys.Key.from_text(text).public == sealane.keys.PublicKey(spki(theirs.public_key()))


def oaep(hash_: hashes.HashAlgorithm) -> padding.OAEP:
    return padding.OAEP(padding.MGF1(hash_), hash_, None)


@pytest.mark.parametrize("kind", ["rsa-2048", "rsa-3072"])
def test_rsa_messages(kind: str) -> None:
    """The message is wrapped key || nonce || ciphertext || tag, computed here with pyca."""
    key = sealane.keys.generate(kind)
    assert key.public is not None
    theirs, modulus = theirs_of(key), int(kind[4:]) // 8
    for length in LENGTHS:
        data, aad = pattern(length), pattern(length % 37)
        secret, nonce = os.urandom(32), os.urandom(12)
        wrapped_key = theirs.public_key().encrypt(secret, oaep(hashes.SHA256()))
        message = wrapped_key + nonce + AESGCM(secret).encrypt(nonce, data, aad)
        assert sealane.hybrid.open(key, message, aad) == data
        assert sealane.hybrid.open(key.to_text(), message, aad) == data

        ours = sealane.hybrid.seal(key.public, data, aad)
        assert len(ours) == len(message)
        secret = theirs.decrypt(ours[:modulus], oaep(hashes.SHA256()))
        assert AESGCM(secret).decrypt(ours[modulus : modulus + 12], ours[modulus + 12 :], aad) == data

    for place in (0, modulus, modulus + 12, len(message) - 1):
        changed = bytearray(message)
        changed[place] ^= 1
        with pytest.raises(sealane.AuthenticationError):
            sealane.hybrid.open(key, changed, aad)
    with pytest.raises(sealane.AuthenticationError):
        sealane.hybrid.open(key, message, aad + b"?")
    with pytest.raises(ValueError, match="info"):
        sealane.hybrid.seal(key.public, b"", info=b"info")


@pytest.mark.parametrize("bits", [2048, 3072])
@pytest.mark.parametrize("key_len", [16, 24, 32])
def test_rsa_tuples_of_pycryptodome(bits: int, key_len: int) -> None:
    """The tuples are made with the code of the notebook and PyCryptodome."""
    pair = RSA.generate(bits)
    secret, data = os.urandom(key_len), pattern(1000)
    wrapped_key = PKCS1_OAEP.new(pair.publickey()).encrypt(secret)
    cipher = AES.new(secret, AES.MODE_GCM)
    ciphertext, tag = cipher.encrypt_and_digest(data)
    assert len(cipher.nonce) == 16

    for pem in (pair.export_key(), pair.export_key(pkcs=8)):
        private = sealane.keys.Key.from_text(pem.decode())
        opened = sealane.hybrid.rsa_open_parts(private, wrapped_key, ciphertext, cipher.nonce, tag)
        assert opened == data
    assert sealane.keys.PublicKey(pair.publickey().export_key().decode()) == private.public
    damaged = bytearray(wrapped_key)
    damaged[-1] ^= 1
    for parts in (
        (damaged, ciphertext, cipher.nonce, tag),
        (wrapped_key, ciphertext[:-1] + bytes([ciphertext[-1] ^ 1]), cipher.nonce, tag),
        (wrapped_key, ciphertext, bytes(16), tag),
        (wrapped_key, ciphertext, cipher.nonce, bytes(16)),
    ):
        with pytest.raises(sealane.AuthenticationError):
            sealane.hybrid.rsa_open_parts(private, *parts)


SUITES = {
    None: AEAD.AES_256_GCM,
    "aes-128-gcm": AEAD.AES_128_GCM,
    "aes-256-gcm": AEAD.AES_256_GCM,
    "chacha20-poly1305": AEAD.CHACHA20_POLY1305,
}
KEMS = {"x25519": KEM.X25519, "p-256": KEM.P256}


@pytest.mark.parametrize("suite", SUITES)
@pytest.mark.parametrize("kind", KEMS)
def test_hpke(kind: str, suite: str | None) -> None:
    """The message is enc || ciphertext. In pyca, associated data has no public name."""
    theirs = Suite(KEMS[kind], KDF.HKDF_SHA256, SUITES[suite])
    key = sealane.keys.generate(kind)
    assert key.public is not None
    private = theirs_of(key)
    for length in LENGTHS:
        data, aad, info = pattern(length), pattern(length % 37), pattern(length % 91)
        message = theirs.encrypt(data, private.public_key(), info)
        assert sealane.hybrid.open(key, message, info=info, suite=suite) == data
        ours = sealane.hybrid.seal(key.public, data, info=info, suite=suite)
        assert theirs.decrypt(ours, private, info) == data
        message = openssl.hpke._encrypt_with_aad(theirs, data, private.public_key(), info, aad)
        assert sealane.hybrid.open(key, message, aad, info, suite=suite) == data
        ours = sealane.hybrid.seal(key.public, data, aad, info, suite=suite)
        assert openssl.hpke._decrypt_with_aad(theirs, ours, private, info, aad) == data

    message = theirs.encrypt(b"message", private.public_key(), b"info")
    other = sealane.keys.generate(kind)
    for opener, arguments in ((key, (b"aad", b"info")), (key, (b"", b"other")), (other, (b"", b"info"))):
        with pytest.raises(sealane.AuthenticationError):
            sealane.hybrid.open(opener, message, *arguments, suite=suite)
    with pytest.raises(InvalidTag):
        theirs.decrypt(
            sealane.hybrid.seal(key.public, b"message", info=b"other", suite=suite), private, b"info"
        )


@pytest.mark.parametrize("suite", SUITES)
def test_x_wing(suite: str | None) -> None:
    """The PKCS#8 ends with the seed, and the SPKI with the public key."""
    theirs = Suite(KEM.MLKEM768_X25519, KDF.HKDF_SHA256, SUITES[suite])
    key = sealane.keys.generate("x-wing")
    seed, public = (der(text)[-length:] for text, length in ((key.to_text(), 32), (str(key.public), 1216)))
    assert age_format.x_wing_public_bytes(seed) == public
    for length in LENGTHS:
        data, aad, info = pattern(length), pattern(length % 37), pattern(length % 91)
        message = openssl.hpke._encrypt_with_aad(theirs, data, age_format.x_wing_public(public), info, aad)
        assert sealane.hybrid.open(key, message, aad, info, suite=suite) == data
        ours = sealane.hybrid.seal(key.public, data, aad, info, suite=suite)
        assert (
            openssl.hpke._decrypt_with_aad(theirs, ours, age_format.x_wing_private(seed), info, aad) == data
        )


def der(pem: str) -> bytes:
    return base64.b64decode("".join(pem.splitlines()[1:-1]))


def test_scrypt() -> None:
    """An age file with a passphrase, read with the scrypt of pyca."""
    sealed = sealane.encrypt(b"message", passphrase=PASSPHRASE)
    assert age_format.reads_with_passphrase(sealed, PASSPHRASE.encode()) == b"message"


@pytest.mark.parametrize(
    ("memory_kib", "passes", "lanes", "length"), [(65536, 3, 4, 32), (64, 1, 1, 16), (1024, 2, 3, 64)]
)
def test_argon2id(memory_kib: int, passes: int, lanes: int, length: int) -> None:
    salt = os.urandom(16)
    want = Argon2id(salt=salt, length=length, iterations=passes, lanes=lanes, memory_cost=memory_kib).derive(
        PASSPHRASE.encode()
    )
    for passphrase in (PASSPHRASE, PASSPHRASE.encode()):
        ours = sealane.keys.derive(
            passphrase, salt, length=length, memory_kib=memory_kib, passes=passes, lanes=lanes
        )
        assert ours == want
