"""Messages to a public key: every kind and spelling of keys, and wrong arguments."""

from __future__ import annotations

import json
import os
from typing import Any

import pytest
import sealane
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from sealane import hybrid, keys
from support import VECTORS, pattern

KEYS = {kind: keys.generate(kind) for kind in ("rsa-2048", "secp256k1", "x25519", "p-256", "x-wing")}
OVERHEAD = {
    "rsa-2048": 256 + 12 + 16,
    "secp256k1": 65 + 16 + 16,
    "x25519": 32 + 16,
    "p-256": 65 + 16,
    "x-wing": 1120 + 16,
}
HPKE = ["x25519", "p-256", "x-wing"]


def public(key: keys.Key) -> keys.PublicKey:
    assert key.public is not None
    return key.public


@pytest.mark.parametrize("kind", KEYS)
@pytest.mark.parametrize("length", [0, 1, 140, 100_000])
def test_messages_round_trip(kind: str, length: int) -> None:
    key, data = KEYS[kind], pattern(length)
    blob = hybrid.seal(public(key), data, b"header")
    assert len(blob) == length + OVERHEAD[kind]
    assert hybrid.open(key, blob, b"header") == data
    assert hybrid.open(key, bytearray(blob), memoryview(b"header")) == data
    assert hybrid.seal(public(key), data) != hybrid.seal(public(key), data)
    # Keys as text.
    text = str(public(key))
    blob = hybrid.seal(text, bytearray(data), aad=b"header")
    assert hybrid.open(key.to_text(), blob, aad=b"header") == data
    assert hybrid.open(key.to_text().encode(), hybrid.seal(text.encode(), data)) == data


@pytest.mark.parametrize("kind", KEYS)
def test_rejects_another_key_or_associated_data(kind: str) -> None:
    key, other = KEYS[kind], keys.generate(kind)
    blob = hybrid.seal(public(key), b"plaintext", b"header")
    changed = blob[:-1] + bytes([blob[-1] ^ 1])
    for wrong, sealed, aad in [(other, blob, b"header"), (key, blob, b""), (key, changed, b"header")]:
        with pytest.raises(sealane.AuthenticationError, match=r"^authentication failed$"):
            hybrid.open(wrong, sealed, aad)
    for length in [0, 1, OVERHEAD[kind] - 1]:
        with pytest.raises(sealane.TruncatedError):
            hybrid.open(key, blob[:length], b"header")


@pytest.mark.parametrize("kind", KEYS)
def test_detects_every_changed_byte(kind: str) -> None:
    key = KEYS[kind]
    blob = hybrid.seal(public(key), b"plaintext")
    for at, byte in enumerate(blob):
        with pytest.raises(sealane.SealaneError) as caught:
            hybrid.open(key, blob[:at] + bytes([byte ^ 1 << at % 8]) + blob[at + 1 :])
        # An error that depends on a secret is always AuthenticationError. The point of ECIES is
        # public.
        if kind != "secp256k1" or at >= 65:
            assert type(caught.value) is sealane.AuthenticationError


@pytest.mark.parametrize("kind", HPKE)
@pytest.mark.parametrize("suite", [None, "aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"])
def test_info_and_suite(kind: str, suite: Any) -> None:
    key = KEYS[kind]
    blob = hybrid.seal(public(key), b"x", b"aad", b"info", suite=suite)
    assert hybrid.open(key, blob, b"aad", b"info", suite=suite) == b"x"
    assert hybrid.hpke_open(key, blob, b"aad", info=b"info", suite=suite) == b"x"
    other = "aes-256-gcm" if suite == "chacha20-poly1305" else "chacha20-poly1305"
    for how in [{"suite": other}, {"info": b"other", "suite": suite}]:
        with pytest.raises(sealane.AuthenticationError):
            hybrid.open(key, blob, b"aad", **{"info": b"info", **how})
    if suite in (None, "aes-256-gcm"):
        assert hybrid.open(key, blob, b"aad", b"info") == b"x"


