"""Ciphertext in a mapping that is changed through another mapping while it is opened."""

from __future__ import annotations

import contextlib
import mmap
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
import sealane
from sealane import hazmat
from support import PAIRS, aead, pattern

LENGTH = 300_000
PLAIN = bytes(LENGTH)


@contextlib.contextmanager
def mapped(path: Path, data: bytes, at: int) -> Iterator[mmap.mmap]:
    """Yields a mapping of a file with the data, of which one byte changes back and forth."""
    path.write_bytes(data)
    stop = threading.Event()
    with (
        path.open("r+b") as file,
        mmap.mmap(file.fileno(), 0) as mapping,
        mmap.mmap(file.fileno(), 0) as other,
    ):

        def change() -> None:
            while not stop.is_set():
                other[at] ^= 0x41
                other[at] ^= 0x41

        thread = threading.Thread(target=change)
        thread.start()
        try:
            yield mapping
        finally:
            stop.set()
            thread.join()


def opens_only_the_plaintext(call: Callable[[], bytes | bytearray]) -> None:
    end = time.monotonic() + 0.04
    while time.monotonic() < end:
        with contextlib.suppress(sealane.AuthenticationError):
            assert call() == PLAIN


# claim: shared-memory
@pytest.mark.parametrize(("algorithm", "provider"), PAIRS)
def test_a_message(algorithm: str, provider: str, tmp_path: Path) -> None:
    a = aead(algorithm, provider)
    nonce, out = bytes(a.nonce_len), bytearray(LENGTH)
    for at in 100, LENGTH - 5:
        with mapped(tmp_path / "message", a.encrypt(nonce, PLAIN), at) as sealed:
            opens_only_the_plaintext(lambda s=sealed: a.decrypt_into(nonce, s, None, out) and out)


def test_a_message_of_speck(tmp_path: Path) -> None:
    a = hazmat.Aead("speck128-256-poly1305", pattern(32))
    with mapped(tmp_path / "message", a.encrypt(bytes(12), PLAIN), 100) as sealed:
        opens_only_the_plaintext(lambda: a.decrypt(bytes(12), sealed))


# claim: shared-memory
@pytest.mark.parametrize("algorithm", ["aes-256-gcm", "chacha20-poly1305"])
def test_a_message_in_pieces(algorithm: str, tmp_path: Path) -> None:
    """`finalize` verifies the bytes that `update` returned."""

    def decrypt(sealed: mmap.mmap) -> bytes:
        decryptor = hazmat.AeadDecryptor(algorithm, pattern(32), bytes(12))
        with memoryview(sealed) as view, view[:-16] as data:
            plain = decryptor.update(data)
        decryptor.finalize(sealed[-16:])
        return plain

    with mapped(tmp_path / "message", aead(algorithm).encrypt(bytes(12), PLAIN), 100) as sealed:
        opens_only_the_plaintext(lambda: decrypt(sealed))


# claim: shared-memory
def test_a_file(tmp_path: Path) -> None:
    identity = sealane.keys.generate("age")
    age = sealane.encrypt(PLAIN, recipients=[identity.public])
    chunked = sealane.encrypt(PLAIN, key=pattern(32))
    with mapped(tmp_path / "age", age, len(age) - 1000) as sealed:
        opens_only_the_plaintext(lambda: sealane.decrypt(sealed, identities=[identity]))
    with mapped(tmp_path / "chunked", chunked, len(chunked) - 1000) as sealed:
        opens_only_the_plaintext(lambda: sealane.decrypt(sealed, key=pattern(32)))
