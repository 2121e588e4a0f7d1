"""Small messages: the cost of a call, compared with an empty one."""

from __future__ import annotations

from sealane_lab import aead_contenders, machine
from sealane_lab.model import Cell, Contender, Experiment, Plot, Scale

TASKS = ("encrypt", "decrypt")

SIZES: dict[Scale, list[int]] = {
    "full": [16, 64, 256, 1 << 10, 1 << 12, 1 << 14],
    "quick": [16, 64, 256, 1 << 10, 1 << 12],
    "tiny": [64],
}


def cells(scale: Scale) -> list[Cell]:
    return [Cell(task, size) for size in SIZES[scale] for task in TASKS]


def contenders() -> list[Contender]:
    all_styles = aead_contenders.contenders("aes-256-gcm", "in place", "into", "new bytes")
    # Decryption in place needs a copy of the ciphertext before each call. Excluding that copy takes
    # two more readings of the clock, which would be half of the figure.
    timed = [one for one in all_styles if (one.task, one.name.partition(" ")[2]) != ("decrypt", "in place")]
    return [*timed, *machine.call_limits(*TASKS)]


EXPERIMENT = Experiment(
    name="small",
    title="Small messages",
    about="AES-256-GCM from Python, one thread: the time of one call, which for small messages is mostly the "
    "cost of the call. In place generates a nonce each time; into and new bytes are given one.",
    cells=cells,
    contenders=contenders,
    plots=(Plot("Time of one call by size of the message", TASKS, "time"),),
    budget={"full": 180, "quick": 7, "tiny": 0.2},
)
