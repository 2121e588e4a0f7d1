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
from sealane.keys import Keyring
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
    ring = Keyring.generate("aes-256-siv")
    for arguments, names in [(("aes-256-siv", KEY), {}), ((), {"keyring": ring})]:
        with pytest.raises(ValueError, match="threads must be at least 1"):
            sealane.DeterministicAead(*arguments, **names, threads=0)  # type: ignore[call-overload]
    for arguments, names in [
        ((), {}),
        (("aes-256-siv",), {}),
        (("aes-256-siv", KEY), {"keyring": ring}),
        (("aes-256-siv",), {"keyring": ring}),
    ]:
        with pytest.raises(TypeError, match="expected an algorithm and a key, or a keyring alone"):
            sealane.DeterministicAead(*arguments, **names)  # type: ignore[call-overload]
    for wrong in KEY, sealane.keys.generate("aes-256"):
        with pytest.raises(TypeError):
            sealane.DeterministicAead(keyring=wrong)  # type: ignore[call-overload]
    for name in "aes-256-gcm", "tink-4kb":
        with pytest.raises(ValueError, match="expected a keyring of aes-256-siv keys"):
            sealane.DeterministicAead(keyring=Keyring.generate(name))
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


@pytest.mark.parametrize("prefix", ["tink", "raw", "crunchy", "legacy"])
def test_keyrings(prefix: str) -> None:
    ring = Keyring.from_key(KEY, "aes-256-siv", prefix=prefix)
    old = sealane.DeterministicAead(keyring=ring)
    first = {"tink": b"\x01", "raw": b"", "crunchy": b"\0", "legacy": b"\0"}[prefix]
    begin = first + ring.primary.to_bytes(4, "big") if first else b""
    stored = old.encrypt(b"alice", b"email")
    assert stored == begin + DAEAD.encrypt(b"alice", b"email")
    assert old.overhead == len(stored) - 5
    assert old.encrypt_with_all_keys(b"alice", b"email") == [stored]
    ring.rotate()
    daead = sealane.DeterministicAead(keyring=ring)
    newer = daead.encrypt(b"alice", b"email")
    assert newer != stored
    assert daead.encrypt_with_all_keys(b"alice", b"email") == [newer, stored]
    for message in stored, newer, bytearray(stored):
        assert daead.decrypt(message, b"email") == b"alice"
        for changed in message[:-1], message + b"x", message[: len(begin)], b"", bytes(40):
            with pytest.raises(sealane.AuthenticationError, match=r"^authentication failed$"):
                daead.decrypt(changed, b"email")
        with pytest.raises(sealane.AuthenticationError):
            daead.decrypt(message)
    ring.disable(ring.keys[0].id)
    later = sealane.DeterministicAead(keyring=ring)
    assert later.encrypt_with_all_keys(b"alice", b"email") == [newer]
    with pytest.raises(sealane.AuthenticationError):
        later.decrypt(stored, b"email")
    assert daead.decrypt(stored, b"email") == b"alice"  # The keys of its time.


def test_a_keyring_describes_itself() -> None:
    ring = Keyring.generate("aes-256-siv")
    ring.rotate()
    daead = sealane.DeterministicAead(keyring=ring)
    assert (daead.algorithm, daead.key_len, daead.overhead) == ("aes-256-siv", 64, 21)
    shown = f"<sealane.DeterministicAead with a keyring of 2, aes-256-siv ({daead.variant})>"
    assert repr(daead) == shown
    with pytest.raises(TypeError, match="never pickled"):
        pickle.dumps(daead)
    assert DAEAD.encrypt_with_all_keys(b"x") == [DAEAD.encrypt(b"x")]


@given(st.lists(st.tuples(st.binary(max_size=100), st.booleans()), max_size=30), st.sampled_from("iq"))
def test_columns_of_two_keys(rows: list[tuple[bytes, bool]], kind: str) -> None:
    ring = Keyring.generate("aes-256-siv")
    old = sealane.DeterministicAead(keyring=ring)
    ring.rotate()
    new = sealane.DeterministicAead(keyring=ring)
    plain = [message for message, _ in rows]
    offsets = array.array(kind, [0, *itertools.accumulate(map(len, plain))])
    for daead in old, new:
        data, ends = daead.encrypt_packed(b"".join(plain), offsets, b"aad")
        assert [data[start:end] for start, end in itertools.pairwise(ends)] == [
            daead.encrypt(message, b"aad") for message in plain
        ]
        assert new.decrypt_packed(data, ends, b"aad") == (b"".join(plain), memoryview(offsets))
    stored = [(new if newer else old).encrypt(message, b"aad") for message, newer in rows]
    ends = array.array(kind, [0, *itertools.accumulate(map(len, stored))])
    assert new.decrypt_packed(b"".join(stored), ends, b"aad") == (b"".join(plain), memoryview(offsets))
    if rows:
        stored[-1] = stored[-1][:-1] + bytes([stored[-1][-1] ^ 1])
        with pytest.raises(sealane.AuthenticationError) as caught:
            new.decrypt_packed(b"".join(stored), ends, b"aad")
        assert caught.value.index == len(rows) - 1
