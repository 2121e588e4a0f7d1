"""Tests of `sealane.Aead`: its results, the rejected arguments, and the secrecy of the key."""

from __future__ import annotations

import copy
import pickle
import threading
from collections.abc import Callable
from pathlib import Path

import pytest
import sealane
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from hypothesis import given
from hypothesis import strategies as st
from support import ALGORITHMS, PAIRS, aead, pattern


@pytest.mark.parametrize(("algorithm", "provider"), PAIRS)
def test_messages_round_trip(algorithm: str, provider: str) -> None:
    a = aead(algorithm, provider)
    for length in 0, 1, 64, 9000:
        data = pattern(length)
        sealed = a.seal(data, b"header")
        assert len(sealed) == length + a.overhead
        assert a.open(sealed, b"header") == data
        # A sealed message is the nonce and the result of encrypt.
        nonce, body = sealed[: a.nonce_len], sealed[a.nonce_len :]
        assert a.decrypt(nonce, body, b"header") == data
        assert a.encrypt(nonce, data, b"header") == body


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_attributes(algorithm: str) -> None:
    (row,) = [row for row in sealane.algorithms() if row.name == algorithm]
    (chosen,) = [row for row in sealane.providers() if row.algorithm == algorithm and row.chosen]
    a = aead(algorithm)
    assert (a.algorithm, a.provider, a.variant) == (algorithm, chosen.provider, chosen.variant)
    assert (a.key_len, a.nonce_len, a.tag_len) == (row.key_len, row.nonce_len, row.tag_len)
    assert a.max_plaintext_len == row.max_plaintext_len
    assert a.overhead == a.nonce_len + a.tag_len
    assert len(sealane.generate_key(algorithm)) == a.key_len
    assert sealane.generate_key(algorithm) != sealane.generate_key(algorithm)
    with pytest.raises(AttributeError):
        a.algorithm = "other"


def test_unavailable_providers_have_a_reason() -> None:
    for row in sealane.providers():
        assert row.available != bool(row.reason), row
        assert row.available or not row.chosen, row
        assert row.algorithm in repr(row)


def test_rejects_unknown_names() -> None:
    with pytest.raises(ValueError, match=r"unknown algorithm \"rot13\"; known: aes-128-gcm, .*aegis-256x4"):
        sealane.Aead("rot13", bytes(32))
    with pytest.raises(ValueError, match="known: aes-128-gcm"):
        sealane.generate_key("AES-256-GCM")
    with pytest.raises(ValueError, match="known: native, aws-lc, rustcrypto"):
        sealane.Aead("aes-256-gcm", bytes(32), "openssl")
    with pytest.raises(sealane.ProviderUnavailableError, match="available from: native"):
        sealane.Aead("aegis-256", bytes(32), provider="rustcrypto")


@pytest.mark.parametrize("length", [0, 16, 31, 33])
def test_rejects_keys_of_another_length(length: int) -> None:
    with pytest.raises(ValueError, match=f"32 bytes, not {length}"):
        sealane.Aead("aes-256-gcm", bytes(length))


@pytest.mark.parametrize("length", [0, 11, 13, 64])
def test_rejects_nonces_of_another_length(length: int) -> None:
    a, out = aead(), bytearray(100)
    calls: list[Callable[[], object]] = [
        lambda: a.encrypt(bytes(length), b"data", None),
        lambda: a.decrypt(bytes(length), bytes(32), None),
        lambda: a.encrypt_into(bytes(length), b"data", None, out),
        lambda: a.decrypt_into(bytes(length), bytes(32), None, out),
    ]
    for call in calls:
        with pytest.raises(ValueError, match=f"12 bytes, not {length}"):
            call()
    assert out == bytes(100)


def test_the_key_is_copied() -> None:
    key = bytearray(pattern(32))
    a = sealane.Aead("aes-256-gcm", key)
    key[:] = bytes(32)
    assert a.open(aead().seal(b"data")) == b"data"


