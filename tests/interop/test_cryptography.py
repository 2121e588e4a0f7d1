"""sealane and pyca ``cryptography`` read each other. The package is required."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import pytest
import sealane
from cryptography import cobblestone
from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV, ChaCha20Poly1305
from hypothesis import given
from hypothesis import strategies as st

CHUNK = 16384
LENGTHS = [
    *(0, 1, 15, 16),
    *(n * CHUNK + d for n in (1, 2, 3) for d in (-1, 0, 1)),
    *(262144 + d for d in (-1, 0, 1)),
    *((1 << 20) + d for d in (-1, 0, 1)),
    (5 << 20) + 3,
]
CONTEXTS = [b"", b"context", bytes(range(256)) * 5]
PEERS = {
    16: (cobblestone.Cobblestone128Encryptor, cobblestone.Cobblestone128Decryptor),
    32: (cobblestone.Cobblestone256Encryptor, cobblestone.Cobblestone256Decryptor),
}


def pattern(length: int) -> bytes:
    # 251 is prime, so no two chunks are equal and a swap cannot hide.
    return (bytes(range(251)) * (length // 251 + 1))[:length]


def through(peer: Any, data: bytes) -> bytes:
    """Yields the data in pieces of different lengths."""
    cut = len(data) // 3
    return bytes(peer.update(data[:cut]) + peer.update(data[cut:]) + peer.finalize())


# claim: tested-interop
@pytest.mark.parametrize("key_len", PEERS)
@pytest.mark.parametrize("length", LENGTHS)
def test_files(tmp_path: Path, length: int, key_len: int) -> None:
    data, key = pattern(length), pattern(key_len)
    context = CONTEXTS[length % len(CONTEXTS)]
    encryptor, decryptor = PEERS[key_len]

    theirs = tmp_path / "theirs"
    theirs.write_bytes(through(encryptor(key, context), data))
    assert sealane.decrypt(theirs.read_bytes(), key=key, context=context) == data
    sealane.decrypt_file(theirs, tmp_path / "plain", key=key, context=context)
    assert (tmp_path / "plain").read_bytes() == data
    streamed = io.BytesIO()
    sealane.decrypt_file(io.BytesIO(theirs.read_bytes()), streamed, key=key, context=context)
    assert streamed.getvalue() == data
    with sealane.open(theirs, "rb", key=key, context=context) as file:
        file.seek(length // 2)
        assert file.read() == data[length // 2 :]

    sealane.encrypt_file(tmp_path / "plain", tmp_path / "ours", key=key, context=context)
    streamed = io.BytesIO()
    sealane.encrypt_file(io.BytesIO(data), streamed, key=key, context=context)
    with sealane.open(tmp_path / "written", "wb", key=key, context=context) as file:
        file.write(data)
    for ours in (
        sealane.encrypt(data, key=key, context=context),
        (tmp_path / "ours").read_bytes(),
        streamed.getvalue(),
        (tmp_path / "written").read_bytes(),
    ):
        assert through(decryptor(key, context), ours) == data


@pytest.mark.parametrize("key_len", PEERS)
@pytest.mark.parametrize("context", CONTEXTS)
def test_contexts(key_len: int, context: bytes) -> None:
    data, key = pattern(100), pattern(key_len)
    encryptor, decryptor = PEERS[key_len]
    ours, theirs = sealane.encrypt(data, key=key, context=context), through(encryptor(key, context), data)
    assert sealane.decrypt(theirs, key=key, context=context) == data
    assert through(decryptor(key, context), ours) == data
    with pytest.raises(sealane.AuthenticationError):
        sealane.decrypt(theirs, key=key, context=context + b"?")
    with pytest.raises(InvalidTag):
        through(decryptor(key, context + b"?"), ours)


AEADS = {
    "aes-128-gcm": (AESGCM, 16),
    "aes-192-gcm": (AESGCM, 24),
    "aes-256-gcm": (AESGCM, 32),
    "aes-128-gcm-siv": (AESGCMSIV, 16),
    "aes-256-gcm-siv": (AESGCMSIV, 32),
    "chacha20-poly1305": (ChaCha20Poly1305, 32),
}
PAIRS = [(r.algorithm, r.provider) for r in sealane.providers() if r.available and r.algorithm in AEADS]


# claim: tested-interop
@pytest.mark.parametrize(("algorithm", "provider"), PAIRS)
def test_messages(algorithm: str, provider: str) -> None:
    make, key_len = AEADS[algorithm]
    key, nonce = pattern(key_len), pattern(12)
    theirs, ours = make(key), sealane.Aead(algorithm, key, provider)
    for length in (*range(0, 130), 1023, 1024, 4096, 65537, 1_000_003):
        data, aad = pattern(length), pattern(length % 37) or None
        sealed = theirs.encrypt(nonce, data, aad)
        assert ours.encrypt(nonce, data, aad) == sealed
        assert ours.decrypt(nonce, sealed, aad) == data
        message = ours.seal(data, aad)
        assert theirs.decrypt(message[:12], message[12:], aad) == data
        into, into_theirs = bytearray(length + 16), bytearray(length + 16)
        assert ours.encrypt_into(nonce, data, aad, into) == theirs.encrypt_into(nonce, data, aad, into_theirs)
        assert into == into_theirs == sealed


@given(
    st.sampled_from([16, 24, 32]),
    st.binary(min_size=16, max_size=16),
    st.integers(0, 5000),
    st.integers(0, 5000),
)
def test_counter_mode(key_len: int, iv: bytes, offset: int, length: int) -> None:
    key, data = pattern(key_len), pattern(length)
    peer = Cipher(algorithms.AES(key), modes.CTR(iv)).encryptor()
    peer.update(bytes(offset))
    want = peer.update(data)
    ours = sealane.hazmat.AesCtr(key, iv)
    assert ours.xor_at(offset, data) == want


@pytest.mark.parametrize("key_len", [16, 24, 32])
def test_counter_mode_at_large_offsets(key_len: int) -> None:
    """The other library cannot seek, but it accepts any first counter block."""
    key, data = pattern(key_len), pattern(1000)
    start = int.from_bytes(pattern(16), "big")
    for block in 1, (1 << 32) - 2, (1 << 59) + 7, (1 << 60) - 80:
        counter = (start + block) % (1 << 128)
        peer = Cipher(algorithms.AES(key), modes.CTR(counter.to_bytes(16, "big"))).encryptor()
        assert sealane.hazmat.AesCtr(key, pattern(16)).xor_at(block * 16, data) == peer.update(data)
