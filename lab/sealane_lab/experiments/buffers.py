"""REncrypt's tables: a message in memory, from 32 KiB to 1 GiB, in the three ways to call.

Its own figures were means of three runs that followed each other, its ``copy_slice(x, buf[:n])`` copied into
nothing, and its ciphertexts were opened by itself only. Its columns are three calls of its own and two of
PyFLocker; the third of its own is only had through sealane's door for its users.
"""

from __future__ import annotations

from sealane_lab import aead_ways, door_ways, machine
from sealane_lab.model import Cell, Experiment, Plot, Row, Scale

TASKS = ("encrypt", "decrypt")

SIZES: dict[Scale, list[int]] = {
    "full": [1 << shift for shift in range(15, 31)],
    "quick": [1 << shift for shift in (15, 17, 20, 22, 24)],
    "tiny": [1 << 15],
}


def cells(scale: Scale) -> list[Cell]:
    return [Cell(task, size) for size in SIZES[scale] for task in TASKS]


def rows() -> list[Row]:
    return [
        *aead_ways.rows("aes-256-gcm", "in place", "into", "new bytes"),
        *door_ways.rows(),
        *machine.memory_limits(*TASKS),
        *machine.aes_limits(*TASKS),
    ]


EXPERIMENT = Experiment(
    name="buffers",
    title="A message in memory",
    about="AES-256-GCM from Python by the size of the message, one thread. In place: the message lies where "
    "its ciphertext goes. Into: from one buffer to another. New bytes: the call returns a new object. The "
    "tables also have REncrypt's own calls, answered by sealane; these authenticate 11 bytes more.",
    cells=cells,
    rows=rows,
    plots=(Plot("Speed by size of the message", TASKS, "rate", undrawn=door_ways.WAYS),),
    budget={"full": 900, "quick": 12, "tiny": 0.2},
    memory=18,
)
