"""The successors of ECIES: HPKE with X25519 and X-Wing, and the sealed box of libsodium."""

from __future__ import annotations

import base64
import json
import os
from typing import Any

from sealane import hybrid, keys

from sealane_lab import sealed_box
from sealane_lab.hybrid_schemes import Scheme, der, made, new, pem, pkcs8_pem, public_of, theirs
from sealane_lab.model import OURS
from sealane_lab.peers import find, require


def _suite(kem: str) -> Any:
    hpke = require("cryptography.hazmat.primitives.hpke")
    return hpke.Suite(getattr(hpke.KEM, kem), hpke.KDF.HKDF_SHA256, hpke.AEAD.AES_256_GCM)


def hpke_ours(kind: str) -> Scheme:
    key = made(kind)
    to, reader = public_of(key), x25519_cryptography if kind == "x25519" else x_wing_cryptography
    return Scheme(
        key,
        lambda: new(kind),
        keys.Key.to_text,
        lambda plain: hybrid.seal(to, plain),
        lambda blob: hybrid.open(key, blob),
        "cryptography",
        lambda key, blob: reader(key).open(blob),
    )


def x25519_cryptography(key: keys.Key | None = None) -> Scheme:
    """HPKE by cryptography, for the key of the lab or another one."""
    key = made("x25519") if key is None else key
    suite, private = _suite("X25519"), theirs(key.to_text())
    public = private.public_key()
    return Scheme(
        key,
        require("cryptography.hazmat.primitives.asymmetric.x25519").X25519PrivateKey.generate,
        pem,
        lambda plain: suite.encrypt(plain, public),
        lambda blob: bytes(suite.decrypt(blob, private)),
        OURS,
        hybrid.open,
    )


# PKCS#8 up to the seed or the scalar.
_X_WING_HEAD = bytes.fromhex("3034020100300d060b2b0601040183e62d81c87a0420")
_X25519_HEAD = bytes.fromhex("302e020100300506032b656e04220420")


def x_wing_cryptography(key: keys.Key | None = None) -> Scheme:
    """HPKE by cryptography, for the key of the lab or another one."""
    key = made("x-wing") if key is None else key
    hpke, suite = require("cryptography.hazmat.primitives.hpke"), _suite("MLKEM768_X25519")
    ml_kem = require("cryptography.hazmat.primitives.asymmetric.mlkem").MLKEM768PrivateKey
    x25519 = require("cryptography.hazmat.primitives.asymmetric.x25519").X25519PrivateKey
    hashes = require("cryptography.hazmat.primitives.hashes")

    def from_seed(seed: bytes) -> Any:
        shake = hashes.Hash(hashes.SHAKE256(96))
        shake.update(seed)
        wide = shake.finalize()
        halves = ml_kem.from_seed_bytes(wide[:64]), x25519.from_private_bytes(wide[64:])
        return hpke.MLKEM768X25519PrivateKey(*halves)

    def make() -> bytes:
        seed = os.urandom(32)
        from_seed(seed).public_key()
        return seed

    private = from_seed(der(key.to_text())[len(_X_WING_HEAD) :])
    public = private.public_key()
    return Scheme(
        key,
        make,
        lambda seed: pkcs8_pem(_X_WING_HEAD + seed),
        lambda plain: suite.encrypt(plain, public),
        lambda blob: bytes(suite.decrypt(blob, private)),
        OURS,
        hybrid.open,
    )


# ---- tink

_HPKE = "type.googleapis.com/google.crypto.tink.Hpke"
_PARAMS = bytes.fromhex("1206080110011802")
"""A protobuf message: X25519, HKDF-SHA256, AES-256-GCM."""


def _keyset(kind: str, value: bytes, material: str) -> str:
    data = {"typeUrl": _HPKE + kind, "value": base64.b64encode(value).decode(), "keyMaterialType": material}
    one = {"keyData": data, "status": "ENABLED", "keyId": 1, "outputPrefixType": "RAW"}
    return json.dumps({"primaryKeyId": 1, "key": [one]})


def x25519_tink() -> Scheme:
    """HPKE without a prefix and with an empty context, so that other libraries read the same bytes."""
    key, tink, api = made("x25519"), require("tink"), require("tink.hybrid")
    token, form = require("tink.secret_key_access").TOKEN, tink.json_proto_keyset_format
    api.register()
    template = api.hybrid_key_templates.DHKEM_X25519_HKDF_SHA256_HKDF_SHA256_AES_256_GCM_RAW
    scalar, point = der(key.to_text())[-32:], der(str(key.public))[-32:]
    public = _PARAMS + b"\x1a\x20" + point
    private = b"\x12" + bytes([len(public)]) + public + b"\x1a\x20" + scalar
    public_handle = form.parse_without_secret(_keyset("PublicKey", public, "ASYMMETRIC_PUBLIC"))
    private_handle = form.parse(_keyset("PrivateKey", private, "ASYMMETRIC_PRIVATE"), token)
    encrypt, decrypt = (
        public_handle.primitive(api.HybridEncrypt).encrypt,
        private_handle.primitive(api.HybridDecrypt).decrypt,
    )

    def text(handle: Any) -> str:
        """Returns a PEM with the scalar, which is the last field of the key."""
        value = json.loads(form.serialize(handle, token))["key"][0]["keyData"]["value"]
        return pkcs8_pem(_X25519_HEAD + base64.b64decode(value)[-32:])

    return Scheme(
        key,
        lambda: tink.new_keyset_handle(template),
        text,
        lambda plain: encrypt(plain, b""),
        lambda blob: decrypt(blob, b""),
        OURS,
        hybrid.open,
    )


# ---- PyNaCl


def sealed_box_pynacl() -> Scheme:
    """crypto_box_seal, which no other Python library has; its parts are in two of them."""
    key, public = made("x25519"), require("nacl.public")
    private = public.PrivateKey(der(key.to_text())[-32:])
    # Both are needed to decrypt it; the missing one is named as the referee.
    other = "pycryptodome" if find("cryptography").version is not None else "cryptography"
    seal, open_ = public.SealedBox(private.public_key).encrypt, public.SealedBox(private).decrypt
    return Scheme(
        key,
        public.PrivateKey.generate,
        lambda fresh: pkcs8_pem(_X25519_HEAD + bytes(fresh)),
        seal,
        open_,
        other,
        lambda key, blob: sealed_box.opened(key, blob),
    )
