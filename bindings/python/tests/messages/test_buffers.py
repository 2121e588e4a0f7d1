"""Buffer arguments: every kind is accepted, and invalid or overlapping ones are rejected."""

from __future__ import annotations

import array
import ctypes
import mmap
from collections.abc import Callable

import numpy as np
import pytest
import sealane
from hypothesis import given
from hypothesis import strategies as st
from support import aead, pattern

NONCE = bytes(12)
AEAD = aead()
CTR = sealane.hazmat.AesCtr(bytes(32), bytes(16))


def mapped(data: bytes) -> mmap.mmap:
    memory = mmap.mmap(-1, len(data))
    memory[:] = data
    return memory


KINDS: list[Callable[[bytes], object]] = [
    bytes,
    bytearray,
    memoryview,
    lambda data: memoryview(bytearray(data)),
    lambda data: memoryview(data).cast("d"),
    lambda data: memoryview(data).cast("B", shape=[2, len(data) // 2]),
    lambda data: array.array("H", data),
    lambda data: np.frombuffer(data, np.uint8),
    lambda data: np.frombuffer(data, np.float64),
    lambda data: np.frombuffer(data, np.uint8).reshape(2, -1),
    lambda data: (ctypes.c_char * len(data)).from_buffer_copy(data),
    mapped,
    type("Subclass", (bytes,), {}),
    type("Subclass", (bytearray,), {}),
]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("length", [16, 64, 65536])
def test_accepts_every_kind_of_buffer(kind: Callable[[bytes], object], length: int) -> None:
    data, aad = pattern(length), pattern(16)
    want = AEAD.encrypt(NONCE, data, aad)
    assert AEAD.encrypt(NONCE, kind(data), kind(aad)) == want
    assert AEAD.decrypt(NONCE, kind(want + bytes(0)), kind(aad)) == data
    out = kind(bytes(length + 16))
    if not memoryview(out).readonly:
        assert AEAD.encrypt_into(NONCE, kind(data), kind(aad), out) == length + 16
        assert bytes(memoryview(out).cast("B") if memoryview(out).ndim == 1 else out) == want


@pytest.mark.parametrize("wrong", ["text", 7, None, 1.5, [1, 2], object()])
def test_rejects_arguments_that_are_not_buffers(wrong: object) -> None:
    calls: list[Callable[[], object]] = [
        lambda: AEAD.seal(wrong),
        lambda: AEAD.open(wrong),
        lambda: AEAD.encrypt(wrong, b"", b""),
        lambda: AEAD.encrypt(NONCE, wrong, b""),
        lambda: AEAD.seal_into(b"", wrong),
        lambda: CTR.xor_at(0, wrong),
        lambda: CTR.xor_in_place(0, wrong),
        lambda: sealane.encrypt(wrong, key=bytes(32)),
        lambda: sealane.encrypt(b"", key=wrong),
        lambda: sealane.encrypt(b"", key=bytes(32), context=wrong),
        lambda: sealane.Aead("aes-256-gcm", wrong),
    ]
    for call in calls:
        with pytest.raises(TypeError):
            call()


def test_missing_associated_data_equals_empty_data() -> None:
    empty = AEAD.encrypt(NONCE, b"data", b"")
    assert AEAD.encrypt(NONCE, b"data", None) == empty
    assert AEAD.decrypt(NONCE, empty, None) == b"data"
    for sealed in AEAD.seal(b"x"), AEAD.seal(b"x", None), AEAD.seal(b"x", aad=None), AEAD.seal(b"x", aad=b""):
        assert AEAD.open(sealed) == AEAD.open(sealed, aad=None) == AEAD.open(sealed, b"") == b"x"
    with pytest.raises(TypeError):
        AEAD.seal(b"x", aad="text")


def outputs(out: object) -> list[Callable[[], object]]:
    """The calls that write to a buffer of 128 bytes."""
    sealed = AEAD.seal(bytes(100))
    return [
        lambda: AEAD.seal_into(bytes(100), out),
        lambda: AEAD.open_into(sealed, out),
        lambda: AEAD.encrypt_into(NONCE, bytes(112), None, out),
        lambda: AEAD.decrypt_into(sealed[:12], sealed[12:], None, out),
        lambda: CTR.xor_into(0, bytes(100), out),
        lambda: CTR.xor_in_place(0, out),
    ]


@pytest.mark.parametrize("kind", [bytes, memoryview, lambda b: np.frombuffer(b, np.uint8)])
def test_rejects_a_read_only_output(kind: Callable[[bytes], object]) -> None:
    for call in outputs(kind(bytes(128))):
        with pytest.raises(TypeError, match="read-only"):
            call()


def test_rejects_an_output_that_is_not_contiguous() -> None:
    every_other = memoryview(bytearray(256))[::2]
    by_columns = np.zeros((8, 16), np.uint8, order="F")
    for out in every_other, np.asarray(every_other), by_columns:
        for call in outputs(out):
            with pytest.raises(ValueError, match="not contiguous"):
                call()
    assert bytes(every_other) == bytes(128)
    with pytest.raises(ValueError, match="not contiguous"):
        AEAD.seal(every_other)


def test_does_not_write_to_an_output_that_is_too_short() -> None:
    sealed = AEAD.seal(bytes(100))
    calls: list[tuple[int, Callable[[bytearray], object]]] = [
        (128, lambda out: AEAD.seal_into(bytes(100), out)),
        (100, lambda out: AEAD.open_into(sealed, out)),
        (116, lambda out: AEAD.encrypt_into(NONCE, bytes(100), None, out)),
        (100, lambda out: AEAD.decrypt_into(sealed[:12], sealed[12:], None, out)),
        (100, lambda out: CTR.xor_into(0, bytes(100), out)),
    ]
    for need, call in calls:
        out = bytearray(b"\xaa" * (need - 1))
        with pytest.raises(ValueError, match=f"{need - 1} bytes, {need} are needed"):
            call(out)
        assert out == b"\xaa" * (need - 1)
        longer = bytearray(b"\xaa" * (need + 5))
        assert call(longer) == need
        assert longer[need:] == b"\xaa" * 5


def test_works_in_place() -> None:
    data = pattern(100)
    for length in 0, 1, 100, 20_000:
        data = pattern(length)
        memory = bytearray(12) + data + bytearray(16)
        view = memoryview(memory)
        assert AEAD.seal_into(view[12 : 12 + length], memory, b"a") == length + 28
        assert AEAD.open(memory, b"a") == data
        assert AEAD.open_into(memory, view[12:], b"a") == length
        assert memory[12 : 12 + length] == data

        memory = bytearray(data) + bytearray(16)
        view = memoryview(memory)
        want = AEAD.encrypt(NONCE, data, b"a")
        assert AEAD.encrypt_into(NONCE, view[:length], b"a", memory) == length + 16
        assert memory == want
        assert AEAD.decrypt_into(NONCE, memory, b"a", memory) == length
        assert memory[:length] == data

        memory = bytearray(data)
        assert CTR.xor_into(3, memory, memory) == length
        assert memory == CTR.xor_at(3, data)
        CTR.xor_in_place(3, memory)
        assert memory == data


@given(st.integers(0, 300), st.integers(0, 300), st.integers(0, 120))
def test_rejects_any_other_overlap(source: int, target: int, length: int) -> None:
    """Two views of one memory at any offsets: the result is correct, or the call writes nothing."""
    before = bytearray(pattern(600))
    need = length + 16
    memory = bytearray(before)
    view = memoryview(memory)
    data, out = view[source : source + length], view[target : target + need]
    apart = length == 0 or source + length <= target or target + need <= source
    if apart or source == target:
        want = AEAD.encrypt(NONCE, bytes(data), None)
        assert AEAD.encrypt_into(NONCE, data, None, out) == need
        assert memory == before[:target] + want + before[target + need :]
    else:
        with pytest.raises(ValueError, match="overlap"):
            AEAD.encrypt_into(NONCE, data, None, out)
        assert memory == before


@pytest.mark.parametrize("shift", [-15, -1, 1, 15])
def test_every_call_rejects_partial_overlap(shift: int) -> None:
    sealed = AEAD.seal(pattern(100))
    calls: list[tuple[int, bytes, Callable[[memoryview, memoryview], object]]] = [
        (12, pattern(100), lambda data, out: AEAD.seal_into(data, out[:128])),
        (-12, sealed, lambda data, out: AEAD.open_into(data, out[:100])),
        (0, pattern(100), lambda data, out: AEAD.encrypt_into(NONCE, data, None, out[:116])),
        (0, sealed[12:], lambda data, out: AEAD.decrypt_into(sealed[:12], data, None, out[:100])),
        (0, pattern(100), lambda data, out: CTR.xor_into(0, data, out[:100])),
    ]
    for right, data, call in calls:
        memory = bytearray(400)
        memory[100 : 100 + len(data)] = data
        before = bytes(memory)
        view = memoryview(memory)
        with pytest.raises(ValueError, match="overlap"):
            call(view[100 : 100 + len(data)], view[100 - right + shift :])
        assert memory == before
        call(view[100 : 100 + len(data)], view[100 - right :])


@pytest.mark.parametrize("at", [0, 50, 111])
def test_rejects_other_arguments_inside_the_output(at: int) -> None:
    """Nonce, aad and tag are read while the output is written, or later."""
    memory = bytearray(pattern(400))
    before = bytes(memory)
    view = memoryview(memory)
    inside = view[at : at + 12]
    sealed = AEAD.seal(bytes(100))
    calls: list[Callable[[], object]] = [
        lambda: AEAD.encrypt_into(inside, bytes(100), None, view[:116]),
        lambda: AEAD.encrypt_into(NONCE, bytes(100), inside, view[:116]),
        lambda: AEAD.decrypt_into(NONCE, sealed[12:], view[at - (at > 88) * 30 :][:12], view[:100]),
        lambda: AEAD.seal_into(bytes(88), view[:116], inside),
        lambda: AEAD.open_into(sealed, view[:100], view[at - (at > 88) * 30 :][:12]),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="overlap"):
            call()
        assert memory == before
    behind = view[116:128]
    AEAD.encrypt_into(behind, bytes(100), behind, view[:116])


def test_releases_every_export() -> None:
    memory = bytearray(200)
    AEAD.encrypt_into(memory[:12], bytes(16), bytearray(5), memory)
    with pytest.raises(ValueError, match="needed"):
        AEAD.encrypt_into(NONCE, bytes(1000), None, memory)
    with pytest.raises(ValueError, match="nonce"):
        AEAD.encrypt_into(bytes(3), bytes(10), None, memory)
    with pytest.raises(sealane.AuthenticationError):
        AEAD.open_into(memory, bytearray(300))
    memory.extend(b"not locked")


def test_aead_buffer() -> None:
    buffer = AEAD.buffer(4096)
    assert len(buffer) == len(buffer.plaintext) == 4096
    assert buffer.plaintext.obj is buffer.seal(0).obj
    for n in 0, 1, 4095, 4096:
        buffer.plaintext[:n] = pattern(n)
        wire = buffer.seal(n, aad=b"header")
        assert len(wire) == n + 28
        assert AEAD.open(wire, b"header") == pattern(n)
    with pytest.raises(ValueError, match="4096 bytes of plaintext, 4097 were requested"):
        buffer.seal(4097)
    for wrong in -1, -(1 << 70):
        with pytest.raises(ValueError, match="negative"):
            buffer.seal(wrong)
        with pytest.raises(ValueError, match="negative"):
            AEAD.buffer(wrong)
    with pytest.raises(sealane.LimitExceededError):
        AEAD.buffer(1 << 63)
    with pytest.raises(TypeError):
        AEAD.buffer("10")
    with pytest.raises(ValueError, match="overlap"):
        buffer.seal(10, aad=buffer.plaintext[:4])


@pytest.mark.xdist_group("serial")
@pytest.mark.huge
def test_messages_above_two_gib() -> None:
    """A length of more than 31 bits. The last byte is sealed as well."""
    length = (1 << 31) + 5
    memory = bytearray(length + 16)
    memory[length - 1] = 7
    view = memoryview(memory)
    assert AEAD.encrypt_into(NONCE, view[:length], None, memory) == length + 16
    assert memory[length - 1] != 7
    assert AEAD.decrypt_into(NONCE, memory, None, memory) == length
    assert memory[length - 1] == 7
    assert memory[: 1 << 20] == bytes(1 << 20)
    view.release()
    data = bytes(length)
    sealed = AEAD.encrypt(NONCE, data, None)
    assert len(sealed) == length + 16
    sealed_end = sealed[-(1 << 20) :]
    del sealed
    assert sealed_end != bytes(1 << 20)
