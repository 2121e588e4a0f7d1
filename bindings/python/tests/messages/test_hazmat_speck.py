"""`Speck` and the Speck AEADs: published vectors, the construction of SpeckEx, and limits."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
import sealane
from cryptography.hazmat.primitives.poly1305 import Poly1305 as TheirPoly1305
from hypothesis import given
from hypothesis import strategies as st
from sealane.hazmat import Aead, Speck, SpeckCtr
from support import SPECKS, VECTORS, pattern

PAPER = {
    f"speck{test['blockSize']}-{test['keySize']}": [
        bytes.fromhex(test["be"][part]) for part in ("key", "pt", "ct")
    ]
    for test in json.loads((VECTORS / "block" / "speck_paper.json").read_text())["tests"]
}
"""Key, plaintext block and ciphertext block of each variant (ePrint 2013/404, appendix C), big-endian."""

SEALED = {
    "speck32-64": (
        "a0a1a2a3",
        "2f5320b47e0b52e295fe32dec09b3d6e6fe3d041a0651c0ac38cba",
        "12cd043e33aac248ea3564970095fda9",
    ),
    "speck64-96": (
        "a0a1a2a3a4a5a6a7",
        "cd99b6b38e4021292ce0fdc72f039e61cad653340df7b6429f81eb",
        "1703af3ae795943a04beee9f33024d54",
    ),
    "speck64-128": (
        "a0a1a2a3a4a5a6a7",
        "a3044bbd27079e1f0a30a9de8d51d80935dbeb0dd642c6aa794924",
        "c0c7246f80e56501eddd9b0b4aa7734d",
    ),
    "speck128-128": (
        "a0a1a2a3a4a5a6a7a8a9aaab",
        "005ad4b0d70478024b4ffb2f0d07bf114b51b219bd5d9e6ba3dd77",
        "79208fe6d98f5a4776c2b0fc14882c9c",
    ),
    "speck128-192": (
        "a0a1a2a3a4a5a6a7a8a9aaab",
        "5cd1e595200d13a3dcdd09955272f3210f64448291267052929a5e",
        "786239a7ed0ef126048c87c18f77c79d",
    ),
    "speck128-256": (
        "a0a1a2a3a4a5a6a7a8a9aaab",
        "dbc959dda91e4e8fae69dcb7a1c6fcdaf57e4ac96c669042b708ae",
        "0ab21388ee7fa86baf1f3e542f2ee209",
    ),
}
PLAIN = b"Speck-Poly1305 known answer"
SMALL = [name for name, (block, _) in SPECKS.items() if block < 16]
LARGE = [name for name, (block, _) in SPECKS.items() if block == 16]


def make(variant: str) -> Aead:
    name, key = f"{variant}-poly1305", bytes(range(SPECKS[variant][1]))
    return Aead(name, key) if variant in LARGE else Aead.new_small_block(name, key)


@pytest.mark.parametrize("variant", SPECKS)
def test_blocks_match_the_vectors_of_the_paper(variant: str) -> None:
    key, plain, sealed = PAPER[variant]
    cipher = Speck(variant, key)
    assert (cipher.block_len, len(key)) == SPECKS[variant]
    assert variant in repr(cipher)
    assert cipher.encrypt_blocks(plain * 33) == sealed * 33
    assert cipher.decrypt_blocks(bytearray(sealed * 33)) == plain * 33
    assert cipher.encrypt_blocks(b"") == b""
    little = Speck(variant, key[::-1], byte_order="little")
    assert little.encrypt_blocks(plain[::-1]) == sealed[::-1]
    assert little.decrypt_blocks(sealed[::-1]) == plain[::-1]
    long = plain * 10_000
    assert cipher.decrypt_blocks(cipher.encrypt_blocks(long)) == long
    block = len(plain)
    for wrong in 1, block - 1, block + 1:
        with pytest.raises(ValueError, match=f"whole blocks of {block} bytes; it has {wrong}"):
            cipher.encrypt_blocks(bytes(wrong))
        with pytest.raises(ValueError, match=f"whole blocks of {block} bytes; it has {wrong}"):
            cipher.decrypt_blocks(bytes(wrong))


def test_rejects_wrong_arguments() -> None:
    with pytest.raises(ValueError, match=r'unknown variant "speck1"; known: speck32-64, .*, speck128-256$'):
        Speck("speck1", bytes(32))
    with pytest.raises(ValueError, match="32 bytes, not 31"):
        Speck("speck128-256", bytes(31))
    with pytest.raises(ValueError, match="known: big, little"):
        Speck("speck128-256", bytes(32), "BIG")
    for wrong in "speck128-256", "aes-256-gcm", "":
        for new in Aead, Aead.new_small_block:
            with pytest.raises(ValueError, match=r"known: speck32-64-poly1305, .*, speck128-256-poly1305$"):
                new(wrong, bytes(32))
    with pytest.raises(ValueError, match="32 bytes, not 5"):
        Aead("speck128-256-poly1305", bytes(5))
    with pytest.raises(ValueError, match="16 bytes, not 5"):
        Aead.new_small_block("speck64-128-poly1305", bytes(5))


@pytest.mark.parametrize("variant", SMALL)
def test_small_blocks_need_new_small_block(variant: str) -> None:
    bits = 8 * SPECKS[variant][0]
    with pytest.raises(ValueError, match=rf"{bits} bits is too small .* new_small_block"):
        Aead(f"{variant}-poly1305", bytes(SPECKS[variant][1]))
    a = make(variant)
    for call in (lambda: a.seal(b""), lambda: a.seal_into(b"", bytearray(100))):
        with pytest.raises(ValueError, match="too short to be random"):
            call()


def test_new_small_block_rejects_large_blocks() -> None:
    with pytest.raises(ValueError, match="at most 96 bits, found 128"):
        Aead.new_small_block("speck128-256-poly1305", bytes(32))


@pytest.mark.parametrize("variant", SEALED)
def test_matches_speckex(variant: str) -> None:
    nonce, sealed, tag = map(bytes.fromhex, SEALED[variant])
    a = make(variant)
    assert a.encrypt(nonce, PLAIN, b"AAD") == sealed + tag
    assert a.decrypt(nonce, sealed + tag, b"AAD") == PLAIN
    assert a.open(nonce + sealed + tag, b"AAD") == PLAIN
    out = bytearray(100)
    assert a.encrypt_into(nonce, PLAIN, b"AAD", out) == 43
    assert out[:43] == sealed + tag
    assert a.decrypt_into(nonce, memoryview(out)[:43], b"AAD", out) == 27
    assert out[:27] == PLAIN
    assert a.open_into(nonce + sealed + tag, out, b"AAD") == 27


def test_empty_messages() -> None:
    a = make("speck128-256")
    assert a.encrypt(bytes(12), b"").hex() == "6160f333044f8c3cfaaf7e0a16a20962"
    want = "47b23b60d86ff37e4e7d654846fdc21cfbc455f11467eb308d5cff35b3d5212c"
    assert a.encrypt(bytes(12), bytes(16), bytes(16)).hex() == want


@given(st.sampled_from(list(SPECKS)), st.binary(max_size=400), st.binary(max_size=40))
def test_equals_speck_ctr_with_poly1305(variant: str, data: bytes, aad: bytes) -> None:
    a, (block, key) = make(variant), SPECKS[variant]
    nonce = pattern(a.nonce_len)
    stream = SpeckCtr(variant, bytes(range(key)), nonce + bytes(block - len(nonce)))
    sealed = stream.xor_at(32, data)
    pad = [bytes(-len(part) % 16) for part in (aad, sealed)]
    lengths = len(aad).to_bytes(8, "little") + len(sealed).to_bytes(8, "little")
    tag = TheirPoly1305.generate_tag(stream.xor_at(0, bytes(32)), aad + pad[0] + sealed + pad[1] + lengths)
    assert a.encrypt(nonce, data, aad) == sealed + tag


@pytest.mark.parametrize("variant", LARGE)
def test_sealed_messages_round_trip(variant: str) -> None:
    a = make(variant)
    assert a.algorithm == f"{variant}-poly1305"
    assert (a.key_len, a.nonce_len, a.tag_len, a.overhead) == (SPECKS[variant][1], 12, 16, 28)
    assert a.max_plaintext_len == (1 << 36) - 32
    for length in 0, 1, 100, 9000, 100_000:
        data = pattern(length)
        sealed = a.seal(data, b"header")
        assert a.open(sealed, b"header") == data
        assert a.encrypt(sealed[:12], data, b"header") == sealed[12:]
        # In place: the plaintext is where its ciphertext goes.
        out = bytearray(12) + data + bytes(16)
        assert a.seal_into(memoryview(out)[12 : 12 + length], out, b"header") == length + 28
        assert a.open(out, b"header") == data
        assert a.open_into(out, memoryview(out)[12:], b"header") == length
        assert out[12 : 12 + length] == data
    assert len({a.seal(b"")[:12] for _ in range(1000)}) == 1000


@pytest.mark.parametrize("variant", SPECKS)
def test_a_forgery_leaves_no_plaintext(variant: str) -> None:
    a, length = make(variant), 10_000
    nonce = bytes(a.nonce_len)
    sealed = a.encrypt(nonce, pattern(length), b"aad")
    for at in 0, length // 2, length, length + 15:
        changed = bytearray(sealed)
        changed[at] ^= 1
        with pytest.raises(sealane.AuthenticationError):
            a.decrypt(nonce, changed, b"aad")
        with pytest.raises(sealane.AuthenticationError):
            a.open(nonce + changed, b"aad")
        out = bytearray(b"\xaa" * (length + 8))
        with pytest.raises(sealane.AuthenticationError):
            a.decrypt_into(nonce, changed, b"aad", out)
        assert out == bytes(length) + b"\xaa" * 8
        with pytest.raises(sealane.AuthenticationError):
            a.decrypt_into(nonce, changed, b"aad", changed)
        assert changed[:length] == bytes(length)
    for cut in 0, 5, 15, length:
        with pytest.raises(sealane.AuthenticationError):
            a.decrypt(nonce, sealed[:cut], b"aad")
    with pytest.raises(sealane.AuthenticationError):
        a.open(b"", b"")


def test_enforces_the_limit_of_a_key() -> None:
    # The limit is 2^16 blocks of 4 bytes. A message uses 8 of them for its one-time key.
    a = Aead.new_small_block("speck32-64-poly1305", bytes(8))
    assert a.max_plaintext_len == (4 << 16) - 32
    out = bytearray(b"\xaa" * (1 << 18))
    with pytest.raises(sealane.LimitExceededError):
        a.encrypt_into(bytes(4), bytes(a.max_plaintext_len + 1), None, out)
    first = a.encrypt(bytes(4), bytes(100_000))
    with pytest.raises(sealane.LimitExceededError, match="use another key"):
        a.encrypt_into(b"\x80" + bytes(3), bytes(200_000), None, out)
    a.encrypt(b"\x80" + bytes(3), bytes(a.max_plaintext_len - 100_000 - 32))
    with pytest.raises(sealane.LimitExceededError):
        a.encrypt_into(bytes(4), b"", None, out)
    assert out == b"\xaa" * len(out), "written"
    assert a.decrypt(bytes(4), first) == bytes(100_000)


@pytest.mark.parametrize("variant", SMALL)
def test_a_small_counter_never_wraps(variant: str) -> None:
    a, (block, _) = make(variant), SPECKS[variant]
    blocks = -(-(32 + 10) // block)
    fits = (-blocks) % (1 << 8 * block)
    sealed = a.encrypt(fits.to_bytes(block, "big"), bytes(10))
    assert a.decrypt(fits.to_bytes(block, "big"), sealed) == bytes(10)
    calls: list[Callable[[bytes], object]] = [
        lambda nonce: a.encrypt(nonce, bytes(10)),
        lambda nonce: a.decrypt(nonce, sealed),
    ]
    for call in calls:
        with pytest.raises(sealane.LimitExceededError, match="counter"):
            call((fits + 1).to_bytes(block, "big"))


@pytest.mark.parametrize("variant", SPECKS)
def test_rejects_nonces_of_another_length(variant: str) -> None:
    a = make(variant)
    with pytest.raises(ValueError, match=f"{a.nonce_len} bytes, not 5"):
        a.encrypt(bytes(5), b"")
    with pytest.raises(ValueError, match=f"{a.nonce_len} bytes, not 5"):
        a.decrypt(bytes(5), bytes(16))