# claim: message-changed
@pytest.mark.parametrize(("algorithm", "provider"), PAIRS)
def test_a_forgery_leaves_no_plaintext(algorithm: str, provider: str) -> None:
    a, length = aead(algorithm, provider), 20_000
    sealed = bytearray(a.seal(b"secret" * 3333 + b"ss", b"aad"))
    for at in 0, a.nonce_len, len(sealed) // 2, len(sealed) - 1:
        changed = bytearray(sealed)
        changed[at] ^= 1
        with pytest.raises(sealane.AuthenticationError) as caught:
            a.open(changed, b"aad")
        assert str(caught.value) == "authentication failed"
        out = bytearray(b"\xaa" * (length + 8))
        with pytest.raises(sealane.AuthenticationError):
            a.open_into(changed, out, b"aad")
        assert out == bytes(length) + b"\xaa" * 8
        out = bytearray(b"\xaa" * length)
        with pytest.raises(sealane.AuthenticationError):
            a.decrypt_into(changed[: a.nonce_len], changed[a.nonce_len :], b"aad", out)
        assert out == bytes(length)
        view = memoryview(changed)[a.nonce_len :]
        with pytest.raises(sealane.AuthenticationError):
            a.open_into(changed, view, b"aad")
        assert changed[a.nonce_len : -16] == bytes(length)
    with pytest.raises(sealane.AuthenticationError):
        a.open(sealed, b"another")


# claim: message-changed
@given(st.binary(max_size=200), st.binary(max_size=50), st.data())
def test_detects_any_change(data: bytes, aad: bytes, draw: st.DataObject) -> None:
    a = aead()
    sealed = bytearray(a.seal(data, aad))
    cut = draw.draw(st.integers(0, len(sealed) - 1))
    bit = draw.draw(st.integers(0, len(sealed) * 8 - 1))
    for wrong in sealed[:cut], sealed + b"\0":
        with pytest.raises(sealane.AuthenticationError):
            a.open(wrong, aad)
        with pytest.raises(sealane.AuthenticationError):
            a.open_into(wrong, bytearray(300), aad)
    sealed[bit // 8] ^= 1 << bit % 8
    with pytest.raises(sealane.AuthenticationError):
        a.open(sealed, aad)


def test_the_key_is_never_shown() -> None:
    key = b"\xde\xad\xbe\xef" * 8
    secrets = [
        sealane.Aead("aes-256-gcm", key),
        sealane.hazmat.AesCtr(key, bytes(16)),
        sealane.hazmat.ChaCha20(key, bytes(12)),
        sealane.hazmat.XChaCha20(key, bytes(24)),
        sealane.hazmat.SpeckCtr("speck128-256", key, bytes(16)),
        sealane.hazmat.Speck("speck128-256", key),
        sealane.hazmat.Poly1305(key),
        sealane.hazmat.AeadEncryptor("aes-256-gcm", key, bytes(12)),
        sealane.hazmat.AeadDecryptor("chacha20-poly1305", key, bytes(12)),
        sealane.hazmat.Aead("speck128-256-poly1305", key),
        sealane.Aead("aes-256-gcm", key).buffer(10),
        sealane.keys.generate("aes-256"),
    ]
    for secret in secrets:
        assert "dead" not in repr(secret).lower()
        assert repr(secret) == str(secret)
        for way in pickle.dumps, copy.copy, copy.deepcopy:
            with pytest.raises(TypeError, match="never pickled"):
                way(secret)
        assert not hasattr(secret, "__dict__")


# claim: message-nonces
def test_nonces_are_fresh() -> None:
    a = aead()
    nonces = {a.seal(b"")[:12] for _ in range(50_000)}
    assert len(nonces) == 50_000


@pytest.mark.parametrize("size", [64, 100_000])
def test_eight_threads_share_a_key(size: int) -> None:
    a = aead()
    nonces: list[list[bytes]] = [[] for _ in range(8)]
    failures: list[BaseException] = []

    def work(which: int) -> None:
        try:
            data, out = bytes([which]) * size, bytearray(size + 28)
            for _ in range(300):
                a.seal_into(data, out, b"aad")
                assert a.open(out, b"aad") == data
                nonces[which].append(bytes(out[:12]))
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(which,)) for which in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len({nonce for some in nonces for nonce in some}) == 8 * 300


