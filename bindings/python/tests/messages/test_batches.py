"""Tests of batches: lists and packed messages, compared with single messages."""

from __future__ import annotations

import array
import collections
import itertools
import mmap
import os
import threading
from collections.abc import Iterator

import numpy as np
import pytest
import sealane
from hypothesis import given
from hypothesis import strategies as st
from support import PAIRS, aead, in_child, pattern

AEAD = aead()
LENGTHS = [0, 1, 16, 63, 64, 65, *[64] * 9, 300, *[5] * 70, 9000]


def packed(messages: list[bytes], kind: str) -> tuple[bytes, array.array[int]]:
    offsets = array.array(kind, [0])
    for message in messages:
        offsets.append(offsets[-1] + len(message))
    return b"".join(messages), offsets


def unpacked(data: bytes, offsets: memoryview[int]) -> list[bytes]:
    return [data[start:end] for start, end in itertools.pairwise(offsets)]


@pytest.mark.parametrize(("algorithm", "provider"), PAIRS)
def test_batches_equal_single_messages(algorithm: str, provider: str) -> None:
    a = aead(algorithm, provider)
    messages = [pattern(length) for length in LENGTHS]
    aads = [pattern(index % 40) for index in range(len(messages))]
    sealed = a.seal_many(messages, aads)
    assert [a.open(one, aad) for one, aad in zip(sealed, aads, strict=True)] == messages
    assert len({one[: a.nonce_len] for one in sealed}) == len(sealed)
    assert a.open_many(sealed, aads) == messages
    for kind in "iq":
        data, offsets = packed(messages, kind)
        out, out_offsets = a.seal_packed(data, offsets, b"column")
        assert [a.open(one, b"column") for one in unpacked(out, out_offsets)] == messages
        again, again_offsets = a.open_packed(out, out_offsets, b"column")
        assert again == data
        assert (again_offsets.format, again_offsets.tolist()) == (kind, offsets.tolist())


@given(st.lists(st.binary(max_size=200), max_size=100), st.binary(max_size=50), st.sampled_from("iq"))
def test_any_messages(messages: list[bytes], aad: bytes, kind: str) -> None:
    assert AEAD.open_many(AEAD.seal_many(messages)) == messages
    out, offsets = AEAD.seal_packed(*packed(messages, kind), aad)
    assert [AEAD.open(one, aad) for one in unpacked(out, offsets)] == messages
    assert AEAD.open_packed(out, offsets, aad)[0] == b"".join(messages)


@given(st.binary(max_size=300), st.lists(st.integers(-5, 320), max_size=6), st.sampled_from("iq"))
def test_any_offsets(data: bytes, offsets: list[int], kind: str) -> None:
    items = array.array(kind, offsets)
    describes = bool(offsets) and offsets == sorted(offsets) and offsets[0] >= 0 and offsets[-1] <= len(data)
    try:
        out, out_offsets = AEAD.seal_packed(data, items)
    except ValueError:
        assert not describes
    else:
        assert describes
        assert AEAD.open_packed(out, out_offsets)[0] == data[offsets[0] : offsets[-1]]
    # Nothing of the data was sealed.
    expected = sealane.AuthenticationError if describes else ValueError
    if not describes or len(offsets) > 1:
        with pytest.raises(expected):
            AEAD.open_packed(data, items)


# claim: message-changed
@pytest.mark.parametrize("threads", [None, 1, 2, 100])
def test_large_batches(threads: int | None) -> None:
    a = sealane.Aead("aes-256-gcm", pattern(32), threads=threads)
    data = os.urandom(64 * 12_345)
    offsets = np.arange(0, len(data) + 1, 64, np.int32)
    out, out_offsets = a.seal_packed(data, offsets)
    assert AEAD.open_packed(out, out_offsets) == (data, memoryview(offsets))
    messages = [data[at : at + 64] for at in range(0, len(data), 64)]
    sealed = a.seal_many(messages)
    assert AEAD.open_many(sealed) == messages
    changed = bytearray(out)
    for index in 12_344, 5_000, 3:
        changed[92 * index + 5] ^= 1
        sealed[index] = bytes(28)
        with pytest.raises(
            sealane.AuthenticationError, match=f"^message {index}: authentication failed$"
        ) as e:
            a.open_packed(changed, out_offsets)
        assert e.value.index == index
        with pytest.raises(sealane.AuthenticationError) as e:
            a.open_many([*sealed[:index], bytes(28)])
        assert e.value.index == index


