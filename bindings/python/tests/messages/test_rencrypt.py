"""The calls and messages of REncrypt, without its defects. test_rencrypt_files.py tests its files."""

from __future__ import annotations

import copy
import json
import os
import pickle
import re
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import sealane
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from hypothesis import given
from hypothesis import strategies as st
from sealane.compat.rencrypt import Cipher, REncrypt
from support import VECTORS, in_child, pattern

KEY = bytes(range(32))
OTHERS = {Cipher.AES256GCM: AESGCM, Cipher.ChaCha20Poly1305: ChaCha20Poly1305}
CIPHERS = pytest.mark.parametrize("cipher", Cipher)


def bound(aad: bytes, index: int) -> bytes:
    return aad + index.to_bytes(8, "little")


# ---- the interface of REncrypt -------------------------------------------------------------------

README = (Path(__file__).parent / "rencrypt_readme.md").read_text()
EXAMPLES = dict(re.findall(r"^## (.*?)\n.*?^```python\n(.*?)^```", README, re.MULTILINE | re.DOTALL))


def as_printed(example: str, folder: Path) -> str:
    """Returns the example with its import line, its stray single blanks and its folder corrected."""
    text = re.sub(r"^ (?=\S)", "", example, flags=re.MULTILINE)
    text = text.replace("from rencrypt import", "from sealane.compat.rencrypt import")
    return text.replace('"/tmp/', f'"{folder}/')


def test_the_readme_has_four_examples() -> None:
    assert len(EXAMPLES) == README.count("```python") == 4


