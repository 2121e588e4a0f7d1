"""The first question of the notebook: does a longer AES key cost time?

The notebook timed the cipher object, encryption and decryption together, as the mean of 30 consecutive calls,
and found no answer. The task ``the notebook's`` is that measurement; another task is encryption alone with a
reused key. The notebook had 64 sizes, from 1 KiB to 1009 KiB in steps of 16. This experiment has those
between which the size doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import sealane

from sealane_lab import aead_contenders, machine
from sealane_lab.model import OURS, Cell, Contender, Experiment, Plot, Ready, Scale, Workspace
from sealane_lab.peers import require
from sealane_lab.referee import NONCE, key_of, opened, same
from sealane_lab.results import Sample
from sealane_lab.text import size_text

ALONE, ROUND_TRIP = "encrypt", "the notebook's"
BITS = (128, 192, 256)

SIZES: dict[Scale, list[int]] = {
    "full": [kib << 10 for kib in (1, 17, 33, 65, 129, 257, 513, 1009)],
    "quick": [kib << 10 for kib in (1, 17, 129, 1009)],
    "tiny": [1 << 10],
}


def cells(scale: Scale) -> list[Cell]:
    return [Cell(task, size) for size in SIZES[scale] for task in (ALONE, ROUND_TRIP)]


def contenders() -> list[Contender]:
    found = [
        replace(one, name=f"{one.peer} {bits}")
        for bits in BITS
        for one in aead_contenders.contenders(f"aes-{bits}-gcm", "into", peers=(OURS, "cryptography"))
        if one.task == ALONE
    ]
    for bits in BITS:
        for one in ROUND_TRIPS:
            found.append(Contender(one.peer, f"{one.peer} {bits}", ROUND_TRIP, one.of(f"aes-{bits}-gcm")))
    return [*found, *machine.memory_limits(ALONE)]


@dataclass(frozen=True)
class _RoundTrip:
    """A new cipher object, an encryption and a decryption. ``make`` returns both functions for a key."""

    peer: str
    make: Callable[[bytes, str], tuple[Callable[[bytes], tuple[bytes, bytes]], Callable[..., bytes]]]

    def of(self, algorithm: str) -> Callable[[Workspace], Ready]:
        def prepare(workspace: Workspace) -> Ready:
            key, plain = key_of(algorithm), workspace.plain
            seal, open_ = self.make(key, algorithm)

            def run() -> bytes:
                return open_(*seal(plain))

            def check() -> str:
                same(plain, run(), self.peer)
                text, tag = seal(plain)
                return opened(workspace, algorithm, text + tag, by_other_than=self.peer)

            return Ready(run, check)

        return prepare


def _ours(key: bytes, algorithm: str) -> tuple[Callable[[bytes], tuple[bytes, bytes]], Callable[..., bytes]]:
    return (
        lambda plain: (sealane.Aead(algorithm, key).encrypt(NONCE, plain, None), b""),
        lambda text, _: sealane.Aead(algorithm, key).decrypt(NONCE, text, None),
    )


def _cryptography(key: bytes, _: str) -> tuple[Callable[[bytes], tuple[bytes, bytes]], Callable[..., bytes]]:
    new = require("cryptography.hazmat.primitives.ciphers.aead").AESGCM
    return (
        lambda plain: (new(key).encrypt(NONCE, plain, None), b""),
        lambda text, _: new(key).decrypt(NONCE, text, None),
    )


def _pycryptodome(key: bytes, _: str) -> tuple[Callable[[bytes], tuple[bytes, bytes]], Callable[..., bytes]]:
    aes = require("Crypto.Cipher.AES")
    new, gcm = aes.new, aes.MODE_GCM
    return (
        lambda plain: new(key, gcm, nonce=NONCE).encrypt_and_digest(plain),
        lambda text, tag: new(key, gcm, nonce=NONCE).decrypt_and_verify(text, tag),
    )


ROUND_TRIPS = (
    _RoundTrip(OURS, _ours),
    _RoundTrip("cryptography", _cryptography),
    _RoundTrip("pycryptodome", _pycryptodome),
)


def findings(samples: Sequence[Sample]) -> list[str]:
    """Returns the cost of 256 bits against 128 at the largest size, and what the rounds let expect."""
    lines = []
    for task in (ALONE, ROUND_TRIP):
        mine = [sample for sample in samples if sample.task == task]
        largest = max((sample.size for sample in mine), default=0)
        for peer in dict.fromkeys(sample.peer for sample in mine):
            by = {s.contender.rpartition(" ")[2]: s for s in mine if s.peer == peer and s.size == largest}
            if not {"128", "256"} <= by.keys():
                continue
            short, long = by["128"], by["256"]
            ratio = long.median / short.median
            apart = short.high < long.low or long.high < short.low
            word = (
                f"{abs(ratio - 1):.0%} {'more' if ratio > 1 else 'less'} time"
                if apart
                else "no time that shows"
            )
            lines.append(f"{task}: 256 bits instead of 128 cost {peer} {word} at {size_text(largest)}.")
    if lines:
        lines.append("AES has 14 rounds instead of 10 then: 40 % more, if nothing else took time.")
    return lines


EXPERIMENT = Experiment(
    name="aes-keys",
    title="AES by key size",
    about="AES-GCM with keys of 128, 192 and 256 bits. The notebook's measurement makes the cipher, encrypts "
    "and decrypts; the other plot is encryption alone, into a buffer, with a reused key.",
    cells=cells,
    contenders=contenders,
    plots=(
        Plot("Encryption alone", (ALONE,), "rate", families=True),
        Plot("As the notebook measured", (ROUND_TRIP,), "time", families=True),
    ),
    budget={"full": 150, "quick": 6, "tiny": 0.2},
    findings=findings,
)
