"""The time of one long message on one thread and on all, beside `cryptography`, in alternating rounds.

python lab/bench/one_message.py [--largest MIB] [--algorithm NAME]...

`encrypt` returns new bytes, `encrypt_into` writes to a buffer that was used before. A copy of the message is
the limit of the memory.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable

import sealane
from cryptography.hazmat.primitives.ciphers import aead as peers

PEERS = {"aes-256-gcm": peers.AESGCM, "chacha20-poly1305": peers.ChaCha20Poly1305}
ALGORITHMS = ["aes-256-gcm", "chacha20-poly1305", "xchacha20-poly1305", "aes-256-gcm-siv", "aegis-256"]
SECONDS_PER_ROW = 2.0


def measure(calls: dict[str, Callable[[], object]]) -> dict[str, float]:
    """Returns the median time of each call in microseconds. The calls of a round alternate."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    end = time.perf_counter() + SECONDS_PER_ROW
    while time.perf_counter() < end or len(times[next(iter(times))]) < 5:
        for name, call in calls.items():
            # After the first call, helpers and caches are in the state of calls back to back.
            call()
            start = time.perf_counter()
            call()
            times[name].append((time.perf_counter() - start) * 1e6)
    return {name: statistics.median(some) for name, some in times.items()}


def row(algorithm: str, length: int) -> dict[str, float]:
    key = sealane.generate_key(algorithm)
    one, every = sealane.Aead(algorithm, key, threads=1), sealane.Aead(algorithm, key)
    nonce, message = bytes(one.nonce_len), os.urandom(min(length, 1 << 20)) * max(1, length >> 20)
    sealed = one.encrypt(nonce, message)
    out, copy, back = bytearray(length + 16), bytearray(length), bytearray(length)
    calls: dict[str, Callable[[], object]] = {
        "copy": lambda: memoryview(copy).__setitem__(slice(None), message),
        "encrypt_into, one": lambda: one.encrypt_into(nonce, message, b"", out),
        "encrypt_into, all": lambda: every.encrypt_into(nonce, message, b"", out),
        "decrypt_into, one": lambda: one.decrypt_into(nonce, sealed, b"", back),
        "decrypt_into, all": lambda: every.decrypt_into(nonce, sealed, b"", back),
        "encrypt, one": lambda: one.encrypt(nonce, message),
        "encrypt, all": lambda: every.encrypt(nonce, message),
    }
    if algorithm in PEERS:
        peer = PEERS[algorithm](key)
        calls["cryptography encrypt"] = lambda: peer.encrypt(nonce, message, None)
    return measure(calls)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--largest", type=int, default=256, help="length of the longest message in MiB")
    parser.add_argument("--algorithm", action="append")
    args = parser.parse_args()
    lengths = [256 << 10, 512 << 10, 1 << 20, 2 << 20, 8 << 20, 64 << 20, 256 << 20, 1 << 30]
    for algorithm in args.algorithm or ALGORITHMS:
        print(f"{algorithm}: microseconds")
        for length in lengths:
            if length <= args.largest << 20:
                figures = ", ".join(f"{name} {us:.0f}" for name, us in row(algorithm, length).items())
                print(f"{length >> 10:8} KiB: {figures}", flush=True)


if __name__ == "__main__":
    main()