@pytest.mark.parametrize("name", EXAMPLES)
@pytest.mark.parametrize("cipher", ["AES256GCM", "ChaCha20Poly1305"])
def test_readme_examples_run_as_printed(name: str, cipher: str, tmp_path: Path) -> None:
    (tmp_path / "fin").write_bytes(pattern(300_000))
    text = as_printed(EXAMPLES[name], tmp_path).replace(
        "cipher = Cipher.AES256GCM", f"cipher = Cipher.{cipher}"
    )
    done = subprocess.run(
        [sys.executable, "-c", text], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout.split() == ["encryping...", "decryping...", "bye!"]
    assert (tmp_path / "fin").read_bytes() == pattern(300_000)
    assert (tmp_path / "fout.enc").exists() == ("fout.enc" in text)


@pytest.mark.parametrize("test", json.loads((VECTORS / "aead" / "rencrypt.json").read_text())["tests"])
def test_known_answers(test: dict[str, str]) -> None:
    fields = ("key", "nonce", "aad", "pt", "ct", "tag")
    key, nonce, aad, plain, ciphertext, tag = (bytes.fromhex(test[field]) for field in fields)
    index, n = int(test["blockIndex"]), len(plain)
    rest, message = (index, aad), ciphertext + tag + nonce
    cipher = Cipher[test["cipher"]]
    enc, other = REncrypt(cipher, key), OTHERS[cipher](key)

    def expected(nonce: bytes) -> bytes:
        return other.encrypt(nonce, plain, bound(aad, index)) + nonce

    # No call takes a nonce, so the message is decrypted and compared with the known answer under
    # its nonce.
    assert expected(nonce) == message

    ours = enc.encrypt_from(plain, *rest)
    assert ours == expected(ours[-12:])
    assert enc.decrypt_from(message, *rest) == plain

    buf = bytearray(n + 100)
    buf[:n] = plain
    assert enc.encrypt(buf, n, *rest) == n + 28
    assert buf == expected(buf[n + 16 : n + 28]) + bytes(72)
    assert enc.decrypt(buf, n + 28, *rest) == n
    assert buf[:n] == plain
    buf[: n + 28] = message
    assert enc.decrypt(buf, n + 28, *rest) == n
    assert buf == plain + tag + nonce + bytes(72)

    buf = bytearray(n + 100)
    assert enc.encrypt_into_buf(plain, buf, *rest) == n + 28
    assert buf == expected(buf[n + 16 : n + 28]) + bytes(72)
    out = bytearray(n)  # REncrypt wanted 28 bytes more
    assert enc.decrypt_into_buf(message, out, *rest) == n
    assert out == plain


@given(st.integers(0, 3000), st.binary(max_size=40), st.integers(0, 2**64 - 1), st.sampled_from(Cipher))
def test_every_length_matches_cryptography(length: int, aad: bytes, index: int, cipher: Cipher) -> None:
    enc, other, plain = REncrypt(cipher, KEY), OTHERS[cipher](KEY), pattern(length)
    buf = bytearray(length + 28)
    enc.copy_slice(plain, buf)
    assert enc.encrypt(buf, length, index, aad) == len(buf)
    for message in bytes(buf), bytes(enc.encrypt_from(plain, index, aad)):
        assert other.decrypt(message[-12:], message[:-12], bound(aad, index)) == plain
    nonce = os.urandom(12)
    theirs = other.encrypt(nonce, plain, bound(aad, index)) + nonce
    assert enc.decrypt_from(theirs, index, aad) == plain


@CIPHERS
def test_lengths(cipher: Cipher) -> None:
    key = cipher.generate_key()
    assert cipher.key_len() == len(key) == 32
    assert key != cipher.generate_key()
    limit = {Cipher.AES256GCM: 68719476704, Cipher.ChaCha20Poly1305: 274877906880}
    assert cipher.max_plaintext_len() == limit[cipher]
    enc = REncrypt(cipher, key)
    assert (enc.overhead(), enc.get_nonce_len(), enc.get_tag_len()) == (28, 12, 16)
    assert enc.ciphertext_len(5) == 33
    assert enc.create_buf(5) == (5, 33, bytearray(33))
    assert enc.create_buf(0) == (0, 28, bytearray(28))
    with pytest.raises(ValueError, match="negative"):
        enc.create_buf(-1)


def test_names_of_all_releases_work() -> None:
    for names in (
        ("encrypt_into_buf", "encrypt_into", "encrypt_to_buf", "encrypt_into1"),
        ("decrypt_into_buf", "decrypt_into", "decrypt_to_buf", "decrypt_into1"),
        ("encrypt_from", "encrypt_from1"),
        ("decrypt_from", "decrypt_from1"),
        ("copy_slice", "copy_slice1"),
    ):
        assert len({getattr(REncrypt, name) for name in names}) == 1


@pytest.mark.parametrize("length", [0, 1, 1000, (1 << 20) - 1, 1 << 20, (1 << 20) + 1, 5_000_000])
def test_copy_slice_and_zeroize(length: int) -> None:
    buf = bytearray(b"\xff" * (length + 10))
    REncrypt.copy_slice(pattern(length), buf)
    assert buf == pattern(length) + b"\xff" * 10
    REncrypt.zeroize(memoryview(buf)[:length])
    assert buf == bytes(length) + b"\xff" * 10
    array = np.frombuffer(bytearray(pattern(length // 8 * 8)), np.float64)
    REncrypt.zeroize(array)
    assert not array.any()


@pytest.mark.parametrize("shift", [1, 4096, 1 << 20])
def test_copy_slice_within_one_buffer(shift: int) -> None:
    length = 3 << 20
    forwards, backwards = bytearray(pattern(length + shift)), bytearray(pattern(length + shift))
    REncrypt.copy_slice(memoryview(forwards)[:length], memoryview(forwards)[shift:])
    assert forwards[shift:] == pattern(length)
    REncrypt.copy_slice(memoryview(backwards)[shift:], backwards)
    assert backwards[:length] == pattern(length + shift)[shift:]


def test_copy_slice_between_two_objects_on_the_same_memory() -> None:
    memory = bytearray(pattern(100_000))
    first, second = np.frombuffer(memory, np.uint8), np.frombuffer(memory, np.uint8)
    REncrypt.copy_slice(first[:-9], second[9:])
    assert memory[9:] == pattern(100_000)[:-9]


@pytest.mark.parametrize("form", ["B", "d", "2d", "numpy"])
def test_any_contiguous_buffer(form: str) -> None:
    enc, memory = REncrypt(Cipher.AES256GCM, KEY), bytearray(4096 + 32)
    memory[:4096] = pattern(4096)
    buf = {
        "B": memoryview(memory),
        "d": memoryview(memory).cast("d"),
        "2d": memoryview(memory).cast("B", shape=[2, 2064]),
        "numpy": np.frombuffer(memory, np.uint16),
    }[form]
    assert enc.encrypt(buf, np.int64(4096), np.uint64(2**64 - 1), bytearray(b"AAD")) == 4124
    assert memory[4124:] == bytes(4)
    assert enc.decrypt_from(memoryview(memory)[:4124], 2**64 - 1, memoryview(b"AAD")) == pattern(4096)
    assert enc.decrypt(buf, 4124, 2**64 - 1, b"AAD") == 4096
    assert memory[:4096] == pattern(4096)


@pytest.mark.parametrize("length", [0, 119, 120, 121, 5000, 20_000])
def test_associated_data_may_be_long_or_in_the_buffer(length: int) -> None:
    enc, buf = REncrypt(Cipher.AES256GCM, KEY), bytearray(pattern(length + 128))
    text, aad = bytes(buf[:100]), bytes(buf[:length])
    assert enc.encrypt(buf, 100, 5, memoryview(buf)[:length]) == 128
    assert enc.decrypt_from(buf[:128], 5, aad) == text
    nonce = bytes(buf[116:128])
    assert OTHERS[Cipher.AES256GCM](KEY).decrypt(nonce, bytes(buf[:116]), bound(aad, 5)) == text


def test_arguments_have_their_names() -> None:
    enc, buf = REncrypt(cipher=Cipher.AES256GCM, key=KEY), bytearray(40)
    assert enc.encrypt(buf=buf, plaintext_len=12, block_index=1, aad=b"") == 40
    assert enc.decrypt(buf=buf, ciphertext_len=40, block_index=1, aad=b"") == 12
    assert enc.encrypt_into_buf(plaintext=bytes(12), buf=buf, block_index=1, aad=b"") == 40
    assert enc.decrypt_into_buf(ciphertext=bytes(buf), buf=buf, block_index=1, aad=b"") == 12
    message = enc.encrypt_from(plaintext=bytes(12), block_index=1, aad=b"")
    assert enc.decrypt_from(ciphertext=message, block_index=1, aad=b"") == bytes(12)
    enc.copy_slice(src=b"text", buf=buf)
    enc.zeroize(arr=buf)
    assert not any(buf)


# ---- defects of REncrypt, one by one -------------------------------------------------------------


@pytest.mark.filterwarnings("ignore:.*multi-threaded.*fork:DeprecationWarning")
def test_a_fork_repeats_no_nonce() -> None:
    enc = REncrypt(Cipher.AES256GCM, KEY)

    def nonces() -> list[bytes]:
        return [bytes(enc.encrypt_from(b"", 0, b"")[-12:]) for _ in range(200)]

    mine = nonces()
    for _ in range(3):
        mine += in_child(nonces) + nonces()
    assert len(set(mine)) == len(mine) == 200 * 7


def refuse(
    error: type[Exception], call: Callable[[bytearray], object], buf: bytearray, match: str | None = None
) -> None:
    before = bytes(buf)
    with pytest.raises(error, match=match):
        call(buf)
    assert buf == before, "a byte was written"
    buf.append(0)  # Nothing holds it any more, although pytest keeps the traceback.
    del buf[-1]


@CIPHERS
def test_no_buffer_aborts(cipher: Cipher) -> None:
    enc = REncrypt(cipher, KEY)
    buf = bytearray(enc.encrypt_from(pattern(100), 1, b"AAD"))
    for length in (101, 128, 129, 2**63, 2**70):
        refuse(ValueError, lambda b, n=length: enc.encrypt(b, n, 1, b"AAD"), buf, "are needed")
    for length in (129, 2**70):
        refuse(ValueError, lambda b, n=length: enc.decrypt(b, n, 1, b"AAD"), buf, "are needed")
    for length in (-1, -(2**70)):
        refuse(ValueError, lambda b, n=length: enc.encrypt(b, n, 1, b"AAD"), buf, "negative")
        refuse(ValueError, lambda b, n=length: enc.decrypt(b, n, 1, b"AAD"), buf, "negative")
    for index in (-1, 2**64):
        refuse(ValueError, lambda b, i=index: enc.encrypt(b, 0, i, b""), buf, "block_index")
        refuse(ValueError, lambda b, i=index: enc.decrypt(b, 128, i, b""), buf, "block_index")
    message = bytes(buf)
    refuse(ValueError, lambda b: enc.encrypt_into(bytes(101), b, 1, b"AAD"), buf)
    refuse(ValueError, lambda b: enc.decrypt_into(message, b, 1, b"AAD"), bytearray(99))
    refuse(ValueError, lambda b: enc.copy_slice(bytes(129), b), buf)
    for wrong in ("text", None, 7, [1]):
        refuse(TypeError, lambda b, w=wrong: enc.encrypt(b, 10, 1, w), buf)
        refuse(TypeError, lambda b, w=wrong: enc.encrypt_into(w, b, 1, b""), buf)
        refuse(TypeError, lambda b, w=wrong: enc.decrypt_into(w, b, 1, b""), buf)
        refuse(TypeError, lambda b, w=wrong: enc.copy_slice(w, b), buf)
        refuse(TypeError, lambda _, w=wrong: enc.encrypt(w, 0, 1, b""), buf)
        refuse(TypeError, lambda _, w=wrong: enc.zeroize(w), buf)
    for wrong in ("1", None, 1.0):
        refuse(TypeError, lambda b, w=wrong: enc.encrypt(b, w, 1, b""), buf)
        refuse(TypeError, lambda b, w=wrong: enc.encrypt(b, 10, w, b""), buf)
    assert enc.decrypt_from(buf, 1, b"AAD") == pattern(100)


def test_read_only_buffers_stay_as_they_are() -> None:
    enc, data = REncrypt(Cipher.AES256GCM, KEY), bytes(200)
    array = np.zeros(200, np.uint8)
    array.flags.writeable = False
    for buf in (data, memoryview(bytearray(200)).toreadonly(), array, b""):
        for call in (
            lambda b: enc.encrypt(b, 0, 1, b""),
            lambda b: enc.decrypt(b, 0, 1, b""),
            lambda b: enc.encrypt_into(b"", b, 1, b""),
            lambda b: enc.decrypt_into(bytes(28), b, 1, b""),
            lambda b: enc.copy_slice(b"", b),
            lambda b: enc.zeroize(b),
        ):
            with pytest.raises(TypeError, match="read-only"):
                call(buf)
    assert data == bytes(200)
    assert not array.any()


def test_rejects_buffers_that_are_not_contiguous() -> None:
    enc, array = REncrypt(Cipher.AES256GCM, KEY), np.zeros(400, np.uint8)
    for buf in (array[::2], memoryview(bytearray(400))[::2]):
        for call in (
            lambda b: enc.encrypt(b, 10, 1, b""),
            lambda b: enc.decrypt(b, 100, 1, b""),
            lambda b: enc.encrypt_from(b, 1, b""),
            lambda b: enc.decrypt_from(b, 1, b""),
            lambda b: enc.zeroize(b),
        ):
            with pytest.raises(ValueError, match="not contiguous"):
                call(buf)


def test_rejects_partial_overlap() -> None:
    enc, buf = REncrypt(Cipher.AES256GCM, KEY), bytearray(pattern(200))
    refuse(ValueError, lambda b: enc.encrypt_into(memoryview(b)[1:101], b, 1, b""), buf)
    refuse(ValueError, lambda b: enc.encrypt_into(memoryview(b)[120:170], memoryview(b)[50:], 1, b""), buf)
    assert enc.encrypt_into(memoryview(buf)[:100], buf, 1, b"") == 128  # in place
    refuse(ValueError, lambda b: enc.decrypt_into(memoryview(b)[:128], memoryview(b)[1:], 1, b""), buf)
    assert enc.decrypt_into(memoryview(buf)[:128], buf, 1, b"") == 100
    assert buf[:100] == pattern(100)


@CIPHERS
@pytest.mark.parametrize("length", [0, 100, 100_000])
def test_a_forgery_leaves_zeros_and_the_object_works(cipher: Cipher, length: int) -> None:
    enc, plain = REncrypt(cipher, KEY), pattern(length)
    good = bytes(enc.encrypt_from(plain, 7, b"AAD"))
    forgeries = [(8, b"AAD", good), (7, b"AAE", good), (7, b"", good), (7 << 8, b"AAD\x00", good)]
    forgeries += [(7, b"AAD", bytes(len(good))), (7, b"AAD", good + b"0")]
    for at in {0, length - 1, length, length + 15, length + 16, length + 27} - {-1}:
        changed = bytearray(good)
        changed[at] ^= 1
        forgeries.append((7, b"AAD", bytes(changed)))
    for index, aad, message in forgeries:
        buf, out = bytearray(message), bytearray(b"\xff" * len(message))
        with pytest.raises(sealane.AuthenticationError, match=r"^authentication failed$"):
            enc.decrypt(buf, len(buf), index, aad)
        with pytest.raises(sealane.AuthenticationError, match=r"^authentication failed$"):
            enc.decrypt_into(message, out, index, aad)
        for zeros in (buf, out):
            assert not any(zeros[: len(message) - 28])
            zeros.append(0)
        with pytest.raises(sealane.AuthenticationError):
            enc.decrypt_from(message, index, aad)
    assert enc.decrypt_from(good, 7, b"AAD") == plain


@pytest.mark.parametrize("length", [0, 1, 12, 16, 27])
def test_a_short_message_is_not_authentic(length: int) -> None:
    """The sender decides the length of a message, so a short one is a forgery and not a misuse."""
    enc = REncrypt(Cipher.AES256GCM, KEY)
    refuse(sealane.AuthenticationError, lambda b: enc.decrypt(b, length, 1, b""), bytearray(pattern(100)))
    refuse(sealane.AuthenticationError, lambda b: enc.decrypt_into(bytes(length), b, 1, b""), bytearray(100))
    with pytest.raises(sealane.AuthenticationError):
        enc.decrypt_from(bytes(length), 1, b"")


def test_aad_and_block_index_are_separate() -> None:
    enc = REncrypt(Cipher.AES256GCM, KEY)
    message = enc.encrypt_from(b"text", 42, b"AAD")
    for aad in (bound(b"AAD", 42), None):
        with pytest.raises((sealane.AuthenticationError, TypeError)):
            enc.decrypt_from(message, 0, aad)
        with pytest.raises(TypeError):
            enc.decrypt_from(message, None, aad)


@pytest.fixture
def frequent_thread_switches() -> Iterator[None]:
    """Switches threads so often that a long wait is a wait for a lock."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-4)
    yield
    sys.setswitchinterval(before)


@pytest.mark.xdist_group("serial")
@pytest.mark.usefixtures("frequent_thread_switches")
def test_other_threads_run_meanwhile() -> None:
    """Sealing 64 MiB takes milliseconds, during which REncrypt blocks all threads."""
    enc = REncrypt(Cipher.AES256GCM, KEY)
    n, sealed_len, buf = enc.create_buf(64 << 20)
    target = bytearray(b"\xff" * sealed_len)

    def beats(call: Callable[[], object]) -> float:
        """Returns the longest wait of this thread while another one was in ``call``, as a fraction of it."""
        worker, longest = threading.Thread(target=call), 0.0
        began = last = time.perf_counter()
        worker.start()
        while worker.is_alive():
            now = time.perf_counter()
            longest, last = max(longest, now - last), now
        return max(longest, time.perf_counter() - last) / (time.perf_counter() - began)

    for call in (
        lambda: enc.encrypt(buf, n, 1, b""),
        lambda: enc.decrypt(buf, sealed_len, 1, b""),
        lambda: enc.copy_slice(buf, target),
        lambda: enc.zeroize(target),
    ):
        # Other processes use the processor as well, so take the best of several runs.
        results = []
        for _ in range(200):
            results.append(beats(call))
            enc.encrypt(buf, n, 1, b"")
            if min(results) < 0.7:
                break
        assert min(results) < 0.7, results


@pytest.mark.xdist_group("serial")
def test_a_buffer_cannot_move_while_it_is_encrypted() -> None:
    enc, stop, refused = REncrypt(Cipher.AES256GCM, KEY), threading.Event(), []
    n, _, buf = enc.create_buf(4 << 20)

    def resize() -> None:
        while not stop.is_set():
            try:
                buf.append(0)
                buf.pop()
            except BufferError as error:
                refused.append(error)

    thread = threading.Thread(target=resize)
    thread.start()
    deadline = time.monotonic() + 30
    while len(refused) < 5 and time.monotonic() < deadline:
        enc.encrypt(buf, n, 1, b"")
    stop.set()
    thread.join()
    assert refused


def test_threads_share_an_object_despite_forgeries() -> None:
    enc, failures = REncrypt(Cipher.ChaCha20Poly1305, KEY), []
    nonces: list[list[bytes]] = [[] for _ in range(6)]

    def work(which: int) -> None:
        try:
            n, sealed_len, buf = enc.create_buf(20_000)
            for index in range(100):
                enc.copy_slice(bytes([which]) * n, buf)
                assert enc.encrypt(buf, n, index, b"AAD") == sealed_len
                nonces[which].append(bytes(buf[-12:]))
                with pytest.raises(sealane.AuthenticationError):
                    enc.decrypt_from(buf, index + 1, b"AAD")
                assert enc.decrypt(buf, sealed_len, index, b"AAD") == n
                assert buf[:n] == bytes([which]) * n
        except BaseException as error:
            failures.append(error)

    threads = [threading.Thread(target=work, args=(which,)) for which in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures
    assert len({nonce for some in nonces for nonce in some}) == 600


def test_the_key_is_copied_and_never_shown(caplog: pytest.LogCaptureFixture) -> None:
    key = Cipher.AES256GCM.generate_key()
    before = bytes(key)
    enc = REncrypt(Cipher.AES256GCM, key)
    assert key == before
    message = enc.encrypt_from(b"text", 1, b"")
    enc.zeroize(key)
    assert not any(key)
    assert enc.decrypt_from(message, 1, b"") == b"text"
    assert repr(enc) == "<REncrypt AES256GCM>"
    assert not hasattr(enc, "__dict__")
    for take in (pickle.dumps, copy.copy, copy.deepcopy):
        with pytest.raises(TypeError, match="never pickled or copied"):
            take(enc)
    with pytest.raises(ValueError, match="32") as caught:
        REncrypt(Cipher.AES256GCM, before[:31])
    assert before[:31].hex() not in str(caught.value)
    with pytest.raises(TypeError, match="Cipher"):
        REncrypt("aes-256-gcm", before)
    assert (
        REncrypt(Cipher.AES256GCM, sealane.keys.Key.from_bytes(before)).decrypt_from(message, 1, b"")
        == b"text"
    )
