"""Messages for recipients from Python, as ratios to eciespy and ``cryptography``.

The crates `scrypt` and `argon2` compute scrypt and Argon2id. They are compared with OpenSSL.

    python lab/bench/hybrid.py [--quick]
"""

from __future__ import annotations

import argparse
import base64
import hashlib
import os
import pathlib
import statistics
from time import perf_counter
from typing import Any

import ecies
import sealane
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PrivateKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hpke import AEAD, KDF, KEM, MLKEM768X25519PrivateKey, Suite
from cryptography.hazmat.primitives.kdf.argon2 import Argon2id
from cryptography.hazmat.primitives.kdf.scrypt import Scrypt
from interleave import Work, faster, print_judged, print_ratio

OAEP = padding.OAEP(padding.MGF1(hashes.SHA256()), hashes.SHA256(), None)
GOLDEN = pathlib.Path(__file__).parents[2] / "tests" / "golden" / "age" / "passphrase-5-age1.1.1.age"


def ecies_messages(quick: bool) -> None:
    large = (8 if quick else 64) << 20
    ecies_message("140 B", 140, 50, 20 if quick else 100, 2)
    ecies_message(f"{large >> 20} MiB", large, 1, 3 if quick else 9, 10)


def ecies_message(what: str, size: int, calls: int, rounds: int, least: float) -> None:
    key, data = sealane.keys.generate("secp256k1"), os.urandom(size)
    private, public, to = key.to_hex(), key.public.to_hex(), key.public
    sealed = ecies.encrypt(public, data)
    assert sealane.hybrid.ecies_decrypt(private, sealed) == data
    encrypt, decrypt, seal = sealane.hybrid.ecies_encrypt, sealane.hybrid.ecies_decrypt, sealane.hybrid.seal
    calls_of: dict[str, tuple[Work, Work]] = {
        "encrypt": (lambda: ecies.encrypt(public, data), lambda: encrypt(public, data)),
        "decrypt": (lambda: ecies.decrypt(private, sealed), lambda: decrypt(private, sealed)),
        # With a key object that is reused, as in a program with many messages.
        "seal": (lambda: ecies.encrypt(public, data), lambda: seal(to, data)),
    }
    for name, (theirs, ours) in calls_of.items():
        print_judged(f"ECIES {name}, {what}", least, "eciespy", faster(theirs, ours, calls, rounds))


def rsa_keys(quick: bool) -> None:
    """Compares medians of many keys, because the time of one key is random."""

    def once(work: Work) -> float:
        began = perf_counter()
        work()
        return perf_counter() - began

    theirs, ours = [], []
    for _ in range(15 if quick else 101):
        theirs.append(once(lambda: rsa.generate_private_key(65537, 3072)))
        ours.append(once(lambda: sealane.keys.generate("rsa-3072")))
    for what, of in (("median", statistics.median), ("mean", statistics.mean)):
        peer, mine = of(theirs), of(ours)
        print_judged(f"RSA-3072 key, {what} of {len(ours)}", 1, "cryptography", (peer, mine, peer / mine))
    key, digest = rsa.generate_private_key(65537, 3072), hashes.SHA256()
    signature = statistics.median(once(lambda: key.sign(b"", padding.PKCS1v15(), digest)) for _ in range(101))
    print(f"RSA-3072 key, exponentiations {CANDIDATES * signature * 1e3:20.1f} ms")


# On average one of 1536 ln 2 integers of 1536 bits is prime, and AWS-LC divides candidates by the
# primes up to 8161 first, which leaves 6.2 % of all integers (Mertens' third theorem). A signature
# is two exponentiations, so it takes as long as one candidate for each of the two primes.
CANDIDATES = 66


