"""Tokens of JSON Web Encryption beside joserfc and jwcrypto, of 64 bytes.

python lab/bench/jwe.py

The calls of a row alternate, on one core. The results are medians in microseconds.
"""

from __future__ import annotations

import json
import os
import statistics
import time
from collections.abc import Callable

import jwcrypto.jwe
import jwcrypto.jwk
import sealane
from joserfc import jwe as joserfc
from joserfc.jwk import OctKey, OKPKey
from sealane import jwe

ROUNDS = 25
DATA = bytes(64)


def medians(calls: dict[str, Callable[[], object]], count: int) -> dict[str, float]:
    times: dict[str, list[float]] = {name: [] for name in calls}
    for _ in range(ROUNDS):
        for name, call in calls.items():
            start = time.perf_counter()
            for _ in range(count):
                call()
            times[name].append((time.perf_counter() - start) / count * 1e6)
    return {name: statistics.median(some) for name, some in times.items()}


def measure(alg: str, enc: str, peer: OctKey | OKPKey, count: int) -> None:
    text = json.dumps(peer.as_dict(private=True))
    key: sealane.keys.Key | str = text
    if isinstance(peer, OctKey):
        key = sealane.keys.Key.from_text(text)
    third = jwcrypto.jwk.JWK.from_json(text)
    header = {"alg": alg, "enc": enc}
    registry = joserfc.JWERegistry(algorithms=[alg, enc])
    protected = json.dumps(header)

    def theirs() -> str:
        made = jwcrypto.jwe.JWE(DATA, protected, recipient=third)
        return str(made.serialize(compact=True))

    def opened() -> None:
        jwcrypto.jwe.JWE().deserialize(token, third)

    token = jwe.encrypt(DATA, key, alg=alg, enc=enc)
    encrypt = {
        "sealane": lambda: jwe.encrypt(DATA, key, alg=alg, enc=enc),
        "sealane, text": lambda: jwe.encrypt(DATA, text, alg=alg, enc=enc),
        "joserfc": lambda: joserfc.encrypt_compact(header, DATA, peer, registry=registry),
        "jwcrypto": theirs,
    }
    decrypt = {
        "sealane": lambda: jwe.decrypt(token, key),
        "sealane, text": lambda: jwe.decrypt(token, text),
        "joserfc": lambda: joserfc.decrypt_compact(token, peer, registry=registry),
        "jwcrypto": opened,
    }
    for name, calls in ("encrypt", encrypt), ("decrypt", decrypt):
        row = " | ".join(f"{value:.2f}" for value in medians(calls, count).values())
        print(f"| {alg}, {enc} | {name} | {row} |")


def main() -> None:
    if hasattr(os, "sched_setaffinity"):
        os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
    print("| algorithms | call | sealane, key object | sealane, text of the key | joserfc | jwcrypto |")
    print("|---|---|---|---|---|---|")
    measure("dir", "A256GCM", OctKey.generate_key(256), 1000)
    measure("dir", "A128CBC-HS256", OctKey.generate_key(256), 1000)
    measure("A256KW", "A256GCM", OctKey.generate_key(256), 500)
    measure("A256GCMKW", "A256GCM", OctKey.generate_key(256), 500)
    measure("ECDH-ES", "A256GCM", OKPKey.generate_key("X25519"), 50)


if __name__ == "__main__":
    main()