@pytest.mark.parametrize("kind", ["rsa-2048", "secp256k1"])
def test_rejects_info_for_keys_without_hpke(kind: str) -> None:
    key = KEYS[kind]
    blob = hybrid.seal(public(key), b"")
    for how in [{"info": b"x"}, {"suite": "aes-256-gcm"}]:
        with pytest.raises(ValueError, match="options of HPKE"):
            hybrid.seal(public(key), b"", **how)
        with pytest.raises(ValueError, match="options of HPKE"):
            hybrid.open(key, blob, **how)


def test_rejects_wrong_arguments() -> None:
    key, blob = KEYS["x25519"], hybrid.seal(public(KEYS["x25519"]), b"")
    for kind in "age", "age-pq":
        with pytest.raises(ValueError, match="for files"):
            hybrid.seal(public(keys.generate(kind)), b"")
        with pytest.raises(ValueError, match="for files"):
            hybrid.open(keys.generate(kind), blob)
    with pytest.raises(ValueError, match="symmetric"):
        hybrid.open(keys.generate("aes-256"), blob)
    with pytest.raises(TypeError, match=r"give key\.public"):
        hybrid.seal(key, b"")  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="expected a private key"):
        hybrid.open(public(key), blob)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not int"):
        hybrid.seal(7, b"")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        hybrid.seal(public(key), "text")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="known: aes-128-gcm, aes-256-gcm, chacha20-poly1305"):
        hybrid.seal(public(key), b"", suite="rot13")  # type: ignore[arg-type]
    for text in [
        "",
        "rubbish",
        "-----BEGIN PUBLIC KEY-----\nAAAA\n-----END PUBLIC KEY-----",
        key.to_text(),
        "ab" * 33,
    ]:
        with pytest.raises(sealane.FormatError) as caught:
            hybrid.seal(text, b"")
        assert not text or text not in str(caught.value)
    for text in ["", "rubbish", str(public(key)), "00" * 32]:
        with pytest.raises(sealane.FormatError):
            hybrid.open(text, blob)
    with pytest.raises(ValueError, match=r"give sealane\.keys\.Key\.from_text\(text, passphrase\)"):
        hybrid.open(key.to_text("sesame"), blob)


@pytest.mark.parametrize("kind", HPKE)
def test_psk_and_sender(kind: str) -> None:
    key, sender, psk = KEYS[kind], keys.generate(kind), {"psk": bytes(range(32)), "psk_id": b"name"}
    modes: list[tuple[dict[str, Any], dict[str, Any]]] = [({}, {}), (psk, psk)]
    if kind != "x-wing":
        sent, known = {"sender": sender}, {"sender": public(sender)}
        modes += [(sent, known), ({**sent, **psk}, {**known, **psk})]
    for seal, fits in modes:
        blob = hybrid.hpke_seal(public(key), b"x", b"aad", b"info", **seal)
        for _, how in modes:
            if how == fits:
                assert hybrid.hpke_open(key, blob, b"aad", b"info", **how) == b"x"
            else:
                with pytest.raises(sealane.AuthenticationError):
                    hybrid.hpke_open(key, blob, b"aad", b"info", **how)


def test_rejects_wrong_arguments_of_hpke() -> None:
    key, to = KEYS["x25519"], public(KEYS["x25519"])
    for half in {"psk": bytes(32)}, {"psk_id": b"name"}:
        with pytest.raises(TypeError, match="used together"):
            hybrid.hpke_seal(to, b"", **half)
    with pytest.raises(ValueError, match="at least 32 bytes"):
        hybrid.hpke_seal(to, b"", psk=bytes(31), psk_id=b"name")
    with pytest.raises(ValueError, match="different kinds"):
        hybrid.hpke_seal(to, b"", sender=KEYS["p-256"])
    with pytest.raises(ValueError, match="no authenticated modes"):
        hybrid.hpke_seal(public(KEYS["x-wing"]), b"", sender=KEYS["x-wing"])
    with pytest.raises(ValueError, match="expected an HPKE key"):
        hybrid.hpke_seal(public(KEYS["secp256k1"]), b"")
    with pytest.raises(ValueError, match="expected an HPKE key"):
        hybrid.hpke_open(KEYS["rsa-2048"], b"")
    with pytest.raises(TypeError, match="expected a private key"):
        hybrid.hpke_seal(to, b"", sender=to)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match=r"give key\.public"):
        hybrid.hpke_open(key, b"", sender=key)  # type: ignore[arg-type]


