"""Fingerprints of keys, recomputed with hmac and hashlib of Python."""

from __future__ import annotations

import hashlib
import hmac
import json

import pytest
import sealane
from sealane.keys import Key, Keyring
from support import VECTORS

SALT = b"sealane key fingerprint v1"


def fingerprint(kind: str, material: bytes) -> str:
    """HKDF-SHA-256 (RFC 5869) with one block of output."""
    prk = hmac.digest(SALT, material, hashlib.sha256)
    return "key-sha256:" + hmac.digest(prk, kind.encode() + b"\1", hashlib.sha256).hex()


@pytest.mark.parametrize("case", json.loads((VECTORS / "kdf/key_fingerprint.json").read_text())["tests"])
def test_vectors(case: dict[str, str]) -> None:
    kind, material = bytes.fromhex(case["info"]).decode(), bytes.fromhex(case["ikm"])
    key = Key.from_bytes(material) if kind == "key" else Keyring.from_bytes(material)
    assert key.fingerprint == fingerprint(kind, material) == "key-sha256:" + case["okm"]
    assert bytes.fromhex(case["salt"]) == SALT


def test_what_a_fingerprint_commits_to() -> None:
    key = sealane.keys.generate("aes-256")
    named = Key.from_bytes(bytes(key), kid="name", alg="A256GCM", use="enc")
    assert named.fingerprint == key.fingerprint == fingerprint("key", bytes(key))
    ring = Keyring.generate("aes-256-gcm")
    seen = [ring.fingerprint]
    first, second = ring.primary, ring.add()
    for change in ring.promote, ring.disable, ring.enable, ring.destroy, ring.delete:
        seen.append(ring.fingerprint)
        change(second if change == ring.promote else first)
    seen.append(ring.fingerprint)
    # Enabling a key is the opposite of disabling it.
    assert len(set(seen)) == len(seen) - 1
    assert ring.fingerprint == fingerprint("keyset", ring.to_bytes())
    assert Keyring.from_json(ring.to_json()).fingerprint == ring.fingerprint


def test_private_keys_have_none() -> None:
    with pytest.raises(TypeError, match="expected a symmetric key"):
        _ = sealane.keys.generate("age").fingerprint
