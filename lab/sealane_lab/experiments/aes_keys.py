"""The notebook's first question: does a longer AES key cost time?

It timed making the cipher, encrypting and decrypting together, averaged over 30 calls that followed each
other, and could not tell. That is ``the notebook's``; encrypting alone with a key that is ready is beside it,
and the ways take turns. Its sizes were 64, from 1 KiB to 1009 in steps of 16; measured are those of them
between which the message doubles.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import sealane

from sealane_lab import aead_ways, machine
from sealane_lab.model import OURS, Cell, Experiment, Plot, Ready, Room, Row, Scale
from sealane_lab.peers import need
from sealane_lab.referee import NONCE, key_of, opened, same
from sealane_lab.results import Sample
from sealane_lab.text import size_text

ALONE, WHOLE = "encrypt", "the notebook's"
BITS = (128, 192, 256)

SIZES: dict[Scale, list[int]] = {
    "full": [kib << 10 for kib in (1, 17, 33, 65, 129, 257, 513, 1009)],
    "quick": [kib << 10 for kib in (1, 17, 129, 1009)],
    "tiny": [1 << 10],
}


def cells(scale: Scale) -> list[Cell]:
    return [Cell(task, size) for size in SIZES[scale] for task in (ALONE, WHOLE)]


def rows() -> list[Row]:
    found = [
        replace(row, way=f"{row.peer} {bits}")
        for bits in BITS
        for row in aead_ways.rows(f"aes-{bits}-gcm", "into", peers=(OURS, "cryptography"))
        if row.task == ALONE
    ]
    for bits in BITS:
        for one in WHOLES:
            found.append(Row(one.peer, f"{one.peer} {bits}", WHOLE, one.of(f"aes-{bits}-gcm")))
    return [*found, *machine.memory_limits(ALONE)]


@dataclass(frozen=True)
class _Whole:
    """A fresh object, a message sealed and opened again: ``seal`` and ``open`` for a key."""

    peer: str
    make: Callable[[bytes, str], tuple[Callable[[bytes], tuple[bytes, bytes]], Callable[..., bytes]]]

    def of(self, algorithm: str) -> Callable[[Room], Ready]:
        def prepare(room: Room) -> Ready:
            key, plain = key_of(algorithm), room.plain
            seal, open_ = self.make(key, algorithm)

            def run() -> bytes:
                return open_(*seal(plain))

            def check() -> str:
                same(plain, run(), self.peer)
                text, tag = seal(plain)
                return opened(room, algorithm, text + tag, by_other_than=self.peer)

            return Ready(run, check)

        return prepare


def _ours(key: bytes, algorithm: str) -> tuple[Callable[[bytes], tuple[bytes, bytes]], Callable[..., bytes]]:
    return (
        lambda plain: (sealane.Aead(algorithm, key).encrypt(NONCE, plain, None), b""),
        lambda text, _: sealane.Aead(algorithm, key).decrypt(NONCE, text, None),
    )


def _cryptography(key: bytes, _: str) -> tuple[Callable[[bytes], tuple[bytes, bytes]], Callable[..., bytes]]:
    new = need("cryptography.hazmat.primitives.ciphers.aead").AESGCM
    return (
        lambda plain: (new(key).encrypt(NONCE, plain, None), b""),
        lambda text, _: new(key).decrypt(NONCE, text, None),
    )


def _pycryptodome(key: bytes, _: str) -> tuple[Callable[[bytes], tuple[bytes, bytes]], Callable[..., bytes]]:
    aes = need("Crypto.Cipher.AES")
    new, gcm = aes.new, aes.MODE_GCM
    return (
        lambda plain: new(key, gcm, nonce=NONCE).encrypt_and_digest(plain),
        lambda text, tag: new(key, gcm, nonce=NONCE).decrypt_and_verify(text, tag),
    )


WHOLES = (_Whole(OURS, _ours), _Whole("cryptography", _cryptography), _Whole("pycryptodome", _pycryptodome))


def findings(samples: Sequence[Sample]) -> list[str]:
    """What 256 bits cost beside 128, at the largest size, and what is to be expected from the rounds."""
    lines = []
    for task in (ALONE, WHOLE):
        mine = [sample for sample in samples if sample.task == task]
        largest = max((sample.size for sample in mine), default=0)
        for peer in dict.fromkeys(sample.peer for sample in mine):
            by = {s.way.rpartition(" ")[2]: s for s in mine if s.peer == peer and s.size == largest}
            if not {"128", "256"} <= by.keys():
                continue
            short, long = by["128"], by["256"]
            ratio = long.median / short.median
            told = short.high < long.low or long.high < short.low
            word = (
                f"{abs(ratio - 1):.0%} {'more' if ratio > 1 else 'less'} time"
                if told
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
    "and decrypts; beside it encryption alone, into a buffer, with a key that is ready.",
    cells=cells,
    rows=rows,
    plots=(
        Plot("Encryption alone", (ALONE,), "rate", families=True),
        Plot("As the notebook measured", (WHOLE,), "time", families=True),
    ),
    budget={"full": 150, "quick": 6, "tiny": 0.2},
    findings=findings,
)