# ---- RSA -----------------------------------------------------------------------------------------


def test_rsa_messages_match_pycryptodome() -> None:
    private = rsa.generate_private_key(65537, 2048)
    text = private.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    ).decode()
    spki = private.public_key().public_bytes(
        serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo
    )
    oaep = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
    blob = hybrid.seal(spki, b"hello", b"aad")
    aes = AESGCM(private.decrypt(blob[:256], oaep))
    assert aes.decrypt(blob[256:268], blob[268:], b"aad") == b"hello"
    key, nonce = os.urandom(32), os.urandom(12)
    theirs = private.public_key().encrypt(key, oaep) + nonce + AESGCM(key).encrypt(nonce, b"hi", b"aad")
    assert hybrid.open(text, theirs, b"aad") == b"hi"


@pytest.mark.parametrize("name", ["sha1", "sha256", "sha384", "sha512"])
@pytest.mark.parametrize(("length", "nonce_length"), [(16, 16), (24, 12), (32, 16), (32, 8)])
def test_rsa_in_parts(name: Any, length: int, nonce_length: int) -> None:
    key, aes, nonce = KEYS["rsa-2048"], os.urandom(length), os.urandom(nonce_length)
    hashed = {"sha1": hashes.SHA1, "sha256": hashes.SHA256, "sha384": hashes.SHA384, "sha512": hashes.SHA512}
    theirs = serialization.load_pem_public_key(str(public(key)).encode())
    assert isinstance(theirs, rsa.RSAPublicKey)
    oaep = padding.OAEP(padding.MGF1(hashed[name]()), hashed[name](), None)
    wrapped_key = theirs.encrypt(aes, oaep)
    sealed = AESGCM(aes).encrypt(nonce, b"the notebook's", b"aad")
    parts = [wrapped_key, sealed[:-16], nonce, sealed[-16:]]
    assert hybrid.rsa_open_parts(key, *parts, oaep=name, aad=b"aad") == b"the notebook's"
    if name == "sha1":
        assert hybrid.rsa_open_parts(key, *parts, aad=b"aad") == b"the notebook's"
    for at, part in enumerate(parts):
        changed = [*parts[:at], bytes([part[0] ^ 1]) + part[1:], *parts[at + 1 :]]
        with pytest.raises(sealane.AuthenticationError):
            hybrid.rsa_open_parts(key, *changed, oaep=name, aad=b"aad")
    with pytest.raises(sealane.AuthenticationError):
        hybrid.rsa_open_parts(key, *parts, oaep="sha256" if name == "sha1" else "sha1", aad=b"aad")


def test_rejects_wrong_parts_of_rsa() -> None:
    parts = [bytes(256), b"", bytes(16), bytes(16)]
    with pytest.raises(ValueError, match="known: sha1, sha256, sha384, sha512"):
        hybrid.rsa_open_parts(KEYS["rsa-2048"], *parts, oaep="md5")  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="expected an RSA private key"):
        hybrid.rsa_open_parts(KEYS["p-256"], *parts)
    with pytest.raises(ValueError, match="tag must have 16"):
        hybrid.rsa_open_parts(KEYS["rsa-2048"], *parts[:3], b"")
    with pytest.raises(ValueError, match="nonce must have"):
        hybrid.rsa_open_parts(KEYS["rsa-2048"], bytes(256), b"", b"", bytes(16))


# ---- ECIES ---------------------------------------------------------------------------------------


def ecies_vectors() -> list[dict[str, Any]]:
    files = [json.loads(path.read_text()) for path in sorted((VECTORS / "ecies").glob("*.json"))]
    return [test for file in files for test in file["tests"] if test["kind"] == "message"]


