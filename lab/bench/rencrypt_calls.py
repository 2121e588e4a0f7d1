"""The time of ``sealane.compat.rencrypt`` as ratios to REncrypt 1.2.2, in interleaved rounds in one process.

    python lab/bench/rencrypt_calls.py [--quick]

Every call is compared with ``ring``, REncrypt's fastest provider of the same cipher, on buffers of the same
type. "In place and back" encrypts and decrypts, because decryption alone would need a copy of the ciphertext
each time. Before anything is timed, each library decrypts a message of the other one.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
from interleave import Work, faster, print_ratio
from sealane.compat.rencrypt import Cipher, REncrypt

KEY, INDEX, AAD = bytes(range(32)), 42, b"AAD"
RING = {Cipher.AES256GCM: "Aes256Gcm", Cipher.ChaCha20Poly1305: "ChaCha20Poly1305"}
BUFFERS: dict[str, Callable[[int], Any]] = {
    "numpy": lambda length: np.zeros(length, np.uint8),
    "bytearray": bytearray,
}
SIZES = {"64 B": 64, "4 KiB": 4 << 10, "128 KiB": 128 << 10, "1 MiB": 1 << 20}


def calls_of(
    theirs: Any, ours: REncrypt, size: int, buffer: Callable[[int], Any]
) -> dict[str, tuple[Work, Work]]:
    """Returns the calls of both libraries by their task."""
    index, aad = INDEX, AAD  # Local names are faster in the timed functions.
    plain, a, b = buffer(size), buffer(size + 28), buffer(size + 28)
    sealed = buffer(size + 28)
    ours.encrypt_into_buf(plain, sealed, index, aad)
    assert theirs.open_in_place_from(sealed, a, index, aad) == size
    assert theirs.seal_in_place(a, size, index, aad) == size + 28
    assert ours.decrypt_from(a, index, aad) == bytes(size)

    def their_round_trip() -> None:
        theirs.seal_in_place(a, size, index, aad)
        theirs.open_in_place(a, size + 28, index, aad)

    def our_round_trip() -> None:
        ours.encrypt(b, size, index, aad)
        ours.decrypt(b, size + 28, index, aad)

    return {
        "encrypt": (
            lambda: theirs.seal_in_place(a, size, index, aad),
            lambda: ours.encrypt(b, size, index, aad),
        ),
        "encrypt into": (
            lambda: theirs.seal_in_place_from(plain, a, index, aad),
            lambda: ours.encrypt_into_buf(plain, b, index, aad),
        ),
        "decrypt into": (
            lambda: theirs.open_in_place_from(sealed, a, index, aad),
            lambda: ours.decrypt_into_buf(sealed, b, index, aad),
        ),
        "in place and back": (their_round_trip, our_round_trip),
        "copy_slice": (lambda: theirs.copy_slice(plain, a), lambda: ours.copy_slice(plain, b)),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    rounds = 11 if parser.parse_args().quick else 101
    try:
        rencrypt = importlib.import_module("rencrypt")
    except ImportError:
        print("rencrypt is not installed: nothing to compare with")
        return
    print(f"{'':<46} {'rencrypt':>10} {'sealane':>10} {'ratio':>8}")
    for cipher, ring in RING.items():
        meta = rencrypt.CipherMeta.Ring(getattr(rencrypt.RingAlgorithm, ring))
        # The constructor erases the key that it is given.
        theirs, ours = rencrypt.Cipher(meta, bytearray(KEY)), REncrypt(cipher, KEY)
        for size_name, size in SIZES.items():
            for kind, buffer in BUFFERS.items():
                for what, (base, mine) in calls_of(theirs, ours, size, buffer).items():
                    if what == "copy_slice" and cipher is not Cipher.AES256GCM:
                        continue
                    calls = max(1, min(2_000, (4 << 20) // size))
                    name = f"{cipher.name}, {size_name}, {kind}, {what}"
                    print_ratio(name, "", *faster(base, mine, calls, rounds))


if __name__ == "__main__":
    main()
