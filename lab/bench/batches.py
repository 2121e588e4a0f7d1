"""The cost of a message in a batch, in nanoseconds, beside a call for each message in the same rounds.

python lab/bench/batches.py [--quick] [--algorithm NAME]

Use one core: taskset -c 1 python lab/bench/batches.py
"""

from __future__ import annotations

import argparse
import array
import os
import statistics
import time
from collections.abc import Callable

import sealane
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, AESGCMSIV, ChaCha20Poly1305

PEERS: dict[str, Callable[[bytes], AESGCM | AESGCMSIV | ChaCha20Poly1305]] = {
    "aes-256-gcm": AESGCM,
    "aes-256-gcm-siv": AESGCMSIV,
    "chacha20-poly1305": ChaCha20Poly1305,
}


def measure(calls: dict[str, Callable[[], object]], rounds: int, count: int) -> dict[str, float]:
    """Returns the median time of each call in ns for each message. The calls of a round alternate."""
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(rounds):
        for name, call in calls.items():
            start = time.perf_counter_ns()
            result = call()
            times[name].append((time.perf_counter_ns() - start) / count)
            del result
    return {name: statistics.median(some) for name, some in times.items()}


def of_length(aead: sealane.Aead, length: int, rounds: int, count: int) -> dict[str, float]:
    data = os.urandom(length * count)
    messages = [data[at : at + length] for at in range(0, len(data), length)]
    offsets = array.array("i", range(0, len(data) + 1, length))
    sealed = aead.seal_many(messages)
    packed = aead.seal_packed(data, offsets)
    seal, unseal = aead.seal, aead.open
    theirs = PEERS[aead.algorithm](bytes(32)).encrypt
    return measure(
        {
            "seal each": lambda: [seal(message) for message in messages],
            "cryptography": lambda: [theirs(os.urandom(12), message, None) for message in messages],
            "seal_many": lambda: aead.seal_many(messages),
            "seal_packed": lambda: aead.seal_packed(data, offsets),
            "open each": lambda: [unseal(message) for message in sealed],
            "open_many": lambda: aead.open_many(sealed),
            "open_packed": lambda: aead.open_packed(*packed),
        },
        rounds,
        count,
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--algorithm", default="aes-256-gcm")
    parser.add_argument("--count", type=int, default=10_000, help="messages of a batch")
    args = parser.parse_args()
    # Short batches need more rounds for the same time.
    rounds = (9 if args.quick else 41) * max(10_000 // args.count, 1)
    key = sealane.generate_key(args.algorithm)
    for threads in (1,) if args.quick else (1, None):
        aead = sealane.Aead(args.algorithm, key, threads=threads)
        print(
            f"{aead!r}, {'one thread' if threads else 'all threads'}, ns for each of {args.count:,} messages"
        )
        for length in (64,) if args.quick else (16, 64, 256, 1024):
            row = of_length(aead, length, rounds, args.count)
            print(f"{length:5} B: " + ", ".join(f"{name} {ns:.1f}" for name, ns in row.items()))


if __name__ == "__main__":
    main()
