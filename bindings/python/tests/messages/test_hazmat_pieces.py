"""`Poly1305`, `AeadEncryptor` and `AeadDecryptor`: any division into pieces, and the order of calls."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
import sealane
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import GCM
from cryptography.hazmat.primitives.poly1305 import Poly1305 as TheirPoly1305
from hypothesis import given
from hypothesis import strategies as st
from sealane.hazmat import AeadDecryptor, AeadEncryptor, ChaCha20, Poly1305
from support import ALGORITHMS, pattern

STREAMED = ["aes-128-gcm", "aes-192-gcm", "aes-256-gcm", "chacha20-poly1305", "xchacha20-poly1305"]
LENGTHS = {row.name: (row.key_len, row.nonce_len) for row in sealane.algorithms()}


def cut(data: bytes, lengths: list[int]) -> Iterator[bytes]:
    for length in lengths:
        yield data[:length]
        data = data[length:]
    yield data


def start(algorithm: str) -> tuple[AeadEncryptor, AeadDecryptor, sealane.Aead, bytes]:
    key, nonce = map(pattern, LENGTHS[algorithm])
    return (
        AeadEncryptor(algorithm, key, nonce),
        AeadDecryptor(algorithm, key, nonce),
        sealane.Aead(algorithm, key),
        nonce,
    )


@given(st.binary(min_size=32, max_size=32), st.binary(max_size=2000), st.lists(st.integers(0, 70)))
def test_poly1305_matches_cryptography(key: bytes, data: bytes, cuts: list[int]) -> None:
    mac, other = Poly1305(key), Poly1305(key)
    for piece in cut(data, cuts):
        assert mac.update(piece) is mac
        other.update(memoryview(piece))
    tag = TheirPoly1305.generate_tag(key, data)
    assert mac.finalize() == tag
    other.verify(bytearray(tag))
    assert Poly1305(key).update(data).finalize() == tag


def test_poly1305() -> None:
    key = bytes.fromhex("85d6be7857556d337f4452fe42d506a80103808afb0db2fd4abff6af4149f51b")
    text, tag = b"Cryptographic Forum Research Group", bytes.fromhex("a8061dc1305136c6c22b8baf0c0127a9")
    assert Poly1305(key).update(text).finalize() == tag
    for wrong in tag[:-1] + b"\0", bytes(16):
        with pytest.raises(sealane.AuthenticationError):
            Poly1305(key).update(text).verify(wrong)
    mac = Poly1305(key).update(text)
    for length in 0, 15, 17:
        with pytest.raises(ValueError, match=f"tag must have 16 bytes, not {length}"):
            mac.verify(bytes(length))
    mac.verify(tag)  # what was no tag did not end it
    for length in 0, 16, 31, 33:
        with pytest.raises(ValueError, match=f"32 bytes, not {length}"):
            Poly1305(bytes(length))
    with pytest.raises(TypeError):
        Poly1305("k" * 32)  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Poly1305(key).update("text")  # type: ignore[arg-type]


def test_one_time_keys_of_chacha20() -> None:
    """The key and the nonce are those of RFC 8439, section 2.6.2."""
    key, nonce = bytes(range(0x80, 0xA0)), bytes.fromhex("000000000001020304050607")
    once = ChaCha20(key, nonce).xor_at(0, bytes(32))
    assert once.hex() == "8ad5a08b905f81cc815040274ab29471a833b637e3fd0da508dbb8e2fdd1a646"
    assert (
        Poly1305.from_chacha20(key, nonce).update(b"x").finalize() == Poly1305(once).update(b"x").finalize()
    )
    with pytest.raises(ValueError, match="12 bytes, not 24"):
        Poly1305.from_chacha20(key, bytes(24))


@pytest.mark.parametrize("algorithm", STREAMED)
@given(st.binary(max_size=3000), st.binary(max_size=200), st.lists(st.integers(0, 100)))
def test_pieces_equal_one_message(algorithm: str, data: bytes, aad: bytes, cuts: list[int]) -> None:
    encryptor, decryptor, whole, nonce = start(algorithm)
    want = whole.encrypt(nonce, data, aad)
    for piece in cut(aad, cuts):
        assert encryptor.aad(piece) is encryptor
        assert decryptor.aad(piece) is decryptor
    sealed = b"".join(encryptor.update(piece) for piece in cut(data, cuts))
    assert sealed + encryptor.finalize() == want
    assert b"".join(decryptor.update(piece) for piece in cut(sealed, cuts[::-1])) == data
    decryptor.finalize(want[len(data) :])


@pytest.mark.parametrize("algorithm", STREAMED)
def test_large_pieces(algorithm: str) -> None:
    encryptor, decryptor, whole, nonce = start(algorithm)
    data = pattern(1_000_000)
    want, out, at = whole.encrypt(nonce, data, b""), bytearray(data), 0
    for length in 1, 8191, 8192, 100_003, 65_536, 818_077:
        piece = memoryview(out)[at : at + length]
        assert encryptor.update_into(piece, piece) == length
        at += length
    assert at == len(data)
    assert out + encryptor.finalize() == want
    back = bytearray(len(data) + 5)
    assert decryptor.update_into(out, back) == len(data)
    assert back == data + bytes(5)
    decryptor.finalize(want[-16:])


@given(st.sampled_from([16, 24, 32]), st.binary(max_size=1000), st.lists(st.integers(0, 100)))
def test_gcm_matches_cryptography(key_len: int, data: bytes, cuts: list[int]) -> None:
    key, nonce = pattern(key_len), pattern(12)
    theirs = Cipher(AES(key), GCM(nonce)).encryptor()
    theirs.authenticate_additional_data(b"header")
    ours = AeadEncryptor(f"aes-{8 * key_len}-gcm", key, nonce).aad(b"header")
    for piece in cut(data, cuts):
        assert ours.update(piece) == theirs.update(piece)
    theirs.finalize()
    assert ours.finalize() == theirs.tag


def test_rfc_8439() -> None:
    encryptor = AeadEncryptor(
        "chacha20-poly1305", bytes(range(0x80, 0xA0)), bytes.fromhex("070000004041424344454647")
    )
    encryptor.aad(bytes.fromhex("50515253c0c1c2c3")).aad(bytes.fromhex("c4c5c6c7"))
    text = (
        b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip for the future, "
        b"sunscreen would be it."
    )
    sealed = encryptor.update(text[:50]) + encryptor.update(text[50:])
    assert sealed[:16].hex() == "d31a8d34648e60db7b86afbc53ef7ec2"
    assert encryptor.finalize().hex() == "1ae10b594f09e26a7e902ecbd0600691"


@pytest.mark.parametrize("algorithm", STREAMED)
def test_rejects_a_forgery(algorithm: str) -> None:
    _, _, whole, nonce = start(algorithm)
    sealed = whole.encrypt(nonce, b"attack at dawn", b"header")
    for change, aad in ((0, b"header"), (13, b"header"), (14, b"header"), (29, b"header"), (None, b"other")):
        changed = bytearray(sealed)
        if change is not None:
            changed[change] ^= 1
        _, decryptor, _, _ = start(algorithm)
        decryptor.aad(aad).update(changed[:14])
        with pytest.raises(sealane.AuthenticationError) as caught:
            decryptor.finalize(changed[14:])
        assert str(caught.value) == "authentication failed"
        with pytest.raises(ValueError, match="already finalized"):
            decryptor.finalize(sealed[14:])


@pytest.mark.parametrize("algorithm", STREAMED)
def test_the_order_of_calls(algorithm: str) -> None:
    encryptor, decryptor, whole, nonce = start(algorithm)
    encryptor.aad(b"a").update(b"")
    encryptor.aad(b"b")
    sealed = encryptor.update(b"data")
    with pytest.raises(ValueError, match="associated data comes before data"):
        encryptor.aad(b"c")
    tag = encryptor.finalize()
    assert sealed + tag == whole.encrypt(nonce, b"data", b"ab"), "what was refused left nothing"
    decryptor.aad(b"ab").update(sealed)
    with pytest.raises(ValueError, match="tag must have 16 bytes, not 4"):
        decryptor.finalize(tag[:4])
    decryptor.finalize(tag)
    mac = Poly1305(bytes(32))
    mac.finalize()
    out = bytearray(b"\xaa" * 10)
    calls: list[Callable[[], object]] = [
        encryptor.finalize,
        lambda: encryptor.aad(b""),
        lambda: encryptor.update(b""),
        lambda: encryptor.update(b"text"),
        lambda: encryptor.update_into(b"text", out),
        lambda: decryptor.finalize(tag),
        lambda: decryptor.aad(b""),
        lambda: decryptor.update(b"text"),
        lambda: decryptor.update_into(b"text", out),
        mac.finalize,
        lambda: mac.update(b""),
        lambda: mac.verify(tag),
    ]
    for call in calls:
        with pytest.raises(ValueError, match="already finalized"):
            call()
    assert out == b"\xaa" * 10


def test_a_rejected_call_changes_nothing() -> None:
    encryptor, _, whole, nonce = start("aes-256-gcm")
    memory = bytearray(b"some text and more of it")
    view = memoryview(memory)
    with pytest.raises(ValueError, match="overlap"):
        encryptor.update_into(view[:10], view[1:11])
    with pytest.raises(ValueError, match="9 bytes, 10 are needed"):
        encryptor.update_into(view[:10], bytearray(9))
    with pytest.raises(TypeError, match="read-only"):
        encryptor.update_into(view[:10], bytes(10))
    with pytest.raises(TypeError):
        encryptor.update("text")  # type: ignore[arg-type]
    assert memory == b"some text and more of it"
    assert encryptor.update(memory) + encryptor.finalize() == whole.encrypt(nonce, memory, b"")


def test_rejects_wrong_arguments() -> None:
    for make in AeadEncryptor, AeadDecryptor:
        with pytest.raises(ValueError, match="unknown algorithm"):
            make("rot13", bytes(32), bytes(12))
        for algorithm in ALGORITHMS:
            if algorithm not in STREAMED:
                with pytest.raises(ValueError, match=f"{algorithm} cannot be computed in pieces"):
                    make(algorithm, bytes(32), bytes(12))
        for algorithm in STREAMED:
            key, nonce = LENGTHS[algorithm]
            with pytest.raises(ValueError, match=f"{key} bytes, not 5"):
                make(algorithm, bytes(5), bytes(nonce))
            with pytest.raises(ValueError, match=f"{nonce} bytes, not 5"):
                make(algorithm, bytes(key), bytes(5))


@pytest.mark.parametrize("size", [100, 100_000])
def test_threads_share_an_object(size: int) -> None:
    """The pieces are equal, so their order does not matter."""
    encryptor, _, whole, nonce = start("chacha20-poly1305")
    mac, failures = Poly1305(pattern(32)), list[BaseException]()

    def work() -> None:
        try:
            for _ in range(50):
                assert len(encryptor.update(bytes(size))) == size
                mac.update(b"x" * size)
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert mac.finalize() == TheirPoly1305.generate_tag(pattern(32), b"x" * size * 200)
    assert encryptor.finalize() == whole.encrypt(nonce, bytes(size * 200), b"")[-16:]
