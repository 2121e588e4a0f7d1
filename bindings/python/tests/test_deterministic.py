"""Tests of deterministic encryption, compared with the packages cryptography and tink."""

from __future__ import annotations

import array
import itertools
import json
import os
import pickle

import numpy as np
import pytest
import sealane
from cryptography.hazmat.primitives.ciphers.aead import AESSIV
from hypothesis import given
from hypothesis import strategies as st
from support import VECTORS, pattern

KEY = pattern(64)
DAEAD = sealane.DeterministicAead("aes-256-siv", KEY)


@given(st.binary(max_size=300), st.binary(max_size=100))
def test_cryptography_computes_the_same(data: bytes, aad: bytes) -> None:
    encrypted = DAEAD.encrypt(data, aad)
    assert encrypted == AESSIV(KEY).encrypt(data, [aad])
    assert DAEAD.decrypt(encrypted, aad) == data


@pytest.mark.parametrize("length", [1, 15, 16, 17, 8191, 8192, 8193, 1 << 20])
def test_lengths_around_those_at_which_calls_detach(length: int) -> None:
    data = os.urandom(length)
    assert DAEAD.encrypt(data, b"aad") == AESSIV(KEY).encrypt(data, [b"aad"])


def test_a_published_vector() -> None:
    file = json.loads((VECTORS / "daead/wycheproof/aes_siv_cmac_test.json").read_text())
    (group,) = [group for group in file["testGroups"] if group["keySize"] == 512]
    for test in group["tests"]:
        key, aad, data, encrypted = (bytes.fromhex(test[name]) for name in ("key", "aad", "msg", "ct"))
        daead = sealane.DeterministicAead("aes-256-siv", key)
        if test["result"] == "valid":
            assert daead.encrypt(data, aad) == encrypted
            assert daead.decrypt(encrypted, aad) == data
        else:
            with pytest.raises(sealane.AuthenticationError, match=r"^authentication failed$"):
                daead.decrypt(encrypted, aad)


def test_associated_data_may_be_missing() -> None:
    for encrypted in DAEAD.encrypt(b"x"), DAEAD.encrypt(b"x", None), DAEAD.encrypt(b"x", aad=b""):
        assert DAEAD.decrypt(encrypted) == b"x"
        assert DAEAD.decrypt(memoryview(encrypted), bytearray()) == b"x"


def test_properties() -> None:
    assert (DAEAD.algorithm, DAEAD.key_len, DAEAD.overhead) == ("aes-256-siv", 64, 16)
    assert repr(DAEAD) == f"<sealane.DeterministicAead aes-256-siv ({DAEAD.variant})>"
    assert len(sealane.generate_key("aes-256-siv")) == 64
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(DAEAD)


def test_mistakes() -> None:
    with pytest.raises(ValueError, match=r'unknown algorithm "aes-256-gcm"; known: aes-256-siv'):
        sealane.DeterministicAead("aes-256-gcm", KEY)
    with pytest.raises(ValueError, match="32"):
        sealane.DeterministicAead("aes-256-siv", bytes(32))
    with pytest.raises(ValueError, match="threads must be at least 1"):
        sealane.DeterministicAead("aes-256-siv", KEY, threads=0)
    with pytest.raises(TypeError):
        DAEAD.encrypt("text")  # type: ignore[arg-type]
    for length in range(16):
        with pytest.raises(sealane.AuthenticationError):
            DAEAD.decrypt(bytes(length))


@given(st.lists(st.binary(max_size=100), max_size=60), st.binary(max_size=20), st.sampled_from("iq"))
def test_packed_messages_equal_single_ones(messages: list[bytes], aad: bytes, kind: str) -> None:
    offsets = array.array(kind, [0, *itertools.accumulate(map(len, messages))])
    data, out = DAEAD.encrypt_packed(b"".join(messages), offsets, aad)
    assert out.format == kind
    assert [data[start:end] for start, end in itertools.pairwise(out)] == [
        DAEAD.encrypt(message, aad) for message in messages
    ]
    assert DAEAD.decrypt_packed(data, out, aad) == (b"".join(messages), memoryview(offsets))


@pytest.mark.parametrize("threads", [None, 1, 3])
def test_large_columns(threads: int | None) -> None:
    daead = sealane.DeterministicAead("aes-256-siv", KEY, threads=threads)
    data = os.urandom(64 * 12_345)
    offsets = np.arange(0, len(data) + 1, 64, np.int32)
    encrypted, out = daead.encrypt_packed(data, offsets, b"column")
    assert DAEAD.decrypt_packed(encrypted, out, b"column") == (data, memoryview(offsets))
    changed = bytearray(encrypted)
    for index in 12_344, 5_000, 3:
        changed[80 * index + 5] ^= 1
        with pytest.raises(
            sealane.AuthenticationError, match=f"^message {index}: authentication failed$"
        ) as e:
            daead.decrypt_packed(changed, out, b"column")
        assert e.value.index == index


def test_offsets_are_checked() -> None:
    for offsets in (
        array.array("i"),
        array.array("q", [-1, 2]),
        array.array("i", [2, 1]),
        array.array("i", [0, 6]),
    ):
        with pytest.raises(ValueError, match="offset"):
            DAEAD.encrypt_packed(b"hello", offsets)
    with pytest.raises(TypeError, match="int32 or int64"):
        DAEAD.encrypt_packed(b"hello", array.array("h", [0, 5]))
