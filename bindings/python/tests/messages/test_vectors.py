"""One published vector for every algorithm with every provider. All vectors are checked in Rust."""

from __future__ import annotations

import functools
import json

import pytest
import sealane
from support import ALGORITHMS, PAIRS, VECTORS

Vector = tuple[bytes, bytes, bytes, bytes, bytes]

FILES = {
    "aes-128-gcm": "aes_gcm_spec.json",
    "aes-192-gcm": "aes_gcm_spec.json",
    "aes-256-gcm": "aes_gcm_spec.json",
    "aes-128-gcm-siv": "rfc8452.json",
    "aes-256-gcm-siv": "rfc8452.json",
    "chacha20-poly1305": "rfc8439.json",
    "xchacha20-poly1305": "xchacha_draft.json",
    "xaes-256-gcm": "xaes_256_gcm.json",
    **{
        name: f"aegis_draft/{name}-test-vectors.json"
        for name in ("aegis-128l", "aegis-128x2", "aegis-128x4", "aegis-256", "aegis-256x2", "aegis-256x4")
    },
}


@functools.cache
def vector(algorithm: str) -> Vector:
    """Returns key, nonce, aad, plaintext and ciphertext with tag of the vector with the longest plaintext."""
    (row,) = [row for row in sealane.algorithms() if row.name == algorithm]
    file = json.loads((VECTORS / "aead" / FILES[algorithm]).read_text())
    found: list[Vector] = []
    for test in file["tests"] if isinstance(file, dict) else file:
        if "error" in test or not {"key", "ct"} <= test.keys():
            continue
        text = {name: value for name, value in test.items() if isinstance(value, str) and is_hex(value)}
        get = {name: bytes.fromhex(value) for name, value in text.items()}
        tag, nonce = get.get("tag", get.get("tag128")), get.get("nonce", get.get("iv"))
        if tag is None or nonce is None or (len(get["key"]), len(nonce)) != (row.key_len, row.nonce_len):
            continue
        aad, plain = get.get("aad", get.get("ad", b"")), get.get("pt", get.get("msg", b""))
        found.append((get["key"], nonce, aad, plain, get["ct"] + tag))
    return max(found, key=lambda vector: len(vector[3]) + len(vector[2]))


def is_hex(text: str) -> bool:
    return len(text) % 2 == 0 and all(c in "0123456789abcdef" for c in text)


def test_every_algorithm_has_a_vector() -> None:
    assert sorted(FILES) == sorted(ALGORITHMS)


@pytest.mark.parametrize(("algorithm", "provider"), PAIRS)
def test_a_published_vector(algorithm: str, provider: str) -> None:
    key, nonce, aad, plain, sealed = vector(algorithm)
    assert plain
    aead = sealane.Aead(algorithm, key, provider)
    assert aead.encrypt(nonce, plain, aad) == sealed
    assert aead.decrypt(nonce, sealed, aad) == plain
    assert aead.open(nonce + sealed, aad) == plain


def test_counter_mode() -> None:
    tests = json.loads((VECTORS / "stream" / "aes_ctr_sp800_38a.json").read_text())["tests"]
    assert {len(test["key"]) for test in tests} == {32, 48, 64}
    for test in tests:
        key, iv, plain, sealed = (bytes.fromhex(test[name]) for name in ("key", "iv", "pt", "ct"))
        ctr = sealane.hazmat.AesCtr(key, iv)
        assert ctr.xor_at(0, plain) == sealed
        assert ctr.xor_at(21, plain[21:]) == sealed[21:]