def test_exceptions_have_one_base_class() -> None:
    below = {
        sealane.AuthenticationError: sealane.SealaneError,
        sealane.FormatError: sealane.SealaneError,
        sealane.TruncatedError: sealane.FormatError,
        sealane.UnsupportedVersionError: sealane.FormatError,
        sealane.NoMatchingKeyError: sealane.SealaneError,
        sealane.PluginError: sealane.SealaneError,
        sealane.ProviderUnavailableError: sealane.SealaneError,
        sealane.LimitExceededError: sealane.SealaneError,
        sealane.SealaneError: Exception,
    }
    for error, base in below.items():
        assert error.__bases__ == (base,)
    for error in sealane.ForkedError, sealane.ReentrantCallError:
        assert error.__bases__ == (sealane.SealaneError, RuntimeError)
    for error in [*below, sealane.ForkedError, sealane.ReentrantCallError]:
        assert pickle.loads(pickle.dumps(error("text"))).args == ("text",)


def test_texts_of_exceptions_have_no_control_characters(tmp_path: Path) -> None:
    name = "a\x1b[31m\u202e\n\udcff ü日"
    shown = "a\\x1b[31m\\u202e\\n\\udcff ü日"
    assert str(sealane.FormatError(name)) == shown
    assert str(sealane.exceptions.KeyNotFoundError(name)) == shown
    (tmp_path / "a\x1b[31m").write_text("no key")
    with pytest.raises(sealane.SealaneError, match=r"a\\x1b\[31m"):
        sealane.keys.resolve(f"file:{tmp_path}/a\x1b[31m")


@pytest.mark.parametrize(("algorithm", "provider"), PAIRS)
def test_a_nonce_of_a_wrong_length_is_found_before_the_message_is_opened(
    algorithm: str, provider: str
) -> None:
    """The nonce is the caller's mistake, so its length is checked before bytes of an attacker."""
    a = aead(algorithm, provider)
    whole = a.encrypt(bytes(a.nonce_len), b"data")
    for length in 0, a.nonce_len - 1, a.nonce_len + 1:
        for data in b"", bytes(15), bytes(16), whole:
            with pytest.raises(ValueError, match="nonce must have"):
                a.decrypt(bytes(length), data)
            with pytest.raises(ValueError, match="nonce must have"):
                a.decrypt_into(bytes(length), data, None, bytearray(100))


def test_a_nonce_of_a_wrong_length_for_speck() -> None:
    a = sealane.hazmat.Aead("speck128-256-poly1305", pattern(32))
    for data in b"", bytes(15), bytes(16):
        with pytest.raises(ValueError, match="nonce must have"):
            a.decrypt(bytes(11), data)
        with pytest.raises(ValueError, match="nonce must have"):
            a.decrypt_into(bytes(13), data, None, bytearray(100))


def test_the_keywords_of_cryptography() -> None:
    data, header, nonce = b"data", b"header", bytes(12)
    one, speck = aead(), sealane.hazmat.Aead("speck128-256-poly1305", pattern(32))
    for ours in one, AESGCM(pattern(32)), speck:
        out, plain = bytearray(20), bytearray(4)
        sealed = ours.encrypt(nonce=nonce, data=data, associated_data=header)
        assert ours.encrypt_into(nonce=nonce, data=data, associated_data=header, buf=out) == 20
        assert out == sealed
        assert ours.decrypt(nonce=nonce, data=sealed, associated_data=header) == data
        assert ours.decrypt_into(nonce=nonce, data=sealed, associated_data=header, buf=plain) == 4
        assert plain == data
    assert one.encrypt_into(nonce, data, out=out) == one.encrypt_into(nonce, data, None, buf=out) == 20
    with pytest.raises(TypeError, match="aad and associated_data"):
        one.encrypt(nonce, data, header, associated_data=header)
    with pytest.raises(TypeError, match="out and buf"):
        one.decrypt_into(nonce, out, header, plain, buf=plain)
    with pytest.raises(TypeError, match="output buffer is missing"):
        one.encrypt_into(nonce, data, header)