def test_threads_must_be_positive() -> None:
    with pytest.raises(ValueError, match="threads must be at least 1"):
        sealane.Aead("aes-256-gcm", bytes(32), threads=0)
    with pytest.raises(OverflowError):
        sealane.Aead("aes-256-gcm", bytes(32), threads=-1)


# claim: message-changed
def test_failures_name_the_message() -> None:
    sealed = AEAD.seal_many([b"a", b"b", b"c"])
    for short in b"", bytes(27), sealed[2][:-1]:
        with pytest.raises(sealane.AuthenticationError, match="message 2: authentication failed") as e:
            AEAD.open_many([*sealed[:2], short])
        assert e.value.index == 2
    with pytest.raises(sealane.AuthenticationError) as e:
        AEAD.open_many(sealed, [b"", b"other", b""])
    assert e.value.index == 1
    with pytest.raises(sealane.AuthenticationError) as single:
        AEAD.open(bytes(28))
    assert single.value.index is None


@pytest.mark.parametrize(
    "offsets",
    [
        b"\0" * 8,
        np.zeros(3, np.uint32),
        np.zeros(3, np.float64),
        np.zeros(3, np.int16),
        np.zeros(3, ">i4"),
        array.array("b", [0, 1]),
        [0, 1],
        None,
    ],
    ids=str,
)
def test_offsets_of_another_type(offsets: object) -> None:
    for call in AEAD.seal_packed, AEAD.open_packed:
        with pytest.raises(TypeError):
            call(bytes(100), offsets)


@pytest.mark.parametrize(
    ("offsets", "text"),
    [
        ([], "expected one more offset than messages, found no offset"),
        ([-1, 5], "first offset of 0 or more, found -1"),
        ([0, 5, 4], "offset 2 is 4, expected at least 5"),
        ([0, 101], "last offset is 101, expected at most 100"),
        ([2**31 - 1, 2**31 - 1], "at most 100"),
    ],
)
def test_offsets_that_describe_no_messages(offsets: list[int], text: str) -> None:
    for kind in np.int32, np.int64:
        for call in AEAD.seal_packed, AEAD.open_packed:
            with pytest.raises(ValueError, match=text):
                call(bytes(100), np.array(offsets, kind))


def test_offsets_of_another_shape() -> None:
    with pytest.raises(ValueError, match="expected offsets in 1 dimension, found 2"):
        AEAD.seal_packed(bytes(100), np.zeros((2, 2), np.int32))
    with pytest.raises(ValueError, match="not contiguous"):
        AEAD.seal_packed(bytes(100), np.zeros(8, np.int32)[::2])
    with pytest.raises(ValueError, match="not contiguous"):
        AEAD.seal_packed(np.zeros(8, np.int32)[::2], np.zeros(8, np.int32))
    # Items that begin between two words.
    offsets = np.frombuffer(b"x" + np.array([0, 3, 7], np.int64).tobytes(), np.int64, offset=1)
    out, out_offsets = AEAD.seal_packed(b"onefour", offsets)
    assert unpacked(*AEAD.open_packed(out, out_offsets)) == [b"one", b"four"]


def test_offsets_of_the_result_exceed_32_bits() -> None:
    # Memory that is never touched.
    with mmap.mmap(-1, 2**31 - 1) as data:
        with pytest.raises(sealane.LimitExceededError, match="use 64-bit offsets"):
            AEAD.seal_packed(data, np.array([0, 2**31 - 1], np.int32))
        out, offsets = AEAD.seal_packed(data, np.array([5, 5], np.int32))
        assert (len(out), offsets.tolist()) == (28, [0, 28])


