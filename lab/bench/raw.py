"""ChaCha20, Poly1305 and their AEADs from Python, as ratios to ``cryptography`` (OpenSSL) and PyNaCl.

python lab/bench/raw.py [--quick]
"""

from __future__ import annotations

import argparse
import os
from dataclasses import dataclass

import sealane
from cryptography.hazmat.backends.openssl import backend
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms
from cryptography.hazmat.primitives.ciphers.aead import ChaCha20Poly1305
from cryptography.hazmat.primitives.poly1305 import Poly1305
from interleave import Work, faster, print_judged
from nacl import bindings
from sealane import hazmat

KEY = bytes(range(32))
NONCE = bytes(12)
LONG_NONCE = bytes(24)


@dataclass(frozen=True)
class Size:
    """The length of a message, the number of calls in a round, and the number of rounds."""

    what: str
    bytes: int
    calls: int
    rounds: int

    def measure(self, what: str, least: float, peer: str, theirs: Work, ours: Work) -> None:
        print_judged(f"{what}, {self.what}", least, peer, faster(theirs, ours, self.calls, self.rounds))


def chacha20(size: Size, least: float) -> None:
    """Uses one object for all calls, as a program that encrypts a stream does."""
    ours = hazmat.ChaCha20(KEY, NONCE).xor_into
    theirs = Cipher(algorithms.ChaCha20(KEY, bytes(4) + NONCE), None).encryptor().update_into
    data, out = os.urandom(size.bytes), bytearray(size.bytes)
    size.measure("ChaCha20", least, "OpenSSL", lambda: theirs(data, out), lambda: ours(0, data, out))


def poly1305(size: Size, least: float) -> None:
    data = os.urandom(size.bytes)

    def ours() -> bytes:
        return hazmat.Poly1305(KEY).update(data).finalize()

    assert ours() == Poly1305.generate_tag(KEY, data)
    size.measure("Poly1305", least, "OpenSSL", lambda: Poly1305.generate_tag(KEY, data), ours)


def chacha20_poly1305(size: Size, least: float) -> None:
    ours, theirs = sealane.Aead("chacha20-poly1305", KEY), ChaCha20Poly1305(KEY)
    data, out = os.urandom(size.bytes), bytearray(size.bytes + 16)
    size.measure(
        "ChaCha20-Poly1305 encrypt_into",
        least,
        "OpenSSL",
        lambda: theirs.encrypt_into(NONCE, data, None, out),
        lambda: ours.encrypt_into(NONCE, data, None, out),
    )
    sealed, back = bytes(out), bytearray(size.bytes)
    size.measure(
        "ChaCha20-Poly1305 decrypt_into",
        least,
        "OpenSSL",
        lambda: theirs.decrypt_into(NONCE, sealed, None, back),
        lambda: ours.decrypt_into(NONCE, sealed, None, back),
    )


def xchacha20_poly1305(size: Size, least: float) -> None:
    ours = sealane.Aead("xchacha20-poly1305", KEY)
    encrypt = bindings.crypto_aead_xchacha20poly1305_ietf_encrypt
    decrypt = bindings.crypto_aead_xchacha20poly1305_ietf_decrypt
    data = os.urandom(size.bytes)
    sealed = ours.encrypt(LONG_NONCE, data, b"")
    assert sealed == encrypt(data, b"", LONG_NONCE, KEY)
    size.measure(
        "XChaCha20-Poly1305 encrypt",
        least,
        "PyNaCl",
        lambda: encrypt(data, b"", LONG_NONCE, KEY),
        lambda: ours.encrypt(LONG_NONCE, data, b""),
    )
    size.measure(
        "XChaCha20-Poly1305 decrypt",
        least,
        "PyNaCl",
        lambda: decrypt(sealed, b"", LONG_NONCE, KEY),
        lambda: ours.decrypt(LONG_NONCE, sealed, b""),
    )


# The least factor by which each should be faster than its peer, for every size.
TARGETS = {
    chacha20: (1.25, 1.35, 1.35),
    poly1305: (1, 2.2, 2.2),
    chacha20_poly1305: (1, 1.6, 1.6),
    xchacha20_poly1305: (1, 3, 3),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer rounds")
    rounds = 30 if parser.parse_args().quick else 150
    print(f"{backend.openssl_version_text()}, {hazmat.ChaCha20(KEY, NONCE)!r}\n")
    print(f"{'':<46} {'peer':>10} {'sealane':>10} {'faster':>8}   target")
    sizes = (
        Size("256 B", 256, 2_000, rounds),
        Size("16 KiB", 16 << 10, 100, rounds),
        Size("1 MiB", 1 << 20, 3, rounds),
    )
    for work, targets in TARGETS.items():
        for size, least in zip(sizes, targets, strict=True):
            work(size, least)


if __name__ == "__main__":
    main()