def rsa_messages(quick: bool) -> None:
    """Compares a wrapped AES key with a message of 32 bytes under it, in the same format."""
    key = sealane.keys.generate("rsa-3072")
    private = serialization.load_pem_private_key(key.to_text().encode(), None)
    public, data, rounds = private.public_key(), os.urandom(32), 20 if quick else 100

    def wrap() -> bytes:
        secret, nonce = AESGCM.generate_key(256), os.urandom(12)
        return public.encrypt(secret, OAEP) + nonce + AESGCM(secret).encrypt(nonce, data, None)

    def unwrap() -> bytes:
        secret = private.decrypt(message[:384], OAEP)
        return AESGCM(secret).decrypt(message[384:396], message[396:], None)

    message = wrap()
    assert unwrap() == sealane.hybrid.open(key, message) == data
    seal, opened, to = sealane.hybrid.seal, sealane.hybrid.open, key.public
    print_judged(
        "RSA-3072 OAEP wrap, seal 32 B", 1, "cryptography", faster(wrap, lambda: seal(to, data), 20, rounds)
    )
    result = faster(unwrap, lambda: opened(key, message), 5, rounds)
    print_judged("RSA-3072 OAEP unwrap, open 32 B", 1, "cryptography", result)


def hpke_messages(quick: bool) -> None:
    key = sealane.keys.generate("x25519")
    compare_hpke(
        "X25519", KEM.X25519, key, serialization.load_pem_private_key(key.to_text().encode(), None), quick
    )
    key = sealane.keys.generate("x-wing")
    # The PEM ends with the seed, which cryptography cannot read.
    seed = base64.b64decode("".join(key.to_text().splitlines()[1:-1]))[-32:]
    expanded = hashlib.shake_256(seed).digest(96)
    ml_kem = MLKEM768PrivateKey.from_seed_bytes(expanded[:64])
    private = MLKEM768X25519PrivateKey(ml_kem, X25519PrivateKey.from_private_bytes(expanded[64:]))
    compare_hpke("X-Wing", KEM.MLKEM768_X25519, key, private, quick)


def compare_hpke(name: str, kem: KEM, key: sealane.keys.Key, private: Any, quick: bool) -> None:
    """Compares messages for a key that both libraries have."""
    data, suite = os.urandom(1024), Suite(kem, KDF.HKDF_SHA256, AEAD.AES_256_GCM)
    public, to, rounds = private.public_key(), key.public, 20 if quick else 100
    message = suite.encrypt(data, public)
    assert sealane.hybrid.open(key, message) == data
    assert suite.decrypt(sealane.hybrid.seal(to, data), private) == data
    seal, opened = sealane.hybrid.seal, sealane.hybrid.open
    result = faster(lambda: suite.encrypt(data, public), lambda: seal(to, data), 50, rounds)
    print_judged(f"HPKE {name} seal, 1 KiB", 1, "cryptography", result)
    result = faster(lambda: suite.decrypt(message, private), lambda: opened(key, message), 50, rounds)
    print_judged(f"HPKE {name} open, 1 KiB", 1, "cryptography", result)


def passphrases(quick: bool) -> None:
    rounds, salt = 3 if quick else 9, os.urandom(16)
    sealed = GOLDEN.read_bytes()
    work = 1 << int(sealed.split(b"\n")[1].split()[-1])
    result = faster(
        lambda: Scrypt(salt, 32, work, 8, 1).derive(b"golden"),
        lambda: sealane.decrypt(sealed, passphrase="golden"),
        1,
        rounds,
    )
    print_ratio(f"scrypt, N = 2^{work.bit_length() - 1}, r = 8: open an age file", "(OpenSSL's)", *result)
    result = faster(
        lambda: Argon2id(salt=salt, length=32, iterations=3, lanes=4, memory_cost=65536).derive(b"golden"),
        lambda: sealane.keys.derive("golden", salt),
        1,
        rounds,
    )
    print_ratio("Argon2id, 64 MiB, 3 passes, 4 lanes", "(OpenSSL's)", *result)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="smaller sizes and fewer rounds")
    works = (ecies_messages, rsa_keys, rsa_messages, hpke_messages, passphrases)
    parser.add_argument("--only", choices=[work.__name__ for work in works], help="one of the comparisons")
    given = parser.parse_args()
    print(f"{'':<46} {'peer':>10} {'sealane':>10} {'faster':>8}   target")
    for work in works:
        if given.only in (None, work.__name__):
            work(given.quick)


if __name__ == "__main__":
    main()
