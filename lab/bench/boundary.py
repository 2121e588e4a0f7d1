"""The cost of a call from Python, as ratios to ``cryptography`` in interleaved rounds.

python lab/bench/boundary.py [--quick]
"""

from __future__ import annotations

import argparse
import os
import random
import tempfile
import threading

import sealane
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from interleave import Work, faster, print_judged, print_ratio

KEY = bytes(range(32))
NONCE = bytes(12)
OURS = sealane.Aead("aes-256-gcm", KEY)
PEER = AESGCM(KEY)


def into(what: str, size: int, calls: int, rounds: int, least: float) -> None:
    """Measures encryption into a buffer; both libraries read the same bytes and write the same buffer."""
    data, out = os.urandom(size), bytearray(size + 16)
    theirs, ours = PEER.encrypt_into, OURS.encrypt_into
    result = faster(
        lambda: theirs(NONCE, data, None, out), lambda: ours(NONCE, data, None, out), calls, rounds
    )
    print_judged(what, least, "cryptography encrypt_into", result)


def messages(rounds: int) -> None:
    # The cost of a call, a chunk of a file, and a size at which only the cipher counts.
    for what, size, calls, least in (
        ("64 B", 64, 2_000, 4),
        ("16 KiB", 16 << 10, 200, 1.7),
        ("1 MiB", 1 << 20, 10, 1.2),
    ):
        into(f"encrypt_into, {what}", size, calls, rounds, least)
    short = os.urandom(64)
    seal, encrypt = OURS.seal, PEER.encrypt
    print_judged(
        "seal with automatic nonce, 64 B",
        2.5,
        "cryptography encrypt",
        faster(lambda: encrypt(NONCE, short, None), lambda: seal(short), 2_000, rounds),
    )
    sealed = seal(short)
    print_ratio(
        "open, 64 B",
        "",
        *faster(
            lambda: PEER.decrypt(sealed[:12], sealed[12:], None), lambda: OURS.open(sealed), 2_000, rounds
        ),
    )
    middle = os.urandom(16 << 10)
    print_ratio(
        "seal, 16 KiB",
        "",
        *faster(lambda: encrypt(NONCE, middle, None), lambda: seal(middle), 200, rounds),
    )


def large(size: int, rounds: int) -> None:
    # Not `bytes(size)`, which is one page of zeros, mapped many times and always in the cache.
    data = os.urandom(size)
    print_judged(
        f"seal to new bytes, {size >> 20} MiB",
        3,
        "cryptography encrypt",
        faster(lambda: PEER.encrypt(NONCE, data, None), lambda: OURS.seal(data), 1, rounds),
    )


def two_threads(rounds: int) -> None:
    """Compares the calls of one thread with half of them in each of two threads."""
    size, calls = 1 << 20, 2000
    data = os.urandom(size)
    outs = [bytearray(size + 16) for _ in range(2)]

    def run(out: bytearray, times: int) -> None:
        for _ in range(times):
            OURS.encrypt_into(NONCE, data, None, out)

    def two() -> None:
        threads = [threading.Thread(target=run, args=(out, calls // 2)) for out in outs]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    result = faster(lambda: run(outs[0], calls), two, 1, rounds)
    print_judged("encrypt_into 1 MiB, 2 threads against 1", 1.7, "one thread", result)


def random_reads(size: int, calls: int) -> None:
    with tempfile.TemporaryDirectory(dir=".") as folder:
        plain, sealed = os.path.join(folder, "plain"), os.path.join(folder, "sealed")
        block = os.urandom(1 << 20)
        with open(plain, "wb") as file:
            for _ in range(size >> 20):
                file.write(block)
        sealane.encrypt_file(plain, sealed, key=KEY)
        places = [random.randrange(size - 4096) for _ in range(calls)]
        with sealane.open(sealed, "rb", key=KEY) as encrypted, open(plain, "rb", buffering=0) as ordinary:

            def reader(file: object) -> Work:
                seek, read = file.seek, file.read  # type: ignore[attr-defined]

                def work() -> None:
                    for place in places:
                        seek(place)
                        read(4096)

                return work

            theirs, mine, ratio = faster(reader(ordinary), reader(encrypted), 1, 5)
        what = f"seek + read(4096) in {size >> 20} MiB, and a plain file"
        print_ratio(what, "< 15 us", theirs / calls, mine / calls, ratio)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer rounds")
    quick = parser.parse_args().quick
    print(f"{OURS!r}\n")
    print(f"{'':<46} {'peer':>10} {'sealane':>10} {'faster':>8}   target")
    rounds = 5 if quick else 15
    # A sample of a millisecond is short against a time slice of the scheduler.
    messages(10 * rounds)
    large((64 if quick else 256) << 20, 3 if quick else 7)
    two_threads(3 if quick else 9)
    random_reads((64 if quick else 1024) << 20, 5_000)


if __name__ == "__main__":
    main()
