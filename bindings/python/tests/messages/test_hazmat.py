"""`sealane.hazmat.AesCtr`: any offset, any length, and the end of the keystream."""

from __future__ import annotations

import threading

import pytest
import sealane
from hypothesis import given
from hypothesis import strategies as st
from sealane.hazmat import AesCtr
from support import pattern

CTR = AesCtr(pattern(32), bytes(12) + b"\xff\xff\xff\xfe")
STREAM = CTR.xor_at(0, bytes(200_000))


@given(st.integers(0, 100_000), st.integers(0, 100_000))
def test_any_offset(offset: int, length: int) -> None:
    want = STREAM[offset : offset + length]
    assert CTR.xor_at(offset, bytes(length)) == want
    out = bytearray(length + 3)
    assert CTR.xor_into(offset, bytes(length), out) == length
    assert out == want + bytes(3)
    CTR.xor_in_place(offset, out)
    assert out[:length] == bytes(length)


def test_rejects_ranges_past_the_end() -> None:
    last = (1 << 64) - 16
    assert len(CTR.xor_at(last, bytes(16))) == 16
    out = bytearray(b"\xaa" * 17)
    for offset in last, last + 15:
        with pytest.raises(sealane.LimitExceededError):
            CTR.xor_at(offset, bytes(17))
        with pytest.raises(sealane.LimitExceededError):
            CTR.xor_into(offset, bytes(17), out)
        with pytest.raises(sealane.LimitExceededError):
            CTR.xor_in_place(offset, out)
    assert out == b"\xaa" * 17
    with pytest.raises(sealane.LimitExceededError):
        CTR.xor_at(1 << 64, b"")
    with pytest.raises(ValueError, match="negative"):
        CTR.xor_at(-1, b"")
    with pytest.raises(TypeError):
        CTR.xor_at("0", b"")


@pytest.mark.parametrize("length", [0, 8, 15, 33])
def test_rejects_keys_and_ivs_of_another_length(length: int) -> None:
    with pytest.raises(ValueError, match=f"16 or 24 or 32 bytes, not {length}"):
        AesCtr(bytes(length), bytes(16))
    with pytest.raises(ValueError, match=f"16 bytes, not {length}"):
        AesCtr(bytes(16), bytes(length))
    assert AesCtr(sealane.keys.generate("aes-128"), bytearray(16)).variant == CTR.variant


def test_threads_share_an_object() -> None:
    parts: dict[int, bytes] = {}

    def work(which: int) -> None:
        for at in range(which * 20_000, len(STREAM), 160_000):
            parts[at] = CTR.xor_at(at, bytes(20_000))

    threads = [threading.Thread(target=work, args=(which,)) for which in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert b"".join(parts[at] for at in sorted(parts)) == STREAM