def test_lists_of_other_objects() -> None:
    buffers = [bytearray(b"a"), memoryview(b"b"), np.frombuffer(b"c", np.uint8), b"d", array.array("B", b"e")]
    assert AEAD.open_many(AEAD.seal_many(buffers)) == [b"a", b"b", b"c", b"d", b"e"]
    assert AEAD.open_many(AEAD.seal_many(tuple(buffers))) == [b"a", b"b", b"c", b"d", b"e"]
    assert AEAD.open_many(map(AEAD.seal, [b"x", b"y"])) == [b"x", b"y"]
    assert AEAD.open_many(AEAD.seal_many([b"a"], [None])) == [b"a"]
    assert AEAD.seal_many([]) == AEAD.open_many([]) == []
    for wrong in 5, None, "text":
        with pytest.raises(TypeError, match="element 1: "):
            AEAD.seal_many([b"a", wrong])
        with pytest.raises(TypeError):
            AEAD.seal_many(wrong)
    with pytest.raises(ValueError, match="element 0: the buffer is not contiguous"):
        AEAD.seal_many([np.zeros(8, np.uint8)[::2]])
    for one in b"message", bytearray(b"message"), memoryview(b"message"), "message":
        with pytest.raises(TypeError, match=r"messages: expected a list .*; pass \[message\]"):
            AEAD.seal_many(one)
    for aads in [], [b"a"], [b"a", b"b", b"c"]:
        for call in AEAD.seal_many, AEAD.open_many:
            with pytest.raises(
                ValueError, match=f"associated data for each of 2 messages, found {len(aads)}"
            ):
                call([bytes(28), bytes(28)], aads)


def test_an_iterator_that_fails() -> None:
    def messages() -> Iterator[bytes]:
        yield b"a"
        raise KeyError("of the iterator")

    with pytest.raises(KeyError):
        AEAD.seal_many(messages())


def test_a_list_that_changes() -> None:
    """Another thread changes the list all the time, so each call seals a state of it."""
    messages = [bytes([n]) * 3000 for n in range(50)]
    known, changing, stop = set(messages), collections.deque(messages), threading.Event()
    shared = list(messages)

    def change() -> None:
        while not stop.is_set():
            changing.rotate()
            shared[:] = list(changing)[: len(shared) % 50 + 1]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            assert set(AEAD.open_many(AEAD.seal_many(shared))) <= known
    finally:
        stop.set()
        thread.join()


def test_offsets_that_change() -> None:
    """Another thread changes the offsets all the time, so each call uses one state of them or refuses it."""
    data = pattern(6400)
    good = np.arange(0, 6401, 64, np.int32)
    offsets, stop = good.copy(), threading.Event()

    def change() -> None:
        while not stop.is_set():
            offsets[50] = 2**31 - 1
            offsets[50] = good[50]

    thread = threading.Thread(target=change)
    thread.start()
    try:
        for _ in range(300):
            try:
                out, out_offsets = AEAD.seal_packed(data, offsets)
            except ValueError:
                continue
            assert AEAD.open_packed(out, out_offsets) == (data, memoryview(good))
    finally:
        stop.set()
        thread.join()


def test_a_fork_between_large_batches() -> None:
    data, offsets = bytes(1 << 20), np.arange(0, (1 << 20) + 1, 64, np.int32)
    AEAD.seal_packed(data, offsets)
    assert in_child(lambda: AEAD.open_packed(*AEAD.seal_packed(data, offsets))[0] == data)


def test_a_fork_between_long_messages() -> None:
    data = bytes(3 << 20)
    sealed = AEAD.seal(data)
    assert in_child(lambda: AEAD.open(sealed) == data and AEAD.open(AEAD.seal(data)) == data)
    assert AEAD.open(sealed) == data
