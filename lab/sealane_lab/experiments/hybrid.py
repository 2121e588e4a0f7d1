"""The main question of the notebook: RSA with AES against ECIES, and their successors.

The notebook counted the generation of the RSA key as encryption. Its "140 B" messages were 113 times as long,
because of a leftover loop variable. Here key generation, key wrapping, the AES part, and a whole message for
an existing key are separate tasks, and 140 B are 140 B. A new key with a message, as the notebook timed it,
is a task too. The notebook had messages of 1 KiB to 121 KiB in steps of 8, and of 1 MiB to 113 MiB in steps
of 16; this experiment has some of them.
"""

from __future__ import annotations

from collections.abc import Sequence

from sealane_lab import hybrid_contenders
from sealane_lab.hybrid_contenders import BULK, KEYGEN, OPEN, SEAL, WHOLE, WRAP
from sealane_lab.model import Cell, Experiment, Plot, Scale
from sealane_lab.results import Sample
from sealane_lab.text import size_text, time_text, times_text

TEXT, AS_SENT = 140, 113 * 140
"""The message size that the notebook intended, and the one that it sent."""

SIZES: dict[Scale, list[int]] = {
    "full": [TEXT, AS_SENT, *(kib << 10 for kib in (1, 33, 121)), *(mib << 20 for mib in (1, 17, 113))],
    "quick": [TEXT, AS_SENT, 121 << 10, 1 << 20],
    "tiny": [TEXT],
}

# The RSA key generation, whose time is random, dominates at every message size.
WHOLE_SIZES: dict[Scale, list[int]] = {
    "full": [AS_SENT, 121 << 10, 113 << 20],
    "quick": [AS_SENT],
    "tiny": [],
}


def cells(scale: Scale) -> list[Cell]:
    messages = [Cell(task, size) for size in SIZES[scale] for task in (BULK, SEAL, OPEN)]
    # Key generation comes first: its time is random for RSA, so it needs many rounds.
    wholes = [Cell(WHOLE, size) for size in WHOLE_SIZES[scale]]
    return [Cell(KEYGEN), *wholes, Cell(WRAP, 32), *messages]


def findings(samples: Sequence[Sample]) -> list[str]:
    """Returns which part of the time in the notebook was key generation."""
    lines = []
    for contender in ("RSA-2048 pycryptodome", "RSA-3072 pycryptodome", "RSA-3072 sealane", "ECIES eciespy"):
        made = next((s for s in samples if (s.task, s.contender) == (KEYGEN, contender)), None)
        sent = next((s for s in samples if (s.task, s.contender, s.size) == (SEAL, contender, TEXT)), None)
        if made is None or sent is None:
            continue
        share = made.median / (made.median + sent.median)
        lines.append(
            f"{contender}: making a key takes {time_text(made.median)}, sending {size_text(TEXT)} with one "
            f"that exists {time_text(sent.median)}. Of both together, as the notebook timed it, "
            f"{share:.2%} is the key."
        )
    for task, size, what in (
        (WHOLE, AS_SENT, "With a new key for each message, as the notebook timed it"),
        (SEAL, TEXT, "With keys that exist"),
    ):
        if factor := _factor(samples, task, size):
            lines.append(
                f"{what}, RSA-3072 by pycryptodome is {factor} ECIES by eciespy for {size_text(size)}; "
                "the notebook said 1,800 times."
            )
    return lines


def _factor(samples: Sequence[Sample], task: str, size: int) -> str:
    by = {s.contender: s.median for s in samples if (s.task, s.size) == (task, size)}
    slow, fast = by.get("RSA-3072 pycryptodome"), by.get("ECIES eciespy")
    if slow is None or fast is None:
        return ""
    ratio = slow / fast
    return f"{times_text(ratio)} the time of" if ratio >= 1 else f"{times_text(1 / ratio)} as fast as"


EXPERIMENT = Experiment(
    name="hybrid",
    title="Messages for a public key",
    about="Making a key, wrapping a fresh AES key of 32 bytes, the AES part alone, and whole messages: "
    "RSA-OAEP with AES-256-GCM, ECIES on secp256k1, HPKE on X25519, libsodium's sealed box, and X-Wing, "
    "which also withstands quantum computers.",
    cells=cells,
    contenders=hybrid_contenders.contenders,
    plots=(
        Plot("Making a key", (KEYGEN,), "time", over="contender", families=True),
        Plot("Wrapping a key of 32 bytes", (WRAP,), "time", over="contender", families=True),
        Plot("A message of 140 bytes", (SEAL, OPEN), "time", over="contender", families=True, size=TEXT),
        Plot("Messages by size", (SEAL, OPEN), "time", families=True),
        Plot("The AES part", (BULK,), "time", families=True),
        Plot(
            "A new key and a message, as in the notebook",
            (WHOLE,),
            "time",
            over="contender",
            families=True,
            size=AS_SENT,
        ),
    ),
    budget={"full": 600, "quick": 20, "tiny": 0.5},
    # The generation of an RSA-3072 key takes a second.
    rounds={"full": (7, 101), "quick": (3, 31), "tiny": (1, 1)},
    findings=findings,
)
