"""The notebook's main question: RSA with AES against ECIES, and what has come since.

It timed RSA's key generation as encryption, and its "140 B" messages were 113 times as long, because of a
loop variable that was left over. Here making a key, wrapping one, and a whole message are apart, 140 B are
140 B, and the keys were made before.
"""

from __future__ import annotations

from collections.abc import Sequence

from sealane.lab import hybrid_ways
from sealane.lab.hybrid_ways import KEYGEN, OPEN, SEAL, WRAP
from sealane.lab.model import Cell, Experiment, Plot, Scale
from sealane.lab.results import Sample
from sealane.lab.text import size_text, time_text, times_text

SIZES: dict[Scale, list[int]] = {
    "full": [140, 1 << 10, 16 << 10, 128 << 10, 1 << 20, 16 << 20, 113 << 20],
    "quick": [140, 1 << 10, 64 << 10, 1 << 20],
    "tiny": [140],
}


def cells(scale: Scale) -> list[Cell]:
    messages = [Cell(task, size) for size in SIZES[scale] for task in (SEAL, OPEN)]
    # First what is rare and slow: RSA's key generation is lucky or not, and wants many rounds.
    return [Cell(KEYGEN), *[Cell(WRAP, 32)], *messages]


def findings(samples: Sequence[Sample]) -> list[str]:
    """How much of what the notebook timed was making keys."""
    lines = []
    for way in ("RSA-2048 pycryptodome", "RSA-3072 pycryptodome", "RSA-3072 sealane", "ECIES eciespy"):
        made = next((s for s in samples if (s.task, s.way) == (KEYGEN, way)), None)
        sent = next((s for s in samples if (s.task, s.way, s.size) == (SEAL, way, 140)), None)
        if made is None or sent is None:
            continue
        share = made.median / (made.median + sent.median)
        lines.append(
            f"{way}: making a key takes {time_text(made.median)}, sending {size_text(140)} with one that "
            f"exists {time_text(sent.median)}. Of both together, as the notebook timed it, "
            f"{share:.2%} is the key."
        )
    slow = next((s for s in samples if (s.task, s.way, s.size) == (SEAL, "RSA-3072 pycryptodome", 140)), None)
    fast = next((s for s in samples if (s.task, s.way, s.size) == (SEAL, "ECIES eciespy", 140)), None)
    if slow is not None and fast is not None:
        ratio = slow.median / fast.median
        word = f"{times_text(ratio)} the time" if ratio >= 1 else f"{times_text(1 / ratio)} as fast"
        lines.append(
            f"With keys that exist, RSA-3072 by pycryptodome is {word} of ECIES by eciespy for 140 B; "
            "the notebook said 1,800 times."
        )
    return lines


EXPERIMENT = Experiment(
    name="hybrid",
    title="Messages for a public key",
    about="Making a key, wrapping a fresh AES key of 32 bytes, and whole messages: RSA-OAEP with "
    "AES-256-GCM, ECIES on secp256k1, HPKE on X25519, and X-Wing, which also withstands quantum computers.",
    cells=cells,
    rows=hybrid_ways.rows,
    plots=(
        Plot("Making a key", (KEYGEN,), "time", over="way", families=True),
        Plot("Wrapping a key of 32 bytes", (WRAP,), "time", over="way", families=True),
        Plot("A message of 140 bytes", (SEAL, OPEN), "time", over="way", families=True, size=140),
        Plot("Messages by size", (SEAL, OPEN), "time", families=True),
    ),
    budget={"full": 600, "quick": 20, "tiny": 0.5},
    findings=findings,
)