def config(test: dict[str, Any]) -> dict[str, Any]:
    return {
        "elliptic_curve": test["curve"],
        "is_ephemeral_key_compressed": test.get("ephemeralCompressed", False),
        "is_hkdf_key_compressed": test.get("hkdfCompressed", False),
        "symmetric_algorithm": test["symmetric"],
        "symmetric_nonce_length": test["nonceLength"],
    }


def test_ecies_vectors() -> None:
    tests = ecies_vectors()
    assert len(tests) == 42
    for test in tests:
        how, message, plain = config(test), bytes.fromhex(test["encrypted"]), bytes.fromhex(test["pt"])
        for secret in test["sk"], "0x" + test["sk"], bytes.fromhex(test["sk"]), bytearray.fromhex(test["sk"]):
            assert hybrid.ecies_decrypt(secret, message, **how) == plain
        if "pk" in test:
            for to in test["pk"], "0x" + test["pk"].upper(), bytes.fromhex(test["pk"]):
                sealed = hybrid.ecies_encrypt(to, memoryview(plain), **how)
                assert len(sealed) == len(message)
                assert hybrid.ecies_decrypt(test["sk"], sealed, **how) == plain
        changed = message[:-1] + bytes([message[-1] ^ 1])
        with pytest.raises(sealane.AuthenticationError):
            hybrid.ecies_decrypt(test["sk"], changed, **how)


def test_ecies_encrypt_equals_seal() -> None:
    key = KEYS["secp256k1"]
    for to in public(key).to_hex(), public(key).to_hex(True), public(key).to_hex()[2:]:
        sealed = hybrid.ecies_encrypt(to, b"hello")
        assert hybrid.open(key, sealed) == hybrid.open(key.to_hex(), sealed) == b"hello"
        assert hybrid.ecies_decrypt(key.to_hex(), hybrid.seal(to, b"hi")) == b"hi"


def test_rejects_wrong_arguments_of_ecies() -> None:
    key = KEYS["secp256k1"]
    to, sealed = public(key).to_hex(), hybrid.ecies_encrypt(public(key).to_hex(), b"hello")
    for wrong in ["", "zz", to[:-2], to[:-1] + "g", "05" + to[2:], b"", bytes(65), "0x"]:
        with pytest.raises((ValueError, sealane.FormatError)):
            hybrid.ecies_encrypt(wrong, b"")
    for secret in ["", "zz" * 32, "00" * 32, "ff" * 32, "11" * 31, b"", bytes(32), bytes(33)]:
        with pytest.raises(ValueError) as caught:  # noqa: PT011, several texts
            hybrid.ecies_decrypt(secret, sealed)
        assert not secret or str(secret) not in str(caught.value)
    for thing in [7, None, key]:
        with pytest.raises(TypeError, match="str in hexadecimal or bytes"):
            hybrid.ecies_encrypt(thing, b"")  # type: ignore[arg-type]
    for how, says in [
        ({"elliptic_curve": "p-256"}, "secp256k1, x25519 or ed25519"),
        ({"symmetric_algorithm": "aes-128-gcm"}, "aes-256-gcm or xchacha20"),
        ({"symmetric_nonce_length": 0}, "nonce"),
        ({"symmetric_nonce_length": 65}, "nonce"),
    ]:
        with pytest.raises(ValueError, match=says):
            hybrid.ecies_encrypt(to, b"", **how)  # type: ignore[arg-type]
        with pytest.raises(ValueError, match=says):
            hybrid.ecies_decrypt(key.to_hex(), sealed, **how)  # type: ignore[arg-type]
    with pytest.raises(sealane.AuthenticationError):
        hybrid.ecies_decrypt(key.to_hex(), sealed, is_hkdf_key_compressed=True)
    with pytest.raises(sealane.FormatError, match="begins with a public key"):
        hybrid.ecies_decrypt(key.to_hex(), bytes(200))
    with pytest.raises(sealane.TruncatedError):
        hybrid.ecies_decrypt(key.to_hex(), sealed[:96])
