"""`ChaCha20`, `XChaCha20` and `SpeckCtr`: published vectors, any offset, and the end."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Protocol

import pytest
import sealane
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import ChaCha20 as TheirChaCha20
from hypothesis import given
from hypothesis import strategies as st
from sealane.hazmat import ChaCha20, SpeckCtr, XChaCha20
from support import SPECKS, pattern


class Stream(Protocol):
    def xor_at(self, offset: int, data: bytes) -> bytes: ...
    def xor_into(self, offset: int, src: object, out: object) -> int: ...
    def xor_in_place(self, offset: int, buf: object) -> None: ...


STREAMS: dict[str, Stream] = {
    "chacha20": ChaCha20(pattern(32), pattern(12)),
    "chacha20 from 7": ChaCha20(pattern(32), pattern(12), 7),
    "xchacha20": XChaCha20(pattern(32), pattern(24)),
    **{
        f"{name} {order}": SpeckCtr(name, pattern(key), b"\xff" * block, byte_order=order)
        for name, (block, key) in SPECKS.items()
        for order in ("big", "little")
    },
}
ENDS = {
    "chacha20": 64 << 32,
    "chacha20 from 7": (64 << 32) - 64 * 7,
    "xchacha20": 64 << 32,
    **{
        f"{name} {order}": min(block << 8 * block, 1 << 64)
        for name, (block, _) in SPECKS.items()
        for order in ("big", "little")
    },
}


@pytest.fixture(params=STREAMS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_any_offset(name: str) -> None:
    stream, data = STREAMS[name], pattern(30_000)
    whole = stream.xor_at(0, data)
    for offset in *range(70), 8191, 8192, 8193, 20_000:
        for length in 0, 1, 63, 64, 65, 9000:
            piece = data[offset : offset + length]
            want = whole[offset : offset + length]
            assert stream.xor_at(offset, piece) == want
            out = bytearray(length + 3)
            assert stream.xor_into(offset, piece, out) == length
            assert out == want + bytes(3)
            stream.xor_in_place(offset, memoryview(out)[:length])
            assert out == piece + bytes(3)
            assert stream.xor_into(offset, memoryview(out)[:length], out) == length
            assert out == want + bytes(3)


def test_rejects_ranges_past_the_end(name: str) -> None:
    stream, end = STREAMS[name], ENDS[name]
    assert len(stream.xor_at(end - 5, bytes(5))) == 5
    out = bytearray(b"\xaa" * 100)
    for offset in end - 99, end - 1, end, (1 << 64) - 50, (1 << 64) - 1:
        for call in (
            lambda offset=offset: stream.xor_at(offset, bytes(100)),
            lambda offset=offset: stream.xor_into(offset, bytes(100), out),
            lambda offset=offset: stream.xor_in_place(offset, out),
        ):
            with pytest.raises(sealane.LimitExceededError):
                call()
    assert out == b"\xaa" * 100
    with pytest.raises(sealane.LimitExceededError):
        stream.xor_at(1 << 64, b"")
    with pytest.raises(ValueError, match="negative"):
        stream.xor_at(-1, b"")
    with pytest.raises(TypeError):
        stream.xor_at("0", b"")  # type: ignore[arg-type]


def test_rejects_partial_overlap(name: str) -> None:
    stream, memory = STREAMS[name], bytearray(pattern(300))
    view = memoryview(memory)
    for src, out in ((view[1:101], view[:100]), (view[:100], view[1:101])):
        with pytest.raises(ValueError, match="overlap"):
            stream.xor_into(0, src, out)
    with pytest.raises(ValueError, match="99 bytes, 100 are needed"):
        stream.xor_into(0, view[:100], view[200:299])
    with pytest.raises(TypeError, match="read-only"):
        stream.xor_in_place(0, bytes(10))
    assert memory == pattern(300)


def test_threads_share_an_object(name: str) -> None:
    stream, data = STREAMS[name], pattern(160_000)
    want, parts = stream.xor_at(0, data), [b""] * 8

    def work(which: int) -> None:
        at = which * 20_000
        parts[which] = stream.xor_at(at, data[at : at + 20_000])

    threads = [threading.Thread(target=work, args=(which,)) for which in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert b"".join(parts) == want


@given(st.binary(min_size=32, max_size=32), st.binary(min_size=12, max_size=12), st.data())
def test_chacha20_matches_cryptography(key: bytes, nonce: bytes, draw: st.DataObject) -> None:
    counter = draw.draw(st.integers(0, (1 << 32) - 100))
    data = draw.draw(st.binary(max_size=3000))
    other = Cipher(TheirChaCha20(key, counter.to_bytes(4, "little") + nonce), None).encryptor()
    want = other.update(data)
    assert ChaCha20(key, nonce, counter).xor_at(0, data) == want
    assert ChaCha20(key, nonce).xor_at(64 * counter, data) == want
    cut = draw.draw(st.integers(0, len(data)))
    assert ChaCha20(key, nonce, counter).xor_at(cut, data[cut:]) == want[cut:]


def test_rfc_8439() -> None:
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it."
    )
    stream = ChaCha20(bytes(range(32)), bytes.fromhex("000000000000004a00000000"), counter=1)
    want = bytes.fromhex(
        "6e2e359a2568f98041ba0728dd0d6981e97e7aec1d4360c20a27afccfd9fae0bf91b65c5524733ab8f593dabcd62b357"
        "1639d624e65152ab8f530c359f0861d807ca0dbf500d6a6156a38e088a22b65e52bc514d16ccf806818ce91ab7793736"
        "5af90bbf74a35be6b40b8eedf2785e42874d"
    )
    assert stream.xor_at(0, text) == want
    # draft-irtf-cfrg-xchacha-03, A.3.1
    stream = XChaCha20(bytes(range(0x80, 0xA0)), bytes(range(0x40, 0x58)), counter=1)
    assert stream.xor_at(0, text)[:16].hex() == "bd6d179d3e83d43b9576579493c0e939"


SPECK_CTR = {
    "speck32-64": ("a0a1a2a3", "a4e263b9c5f11f600c272666c1f986d11849c3d539158106ba4fd7"),
    "speck64-96": ("a0a1a2a3a4a5a6a7", "18ee207a71d545b253f74c823cc1f28021318fa992b81f4059388c"),
    "speck64-128": ("a0a1a2a3a4a5a6a7", "5283ffacf193b5804ea4d57b18356b48fca18e0c2746d577adc12a"),
    "speck128-128": (
        "a0a1a2a3a4a5a6a7a8a9aaab00000000",
        "2c9102629cf3bbcd992ef51758fbbff6ea4b6c4913c95b849685fc",
    ),
    "speck128-192": (
        "a0a1a2a3a4a5a6a7a8a9aaab00000000",
        "6e387e59a1c184023c0e50c82506c800718826804edcea31e11c81",
    ),
    "speck128-256": (
        "a0a1a2a3a4a5a6a7a8a9aaab00000000",
        "5264c8513211057b77ce038b701f53d4a3667d11626f6456d6fb41",
    ),
}


@pytest.mark.parametrize("variant", SPECK_CTR)
def test_speck_ctr_matches_speckex(variant: str) -> None:
    iv, want = SPECK_CTR[variant]
    stream = SpeckCtr(variant, bytes(range(SPECKS[variant][1])), bytes.fromhex(iv))
    assert stream.xor_at(0, b"Speck-Poly1305 known answer").hex() == want


def test_a_counter_never_wraps() -> None:
    stream = SpeckCtr("speck128-256", bytes(range(32)), b"\xff" * 16)
    want = "a6466783d637d7d41585969c1f1d63c2d9f8f097693c61deaf1e93c8bdc2f8185329062a82c3922aa3c9c6ffaaaed256"
    assert stream.xor_at(0, bytes(48)).hex() == want


@pytest.mark.parametrize("length", [0, 11, 33])
def test_rejects_wrong_lengths(length: int) -> None:
    makes: list[tuple[Callable[[bytes, bytes], object], int, int]] = [
        (ChaCha20, 32, 12),
        (XChaCha20, 32, 24),
        *(
            (lambda key, iv, name=name: SpeckCtr(name, key, iv), key, block)
            for name, (block, key) in SPECKS.items()
        ),
    ]
    for make, key, nonce in makes:
        with pytest.raises(ValueError, match=f"key must have {key} bytes, not {length}"):
            make(bytes(length), bytes(nonce))
        with pytest.raises(ValueError, match=f"nonce must have {nonce} bytes, not {length}"):
            make(bytes(key), bytes(length))
        with pytest.raises(TypeError):
            make("k" * key, bytes(nonce))  # type: ignore[arg-type]


def test_counters() -> None:
    last = ChaCha20(bytes(32), bytes(12), (1 << 32) - 1)
    assert len(last.xor_at(0, bytes(64))) == 64
    with pytest.raises(sealane.LimitExceededError):
        last.xor_at(0, bytes(65))
    for make in ChaCha20, XChaCha20:
        nonce = bytes(12 if make is ChaCha20 else 24)
        with pytest.raises(sealane.LimitExceededError, match=r"below 2\^32"):
            make(bytes(32), nonce, 1 << 32)
        with pytest.raises(ValueError, match="negative"):
            make(bytes(32), nonce, -1)
        with pytest.raises(TypeError):
            make(bytes(32), nonce, "1")  # type: ignore[arg-type]


def test_rejects_unknown_names() -> None:
    for wrong in "speck", "speck128_256", "SPECK128-256", "speck128-256-poly1305", "":
        with pytest.raises(
            ValueError, match=r"known: speck32-64, speck48-72, .*, speck128-256(; did you mean|$)"
        ):
            SpeckCtr(wrong, bytes(32), bytes(16))
    with pytest.raises(ValueError, match=r'unknown byte order "middle"; known: big, little'):
        SpeckCtr("speck128-256", bytes(32), bytes(16), "middle")
